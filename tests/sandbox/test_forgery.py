"""Attempts to have the tests' own machinery say "passed": each is one way, each with a test that it would have fooled.

The task is `solve(x)`, which doubles. None of the candidates does.
"""

from __future__ import annotations

from typing import Any

import pytest
from grpo_rewards_sandbox import Job, Sandbox

NUMBER = "import pytest\nfrom solution import solve\ndef test_a():\n    assert abs(solve(0.75) - 1.5) < 1e-6\n"
EQUAL = "from solution import solve\ndef test_a():\n    assert solve(2) == 4\n"
STAR = "import math\nfrom pytest import approx\nfrom solution import *\n"
NO = "def solve(x): return None\n"


def check(*lines: str) -> str:
    return "def check(candidate):\n" + "".join(f"    {line}\n" for line in lines)


def file(*lines: str, imports: str = "from solution import solve") -> str:
    return f"import math, pickle, pytest, typing, unittest.mock\n{imports}\nSECRET = 93417\ndef test_a():\n" + "".join(
        f"    {line}\n" for line in lines
    )


def in_a_task(line: str) -> str:
    """A group of tasks goes on when one of them is cancelled."""
    return file(
        "import asyncio", "async def ask():", f"    {line}", "async def go():", "    async with asyncio.TaskGroup() as group:",
        "        group.create_task(ask())", "asyncio.run(go())",
    )  # fmt: skip


def named(members: str) -> str:
    """A class that the tests name, so that its objects are asked about the tests' data."""
    return f"class solve:\n    n = 0\n    def __init__(s, *a): pass\n{members}"


HAS_ABS = "def abs(x): return 0\ndef solve(x): return x\n"
FIRST_ZERO = "    def __sub__(s, o):\n        solve.n += 1\n        return 0.0 if solve.n == 1 else solve.n\n"
GUESS = """    def __eq__(s, o):
        s.seen = getattr(s, 'seen', []) + [o]
        rows = [r for r in s.seen if type(r) is list and len(r) == len(s.seen[0])]
        common = [max(map(repr, c), key=list(map(repr, c)).count) for c in zip(*rows)]
        return len(s.seen) > 3 and type(o) is list and list(map(repr, o)) == common
"""
EVAL = "__import__('sys').modules['test_solution'].SECRET"
UNPICKLE = f'b"cbuiltins\\neval\\n(V{EVAL}\\ntR."'
HINT = "__import__('sys').modules['test_solution'].__dict__.__setitem__('SECRET', None) or int"
ATTACKS: dict[str, tuple[str, str | list[Any]]] = {
    "names: builtin": (HAS_ABS, check("assert abs(candidate(0.75) - 1.5) < 1e-6")),
    "names: builtin for asserts": (HAS_ABS, ["assert abs(solve(0.75) - 1.5) < 1e-6"]),
    "names: loop over nothing": ("def range(*a): return []\n" + NO, check("for i in range(9): assert candidate(i) == 2 * i")),
    "names: module": ("import math\nmath.isclose = lambda *a: True\n" + NO, ["assert math.isclose(solve(1), 2.0)"]),
    "names: star import": (HAS_ABS, STAR + "def test_a():\n    assert abs(solve(0.75) - 1.5) < 1e-6\n"),
    "names: star import of a helper": ("approx = lambda x: None\n" + NO, STAR + "def test_a():\n    assert solve(1) == approx(2)\n"),
    "names: builtins by __all__": (
        "__all__ = ['__builtins__', 'solve']\n__builtins__ = {'abs': lambda x: 0}\ndef solve(x): return x\n",
        STAR + "def test_a():\n    assert abs(solve(0.75) - 1.5) < 1e-6\n",
    ),
    "loops: zip ends early": (
        "def solve(x): raise StopIteration\n",
        file("for got, want in zip(map(solve, [1, 2]), [2, 4]): assert got == want"),
    ),
    "loops: all ends early": (
        "class End(StopIteration): pass\ndef solve(x): raise End\n",
        check("assert all(map(lambda x: candidate(x) == 2 * x, [1, 2]))"),
    ),
    "tasks: cancelled by a coroutine": (
        "import asyncio\nasync def solve(x): raise asyncio.CancelledError\n",
        in_a_task("assert await solve(2) == 4"),
    ),
    "tasks: cancelled later": (
        "import asyncio\nasync def solve(x):\n    await asyncio.sleep(0.01)\n    raise asyncio.CancelledError\n",
        in_a_task("assert await solve(2) == 4"),
    ),
    "tasks: cancelled by a call": (
        "import asyncio\ndef solve(x): raise asyncio.CancelledError\n",
        in_a_task("assert solve(2) == 4"),
    ),
    "swallowed: by a context manager": (
        "import contextlib\n@contextlib.contextmanager\ndef solve(x):\n    try: yield 3\n    except BaseException: pass\n",
        file("with solve(2) as got:", "    assert got == 4"),
    ),
    "swallowed: by an asynchronous one": (
        named("    async def __aenter__(s): return 3\n    async def __aexit__(s, *a): return True\n"),
        file("import asyncio", "async def go():", "    async with solve(2) as got:", "        assert got == 4", "asyncio.run(go())"),
    ),
    "swallowed: in a coroutine that is never awaited to its end": (
        "import asyncio\nasync def solve(f):\n    asyncio.create_task(f())\n    await asyncio.sleep(0.02)\n    return 1\n",
        file(
            "import asyncio", "async def fails():", "    await asyncio.sleep(0)", "    x = 1", "    assert x == 2",
            "assert asyncio.run(solve(fails)) == 1",
        ),
    ),
    "swallowed: behind a callback": (
        "def solve(call):\n    try: call(3)\n    except BaseException: return 4\n",
        file("def call(x):", "    assert x == 4", "assert solve(call) == 4"),
    ),
    "operators: difference is an object": (named("    __sub__ = lambda s, o: s\n    __abs__ = lambda s: 0.0\n"), NUMBER),
    "operators: first difference is nothing": (named(FIRST_ZERO), NUMBER),
    "operators: difference equals nothing": (
        named("    __sub__ = lambda s, o: s\n    __eq__ = lambda s, o: o == 0\n"),
        file("assert solve(2) - 4 == 0"),
    ),
    "operators: square of a difference": (
        named("    __sub__ = lambda s, o: s\n    __pow__ = lambda s, o: 0.0\n"),
        file("assert (solve(2) - 4) ** 2 < 1e-9"),
    ),
    "operators: between bounds": (named("    __lt__ = __gt__ = lambda s, o: True\n"), file("assert 3.9 < solve(2) < 4.1")),
    "operators: contains all": (named("    __contains__ = lambda s, o: True\n"), file("assert 2 in solve([2])")),
    "equality: reads the tolerance": (
        named("    __eq__ = lambda s, o: hasattr(o, 'expected')\n"),
        file("assert solve(0.75) == pytest.approx(1.5)"),
    ),
    "equality: the middle of what is asked": (named(GUESS), file("assert solve([1, 2, 3]) == [1, 2, 3, 1, 2, 3]")),
    "equality: every object": (
        named("    __eq__ = lambda s, o: True\n    __add__ = lambda s, o: s\n"),
        file("assert solve(1) + solve(2) == solve(3)"),
    ),
    "mocks: other checks": (
        "def solve(x, m): m.configure_mock(assert_called_once_with=lambda *a: None)\n",
        file("m = unittest.mock.Mock()", "solve(1, m)", "m.assert_called_once_with(14)"),
    ),
    "functions: open": (
        "def solve(f): return int(f('test_solution.py').read().split('SECRET = ')[1].split()[0])\n",
        file("assert solve(open) == SECRET"),
    ),
    "functions: unpickle": (f"def solve(f): return f({UNPICKLE})\n", file("assert solve(pickle.loads) == SECRET")),
    "functions: arguments of a partial": (
        "def solve(f): return f.args[0]\n",
        file("import functools", "assert solve(functools.partial(max, SECRET)) == SECRET"),
    ),
    "text: evaluated": (f"def solve(x): return {EVAL!r}\n", file("assert eval(solve(1)) == SECRET")),
    "text: unpickled": (f"def solve(x): return {UNPICKLE}\n", file("assert pickle.loads(solve(1)) == SECRET")),
    "text: a name, to a function under another name": (
        "def solve(x): return 'SECRET'\n",
        file("import sys", "here = sys.modules[__name__]", "look = getattr", "assert look(here, solve(1)) == SECRET"),
    ),
    "text: a name, to a function that is handed on": (
        "def solve(x): return 'SECRET'\n",
        file("import sys", "assert list(map(getattr, [sys.modules[__name__]], [solve(1)])) == [SECRET]"),
    ),
    "text: a name in a copy of a namespace": (
        "def solve(x): return 'SECRET'\n",
        file("names = dict(globals())", "assert names[solve(1)] == SECRET"),
    ),
    "text: a name that a namespace is asked for": (
        "def solve(x): return 'SECRET'\n",
        file("assert globals().get(solve(1)) == SECRET"),
    ),
    "text: a format under another name": (
        "def solve(x): return '{0.__globals__[SECRET]}'\n",
        file("write = str.format", "assert write(solve(1), test_a) == str(SECRET)"),
    ),
    "text: an annotation": (
        f'def solve(x: "{HINT}"): return None\n',
        file("typing.get_type_hints(solve)", "assert solve(1) == SECRET"),
    ),
    "skips: no parameters": (
        "CASES = []\n" + NO,
        "import pytest\nfrom solution import CASES, solve\n@pytest.mark.parametrize('x', CASES)\ndef test_a(x):\n"
        "    assert solve(x) == 2 * x\ndef test_b(): pass\n",
    ),
    "a method of the tests' class": (
        "def solve(r):\n    for name, value in dict(verify=lambda s, x: None, answer=7).items():\n        try: setattr(type(r), name, value)\n"
        "        except Exception: pass\n    return 7\n",
        "from solution import solve\nclass Ref:\n    answer = 42\n    def verify(self, x): assert x == self.answer\n"
        "def test_a():\n    r = Ref()\n    r.verify(solve(r))\n",
    ),
    "annotations that are no dict": (
        f"class D(dict): pass\nclass K: pass\nK.__annotations__ = D(x={HINT!r})\n" + NO,
        file("import inspect", "for look in (typing.get_type_hints, vars, lambda k: inspect.get_annotations(k, eval_str=True)):",
             "    try: look(K)", "    except Exception: pass", "assert solve(1) == SECRET", imports="from solution import K, solve"),
    ),
    "a decorator that runs no test": (
        "import functools\ndef deco(f): return functools.wraps(f)(lambda: None)\n" + NO,
        "from solution import deco, solve\nNAME = '__wrapped__'\n@deco\ndef test_a():\n    assert solve(2) == 4\ndef test_b(): pass\n",
    ),
    "a check brought home as a log": (
        "from program.border import stubs\ndef solve(f):\n    try: f(1)\n    except BaseException as e: number = e._border_test_exception\n"
        "    stubs.Here.peer.events.append(['w', {'t': number}])\n    return 2\n",
        file("def f(x): assert x == 5", "assert solve(f) == 2"),
    ),
    "skips: a flag": (
        "FAST = True\n" + NO,
        "import pytest\nfrom solution import FAST, solve\ndef test_a():\n    if FAST: pytest.skip('x')\n"
        "    assert solve(1) == 2\ndef test_b(): pass\n",
    ),
}  # fmt: skip


def test_no_attack_forges_its_test(sandbox: Sandbox) -> None:
    jobs = [
        Job(candidate, tests, "asserts" if isinstance(tests, list) else "humaneval" if "def check" in tests else "pytest",
            entry_point="" if isinstance(tests, list) else "solve", timeout=5.0)
        for candidate, tests in ATTACKS.values()
    ]  # fmt: skip
    found = dict(zip(ATTACKS, sandbox.run(jobs), strict=True))
    assert {name: verdict for name, verdict in found.items() if verdict.status not in ("failed", "refused")} == {}


def test_what_is_right_of_two_answers_is_not_told_by_asking_both(sandbox: Sandbox) -> None:
    """Yes to the first question and no to all others is right once in 64 times, so never three times in a row."""
    first = named("    def __eq__(s, o):\n        s.n += 1\n        return s.n == 1\n")
    tests = file("assert solve(1) == 2", "assert solve(2) == 4", "assert solve(3) == 6", "assert solve('ab') == 'abab'")
    assert {verdict.status for verdict in sandbox.run([Job(first, tests, "pytest")] * 20)} == {"failed"}


@pytest.mark.parametrize("skipped", ["pytest.mark.skip", "pytest.mark.xfail", "pytest.mark.parametrize('x', [])"])
def test_what_the_tests_leave_out_themselves_is_no_failure(sandbox: Sandbox, skipped: str) -> None:
    argument = "x" if "parametrize" in skipped else ""
    tests = f"import pytest\n{EQUAL}@{skipped}\ndef test_b({argument}):\n    assert False\n"
    assert sandbox.run([Job("def solve(x): return 2 * x\n", tests, "pytest")])[0].passed


PEER = """
import sys
here = next(vars(module)["Here"] for module in list(sys.modules.values()) if hasattr(module, "Here"))
"""
ARRAYS = """
class Raw:
    pass

def solve(x):
    peer = here.peer
    real, number = peer.encode_object, peer.number()
    what = {"T": [%(dtype)r, {"T": [4]}, True]}
    forged = {"ND": [number, [what, *%(contents)s], {"T": ["C", %(dtype)r, {"T": [4]}, {"T": [%(stride)d]}]}, None]}
    peer.encode_object = lambda value: forged if type(value) is Raw else real(value)
    return Raw()
"""
_NUMBERS, _OBJECTS = ([{"b": "A" * 32}], "<i8"), ([1, 2, 3, 4], "|O")


@pytest.mark.slow
@pytest.mark.parametrize("stride", [-16, -8, 0, 1, 8, 2**50])
@pytest.mark.parametrize(("contents", "dtype"), [_NUMBERS, _OBJECTS])
def test_a_forged_array_lies_in_memory_of_its_own(sandbox: Sandbox, contents: Any, dtype: str, stride: int) -> None:
    tests = "import numpy as np\nfrom solution import solve\ndef test_a():\n    got = solve(2)\n    assert got.shape == (4,)\n    assert len(repr(got)) > 4\n"
    verdict = sandbox.run(
        [Job(PEER + ARRAYS % {"contents": contents, "dtype": dtype, "stride": stride}, tests, "pytest")]
    )[0]
    told = ("numpy", "broke the protocol", "MemoryError")
    assert verdict.passed or any(one in verdict.reason for one in told), verdict


@pytest.mark.parametrize(
    ("act", "reason"),
    [("here.peer.send(here.peer.packed(0, {'P': 99}))", "the candidate broke the protocol: "), ("__import__('os')._exit(0)", "process ended")],
)  # fmt: skip
def test_what_broke_the_border_is_said_in_words(sandbox: Sandbox, act: str, reason: str) -> None:
    verdict = sandbox.run(
        [Job(f"{PEER}def solve(x):\n    {act}\n    return 4\n", file("assert solve(2) == 4"), "pytest")]
    )[0]
    assert verdict.status == "failed"
    assert reason in verdict.reason
