"""What every backend of the sandbox must do; the local one so far."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from grpo_rewards_sandbox import Job, Sandbox, SandboxUnavailable, _sandbox, _worker, guarantees, open_sandbox

PYTEST = "from solution import solve\ndef test_a():\n    assert solve(2) == 4\n"
CHECK = "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(5) == 10\n"
RIGHT, WRONG = "def solve(x):\n    return x * 2\n", "def solve(x):\n    return None\n"
CASES = [{"input": "2\n", "output": "4\n"}, {"input": "5\n", "output": "10\n"}]


@pytest.fixture(scope="module")
def sandbox():
    try:
        opened = open_sandbox("local", workers=2)
    except SandboxUnavailable as error:
        pytest.skip(f"NO SANDBOX TESTS RAN: {error}")
    with opened:
        yield opened


def status(sandbox: Sandbox, job: Job) -> str:
    return sandbox.run([job])[0].status


@pytest.mark.parametrize(
    ("tests", "format"),
    [(PYTEST, "pytest"), (CHECK, "humaneval"), (["assert solve(2) == 4"], "asserts")],
)
@pytest.mark.parametrize("fidelity", ["isolated", "shared"])
def test_right_passes_and_wrong_fails(sandbox, tests, format, fidelity):
    right = Job(RIGHT, tests, format, entry_point="solve", fidelity=fidelity)
    wrong = Job(WRONG, tests, format, entry_point="solve", fidelity=fidelity)
    assert [v.status for v in sandbox.run([right, wrong])] == ["passed", "failed"]


def test_stdio_counts_cases(sandbox):
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
def test_no_attack_passes(sandbox, name, tests, format):
    assert status(sandbox, Job(ATTACKS[name], tests, format, entry_point="solve", timeout=5.0)) in ("failed", "limit")


ESCAPES = {
    "host file": "open('/etc/shadow').read()",
    "network": "__import__('socket').socket(2, 1)",
    "vsock": "__import__('socket').socket(40, 1)",
    "chroot": "__import__('os').chroot('/tmp')",
    "host's temporary files": "1 / 0 if not __import__('os').listdir('/tmp') else None",
    "write to the system": "open('/usr/lib/x', 'w')",
    "namespace": "__import__('os').unshare(0x10000000) if hasattr(__import__('os'), 'unshare') else 1 / 0",
}


@pytest.mark.parametrize("name", ESCAPES)
def test_nothing_of_the_host_is_reachable(sandbox, name):
    code = f"def solve(x):\n    try:\n        {ESCAPES[name]}\n    except Exception:\n        return 'refused'\n    return 'escaped'\n"
    assert status(sandbox, Job(code, ["assert solve(1) == 'refused'"], "asserts")) == "passed"


def test_no_file_of_one_run_is_visible_to_the_next(sandbox):
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
    "fork bomb": ("import os\ndef solve(x):\n    while True:\n        os.fork()\n", None),
}


@pytest.mark.parametrize("name", LIMITS)
def test_limits_hold_and_the_next_job_passes(sandbox, name):
    code, expected = LIMITS[name]
    verdict = sandbox.run([Job(code, CHECK, "humaneval", entry_point="solve", timeout=2.0)])[0]
    assert verdict.status in ((expected,) if expected else ("failed", "limit", "timeout"))
    assert status(sandbox, Job(RIGHT, CHECK, "humaneval", entry_point="solve")) == "passed"


def test_threads_share_a_sandbox(sandbox):
    found: list[str] = []
    job = Job(RIGHT, CHECK, "humaneval", entry_point="solve")
    threads = [threading.Thread(target=lambda: found.append(status(sandbox, job))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["passed"] * 4


def test_a_killed_supervisor_is_replaced():
    with open_sandbox("local", workers=1) as opened:
        job = Job(RIGHT, CHECK, "humaneval", entry_point="solve")
        assert status(opened, job) == "passed"
        os.kill(opened._live[0].pid, 9)
        assert status(opened, job) == "passed"


def test_exit_leaves_no_process():
    code = (
        "from grpo_rewards_sandbox import Job, open_sandbox\nimport os\ns = open_sandbox('local', workers=1)\n"
        f"assert s.run([Job({RIGHT!r}, {CHECK!r}, 'humaneval', entry_point='solve')])[0].passed\n"
        "print(s._live[0].pid)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert not os.path.exists(f"/proc/{done.stdout.strip()}")


def test_a_child_that_breaks_in_its_own_set_up_is_unavailable(tmp_path, monkeypatch):
    program = tmp_path / "broken"
    shutil.copytree(_worker._PARENT, program)
    limits = program / "program" / "isolation" / "limits.py"
    with limits.open("a") as handle:
        handle.write("\n\ndef apply(limits, *, processes):\n    raise OSError('this machine refuses')\n")
    monkeypatch.setattr(_worker, "_PARENT", str(program))
    jobs = [
        Job(RIGHT, CHECK, "humaneval", entry_point="solve"),
        Job(RIGHT, PYTEST, "pytest", fidelity="shared"),
        Job("print(int(input()) * 2)", CASES, "stdio"),
    ]
    with open_sandbox("local", workers=1) as opened:
        verdicts = opened.run(jobs)
    assert [(v.status, v.tests_passed) for v in verdicts] == [("unavailable", 0)] * 3
    assert all("set-up" in verdict.reason for verdict in verdicts)


@pytest.mark.parametrize("status_code", [70, 71, 112])
def test_a_candidate_cannot_claim_that_the_sandbox_broke(sandbox, status_code):
    leave = f"import os\nos._exit({status_code})\n"
    assert status(sandbox, Job(leave, CASES, "stdio")) in ("failed", "limit")
    assert status(sandbox, Job(leave, CHECK, "humaneval", entry_point="solve")) in ("failed", "limit")


def test_a_stopped_supervisor_is_replaced(monkeypatch):
    monkeypatch.setattr(_sandbox, "_GRACE", 0.5)
    with open_sandbox("local", workers=1) as opened:
        stopped = opened._live[0].pid
        os.kill(stopped, signal.SIGSTOP)
        # more than a pipe holds: writing to it must not hang either
        big = Job(RIGHT + "# " + "x" * (1 << 20), CHECK, "humaneval", entry_point="solve", timeout=4.0)
        assert status(opened, big) == "passed"
    assert not os.path.exists(f"/proc/{stopped}")


def test_close_in_mid_batch_ends_everything():
    opened = open_sandbox("local", workers=1)
    sleep = Job("import time\ntime.sleep(60)\n", CHECK, "humaneval", entry_point="solve", timeout=120.0)
    found: list[str] = []
    runner = threading.Thread(target=lambda: found.extend(v.status for v in opened.run([sleep] * 3)))
    runner.start()
    pid = opened._live[0].pid
    children = f"/proc/{pid}/task/{pid}/children"
    candidates = []
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


def test_a_forked_child_gets_supervisors_of_its_own_and_leaves_its_parents_alone():
    job = Job(RIGHT, CHECK, "humaneval", entry_point="solve")
    with open_sandbox("local", workers=1) as opened:
        theirs = opened._live[0].pid
        assert status(opened, job) == "passed"
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            answer = "broken"
            try:
                ok = status(opened, job) == "passed"
                mine = opened._live[0].pid
                opened.close()
                answer = f"{ok} {mine} {os.path.exists(f'/proc/{mine}')}"
            finally:
                os.write(writer, answer.encode())
                os._exit(0)
        os.close(writer)
        os.waitpid(child, 0)
        ok, mine, alive = os.read(reader, 100).decode().split()
        os.close(reader)
        assert (ok, alive) == ("True", "False")
        assert int(mine) != theirs
        assert [worker.pid for worker in opened._live] == [theirs]
        assert status(opened, job) == "passed"


def test_guarantees_name_the_mode_that_is_used(sandbox):
    report = guarantees()
    assert report["local"] == sandbox.plan["mode"]
    assert report["docker"] is None
    assert report["note"]


def test_there_is_no_docker_backend_yet():
    with pytest.raises(SandboxUnavailable, match="docker"):
        open_sandbox("docker")
