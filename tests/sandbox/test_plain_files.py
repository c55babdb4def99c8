"""A plain test file is judged without a session of pytest, and the verdict is the one that a session gives."""

from __future__ import annotations

import functools
from typing import cast

import pytest
from grpo_rewards_sandbox import Job, Sandbox
from grpo_rewards_sandbox.program.border import proxies
from grpo_rewards_sandbox.program.border.messages import NOBODY
from grpo_rewards_sandbox.program.border.trusted import TrustedPeer
from grpo_rewards_sandbox.program.formats import candidate_side, checks, classes, names, review, visible
from grpo_rewards_sandbox.program.formats.names import plain_file
from grpo_rewards_sandbox.program.protocol import JobMessage

RIGHT = "def double(x):\n    return 2 * x\n"
BY_NAME = "from solution import double\n"
FILES = {
    "passes": (RIGHT, BY_NAME + "def test_a():\n    assert double(2) == 4\ndef test_b():\n    assert double(0) == 0\n"),
    "star": (RIGHT, "from solution import *\ndef check(f):\n    assert f(3) == 6\ndef test_it():\n    check(double)\n"),
    "fails_one": (RIGHT, BY_NAME + "def test_a():\n    assert double(2) == 5\ndef test_b():\n    assert double(0) == 0\n"),
    "fails_with_words": (RIGHT, BY_NAME + "def test_a():\n    assert double(2) == 5, 'no'\n"),
    "raises": ("def double(x):\n    raise ValueError('no')\n", BY_NAME + "def test_a():\n    assert double(2) == 4\n"),
    "not_there": ("x = 1\n", BY_NAME + "def test_a():\n    assert double(2) == 4\n"),
    "does_not_compile": ("def double(x:\n", BY_NAME + "def test_a():\n    assert double(2) == 4\n"),
    "defined_twice": (RIGHT, BY_NAME + "def test_a():\n    assert double(2) == 5\ndef test_a():\n    assert double(2) == 4\n"),
    "fails_as_it_is_read": (RIGHT, BY_NAME + "assert double(1) == 3\ndef test_a():\n    assert double(2) == 4\n"),
    "tests_of_the_candidate": (RIGHT + "def test_own():\n    assert 0\nasync def test_two():\n    assert 0\n",
        "from solution import double, test_own, test_two\ndef test_a():\n    assert double(2) == 4\n"),
    "ends_its_process": ("import os\ndef double(x):\n    os._exit(0)\n", BY_NAME + "def test_a():\n    assert double(2) == 4\n"),
    "exits": ("def double(x):\n    raise SystemExit\n", BY_NAME + "def test_a():\n    assert double(2) == 4\n"),
    "an_object_for_data": ("class Yes:\n    def __eq__(self, other):\n        return True\ndef double(x):\n    return Yes()\n",
        BY_NAME + "def test_a():\n    assert double(2) == 4\n"),
    "swallows": ("def double(x):\n    try:\n        x()\n    except BaseException:\n        pass\n    return 4\n",
        BY_NAME + "def test_a():\n    def fails():\n        assert double is None\n    assert double(fails) == 4\n"),
    "draws": (RIGHT, BY_NAME + "import random\nfrom string import digits\ndef test_a():\n    x = random.randint(1, 9)\n"
        "    assert double(x) == x + x\n    text = ''.join(random.choice(digits) for _ in range(9))\n"
        "    assert double(text) == text + text\n"),
    "draws_what_is_not_known": ("import random\ndef double(x):\n    return random.random()\n",
        BY_NAME + "import random\ndef test_a():\n    assert double(0) == random.random()\n"),
    "takes_the_place_of_a_builtin": (RIGHT + "abs = lambda x: 4\n",
        "from solution import *\ndef test_a():\n    assert abs(double(2)) == 4\ndef test_b():\n    assert abs(-3) == 4\n"),
}  # fmt: skip
NOT_PLAIN = {
    "a_mark": "@mark\ndef test_a():\n    pass\n",
    "a_parameter": "def test_a(x=1):\n    pass\n",
    "a_class": "class TestA:\n    def test_a(self):\n        pass\n",
    "a_hook": "def setup_module():\n    pass\ndef test_a():\n    pass\n",
    "another_name": "def check():\n    pass\ntest_b = check\ndef test_a():\n    pass\n",
    "imported_as_one": "from solution import f as test_b\ndef test_a():\n    pass\n",
    "a_module": "import os\ndef test_a():\n    pass\n",
    "no_test": "assert 1\n",
    "a_class_by_call": "def test_a():\n    type('K', (), {})\n",
    "a_class_by_arguments": "def test_a():\n    type(*('K', (), {}))\n",
    "a_class_by_another_name": "def test_a():\n    make = type\n    make('K', (), {})\n",
    "a_seed": "import random\ndef test_a():\n    random.seed(1)\n",
    "a_generators_state": "import random\ndef test_a():\n    random.setstate(random.getstate())\n",
    "a_generator_of_all": "import random\ndef test_a():\n    random._inst.random()\n",
    "a_builtin_that_acts": "def test_a():\n    setattr(test_a, 'x', 1)\n",
}


@pytest.mark.parametrize("name", FILES)
def test_a_plain_file_is_judged_as_by_a_session(sandbox: Sandbox, name: str) -> None:
    candidate, tests = FILES[name]
    by_session = tests + "\nlambda: 0\n"
    assert plain_file(tests, "solution")
    assert not plain_file(by_session, "solution")
    plain, session = sandbox.run([Job(candidate, text, "pytest", timeout=10.0) for text in (tests, by_session)])
    assert (plain.status, plain.tests_passed, plain.tests_total) == (
        session.status, session.tests_passed, session.tests_total)  # fmt: skip
    # of a process that ended the session says less
    assert plain.reason.removeprefix("collection: ") in session.reason or name == "ends_its_process"


def test_a_file_leaves_no_module_behind(sandbox: Sandbox) -> None:
    first = Job(
        RIGHT, "from random import double\ndef test_a():\n    assert double(2) == 4\n", "pytest", module="random"
    )
    second = Job(RIGHT, BY_NAME + "def test_a():\n    assert double(2) == 4\n", "pytest")
    third = Job(
        "", "from random import double\ndef test_a():\n    assert double(2) == 4\n", "pytest", module="solution"
    )
    assert [verdict.status for verdict in sandbox.run([first, second, third])] == ["passed", "passed", "failed"]


@pytest.mark.parametrize("name", NOT_PLAIN)
def test_what_asks_for_more_goes_to_a_session(name: str) -> None:
    assert not plain_file(NOT_PLAIN[name], "solution")


def test_refused_tests_leave_the_process_that_judges_to_the_next(sandbox: Sandbox) -> None:
    right = Job(
        "def solve(x): return x\n", "from solution import solve\ndef test_a():\n    assert solve(3) == 3\n", "pytest"
    )
    tests = "from solution import solve\ndef test_a():\n    def g(): pass\n    assert solve(1).format(f=g) == 'x'\n"
    verdicts = sandbox.run([Job("def solve(x): return 'x'\n", tests, "pytest"), right] * 20)
    assert [verdict.status for verdict in verdicts] == ["refused", "passed"] * 20


def test_a_session_inherits_what_its_tests_text_says() -> None:
    tests = "from solution import double\nimport pytest\n@pytest.fixture\ndef two(): return 2\ndef test_a(two):\n    assert double(two) == 4\n"
    job = cast(
        JobMessage,
        {"tests": tests, "setup": "", "module": "solution", "classes": [], "format": "pytest", "entry_point": ""},
    )
    checks.read(job)
    read = [
        part for module in (names, review, visible, classes, candidate_side, proxies) for part in vars(module).values()
    ]
    caches = [part for part in read if isinstance(part, functools._lru_cache_wrapper)]
    before = [cache.cache_info().misses for cache in caches]
    peer = checks.begun(job, NOBODY, quiet=False)
    assert isinstance(peer, TrustedPeer)
    assert [cache.cache_info().misses for cache in caches] == before


def test_checks_inherit_what_their_text_says() -> None:
    tests = ["import os\nassert double(2) == 4", "assert double(3) == 6"]
    job = cast(
        JobMessage,
        {"tests": tests, "setup": "", "module": "solution", "classes": [], "format": "asserts", "entry_point": ""},
    )
    checks.read(job)
    read = [part for module in (names, review, visible, classes) for part in vars(module).values()]
    caches = [part for part in read if isinstance(part, functools._lru_cache_wrapper)]
    before = [cache.cache_info().misses for cache in caches]
    assert isinstance(checks.begun(job, NOBODY, quiet=False), TrustedPeer)
    assert [cache.cache_info().misses for cache in caches] == before


BELOW_A_CLASS = (
    "class Node:\n    # what is shown to the candidate\n\n    def __init__(self, val=0):\n        self.val = val\n\n\n"
    "def shared_by(value):\n    part = 10 // value\n    assert part < 3\n\n"
)


def test_a_check_that_was_kept_from_being_made_is_found_below_a_class_of_the_setup(sandbox: Sandbox) -> None:
    candidate = "def each(value, check):\n    try: check(value)\n    except ZeroDivisionError: pass\n"
    job = Job(candidate, ["each(0, shared_by)"], "asserts", setup=BELOW_A_CLASS)
    assert "kept from being made" in sandbox.run([job])[0].reason


def test_a_check_that_is_expected_out_of_the_candidates_call_is_refused(sandbox: Sandbox) -> None:
    helper = "def refuses(value):\n    try:\n        each(value, shared_by)\n    except AssertionError:\n        return True\n    return False\n"
    job = Job(
        "def each(value, check):\n    check(value)\n", ["assert refuses(1)"], "asserts", setup=BELOW_A_CLASS + helper
    )
    (verdict,) = sandbox.run([job])
    assert (verdict.status, "shared_by" in verdict.reason) == ("refused", True)


def test_a_name_that_a_pattern_binds_is_not_the_candidates() -> None:
    text = "match double(2):\n    case [first, *rest]:\n        assert first\n    case {'a': held, **more}:\n        assert held"
    assert visible.unbound(text, "") == {"double", "candidate"}


SEQUENCE = (
    "from collections.abc import Sequence\nclass Row:\n    def __getitem__(self, n): return 'ab'[n]\n    def __len__(self): return 2\n"
    "Sequence.register(Row)\ndef make(): return Row()\n"
)
BAG = "def other(): return 3\nclass Bag:\n    def __len__(self): return 2\ndef make(): return Bag()\n"


def test_an_abc_that_knows_a_class_of_an_earlier_job_does_not_ask_about_it(sandbox: Sandbox) -> None:
    tests = "from solution import make\ndef test_make():\n    assert len(make()) == 2\n"
    verdicts = sandbox.run([Job(text, tests, "pytest") for text in (SEQUENCE, BAG) * 3])
    assert [verdict.passed for verdict in verdicts] == [True, False] * 3
    assert ["has no length that counts" in verdict.reason for verdict in verdicts] == [False, True] * 3
