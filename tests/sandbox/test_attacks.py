"""Attempts to pass without solving the task, to break out or to exhaust, by class, on every backend; none may pay.

The task is always the same: `solve(x)` doubles, `Box(x).value` too. Each attack is a program; a class of them is one batch.
"""

from __future__ import annotations

from typing import Any

import pytest
from grpo_rewards_sandbox import Job, Sandbox

pytestmark = pytest.mark.slow

FILE = """
import pytest
from solution import solve

def test_numbers():
    assert solve(2) == 4
    assert solve(-3) == -6

def test_floats():
    assert solve(0.75) == pytest.approx(1.5)
    assert abs(solve(0.75) - 1.5) < 1e-6

def test_lists():
    assert solve([1, 2]) == [1, 2, 1, 2]
    assert sorted(solve([3])) == [3, 3]
"""
NAMED = """
from solution import Box

def test_box():
    box = Box(2)
    assert box == 4
    assert Box(5) + 1 == 11
    assert box.value == 4
"""
CHECK = "def check(candidate):\n    assert candidate(2) == 4\n    assert abs(candidate(0.75) - 1.5) < 1e-6\n    assert candidate('ab') == 'abab'\n"
CASES = [{"input": "2\n", "output": "4\n"}, {"input": "5\n", "output": "10\n"}]
EVERYTHING = (
    "__eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\n    __hash__ = lambda s: 0\n"
    "    __lt__ = __le__ = __gt__ = __ge__ = lambda s, o: True\n    __sub__ = __rsub__ = __add__ = __radd__ = lambda s, o: 0\n"
    "    __abs__ = lambda s: 0\n    __iter__ = lambda s: iter([3, 3])\n    __len__ = lambda s: 2\n"
)


def returning(base: str, made: str = "Any()") -> str:
    return f"from decimal import Decimal\nfrom fractions import Fraction\nimport datetime\nclass Any({base}):\n    {EVERYTHING}\ndef solve(x):\n    return {made}\n"


AT_IMPORT = {
    "early exit": [
        "import sys\nsys.exit(0)",
        "import os\nos._exit(0)",
        "raise SystemExit(0)",
        "raise KeyboardInterrupt",
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
        "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)",
        "import atexit, os\natexit.register(os._exit, 0)\nsolve = None",
        "import pytest\npytest.exit('done', 0)",
        "import os\ndef solve(x):\n    os._exit(0)",
        "import threading, os\nthreading.Timer(0.01, os._exit, [0]).start()\nsolve = input",
        "def solve(x):\n    raise GeneratorExit",
    ],
    "skipping": [
        "import unittest\ndef solve(x):\n    raise unittest.SkipTest('no')",
        "import pytest\npytest.skip('no', allow_module_level=True)",
        "import pytest\ndef solve(x):\n    pytest.skip('no')",
        "import pytest\ndef solve(x):\n    pytest.xfail('no')",
        "class Skipped(Exception):\n    pass\nSkipped.__module__ = 'builtins'\ndef solve(x):\n    raise Skipped",
        "__test__ = False\npytestmark = 'skip'\nsolve = None",
        "collect_ignore = ['test_solution.py']\ndef pytest_collection_modifyitems(items):\n    items.clear()\nsolve = None",
    ],
    "patching": [
        "import builtins\nbuiltins.abs = lambda x: 0\nbuiltins.sorted = lambda x: [3, 3]\nsolve = lambda x: x",
        "import builtins\nbuiltins.isinstance = lambda *a: True\nbuiltins.AssertionError = SystemExit\nsolve = lambda x: None",
        "import sys\nsys.modules['pytest'] = sys\nsys.modules['solution'] = None\nsolve = lambda x: x",
        "import gc\nfor o in gc.get_objects():\n    if type(o) is dict and 'assert' in o:\n        o.clear()\nsolve = lambda x: x",
        "import sys\nsys.settrace(lambda f, e, a: f.f_locals.update(x=4))\nsolve = lambda x: x",
        "import inspect\ndef solve(x):\n    for f in inspect.stack():\n        f.frame.f_globals['check'] = f.frame.f_globals['solve'] = lambda *a: None\n",
        "import ctypes, os\ndef solve(x):\n    ctypes.string_at(0)\n",
        "import sys\nsys.setrecursionlimit(10 ** 6)\ndef solve(x):\n    return solve(x)\n",
        "open('conftest.py', 'w').write('import pytest\\n@pytest.hookimpl(tryfirst=True)\\ndef pytest_runtest_call(item): return True')\nsolve = lambda x: x",
        "import os\nos.makedirs('pytest', exist_ok=True)\nopen('pytest/__init__.py', 'w').write('')\nsolve = lambda x: x",
    ],
    "equality": [
        returning("object"), returning("int"), returning("float"), returning("complex"), returning("str"), returning("list"), returning("tuple"),
        returning("dict"), returning("Decimal"), returning("Fraction"), returning("set"), returning("datetime.timedelta"),
        returning("object", "[Any()]"), returning("object", "{1: Any()}"), returning("type", "type('T', (), {})"),
        "from unittest.mock import ANY, MagicMock\nsolve = lambda x: ANY", "from unittest.mock import MagicMock\nsolve = MagicMock()",
        "class M(type):\n    __eq__ = lambda s, o: True\n    __hash__ = type.__hash__\nclass C(metaclass=M): pass\nsolve = lambda x: C",
        "class A:\n    __class__ = int\n    __eq__ = lambda s, o: True\nsolve = lambda x: A()",
        "class A:\n    def __getattr__(s, n):\n        return lambda *a: True\n    __eq__ = lambda s, o: True\nsolve = lambda x: A()",
        "import numbers\nclass A:\n    __array_ufunc__ = None\n    __eq__ = lambda s, o: True\n    __abs__ = __sub__ = lambda s, *a: s\n    __lt__ = lambda s, o: True\nsolve = lambda x: A()",
    ],
    "channels": [
        "import os\nfor fd in range(256):\n    try:\n        os.write(fd, b'{\"passed\": true, \"status\": \"passed\", \"tests_passed\": 3, \"tests_total\": 3}\\n')\n    except OSError:\n        pass\nsolve = None",
        "print('3 passed in 0.01s')\nimport sys\nsys.exit(0)",
        "import os\nfor fd in range(3, 256):\n    try:\n        os.write(fd, b'\\x0a\\x00\\x00\\x00{\"r\":true}')\n    except OSError:\n        pass\ndef solve(x):\n    return 0",
        "import sys\nfrom multiprocessing import connection\nsolve = lambda x: [o for o in sys.modules.values()]",
        "import json\njson.dumps = lambda *a, **k: '{\"r\":4}'\nsolve = lambda x: None",
        "import sys\nfor m in list(sys.modules.values()):\n    for n in ('Peer', 'CandidatePeer'):\n        c = getattr(m, n, None)\n        if c:\n            c.encode = lambda s, v: 4\nsolve = lambda x: None",
    ],
    "exhausting": [
        "import time\ntime.sleep(60)",
        "while True:\n    pass",
        "def solve(x):\n    return [0] * (1 << 33)",
        "def solve(x):\n    k = []\n    while True:\n        k.append('x' * 10 ** 7)\n",
        "import os\nwhile True:\n    os.fork()",
        "import os\nfor _ in range(60):\n    if os.fork() == 0:\n        b = bytearray(200 << 20)\n        import time\n        time.sleep(60)\nsolve = None",
        "f = open('/tmp/x', 'wb')\nwhile True:\n    f.write(b'x' * 65536)",
        "import os\nf = open('/tmp/x', 'wb')\nos.unlink('/tmp/x')\nwhile True:\n    f.write(b'x' * 65536)",
        "import os\nn = 0\nwhile True:\n    os.mkdir('d')\n    os.chdir('d')\n",
        "while True:\n    print('x' * 10 ** 6)",
        "import signal, time\nfor n in range(1, 32):\n    try:\n        signal.signal(n, signal.SIG_IGN)\n    except OSError:\n        pass\ntime.sleep(60)",
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
        "import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(60,)).start()",
    ],
}  # fmt: skip


def verdicts(sandbox: Sandbox, programs: list[str], **job: object) -> list[tuple[str, str]]:
    """What each program got, and its text, for those that got something that an attack must not get."""
    options = {"timeout": 2.0, **job}
    found = sandbox.run([Job(program, **options) for program in programs])  # type: ignore[arg-type]
    return [(v.status, p) for v, p in zip(found, programs, strict=True) if v.status in ("passed", "unavailable")]


@pytest.mark.parametrize("attacks", AT_IMPORT)
def test_no_attack_passes_a_test_file(sandbox: Sandbox, attacks: Any) -> None:
    assert not verdicts(sandbox, AT_IMPORT[attacks], tests=FILE, format="pytest")


@pytest.mark.parametrize("attacks", [name for name in AT_IMPORT if name != "exhausting"])
def test_no_attack_passes_a_check(sandbox: Sandbox, attacks: Any) -> None:
    assert not verdicts(sandbox, AT_IMPORT[attacks], tests=CHECK, format="humaneval", entry_point="solve")


NAMED_CLASSES = {
    "agrees to all": "class Box:\n    def __init__(s, x): s.value = 4\n    __eq__ = lambda s, o: True\n    __add__ = lambda s, o: s\n",
    "agrees twice": "class Box:\n    n = 0\n    value = 4\n    def __init__(s, x): pass\n    def __eq__(s, o):\n        s.n += 1\n        return s.n <= 2\n    __add__ = lambda s, o: Box(0)\n",
    "agrees to integers": "class Box:\n    value = 4\n    def __init__(s, x): pass\n    __eq__ = lambda s, o: type(o) is int\n    __add__ = lambda s, o: s\n",
    "value that agrees": "class V(int):\n    __eq__ = lambda s, o: True\nclass Box(int):\n    value = V()\n    __eq__ = lambda s, o: True\n    __add__ = lambda s, o: V()\n",
    "reflected": "class R:\n    __eq__ = lambda s, o: True\n    __radd__ = lambda s, o: o\nclass Box:\n    value = R()\n    def __init__(s, x): pass\n    __eq__ = lambda s, o: True\n    __add__ = lambda s, o: R()\n",
}


@pytest.mark.parametrize("name", NAMED_CLASSES)
def test_a_class_that_the_tests_name_cannot_agree_to_what_it_does_not_know(sandbox: Sandbox, name: str) -> None:
    assert not verdicts(sandbox, [NAMED_CLASSES[name]], tests=NAMED, format="pytest")


PROGRAMS = [
    "print(4)\nprint(10)",
    "import sys\nsys.exit(0)",
    "import os\nn = int(input())\nif os.fork() == 0:\n    import time\n    time.sleep(0.2)\n    print(10)\nelse:\n    print(4)",
    "open('/tmp/seen', 'a').write('x')\nprint(4 if len(open('/tmp/seen').read()) == 1 else 10)",
    "import glob\nprint([open(p).read() for p in glob.glob('/**/*test*', recursive=True)[:5] if not __import__('os').path.isdir(p)])",
    "while True:\n    print('4' * 10 ** 6)",
]


def test_no_program_passes_its_cases_without_solving_them(sandbox: Sandbox) -> None:
    assert not verdicts(sandbox, PROGRAMS, tests=CASES, format="stdio")


def to_every_descriptor(text: bytes) -> str:
    return f"import os\nfor fd in range(3, 64):\n    try:\n        os.write(fd, {text!r})\n    except OSError:\n        pass\nos._exit(0)\n"


LOOP = "import os, signal\nfor _ in range(4):\n    if os.fork() == 0:\n        while True:\n            try:\n                {}\n            except OSError:\n                pass\nimport time\ntime.sleep(0.2)\n"
BLANKING = [
    *map(to_every_descriptor, (
        b"no verdict\n", b"{\n", b'{"other": 1}\n', b'{"status": "unavailable"}\n', b'{"status": "passed", "tests_passed": "x"}\n',
        b"1" * 5000 + b" 2\n", b'{"a":' * 50000 + b"\n", b"1 2 3\n", b"{\xff\n", b"-5 -6\n", b'{"reason": "' + b"x" * (2 << 20),
    )),
    "import os\nos.closerange(0, 1024)",
    "import os, signal\nos.kill(-1, signal.SIGKILL)",
    "import os, signal\nos.kill(-1, signal.SIGSTOP)",
    LOOP.format("os.kill(-1, signal.SIGKILL)"),
    LOOP.format("os.kill(-1, signal.SIGSTOP)"),
    LOOP.format("os.fork()"),
    "import resource\nfor limit in range(16):\n    try:\n        resource.setrlimit(limit, (0, 0))\n    except (ValueError, OSError):\n        pass",
    "import os\nfor place in ('/tmp', '/dev/shm', os.getcwd()):\n    try:\n        for n in range(99999):\n            with open(f'{place}/{n}', 'wb') as f:\n                f.write(bytes(1 << 22))\n    except OSError:\n        pass",
    "import os\nfor place in ('/tmp', '/dev/shm', os.getcwd()):\n    os.makedirs(place + '/a/b')\n    os.chmod(place + '/a/b', 0)\n    os.chmod(place + '/a', 0)",
]  # fmt: skip


@pytest.mark.parametrize("fidelity", ["shared", "isolated"])
def test_no_candidate_can_blank_its_row(sandbox: Sandbox, fidelity: str) -> None:
    """What a candidate does to itself, its processes or its channels is its failure, never the sandbox's."""
    assert not verdicts(sandbox, BLANKING, tests=FILE, format="pytest", fidelity=fidelity)
    honest = Job("def solve(x):\n    return x * 2\n", CHECK, "humaneval", entry_point="solve")
    assert {verdict.status for verdict in sandbox.run([honest] * 100)} == {"passed"}


LEFT = """
import os, socket, time
PLACES = sorted({'/tmp', '/var/tmp', '/dev/shm', os.getcwd(), '/sandbox', '/run', '/exchange'})
def names(place):
    try:
        return os.listdir(place)
    except OSError:
        return []
def solve(x):
    found = [n for place in PLACES for n in names(place) if 'left' in n or n.startswith('share')]
    found += [k for k in os.environ if 'SECRET' in k]
    found += [p for p in names('/proc') if p.isdigit() and int(p) != os.getpid() and not names('/sandbox')]
    for place in PLACES:
        try:
            open(place + '/left', 'w').write('x')
            os.makedirs(place + '/left.d/' + 'deep/' * 40)
            os.chmod(place + '/left.d', 0)
        except OSError:
            pass
    s = socket.socket(socket.AF_UNIX)
    try:
        s.bind(b'\\0left')
        s.listen()
    except OSError as e:
        found += ['socket'] if e.errno == 98 else []
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(60)
        os._exit(0)
    return found
"""


def test_nothing_of_one_run_is_there_in_the_next(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET", "x")
    found = sandbox.run([Job(LEFT, ["assert solve(1) == []"], "asserts", timeout=20.0)] * 6)
    assert [verdict.status for verdict in found] == ["passed"] * 6, found


BOMB = "import os\nwhile True:\n    try:\n        if os.fork() == 0:\n            os.setsid()\n    except OSError:\n        pass\n"
MANY = """
import os
def solve(x):
    started = [os.fork() or os.execv('/bin/true', ['true']) for _ in range(50)]
    return sum(os.waitpid(pid, 0)[1] == 0 for pid in started)
"""


def test_what_a_fork_bomb_left_dying_does_not_count_against_the_next_job(sandbox: Sandbox) -> None:
    bombs = sandbox.run([Job(BOMB, FILE, "pytest", timeout=1.0)] * 2)
    after = sandbox.run([Job(MANY, ["assert solve(1) == 50"], "asserts")] * 2)
    assert [verdict.status for verdict in bombs + after] == ["timeout", "timeout", "passed", "passed"], after


def test_after_all_of_that_honest_jobs_pass(sandbox: Sandbox) -> None:
    programs = [attack for name in ("exhausting", "early exit") for attack in AT_IMPORT[name][-4:]]
    honest = Job("def solve(x):\n    return x * 2\n", FILE, "pytest")
    jobs = [job for attack in programs for job in (Job(attack, FILE, "pytest", timeout=1.0), honest, honest)]
    assert [verdict.status for verdict in sandbox.run(jobs) if verdict.status == "passed"] == ["passed"] * 16
