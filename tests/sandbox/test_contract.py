"""What every backend of the sandbox must do."""

from __future__ import annotations

import os
import threading
from typing import Any

import pytest
from grpo_rewards_sandbox import Job, Limits, Sandbox
from grpo_rewards_sandbox.backends import supervised

PYTEST = "from solution import solve\ndef test_a():\n    assert solve(2) == 4\n"
CHECK = "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(5) == 10\n"
RIGHT, WRONG = "def solve(x):\n    return x * 2\n", "def solve(x):\n    return None\n"
CASES = [{"input": "2\n", "output": "4\n"}, {"input": "5\n", "output": "10\n"}]


def status(sandbox: Sandbox, job: Job) -> str:
    return sandbox.run([job])[0].status


@pytest.mark.parametrize(
    ("tests", "format"),
    [(PYTEST, "pytest"), (CHECK, "humaneval"), (["assert solve(2) == 4"], "asserts")],
)
@pytest.mark.parametrize("fidelity", ["isolated", "shared"])
def test_right_passes_and_wrong_fails(sandbox: Sandbox, tests: Any, format: str, fidelity: str) -> None:
    right = Job(RIGHT, tests, format, entry_point="solve", fidelity=fidelity)
    wrong = Job(WRONG, tests, format, entry_point="solve", fidelity=fidelity)
    assert [v.status for v in sandbox.run([right, wrong])] == ["passed", "failed"]


@pytest.mark.parametrize("fidelity", ["isolated", "shared"])
def test_a_method_is_given_nodes_that_the_setup_defines(sandbox: Sandbox, fidelity: str) -> None:
    setup = "class ListNode:\n    def __init__(self, val=0, next=None):\n        self.val, self.next = val, next\n"
    program = "class Solution:\n    def push(self, node):\n        return ListNode(1, {rest})\n"
    tests = "def check(candidate):\n    assert candidate(ListNode(5)).next.val == 5\n"
    jobs = [
        Job(
            program.format(rest=rest), tests, "humaneval", entry_point="Solution().push", setup=setup, fidelity=fidelity
        )
        for rest in ("node", "ListNode(4)")
    ]
    assert [verdict.status for verdict in sandbox.run(jobs)] == ["passed", "failed"]


def test_stdio_counts_cases(sandbox: Sandbox) -> None:
    verdicts = sandbox.run(
        [
            Job("print(int(input()) * 2)", CASES, "stdio"),
            Job("input(); print(4)", CASES, "stdio"),
            Job("1/0", CASES, "stdio"),
        ]
    )
    assert [(v.status, v.tests_passed, v.tests_total) for v in verdicts] == [
        ("passed", 2, 2),
        ("failed", 1, 2),
        ("failed", 0, 2),
    ]


def test_random_numbers_differ_from_job_to_job(sandbox: Sandbox) -> None:
    """Every child comes of one parent: unless its numbers are drawn anew, all of them get the same."""
    draw = "import random\nseen = random.random()\n"
    for job in (
        Job(draw, ["assert seen == 'never', seen"], "asserts"),
        Job(draw + "print(seen)", CASES, "stdio"),
        Job("", draw + "def test_a():\n    assert seen == 'never', seen\n", "pytest"),
    ):
        reasons = [verdict.reason for verdict in sandbox.run([job] * 6)]
        assert all("0." in reason for reason in reasons), reasons
        assert len(set(reasons)) == len(reasons)


ATTACKS = {
    "exit": "import os\ndef solve(*a):\n    os._exit(0)\n",
    "exit at import": "import sys\nsys.exit(0)\n",
    "equals everything": (
        "class E(int):\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\n    __hash__ = int.__hash__\n"
        "def solve(*a):\n    return E()\n"
    ),
    "object that equals everything": "class E:\n    __eq__ = lambda s, o: True\ndef solve(*a):\n    return E()\n",
    "patches builtins": "import builtins\nbuiltins.AssertionError = SystemExit\ndef solve(*a):\n    return None\n",
    "skips": "import unittest\ndef solve(*a):\n    raise unittest.SkipTest('x')\n",
    "writes every descriptor": (
        "import os\ndef solve(*a):\n    for fd in range(64):\n        try:\n"
        "            os.write(fd, b'{\"passed\": true}\\n')\n        except OSError:\n            pass\n"
    ),
    "parametrizes nothing": "def pytest_generate_tests(metafunc):\n    metafunc.parametrize('x', [])\nsolve = None\n",
}


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize(("tests", "format"), [(PYTEST, "pytest"), (CHECK, "humaneval")])
def test_no_attack_passes(sandbox: Sandbox, name: str, tests: Any, format: str) -> None:
    assert status(sandbox, Job(ATTACKS[name], tests, format, entry_point="solve", timeout=5.0)) in ("failed", "limit")


ESCAPES = {
    "host file": "open('/etc/shadow').read()",
    "network": "__import__('socket').socket(2, 1)",
    "vsock": "__import__('socket').socket(40, 1)",
    "chroot": "__import__('os').chroot('/tmp')",
    "host's temporary files": "1 / 0 if not {*__import__('os').listdir('/tmp')} - {*'/'.join(__import__('sys').path).split('/')} else None",
    "write to the system": "open('/usr/lib/x', 'w')",
    "namespace": "__import__('os').unshare(0x10000000) if hasattr(__import__('os'), 'unshare') else 1 / 0",
}


@pytest.mark.parametrize("name", ESCAPES)
def test_nothing_of_the_host_is_reachable(sandbox: Sandbox, name: str) -> None:
    code = f"def solve(x):\n    try:\n        {ESCAPES[name]}\n    except Exception:\n        return 'refused'\n    return 'escaped'\n"
    assert status(sandbox, Job(code, ["assert solve(1) == 'refused'"], "asserts")) == "passed"


def test_no_file_of_one_run_is_visible_to_the_next(sandbox: Sandbox) -> None:
    places = ["/tmp", "/job", "/dev/shm", "/var/tmp"]
    leave = (
        "import os\ndef solve(x):\n    n = 0\n"
        f"    for p in {places!r}:\n        n += os.path.exists(p + '/left')\n"
        "        try:\n            open(p + '/left', 'w').write('x')\n        except OSError:\n            pass\n    return n\n"
    )
    job = Job(leave, ["assert solve(1) == 0"], "asserts")
    assert [v.status for v in sandbox.run([job] * 6)] == ["passed"] * 6


LIMITS = {
    "sleep": ("import time\ndef solve(x):\n    time.sleep(60)\n", "timeout"),
    "memory": ("def solve(x):\n    return len(bytearray(8 << 30))\n", "limit"),
    "file size": (
        "def solve(x):\n    f = open('/tmp/x', 'wb')\n    while True:\n        f.write(b'x' * 65536)\n",
        "limit",
    ),
    "open files": ("def solve(x):\n    k = []\n    while True:\n        k.append(open('/dev/null'))\n", "limit"),
    "memory of many processes": (
        "import os, time\ndef solve(x):\n    for _ in range(20):\n        if os.fork() == 0:\n"
        "            b = bytearray(100 << 20)\n            for i in range(0, len(b), 4096):\n                b[i] = 1\n"
        "            time.sleep(60)\n    time.sleep(60)\n",
        None,
    ),
    "fork bomb": ("import os\ndef solve(x):\n    while True:\n        os.fork()\n", None),
}


CHATTY = """
import os, sys, time
for _ in range(12):
    if os.fork() == 0:
        held = bytearray(60 << 20)
        for at in range(0, len(held), 4096):
            held[at] = 1
        time.sleep(60)
while True:
    os.write(1, b'.')
    time.sleep(0.01)
"""


def test_a_program_that_keeps_writing_is_looked_at_too(sandbox: Sandbox) -> None:
    limits = Limits(memory=512 << 20)
    verdict = sandbox.run([Job(CHATTY, CASES, "stdio", timeout=20.0, limits=limits)])[0]
    assert (verdict.status, verdict.limit) == ("limit", "memory")
    assert status(sandbox, Job(RIGHT, CHECK, "humaneval", entry_point="solve")) == "passed"


@pytest.mark.parametrize("name", LIMITS)
def test_limits_hold_and_the_next_job_passes(sandbox: Sandbox, name: str) -> None:
    code, expected = LIMITS[name]
    verdict = sandbox.run(
        [Job(code, CHECK, "humaneval", entry_point="solve", timeout=1.0 if expected == "timeout" else 2.0)]
    )[0]
    assert verdict.status in ((expected,) if expected else ("failed", "limit", "timeout"))
    assert status(sandbox, Job(RIGHT, CHECK, "humaneval", entry_point="solve")) == "passed"


def test_formats_take_turns(sandbox: Sandbox) -> None:
    """What cleans up after a test file's process does not take with it the process that judges checks."""
    jobs = [Job(RIGHT, PYTEST, "pytest"), Job(RIGHT, CHECK, "humaneval", entry_point="solve")] * 40
    assert {(v.status, v.reason) for v in sandbox.run(jobs)} == {("passed", "")}


def test_a_generator_that_a_job_left_closes_nothing_of_the_next_one(sandbox: Sandbox) -> None:
    leaves = Job(
        "def made():\n    while True:\n        yield 1\ndef fails():\n    raise ValueError\n",
        "from solution import fails, made\ndef test_a():\n    kept = [made() for _ in range(50)]\n"
        "    for one in kept:\n        for _ in one:\n            break\n    fails()\n",
        "pytest",
    )
    watches = Job(
        "closed, held = [], []\nclass Held:\n    def close(self):\n        closed.append(self)\n"
        "def hold():\n    held.append(Held())\n    return held[-1]\ndef count():\n    return len(closed)\n",
        "from solution import count, hold\ndef test_a():\n    kept = [hold() for _ in range(50)]\n"
        # enough of them that Python collects what is garbage
        "    many = [[at] for at in range(300_000)]\n    many = [[one] for one in many]\n    assert count() == 0 and kept\n",
        "pytest",
    )
    verdicts = sandbox.run([leaves, leaves, watches, watches] * 2)
    assert [v.status for v in verdicts] == ["failed", "failed", "passed", "passed"] * 2


def test_threads_share_a_sandbox(sandbox: Sandbox) -> None:
    found: list[str] = []
    job = Job(RIGHT, CHECK, "humaneval", entry_point="solve")
    threads = [threading.Thread(target=lambda: found.append(status(sandbox, job))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["passed"] * 4


AFTER = "import os, sys, time\nn = int(input())\nif os.fork() == 0:\n    time.sleep(0.3)\n    print(2 * n)\n    sys.exit()\n"
LEAVES = {
    "ends": (AFTER, "passed"),
    "ends at once": (AFTER + "os._exit(0)\n", "passed"),
    "fails": (AFTER + "1 / 0\n", "failed"),
    "leaves a child of a child": (AFTER.replace("    time", "    if os.fork(): os._exit(0)\n    time"), "passed"),
    "leaves one that closed its output": (
        "import os, time\nprint(2 * int(input()), flush=True)\nif os.fork() == 0:\n    os.close(1)\n    time.sleep(60)\n",
        "passed",
    ),
    "leaves one that never ends": (
        "import os, time\nprint(2 * int(input()), flush=True)\nif os.fork() == 0:\n    time.sleep(60)\n",
        "timeout",
    ),
    "leaves a pool": (
        "import multiprocessing\npool = multiprocessing.Pool(2)\nprint(pool.map(abs, [-2 * int(input())])[0])\n",
        "passed",
    ),
    "ends with what it registered": (
        "import atexit\nn = int(input())\natexit.register(lambda: print(2 * n))\n",
        "passed",
    ),
}


@pytest.mark.parametrize("how", LEAVES)
def test_what_a_program_starts_is_heard_to_its_end_as_in_a_pipeline(sandbox: Sandbox, how: str) -> None:
    program, expected = LEAVES[how]
    verdict = sandbox.run([Job(program, CASES, "stdio", timeout=1.0 if expected == "timeout" else 3.0)])[0]
    assert verdict.status == expected, verdict
    assert sandbox.run([Job("print(int(input()) * 2)", CASES, "stdio")])[0].passed


@pytest.mark.slow
def test_a_job_may_last_longer_than_a_supervisor_may_be_silent(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervised, "GRACE_SECONDS", 4.0)
    last = "import time\ndef solve(x):\n    time.sleep(6)\n    return x * 2\n"
    assert sandbox.run([Job(last, PYTEST, "pytest", timeout=20.0)])[0].passed


ALONE = """
import asyncio, builtins, logging, os, ssl, sys, warnings
assert type(builtins.input).__name__ == 'builtin_function_or_method'
assert logging.root.handlers == [] and logging.root.level == logging.WARNING
assert warnings.filters and warnings.filters[0][0] != 'always' and warnings.showwarning.__module__ == 'warnings'
assert os.environ['HOME'] == os.environ['PWD'] == os.getcwd() and 'PYTHONPATH' not in os.environ
assert ssl.create_default_context() and asyncio.run(asyncio.sleep(0, 1)) == 1
print(int(input()) * 2)
"""


def test_a_program_finds_its_interpreter_as_if_it_were_alone(sandbox: Sandbox) -> None:
    verdict = sandbox.run([Job(ALONE, CASES, "stdio", timeout=20.0)])[0]
    assert verdict.passed, verdict


PROCESSORS = """
import os, threading, time
def work():
    until = time.monotonic() + 0.8
    while time.monotonic() < until: pass
def processors(_):
    found = []
    thread = threading.Thread(target=lambda: (work(), found.append(len(os.sched_getaffinity(0)))))
    thread.start()
    pid = os.fork()
    if not pid:
        work()
        os._exit(len(os.sched_getaffinity(0)))
    thread.join()
    return [len(os.sched_getaffinity(0)), *found, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])]
"""


@pytest.mark.parametrize("fidelity", ["isolated", "shared"])
def test_a_job_whose_processes_wait_for_each_other_may_use_every_processor(sandbox: Sandbox, fidelity: str) -> None:
    everywhere = len(os.sched_getaffinity(0))
    tests = f"def check(f):\n    assert f(0) == [{everywhere}] * 3\n"
    job = Job(PROCESSORS, tests, "humaneval", entry_point="processors", fidelity=fidelity)
    assert [verdict.reason for verdict in sandbox.run([job, job])] == ["", ""]


@pytest.mark.parametrize("status_code", [70, 71, 112])
def test_a_candidate_cannot_claim_that_the_sandbox_broke(sandbox: Sandbox, status_code: int) -> None:
    leave = f"import os\nos._exit({status_code})\n"
    assert status(sandbox, Job(leave, CASES, "stdio")) in ("failed", "limit")
    assert status(sandbox, Job(leave, CHECK, "humaneval", entry_point="solve")) in ("failed", "limit")
