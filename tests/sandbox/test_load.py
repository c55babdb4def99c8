"""Load makes no verdict: a right program is right however busy the machine is, and a hanging one ends all the same."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grpo_rewards_sandbox import Job, Sandbox, open_sandbox
from grpo_rewards_sandbox.backends.local import backend as local
from grpo_rewards_sandbox.program.clock import longest

pytestmark = pytest.mark.slow

CORES = len(os.sched_getaffinity(0))
HOG = "import time\nend = time.monotonic() + 60\nwhile time.monotonic() < end:\n    pass\n"
BUSY = """
import os, threading, time
def busy(seconds, clock=time.process_time):
    end = clock() + seconds
    while clock() < end:
        pass
"""
SOLVE = BUSY + "def solve(x):\n    busy(0.4)\n    return 2 * x\n"
PRINT = "print(2 * int(input()))\n"
CHECK = "def check(candidate):\n    assert candidate(2) == 4\n"
FILE = "from solution import solve\ndef test_a():\n    assert solve(2) == 4\n"
CASE = [{"input": "2\n", "output": "4\n"}]
IN_CHILDREN = """
for _ in range(8):
    if os.fork() == 0:
        busy(0.05)
        os._exit(0)
    os.wait()
"""
IN_THREADS = """
for _ in range(8):
    thread = threading.Thread(target=busy, args=(0.05, time.thread_time))
    thread.start()
    thread.join()
"""
RIGHT = [
    Job(SOLVE, CHECK, "humaneval", entry_point="solve", timeout=1.0),
    Job(SOLVE, FILE, "pytest", timeout=1.0),
    Job(SOLVE, FILE, "pytest", timeout=1.0, fidelity="shared"),
    *(Job(BUSY + part + PRINT, CASE, "stdio", timeout=1.0) for part in ("busy(0.4)\n", IN_CHILDREN, IN_THREADS)),
]


@pytest.fixture
def busy_machine() -> Iterator[None]:
    """Two other processes for each processor, which never wait; they end by themselves if nothing ends them.

    Each in a session of its own, since the kernel shares processors out between sessions.
    """
    hogs = [subprocess.Popen([sys.executable, "-S", "-c", HOG], start_new_session=True) for _ in range(2 * CORES)]
    yield
    for hog in hogs:
        hog.kill()
        hog.wait()


@pytest.mark.usefixtures("busy_machine")
def test_right_programs_are_right_on_a_busy_machine(backend: str) -> None:
    with open_sandbox(backend, workers=2 * CORES) as opened:
        verdicts = opened.run(RIGHT * 2)
    assert [(v.status, v.reason) for v in verdicts] == [("passed", "")] * len(verdicts)
    assert max(v.seconds for v in verdicts) > 1.0  # else nothing of this was tested


TWO = """
import sys
from grpo_rewards_sandbox import Job, open_sandbox
solve, check, backend, workers = sys.argv[1:]
with open_sandbox(backend, workers=int(workers)) as opened:
    verdicts = opened.run([Job(solve, check, "humaneval", entry_point="solve", timeout=1.0)] * 12)
print(sum(verdict.passed for verdict in verdicts), [verdict.reason for verdict in verdicts])
"""


def test_right_programs_are_right_in_two_processes_at_once(backend: str) -> None:
    command = [sys.executable, "-c", TWO, SOLVE, CHECK, backend, str(2 * CORES)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=120)[0] for process in running]
    assert [text.split()[0] for text in said] == ["12", "12"], said


def test_right_programs_are_right_where_the_kernel_does_not_count_what_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, busy_machine: None
) -> None:
    program = tmp_path / "blind"
    shutil.copytree(local._PARENT, program)
    with (program / "program" / "proc.py").open("a") as handle:
        handle.write("\n\n_all = read\ndef read(path):\n    return b'' if path.endswith('schedstat') else _all(path)\n")
    monkeypatch.setattr(local, "_PARENT", str(program))
    with open_sandbox("local", workers=CORES) as opened:
        verdicts = opened.run(RIGHT[:4] * 2)
        asleep = opened.run([Job("import time\ntime.sleep(60)", CASE, "stdio", timeout=1.0)])
    assert [(v.status, v.reason) for v in verdicts] == [("passed", "")] * len(verdicts)
    assert asleep[0].status == "timeout"
    assert asleep[0].seconds < 30.0  # it sleeps for 60


@pytest.mark.parametrize("form", ["function", "file", "program"])
def test_what_waits_ends_by_the_clock_and_what_runs_by_its_processor_time(sandbox: Sandbox, form: str) -> None:
    def job(body: str) -> Job:
        solve = f"import time\ndef solve(x):\n    {body}\n"
        match form:
            case "function":
                return Job(solve, CHECK, "humaneval", entry_point="solve", timeout=1.0)
            case "file":
                return Job(solve, FILE, "pytest", timeout=1.0)
        return Job(f"{solve}solve(1)\n", CASE, "stdio", timeout=1.0)

    asleep, hanging = sandbox.run([job("time.sleep(60)"), job("while True: pass")])
    assert (asleep.status, hanging.status) == ("timeout", "timeout")
    assert "waited 1" in asleep.reason
    assert 1.0 <= asleep.seconds < 30.0  # it sleeps for 60
    ran = re.search(r"ran ([\d.]+) s of processor time", hanging.reason)
    assert ran, hanging
    assert 0.7 <= float(ran[1]) <= 1.3


CROWD = "import os\nfor _ in range(30):\n    if os.fork() == 0:\n        while True:\n            pass\nwhile True:\n    pass\n"
THREADS = "import threading\ndef spin():\n    while True:\n        pass\nfor _ in range(20):\n    threading.Thread(target=spin).start()\n"
RELAY = """
import os, time
for _ in range(20):
    if os.fork() == 0:
        while True:
            end = time.process_time() + 0.01
            while time.process_time() < end:
                pass
            if os.fork():
                os._exit(0)
while True:
    pass
"""


@pytest.mark.parametrize("program", [CROWD, THREADS], ids=["processes", "threads"])
def test_a_job_gains_nothing_by_its_own_crowd(sandbox: Sandbox, program: Any) -> None:
    verdict = sandbox.run([Job(program, CASE, "stdio", timeout=1.0)])[0]
    assert verdict.status in ("timeout", "limit"), verdict
    ran = re.search(r"ran ([\d.]+) s", verdict.reason)
    assert ran, verdict
    assert float(ran[1]) <= CORES * 1.0 + 1.0


def test_no_job_outlasts_its_bound(sandbox: Sandbox) -> None:
    """What a job cannot be seen to run, as by processes that hand over before they are looked at, gains it a bounded time."""
    verdict = sandbox.run([Job(RELAY, CASE, "stdio", timeout=0.2)])[0]
    assert verdict.status in ("timeout", "limit"), verdict
    assert verdict.seconds < longest(0.2) + 20.0
