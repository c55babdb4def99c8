"""What is special about the local backend: its processes, forks, and what it says of this machine."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from grpo_rewards_sandbox import Job, Sandbox, SandboxUnavailable, guarantees, open_sandbox
from grpo_rewards_sandbox.backends import supervised
from grpo_rewards_sandbox.backends.local import backend as local
from grpo_rewards_sandbox.backends.local.packages import reachable

PYTEST = "from solution import solve\ndef test_a():\n    assert solve(2) == 4\n"
CHECK = "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(5) == 10\n"
RIGHT = "def solve(x):\n    return x * 2\n"
CASES = [{"input": "2\n", "output": "4\n"}, {"input": "5\n", "output": "10\n"}]


def status(sandbox: Sandbox, job: Job) -> str:
    return sandbox.run([job])[0].status


@pytest.fixture(autouse=True, scope="module")
def _isolates() -> None:
    try:
        open_sandbox("local", workers=1).close()
    except SandboxUnavailable as error:
        pytest.skip(f"NO TESTS OF THE LOCAL SANDBOX RAN: {error}")


def live(sandbox: Sandbox) -> list[Any]:
    return list(sandbox._live)


def test_a_killed_supervisor_is_replaced() -> None:
    with open_sandbox("local", workers=1) as opened:
        job = Job(RIGHT, CHECK, "humaneval", entry_point="solve")
        assert status(opened, job) == "passed"
        os.kill(live(opened)[0].pid, 9)
        assert status(opened, job) == "passed"


def test_exit_leaves_no_process() -> None:
    code = (
        "from grpo_rewards_sandbox import Job, open_sandbox\nimport os\ns = open_sandbox('local', workers=1)\n"
        f"assert s.run([Job({RIGHT!r}, {CHECK!r}, 'humaneval', entry_point='solve')])[0].passed\n"
        "print(s._live[0].pid)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert not os.path.exists(f"/proc/{done.stdout.strip()}")


@pytest.mark.slow
def test_a_child_that_breaks_in_its_own_set_up_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "broken"
    shutil.copytree(local._PARENT, program)
    limits = program / "program" / "isolation" / "limits.py"
    with limits.open("a") as handle:
        handle.write("\n\ndef apply(limits, *, processes, spared=0):\n    raise OSError('this machine refuses')\n")
    monkeypatch.setattr(local, "_PARENT", str(program))
    jobs = [
        Job(RIGHT, CHECK, "humaneval", entry_point="solve"),
        Job(RIGHT, PYTEST, "pytest", fidelity="shared"),
        Job("print(int(input()) * 2)", CASES, "stdio"),
    ]
    with open_sandbox("local", workers=1) as opened:
        verdicts = opened.run(jobs)
    assert [(v.status, v.tests_passed) for v in verdicts] == [("unavailable", 0)] * 3
    assert all("set-up" in verdict.reason for verdict in verdicts)


@pytest.mark.slow
def test_a_stopped_supervisor_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised, "GRACE_SECONDS", 0.5)
    with open_sandbox("local", workers=1) as opened:
        stopped = live(opened)[0].pid
        os.kill(stopped, signal.SIGSTOP)
        # more than a pipe holds: writing to it must not hang either
        big = Job(RIGHT + "# " + "x" * (1 << 20), CHECK, "humaneval", entry_point="solve", timeout=4.0)
        assert status(opened, big) == "passed"
    assert not os.path.exists(f"/proc/{stopped}")


def test_close_in_mid_batch_ends_everything() -> None:
    opened = open_sandbox("local", workers=1)
    sleep = Job("import time\ntime.sleep(60)\n", CHECK, "humaneval", entry_point="solve", timeout=120.0)
    found: list[str] = []
    runner = threading.Thread(target=lambda: found.extend(v.status for v in opened.run([sleep] * 3)))
    runner.start()
    pid = live(opened)[0].pid
    children = f"/proc/{pid}/task/{pid}/children"
    candidates: list[str] = []
    while not candidates:
        parents = Path(children).read_text().split()
        candidates = [c for p in parents for c in Path(f"/proc/{p}/task/{p}/children").read_text().split()]
    opened.close()
    runner.join(30)
    assert found == ["unavailable"] * 3
    assert not [number for number in (pid, *parents, *candidates) if os.path.exists(f"/proc/{number}")]
    with pytest.raises(SandboxUnavailable, match="closed"):
        opened.run([sleep])
    opened.close()


@pytest.mark.parametrize("jobs", [0, 2])
def test_a_sandbox_that_is_dropped_warns_and_ends_its_processes(jobs: int) -> None:
    opened = open_sandbox("local", workers=1)
    assert {v.status for v in opened.run([Job(RIGHT, CHECK, "humaneval", entry_point="solve")] * jobs)} <= {"passed"}
    ends = [os.pidfd_open(worker.pid) for worker in live(opened)]
    with pytest.warns(ResourceWarning, match=r"unclosed sandbox \(local\)"):  # noqa: PT031 - a thread may be the one that warns
        del opened
        for end in ends:
            assert select.select([end], [], [], 60)[0]
    for end in ends:
        os.close(end)


def test_a_forked_child_gets_supervisors_of_its_own_and_leaves_its_parents_alone() -> None:
    job = Job(RIGHT, CHECK, "humaneval", entry_point="solve")
    with open_sandbox("local", workers=1) as opened:
        theirs = live(opened)[0].pid
        assert status(opened, job) == "passed"
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            answer = "broken"
            try:
                ok = status(opened, job) == "passed"
                mine = live(opened)[0].pid
                opened.close()
                answer = f"{ok} {mine} {os.path.exists(f'/proc/{mine}')}"
            finally:
                os.write(writer, answer.encode())
                os._exit(0)
        os.close(writer)
        os.waitpid(child, 0)
        right, known, alive = os.read(reader, 100).decode().split()
        os.close(reader)
        assert (right, alive) == ("True", "False")
        assert int(known) != theirs
        assert [worker.pid for worker in live(opened)] == [theirs]
        assert status(opened, job) == "passed"


@pytest.mark.slow
def test_guarantees_name_the_mode_that_is_used() -> None:
    report = guarantees()
    with open_sandbox("local", workers=1) as opened:
        assert report["local"] == opened.plan["mode"]
    assert report["note"]


def test_a_process_that_may_open_no_more_files_is_told_so() -> None:
    program = (
        "import resource, pytest\nfrom grpo_rewards_sandbox import open_sandbox\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (6, 6))\nopen_sandbox('local', workers=1)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert re.search("SandboxUnavailable: .*Too many open files. What to do: .*ulimit -n", done.stderr), done.stderr


@pytest.mark.slow
def test_packages_are_chosen_by_either_of_their_names() -> None:
    found = reachable("pytest")
    assert found == reachable(["_pytest"])
    assert {"pytest", "_pytest", "pluggy"} <= set(found or ())
    with pytest.raises(SandboxUnavailable, match="packages: Not_There is not installed"):
        reachable(["pytest", "Not_There"])


def test_a_library_that_starts_a_process_where_the_tests_import_it_goes_on_without() -> None:
    """As matplotlib does, which asks `fc-list` for fonts; every fourth row of BigCodeBench plots."""
    asks = "import subprocess\ntry:\n    subprocess.check_output(['true'])\n    said = 'it ran'\nexcept OSError:\n    said = ''\n"
    tests = (
        "import asks\nfrom solution import solve\ndef test_a():\n    assert asks.said == ''\n    assert solve(2) == 4\n"
    )
    itself = f"from solution import solve\ndef test_a():\n    {asks.replace(chr(10), chr(10) + '    ')}\n    assert solve(2) == 4\n"
    # pytest's own folders let no other user in
    with tempfile.TemporaryDirectory() as folder, open_sandbox("local", workers=1, python_path=(folder,)) as opened:
        os.chmod(folder, 0o755)
        Path(folder, "asks.py").write_text(asks, encoding="utf-8")
        assert status(opened, Job(RIGHT, tests, "pytest")) == "passed"
        assert status(opened, Job(RIGHT, itself, "pytest")) == "refused"
