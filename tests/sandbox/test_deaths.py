"""A death from outside is nobody's wrong answer; one's own is."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from grpo_rewards_sandbox import Job, Sandbox, open_sandbox

pytestmark = pytest.mark.slow

CHECK = "def check(candidate):\n    assert candidate(2) == 4\n"
STATEFUL = CHECK + "class Own:\n    pass\n"  # not for the process that judges one check after another
FILE = "from solution import solve\ndef test_a():\n    assert solve(2) == 4\n"
CASE = [{"input": "2\n", "output": "4\n"}]
SOLVE = "import time\ndef solve(x):\n    time.sleep(0.7)\n    return 2 * x\n"
PRINT = "import time\ntime.sleep(0.7)\nprint(2 * int(input()))\n"


def jobs(solve: str, program: str) -> dict[str, Job]:
    return {
        "check": Job(solve, CHECK, "humaneval", entry_point="solve"),
        "check alone": Job(solve, STATEFUL, "humaneval", entry_point="solve"),
        "asserts": Job(solve, ["assert solve(2) == 4"], "asserts"),
        "file": Job(solve, FILE, "pytest"),
        "file, shared": Job(solve, FILE, "pytest", fidelity="shared"),
        "program": Job(program, CASE, "stdio"),
    }


SLOW = jobs(SOLVE, PRINT)
# with a child that still holds what its parent wrote into
LEAVES_A_CHILD = jobs("import os, time\nos.fork() or time.sleep(60)\n" + SOLVE, "import os\n" + PRINT)
KILLS_ITSELF = jobs(
    "import os, signal\ndef solve(x):\n    os.kill(os.getpid(), signal.NUMBER)\n",
    "import os, signal\nos.kill(os.getpid(), signal.NUMBER)\n",
)


@pytest.fixture(scope="module")
def opened(backend: str) -> Iterator[Sandbox]:
    """A sandbox with one worker, so that the users of its jobs are known."""
    with open_sandbox(backend, workers=1) as sandbox:
        yield sandbox


def of_users(users: set[int]) -> list[int]:
    """The processes of these users, as anyone on the machine sees them."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if _real_user(name) in users:
                found.append(int(name))
    return found


def _real_user(name: str) -> int:
    with open(f"/proc/{name}/status") as handle:
        return next(int(line.split()[1]) for line in handle if line.startswith("Uid:"))


def killed_meanwhile(sandbox: Sandbox, job: Job, kill: Callable[[], bool], times: float) -> tuple[str, str, int]:
    """Run a job; while it runs, `kill` until it did so many `times`. Return status, reason and how often it was killed."""
    over = threading.Event()
    count = 0

    def work() -> None:
        nonlocal count
        while count < times and not over.is_set():
            if kill():
                count += 1
                time.sleep(0.1)  # what was killed is gone before the next look
            time.sleep(0.02)

    killer = threading.Thread(target=work)
    killer.start()
    verdict = sandbox.run([job])[0]
    over.set()
    killer.join()
    return verdict.status, verdict.reason, count


def live(sandbox: Sandbox) -> list[Any]:
    return list(sandbox._live)


def killing(sandbox: Sandbox, which: int, number: int) -> Callable[[], bool]:
    """What kills the processes that run as a user of tests (0) or of candidates (1), at once."""

    def kill() -> bool:
        users = {worker.plan["users"][which] for worker in live(sandbox)}
        assert 0 not in users
        found = of_users(users)
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        return bool(found)

    return kill


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="who is not root may kill no other user's processes")


@needs_root
@pytest.mark.parametrize("form", SLOW)
@pytest.mark.parametrize("job", ["slow", "leaves a child"])
def test_a_right_program_that_is_killed_once_is_right(opened: Sandbox, form: str, job: str) -> None:
    todo = (SLOW if job == "slow" else LEAVES_A_CHILD)[form]
    status, reason, count = killed_meanwhile(opened, todo, killing(opened, 1, signal.SIGKILL), 1)
    assert (status, reason, count) == ("passed", "", 1)


@needs_root
@pytest.mark.parametrize("form", SLOW)
def test_a_program_that_is_asked_to_end_is_not_wrong_for_that(opened: Sandbox, form: str) -> None:
    """In a pid namespace of its own a candidate does not hear SIGTERM."""
    status, reason, count = killed_meanwhile(opened, SLOW[form], killing(opened, 1, signal.SIGTERM), 1)
    assert (status, reason, count) == ("passed", "", 1)


@needs_root
@pytest.mark.parametrize("form", ["check", "check alone", "file"])
def test_a_judge_that_is_killed_is_nobodys_wrong_answer(opened: Sandbox, form: str) -> None:
    assert opened.run([SLOW["check"]])[0].passed  # from now on there is a process that judges one check after another
    status, reason, count = killed_meanwhile(opened, SLOW[form], killing(opened, 0, signal.SIGKILL), 1)
    assert (status, reason, count) == ("passed", "", 1)


@needs_root
@pytest.mark.parametrize("form", SLOW)
def test_what_is_killed_each_time_has_a_verdict(opened: Sandbox, form: str) -> None:
    """Nothing tells this from a program that kills itself to leave its group."""
    status, reason, count = killed_meanwhile(opened, SLOW[form], killing(opened, 1, signal.SIGKILL), 100)
    assert status == "failed"
    assert "killed (signal 9), each of 3 times" in reason
    assert 3 <= count < 40
    assert opened.run([SLOW[form]])[0].passed


@pytest.mark.parametrize("form", SLOW)
@pytest.mark.parametrize("number", ["SIGKILL", "SIGTERM", "SIGXCPU", "SIGSEGV"])
def test_a_program_cannot_leave_its_group_by_killing_itself(opened: Sandbox, form: str, number: str) -> None:
    job = KILLS_ITSELF[form]
    verdict = opened.run([replace(job, candidate=job.candidate.replace("NUMBER", number))])[0]
    assert verdict.status in ("failed", "timeout")


@needs_root
def test_right_programs_side_by_side_are_never_wrong_for_a_random_death(backend: str) -> None:
    """More of them than processors, of all forms; now and then one of the candidates' processes is killed."""
    rng, over = random.Random(14), threading.Event()
    killed: Counter[str] = Counter()

    def work(sandbox: Sandbox) -> None:
        while not over.wait(2.0):  # seldom enough that hardly any program dies three times, which is a verdict
            if found := of_users({worker.plan["users"][1] for worker in live(sandbox)}):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rng.choice(found), signal.SIGKILL)
                    killed["candidates"] += 1

    with open_sandbox(backend, workers=4) as sandbox:
        killer = threading.Thread(target=work, args=(sandbox,))
        killer.start()
        try:
            found = Counter((verdict.status, verdict.reason) for verdict in sandbox.run(list(SLOW.values()) * 10))
        finally:
            over.set()
            killer.join()
    assert killed["candidates"] > 0
    assert set(found) == {("passed", "")}, (found, killed)
