"""The format `calls`: a function or method called with values, its results compared as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from grpo_rewards_sandbox import Job, Sandbox, SandboxUnavailable, open_sandbox

LIST = "class Solution:\n    def f(self, x):\n"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    try:
        opened = open_sandbox("local", workers=1)
    except SandboxUnavailable as problem:
        pytest.skip(str(problem))
    with opened:
        yield opened


def calls(*pairs: tuple[list[Any], Any]) -> list[dict[str, Any]]:
    return [{"arguments": arguments, "result": result} for arguments, result in pairs]


def judged(sandbox: Sandbox, program: str, tests: list[dict[str, Any]], **given: Any) -> Any:
    given = {"entry_point": "f", "compare": "floats", **given}
    return sandbox.run([Job(program, tests, "calls", **given)])[0]


@pytest.mark.parametrize(
    ("program", "tests", "given"),
    [
        ("def f(x):\n    return x + 1", calls(([1], 2), ([2], 3)), {}),
        ("def f(x):\n    return x + 1", [{"keywords": {"x": 1}, "result": 2}], {}),
        ("def f(x):\n    return {1.5: 2, True: 3, None: 4, 7: 5}", calls(([1], {"1.5": 2, "true": 3, "null": 4, "7": 5})), {}),
        ("class Solution:\n    n = 0\n    def __init__(self):\n        self.n = 0\n    def f(self, x):\n        self.n += 1\n        return x + self.n", calls(([1], 2), ([2], 3)), {}),
        ("class Other:\n    def f(self, x):\n        return x\nclass Solution:\n    def f(self, x):\n        return -x", calls(([1], -1)), {"entry_point": "Solution().f"}),
        ("class Other:\n    def f(self, x):\n        return x\nclass Mine:\n    def f(self, x):\n        return -x", calls(([1], -1)), {"classes": ("Mine",)}),
        (LIST + "        x.sort()", calls(([[3, 1, 2]], [1, 2, 3])), {"returns": "argument 0"}),
        (LIST + "        done = None\n        while x:\n            x.next, done, x = done, x, x.next\n        return done", calls(([[3, 1, 2]], [2, 1, 3]), ([[]], [])), {"parameters": ("ListNode",), "returns": "ListNode"}),
        (LIST + "        if x:\n            x.left, x.right = self.f(x.right), self.f(x.left)\n        return x", calls(([[1, 2, None, 3]], [1, None, 2, None, 3])), {"parameters": ("TreeNode",), "returns": "TreeNode"}),
        ("def f(xs):\n    return [x.val for x in xs if x]", calls(([[[1, 2], [], [3]]], [1, 3])), {"parameters": ("[ListNode]",)}),
        ("def f(x):\n    return {1: (2, [3.0000000001])}", calls(([1], {"1": [2, [3.0]]})), {}),
        ("def f(d):\n    return d[1]", calls(([{"1": "one"}], "one")), {}),
        ("def f(x):\n    return 2 ** 200 + 1", calls(([1], 2**200 + 1)), {}),
        ("def gcd(a, b):\n    return 2", calls(([4, 6], 2)), {"entry_point": "gcd", "setup": "from math import *"}),
        ("def f(n):\n    return n and 1 + f(n - 1)", calls(([20000], 20000)), {}),
        ("seen = []\ndef f(x):\n    seen.append(x)\n    return seen", calls(([1], [1]), ([2], [1, 2]), ([3], [1, 2, 3])), {}),
        ("def f(x):\n    x.append(1)\n    return len(x)", calls(([[]], 1), ([[]], 1)), {}),
        ("def f(d):\n    return d[-1] + d[20]", calls(([{"-1": 1, "20": 2}], 3)), {}),
        ("def f(d):\n    return d['01']", calls(([{"01": 1, "2": 3}], 1)), {}),
        ("from collections import defaultdict, namedtuple\nP = namedtuple('P', 'x y')\ndef f(x):\n    return [P(x, (x,)), defaultdict(int, {x: True}), '{', None, -0.5, 2 ** 70]", calls(([1], [[1, [1]], {"1": True}, "{", None, -0.5, 2**70])), {"compare": "unordered"}),
        ("from enum import IntEnum\nclass E(IntEnum):\n    A = 7\ndef f(x):\n    return [E.A, (x, '\u00e9\ud83d\ude00'), 1e300, 3.0]", calls(([1], [7, [1, "é😀"], 1e300, 3])), {}),
        ("def f(self):\n    return self", [*calls(([5], 5)), {"keywords": {"self": 6}, "result": 6}], {}),
        ("class Solution:\n    def f(this, self):\n        return self", [{"keywords": {"self": 6}, "result": 6}], {}),
        ("def f(x):\n    print('so')\n    return pow(x, 2, 7)", calls(([3], 2)), {"setup": "from math import *\nfrom builtins import *"}),
    ],
)  # fmt: skip
def test_right_programs_pass(
    sandbox: Sandbox, program: str, tests: list[dict[str, Any]], given: dict[str, Any]
) -> None:
    verdict = judged(sandbox, program, tests, **given)
    assert (verdict.status, verdict.tests_passed) == ("passed", len(tests)), verdict.reason


HACKED = "def f(x):\n    import sys\n    for module in list(sys.modules.values()):\n        for name in ('_encode', 'plain'):\n            if hasattr(module, name):\n                setattr(module, name, lambda *a: {})\n    return 0"

NO_WORDS = "import sys\nfor module in list(sys.modules.values()):\n    if getattr(module, '__name__', '').endswith('border.calling'):\n        module.written = lambda value: '{\"e\": \"\"}'\ndef f(x):\n    return 0"


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (NO_WORDS, "f(1): "),
        ("def f(x):\n    return x", "f(1): expected 2, got 1"), ("def g(x):\n    return 2", "neither the function f nor a class"), ("def f(x):\n    print(2)", "got None"),
        ("from math import isqrt as f", "got 1"), ("def f(x):\n    return input()", "EOFError"), ("def f(x):\n    raise SystemExit", "SystemExit"),
        ("def f(x):\n    class E(int):\n        def __eq__(self, other): return True\n    return E(7)", "got 7"),
        ("class E:\n    def __eq__(self, other): return True\ndef f(x):\n    return E()", "an object of class E"),
        ("from unittest.mock import ANY\ndef f(x):\n    return ANY", "an object of class _ANY"), ("def f(x):\n    return map(int, '2')", "an object of class map"),
        ("def f(x):\n    return float('nan')", "got nan"), ("def f(x):\n    return '2'", "got '2'"), ("def f(x):\n    import os; os._exit(0)", "ended"), (HACKED, ""),
        ("def f(x):\n    x = []\n    x.append(x)\n    return x", "RecursionError"), ("def f(x):\n    return 10 ** 5000", "got"),
        ("def f(x):\n    for _ in range(5000):\n        x = [x]\n    return x", "RecursionError"), ("import json, marshal\ndef f(x):\n    marshal.loads = json.loads = None\n    return x", "got 1"), ("import os, sys\ndef f(x):\n    sys.stdout.flush()\n    [os.close(n) for n in range(3, 99)]", ""),
    ],
)  # fmt: skip
def test_wrong_programs_and_forgeries_fail(sandbox: Sandbox, program: str, words: str) -> None:
    verdict = judged(sandbox, program, calls(([1], 2), ([5], 6)))
    assert verdict.status == "failed"
    assert words in verdict.reason


def test_the_program_sees_neither_results_nor_how_they_are_compared(sandbox: Sandbox) -> None:
    program = "import gc\ndef f(x):\n    seen = repr([o for o in gc.get_objects() if type(o) in (list, dict, str)])\n    return 987_654 * 1_000_003 if str(987_654 * 1_000_003) in seen else 0"
    assert judged(sandbox, program, calls(([1], 987_654 * 1_000_003))).tests_passed == 0


def test_thousands_of_calls_and_large_values_cross(sandbox: Sandbox) -> None:
    tests = calls(*(([n, "x" * 6000], n + 6000) for n in range(2000)))
    assert judged(sandbox, "def f(n, s):\n    return n + len(s)", tests).tests_passed == 2000
    assert judged(sandbox, "def f(n):\n    return 'y' * n", calls(*(([n], "y" * n) for n in [1 << 20] * 6))).passed


def test_a_call_that_does_not_end_is_a_timeout(sandbox: Sandbox) -> None:
    verdict = judged(sandbox, "def f(x):\n    while x > 1: pass\n    return x", calls(([1], 1), ([2], 2)), timeout=0.5)
    assert verdict.status == "timeout"


def test_of_the_setup_a_program_has_plain_classes_and_imports_alone(sandbox: Sandbox) -> None:
    setup = "import math\nclass Pair:\n    def __init__(self, a=0):\n        self.a = a\nLIMIT = 9\ndef reference(x):\n    return x * x\n"
    found = "def f(x):\n    return [Pair(x).a, math.isqrt(x)]"
    assert judged(sandbox, found, calls(([9], [9, 3])), setup=setup).passed
    for taken in ("reference(x)", "LIMIT", "globals().get('reference', abs)(x)"):
        verdict = judged(sandbox, f"def f(x):\n    return {taken}", calls(([3], 9)), setup=setup)
        assert verdict.status == "failed", verdict
