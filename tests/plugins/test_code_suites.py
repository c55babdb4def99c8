"""Reading a row's tests: four formats, what they look like, and what is wrong with them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from grpo_rewards_plugins.code.suites import SuiteProblem, read_suite

from grpo_rewards import get_reward

CHECK = "def check(candidate):\n    assert candidate(1) == 2\n"
FILE = "from solution import f\n\ndef test_f():\n    assert f(1) == 2\n"


def read(tests: Any, **given: Any) -> Any:
    return read_suite(tests, **{"format": None, "entry_point": "f", "setup": "", "prompt": "", **given})


@pytest.mark.parametrize(
    ("tests", "given", "format", "shape"),
    [
        (CHECK, {}, "humaneval", CHECK), (FILE, {}, "pytest", FILE), (["assert f(1) == 2"], {}, "asserts", ["assert f(1) == 2"]),
        ("assert f(1) == 2\nassert f(2) == 3", {}, "asserts", ["assert f(1) == 2", "assert f(2) == 3"]),
        (json.dumps(["assert f(1) == 2"]), {}, "asserts", ["assert f(1) == 2"]), (["x = 1", "assert f(x) == 2"], {}, "asserts", ["assert f(x) == 2"]),
        (["for i in range(3):\n    assert f(i) == i + 1"], {}, "asserts", ["for i in range(3):\n    assert f(i) == i + 1"]),
        ([{"input": "1", "output": "2"}], {}, "stdio", [{"input": "1", "output": "2"}]),
        ({"inputs": ["1", "2"], "outputs": ["2", "3"]}, {}, "stdio", [{"input": "1", "output": "2"}, {"input": "2", "output": "3"}]),
        (json.dumps({"inputs": ["1"], "outputs": ["2"]}), {}, "stdio", [{"input": "1", "output": "2"}]),
        ("class TestF:\n    def test_f(self):\n        assert True\n", {}, "pytest", "class TestF:\n    def test_f(self):\n        assert True\n"),
        (CHECK + "def test_f():\n    check(f)\n", {}, "pytest", CHECK + "def test_f():\n    check(f)\n"),
    ],
)  # fmt: skip
def test_formats_are_told_from_the_tests(tests: Any, given: dict[str, Any], format: str, shape: Any) -> None:
    suite = read(tests, **given)
    assert (suite.format, suite.for_job()) == (format, shape)
    assert read(tests, **given, format=format) == suite


def test_a_file_of_which_pytest_collects_nothing_is_run_as_it_was_meant() -> None:
    copied = f"from solution import f as candidate\n\n{CHECK}\ncheck(candidate)\n"
    for format in (None, "pytest", "humaneval"):
        suite = read(copied, format=format, entry_point=None)
        assert (suite.format, suite.entry_point) == ("humaneval", "f")
        assert "solution" not in suite.tests
        assert "\ncheck(" not in suite.tests


def test_the_entry_point_comes_from_the_column_else_the_prompt() -> None:
    assert read(CHECK, entry_point="g").entry_point == "g"
    assert read(CHECK, entry_point=None, prompt="def h():\n    pass\n\ndef g(x):\n    '''Go.'''\n").entry_point == "g"
    with pytest.raises(SuiteProblem, match="entry_point"):
        read(CHECK, entry_point=None)


def test_setup_is_text_or_a_list() -> None:
    assert read(["x = 1", "assert f(x) == 2"], setup=["import math", ""]).setup == "import math\nx = 1"
    assert read(["assert f(1) == 2"], setup="import math").setup == "import math"


@pytest.mark.parametrize(
    ("tests", "given", "words"),
    [
        ([], {}, "empty"), (3, {}, "text or a list"), ([1], {}, "not a list of int"), (["assert f(1", "assert True"], {}, "do not compile"),
        ("def check(", {}, "do not compile"), ("x = 1", {}, "no assert"), (["print(1)"], {}, "no assert"), (FILE, {"format": "humaneval"}, "no function check"),
        ("x = 1", {"format": "pytest"}, "collect nothing"), ("1", {"format": "stdio"}, "list of"), (["assert f"], {"format": "stdio"}, "a list of {input"),
        ([{"input": "1"}], {}, "stdio test"), ({"inputs": ["1"], "outputs": []}, {}, "as many"), (["assert f(1) == 2"], {"format": "pytest"}, "test file"),
        (["assert f(1) == 2"], {"setup": "import ("}, "setup do not compile"), ([{"input": "1", "output": "2"}], {"format": "asserts"}, "statements"),
        ("(" * 10_000, {}, "do not compile"), ("\0", {}, "do not compile"),
    ],
)  # fmt: skip
def test_tests_that_cannot_be_run_say_why(tests: Any, given: dict[str, Any], words: str) -> None:
    with pytest.raises(SuiteProblem, match=words):
        read(tests, **given)


def test_validate_names_rows_whose_tests_cannot_be_run() -> None:
    check_row = get_reward("code").check_row
    assert check_row is not None
    assert check_row(tests=CHECK, entry_point="f") is None
    assert check_row(test_list=["assert f(1) == 2"], row_format="asserts") is None
    assert "no tests" in (check_row(entry_point="f") or "")
    assert "do not compile" in (check_row(tests="def check(") or "")
