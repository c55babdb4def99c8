"""The local backend without root, and with a root that may not mount: what is left there judges, refuses and cleans up.

These start as root and give up what the case lacks; each says loudly when it could not run.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

NOBODY = 65534
SCRIPT = """
import ctypes, json, os, sys
mode = sys.argv[1]
if os.geteuid() == 0 and os.environ.pop("AGAIN", ""):
    ctypes.CDLL(None).prctl(24, 21, 0, 0, 0)  # CAP_SYS_ADMIN out of the bounding set: gone after the next exec
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
from grpo_rewards_sandbox import Job, SandboxUnavailable, guarantees, open_sandbox
CHECK = "def check(candidate):\\n    assert candidate(2) == 4\\n"
FILE = "from solution import solve\\ndef test_a(tmp_path):\\n    assert solve(2) == 4\\n"
CASES = [{"input": "2\\n", "output": "4\\n"}]
RIGHT = "def solve(x):\\n    return x * 2\\n"
TRIED = "import fcntl, os, resource, socket\\ndef solve(x):\\n    try:\\n        {}\\n    except OSError:\\n        return 4\\n"
def jobs(program, limit=20.0, **options):
    check = Job(program, CHECK, "humaneval", entry_point="solve", timeout=limit, **options)
    return [check, Job(program, FILE, "pytest", timeout=20.0, **options)]
numpy = "try:\\n    import numpy\\nexcept ImportError:\\n    pass\\n"
right = [*jobs(RIGHT), *jobs(numpy + RIGHT), *jobs(RIGHT, fidelity="shared"), Job("print(int(input()) * 2)", CASES, "stdio")]
refused = [part for attempt in ATTEMPTS for part in jobs(TRIED.format(attempt.replace("HOST", str(os.getpid()))))[:1]]
hostile = [part for program in HOSTILE for part in (jobs(program, 1.0)[0], Job(program, CASES, "stdio", timeout=1.0))]
copied = [Job(COPIES, COMPARE, "pytest", timeout=20.0)]
full = [Job(FILL, CASES, "stdio", timeout=8.0)]
try:
    with open_sandbox("local", workers=2, allow=(mode,), python_path=os.environ["PYTHONPATH"].split(":")) as opened:
        said = {name: [v.status for v in opened.run(part)] for name, part in
                (("right", right), ("refused", refused), ("hostile", hostile), ("copied", copied), ("full", full), ("after", right))}
        print(json.dumps({"plan": opened.plan, "guarantees": guarantees()["local"], **said}))
except SandboxUnavailable as error:
    print(json.dumps({"unavailable": str(error)}))
"""
ATTEMPTS = [
    "open(FOREIGN).read()",
    "open('/etc/shadow').read()",
    "socket.socket(socket.AF_INET)",
    "open('/usr/x', 'w')",
    "os.kill(os.getppid(), 0) if os.getppid() else os.kill(2, 0)",
    "resource.prlimit(HOST, resource.RLIMIT_CPU, (1, 1))",
    "os.sched_setaffinity(HOST, os.sched_getaffinity(0))",
    "os.setpriority(os.PRIO_PROCESS, HOST, 19)",
]
SENT_BY_A_FILE = "fcntl.fcntl(0, fcntl.F_SETOWN, HOST)"  # matters to a process of the same user only
HOSTILE = [
    "def solve(x):\n    return 5\n",
    "import os\nos._exit(0)\n",
    "import os, signal\nos.kill(-1, signal.SIGKILL)\n",
    "import os, signal\nfor p in range(1, 40000):\n    try:\n        os.kill(p, signal.SIGSTOP)\n    except OSError:\n        pass\n",
    "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n",
    "class E:\n    __eq__ = lambda s, o: True\ndef solve(x):\n    return E()\n",
    "import glob\ndef solve(x):\n    return sum('4' in open(p).read() for p in glob.glob('/tmp/**/*', recursive=True)) and 4\n",
    "x = bytearray(1 << 33)\n",
    "import os\nfor _ in range(3000):\n    os.mkdir('d')\n    os.chdir('d')\n",
]
# a thread that puts what the tests wrote into the file that they hold it against, as far as it runs
COPIES = """
import os, threading
def copy(folder):
    while True:
        for name in set(os.listdir(folder)) - {"out"}:
            with open(folder + "/out", "w") as out, open(f"{folder}/{name}") as text: out.write(text.read())
def solve(folder):
    open(folder + "/out", "w").close()
    threading.Thread(target=copy, args=[folder], daemon=True).start()
"""
COMPARE = """
from solution import solve
def test_a(tmp_path):
    solve(str(tmp_path))
    (tmp_path / "want").write_text("right")
    sum(range(5000000))
    assert (tmp_path / "out").read_text() == (tmp_path / "want").read_text()
"""
FILL = "for n in range(10 ** 6):\n    with open(str(n), 'wb') as f:\n        for _ in range(8):\n            f.write(bytes(1 << 20))\n"


def run(command: list[str], user: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, user=user, group=user, extra_groups=[], env=environment(), cwd="/", check=False,
                          capture_output=True, text=True, timeout=200)  # fmt: skip


def interpreter(user: int) -> str:
    """A Python of this version that this user may run, with this one's packages."""
    for path in (os.path.realpath(sys.executable), f"/usr/bin/python3.{sys.version_info.minor}", "/usr/bin/python3"):
        code = f"import sys, grpo_rewards_sandbox, pytest; assert sys.version_info[:2] == {sys.version_info[:2]}"
        with contextlib.suppress(OSError):
            if run([path, "-c", code], user).returncode == 0:
                return path
    pytest.skip(f"NO TEST WITHOUT PRIVILEGES RAN: user {user} can run no Python with the packages of this one")


def environment() -> dict[str, str]:
    packages = os.pathsep.join(p for p in sys.path if p.startswith("/") and not p.startswith(sys.base_prefix + "/"))
    return {"PATH": os.defpath, "PYTHONPATH": packages, "PYTHONDONTWRITEBYTECODE": "1", "AGAIN": "1"}


@pytest.mark.skipif(os.geteuid() != 0, reason="NO TEST WITHOUT PRIVILEGES RAN: it starts as root and gives root up")
@pytest.mark.parametrize(
    ("mode", "user"), [("namespaces", NOBODY), ("landlock", NOBODY), ("namespaces", 0), ("user", 0)]
)
def test_less_privilege_judges_and_refuses(mode: str, user: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    attempts = [attempt.replace("FOREIGN", repr(str(secret))) for attempt in ATTEMPTS]
    attempts += [SENT_BY_A_FILE] if mode == "landlock" else []
    texts = f"HOSTILE = {HOSTILE!r}\nCOPIES = {COPIES!r}\nCOMPARE = {COMPARE!r}\nFILL = {FILL!r}\n"
    script = f"ATTEMPTS = {attempts!r}\n{texts}{SCRIPT}"
    done = run([interpreter(NOBODY if mode == "user" else user), "-c", script, mode], user)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    if "unavailable" in found:
        pytest.skip(f"NO TEST OF MODE {mode} AS USER {user} RAN: {found['unavailable']}")
    assert found["plan"]["mode"] == mode
    assert found["plan"]["user_namespace"] == (mode == "namespaces")
    assert bool(found["plan"]["users"][1]) == (user == 0)
    assert set(found["right"]) == set(found["after"]) == set(found["refused"]) == {"passed"}
    assert found["copied"] == ["failed"]
    assert found["full"] == ["limit"]
    assert set(found["hostile"]) <= {"failed", "limit", "timeout"}
