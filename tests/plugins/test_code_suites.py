"""Reading a row's tests: four formats, what they look like, and what is wrong with them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from grpo_rewards_plugins.code.judging import job_of
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.shapes.reading import read_suite
from grpo_rewards_sandbox import pack_calls
from hypothesis import given
from hypothesis import strategies as st

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
        ([{"input": "1", "output": "2"}], {"entry_point": None}, "stdio", [{"input": "1", "output": "2"}]),
        ({"inputs": ["1", "2"], "outputs": ["2", "3"]}, {"entry_point": None}, "stdio", [{"input": "1", "output": "2"}, {"input": "2", "output": "3"}]),
        (json.dumps({"inputs": ["1"], "outputs": ["2"]}), {"entry_point": None}, "stdio", [{"input": "1", "output": "2"}]),
        ("class TestF:\n    def test_f(self):\n        assert f(1)\n", {}, "pytest", "from solution import f\nclass TestF:\n    def test_f(self):\n        assert f(1)\n"),
        (CHECK + "def test_f():\n    check(f)\n", {}, "pytest", "from solution import f\n" + CHECK + "def test_f():\n    check(f)\n"),
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
        ([{"input": "1"}], {"entry_point": None}, "is no text but"), ({"inputs": ["1"], "outputs": []}, {}, "as many"), (["assert f(1) == 2"], {"format": "pytest"}, "test file"),
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


# ------------------------------------------------------------------------------------------------ formats that are not read

PAIR = {"input": "1", "output": "2"}
CALLS = {"fn_name": "f", "inputs": [[1], [2]], "outputs": [[2], [3]]}


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        ([{**PAIR, "testtype": "functional"}], "do not say which"), ([{**PAIR, "type": "function_call"}], "do not say which"), ([{**PAIR, "testtype": "interactive"}], "testtype 'interactive'"),
        ([PAIR, {**PAIR, "fn_name": "f"}], "some of the row says"), ([{**PAIR, "testtype": "stdin", "fn_name": "f"}], "testtype 'stdin'"), ({**CALLS, "fn_name": "os.system"}, "no name of a function"),
        ([{**PAIR, "fn_name": "f"}, {**PAIR, "fn_name": "g"}], "several functions: f, g"), ({**CALLS, "outputs": [[2]]}, "as many inputs"), ({**CALLS, "inputs": []}, "as many inputs"),
        ({"fn_name": "f", "inputs": ["1 2"], "outputs": ["3"]}, "no JSON: '1 2'"), ({"fn_name": "f", "inputs": ["1"], "outputs": ["two apples"]}, "no JSON: 'two apples'"),
        ({"fn_name": "f", "inputs": ["1"], "outputs": [2]}, "no JSON"), ({"fn_name": "f", "inputs": [[1], "1"], "outputs": [2, 2]}, "not list, str"), ({**CALLS, "inputs": [[1], [1]]}, "same arguments"),
        ({"fn_name": "f", "inputs": [[float("nan")]], "outputs": [1]}, "NaN"), ({**CALLS, "checker": "x"}, "'checker'"), ({**CALLS, "language": "cpp"}, "'language'"), ([{"input": [1, 2], "output": 3}], "the input of a test is no text but [1, 2]"), ([{"input": "1", "output": True}], "output of a test is no text but True"),
        ([{"input": None, "output": "2"}], "is no text but None"), ([{**PAIR, "checker": "def check(): ..."}], "not known, so it is not known what they ask: 'checker'"),
        ([{**PAIR, "points": 40}], "'points'"), ([{**PAIR, "time_limit": 2}], "'time_limit'"), ({"inputs": ["1"], "outputs": ["2"], "generated_checker": "print(1)"}, "'generated_checker'"),
        ([{"input": {"stdin": "1", "data.txt": "2"}, "output": {"stdout": "3"}}], "file ('data.txt')"), ([{"input": {"a.txt": "1"}, "output": "2"}], "file ('a.txt')"),
        ([{"input": "1", "stdin": "2", "output": "3"}], "different values under"), ([PAIR, {"input": "1", "output": "3"}], "tests 1 and 2 have the same input"),
        ([{"input": "1", "output": " \n"}], "no test expects any output"), ([{"input": "9 " * 200 + "...", "output": "2"}], "cut short"),
        ([{"input": "nums = [1, 2], k = 2", "output": "2"}], "written for people"), ({"inputs": ["1"]}, "as many inputs"), ({"inputs": "1", "outputs": "2"}, "in lists"),
        ({"language": "python", "test_cases": [PAIR], "checker": "x"}, "'checker'"),
        ({"assert_case": ["assert f(1) == 2"], "functional": "def check(candidate): ..."}, "'functional'"), ("eJxrYJlqywABAAAAAAAA+A==", "packed as text"),
        ("package main\nfunc main() {}", "do not compile"),
    ],
)  # fmt: skip
def test_tests_that_are_not_wholly_understood_are_refused_by_name(tests: Any, words: str) -> None:
    with pytest.raises(SuiteProblem) as raised:
        read(tests, entry_point=None)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"entry_point": "A.f"}, "column 'entry_point'"), ({"test_case_type": "fn_name"}, "test_case_type"), ({"test_case_type": "stdio", "func_name": "f"}, "some of the row says"),
        ({"fn_name": "f", "starter_code": "# class ListNode: ..."}, "about 'ListNode'"),
        ({"starter_code": "class Solution:\n    def f(self, x):\n        "}, "starter code"), ({"starter_code": "def f(x):\n\t"}, "starter code"),
        ({"prompts": [{"role": "user", "content": "Complete.\n```python\nclass Solution:\n    def f(self):\n```"}]}, "class Solution"),
        ({"language": "Python 2"}, "python 2"), ({"language": ["java", "go"]}, "java, go"), ({"language": "brainfudge"}, "brainfudge"),
        ({"labels": '{"programming_language": "cobol"}'}, "cobol"), ({"checker": "#include <iostream>"}, "column 'checker'"),
        ({"checker": "#include <testlib.h>", "generated_checker": "print(1)"}, "a checker decides"), ({"interaction_format": "The judge asks"}, "interactive"), ({"input_mode": "keyboard"}, "input_mode"),
        ({"input_file": "../a.in"}, "input_file"), ({"output_file": "a/b.out"}, "output_file"), ({"official_tests_complete": False}, "not complete"),
        ({"private_test_cases": "eJxrYJlqywABAA=="}, "private_test_cases"), ({"private_test_cases": [{"input": "3", "output": "4"}]}, "private_test_cases"),
        ({"time_limit": 80}, "in no unit"), ({"time_limit": "2 fortnights"}, "in no unit"), ({"time_limit": True}, "in no unit"), ({"row_format": "functional"}, "none of"),
    ],
)  # fmt: skip
def test_columns_that_change_what_the_tests_mean_are_refused_and_listed(columns: dict[str, Any], words: str) -> None:
    code = get_reward("code")
    assert code.check_row is not None
    assert words in (code.check_row(tests=[PAIR], **columns) or "")
    named = {
        "format" if name == "row_format" else "prompt" if name == "prompts" else name: cell
        for name, cell in columns.items()
    }
    outcome = code.one("```python\nprint(2)\n```", tests=[PAIR], **named)
    assert (outcome.value, outcome.status) == (None, "not_applicable")
    assert words in outcome.reason


@pytest.mark.parametrize(
    "columns",
    [
        {}, {"entry_point": None}, {"fn_name": ""}, {"metadata": '{"func_name": null}'}, {"metadata": {}}, {"test_case_type": "stdin_stdout"}, {"starter_code": ""},
        {"starter_code": "import sys\n"}, {"language": "Python3"}, {"language": "python"}, {"language": "en"}, {"language": ["cpp", "python"]}, {"language": float("nan")},
        {"labels": "{}"}, {"checker": None}, {"generated_checker": ""}, {"input_mode": "stdio"}, {"input_file": "stdin"}, {"official_tests_complete": True}, {"private_test_cases": json.dumps([PAIR])}, {"private_test_cases": ""},
        {"time_limit": None}, {"time_limit": 2}, {"time_limit": "2.0 seconds"}, {"time_limit": {"seconds": 2, "nanos": 0}}, {"prompts": "Write a Python class Solution."},
    ],
)  # fmt: skip
def test_columns_that_say_nothing_against_it(columns: dict[str, Any]) -> None:
    code = get_reward("code")
    assert code.check_row is not None
    assert code.check_row(tests=[PAIR], **columns) is None


@pytest.mark.parametrize(
    ("tests", "pairs"),
    [
        ([{"input": {"stdin": "1"}, "output": {"stdout": "2"}}], [("1", "2")]), ([{"input": ["1", "2\n"], "output": ["3"]}], [("1\n2", "3")]),
        ([{"stdin": "1", "expected_output": "2", "id": 7, "explanation": "so"}], [("1", "2")]), ({"input": ["1"], "output": ["2"]}, [("1", "2")]),
        ({"input": "1", "output": "2"}, [("1", "2")]), ({"inputs": '["1", "2"]', "outputs": '["2", "3"]', "fn_name": None}, [("1", "2"), ("2", "3")]),
        ([{**PAIR, "testtype": "stdin"}, {**PAIR, "type": "stdin_stdout", "fn_name": None, "metadata": {"func_name": None}}], [("1", "2"), ("1", "2")]),
        (json.dumps({"language": "python", "test_cases": [PAIR]}), [("1", "2")]), ([{"input": "", "output": "2"}], [("", "2")]),
        ([{"input": 1, "output": 0.5}, {"input": "2", "output": 1e16}], [("1", "0.5"), ("2", "10000000000000000")]),
    ],
)  # fmt: skip
def test_pairs_in_the_shapes_of_public_data(tests: Any, pairs: list[tuple[str, str]]) -> None:
    suite = read(tests, entry_point=None)
    assert (suite.format, list(suite.pairs)) == ("stdio", pairs)


@pytest.mark.parametrize(
    ("tests", "columns"),
    [
        (CALLS, {}), (json.dumps(CALLS), {}), ({**CALLS, "outputs": [2, 3]}, {}), ({**CALLS, "inputs": ["1", "2\n"], "outputs": ["2", "3"]}, {}),
        ({"inputs": [[1], [2]], "outputs": [[2], [3]]}, {"fn_name": "f"}), ({"inputs": '["1", "2"]', "outputs": '["2", "3"]', "func_name": "f", "test_case_type": "fn_name"}, {}),
        ([{"input": "1", "output": "2", "testtype": "functional"}, {"input": "2", "output": "3", "testtype": "functional"}], {"metadata": '{"func_name": "f"}'}),
        ([{"input": "1", "output": "2", "metadata": {"func_name": "f"}}, {"input": "2", "output": "3", "metadata": '{"func_name": "f"}'}], {}),
        ({"language": "python", "test_cases": [{"type": "function_call", "fn_name": "f", "input": [1], "output": 2}, {"type": "function_call", "fn_name": "f", "input": [2], "output": 3}]}, {}),
    ],
)  # fmt: skip
def test_calls_in_the_shapes_of_public_data(tests: Any, columns: dict[str, Any]) -> None:
    suite = read(tests, entry_point=None, columns=columns)
    assert (suite.format, suite.entry_point, suite.classes) == ("calls", "f", ("Solution",))
    assert suite.for_job() == list(zip(pack_calls([[1], [2]]), ("2", "3"), strict=True))


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e999", '{"x": [-1e999]}'])
@pytest.mark.parametrize("row", ['{"fn_name": "f", "inputs": [[1, 103, -1], [%s, 1]], "outputs": [1, 2]}', '{"fn_name": "f", "inputs": ["1", "%s"], "outputs": ["1", "2"]}'])  # fmt: skip
def test_arguments_that_are_no_numbers_are_refused(row: str, value: str) -> None:
    with pytest.raises(SuiteProblem, match="NaN or infinity"):
        read(row % (value if "{" not in value or '["1"' not in row else value.replace('"', '\\"')), entry_point=None)


def test_numbers_that_look_like_none_in_marshal_are_numbers() -> None:
    tests = {"fn_name": "f", "inputs": [[103, -1, -1], [103, -(2**40), 1e308, "gggggg\u07ff"]], "outputs": [1, 2]}
    assert read(json.dumps(tests), entry_point=None).for_job()[0][0] == pack_calls([[103, -1, -1]])[0]


def results(tests: Any, **given: Any) -> list[Any]:
    return [json.loads(result) for _, result in read(tests, entry_point=None, **given).for_job()]


def test_results_are_wrapped_only_where_all_are_lists_of_one() -> None:
    assert results({"fn_name": "f", "inputs": [[[1]], [[2]]], "outputs": [[1], [1, 2]]}) == [[1], [1, 2]]
    assert results({"fn_name": "f", "inputs": [[1]], "outputs": [[[5]]]}) == [[5]]
    assert results({"fn_name": "f", "inputs": ["1"], "outputs": ["[5]"]}) == [[5]]
    single = {"fn_name": "f", "inputs": [[1], [2]], "outputs": [["a"], ["b"]]}
    assert results(single) == ["a", "b"]
    assert results(single, columns={"starter_code": "def f(n: int) -> List[str]:"}) == [["a"], ["b"]]


LIST = "class Solution:\n    def f(self, head: Optional[ListNode], k: int) -> Optional[ListNode]:\n"


@pytest.mark.parametrize(
    ("starter", "parameters", "returns"),
    [
        (LIST, ("ListNode", ""), "ListNode"), ("def f(lists: List[Optional[ListNode]]) -> Optional['ListNode']:", ("[ListNode]",), "ListNode"),
        ("def f(root: Optional[TreeNode]) -> List[int]:", ("TreeNode",), ""), ("def f(xs: List[int]) -> None:", (), "argument 0 xs"),
        ("def f(k: int, xs: List[int]) -> None:\n    \"\"\"Do not return anything, modify xs in-place instead.\"\"\"", (), "argument 1 xs"),
        ("def f(xs: Dict[str, List[int]], k=(1, 2)) -> int:", (), ""), ("def f(xs, k):\n", (), ""),
    ],
)  # fmt: skip
def test_the_signature_says_what_lists_stand_for(starter: str, parameters: tuple[str, ...], returns: str) -> None:
    suite = read(
        {"fn_name": "f", "inputs": [[[1], 2]], "outputs": [[[1]]]}, entry_point=None, columns={"starter_code": starter}
    )
    assert (suite.calls.parameters, suite.calls.returns) == (parameters, returns)


CHANGES = 'def f(k: int, xs: List[int]) -> None:\n    """Do not return anything, modify xs in-place instead."""'
RIGHT_CHANGE = "def f(k, xs):\n    xs.append(k)"


@pytest.mark.parametrize(
    "given", [[1, [0]], {"k": 1, "xs": [0]}, {"xs": [0], "k": 1}], ids=["by place", "by name", "another order"]
)
@pytest.mark.parametrize(("program", "value"), [(RIGHT_CHANGE, 1.0), ("def f(k, xs):\n    return xs + [k]", 0.0)])
def test_an_argument_changed_in_place_may_come_by_name(given: Any, program: str, value: float) -> None:
    tests = {"fn_name": "f", "inputs": [given], "outputs": [[0, 1]]}
    assert get_reward("code").one(program, input_output=json.dumps(tests), starter_code=CHANGES).value == value


@pytest.mark.parametrize("given", [[1], {"k": 1}])
def test_calls_without_the_argument_that_is_changed_are_refused(given: Any) -> None:
    with pytest.raises(SuiteProblem, match="which one"):
        read(
            {"fn_name": "f", "inputs": [given], "outputs": [[0, 1]]},
            entry_point=None,
            columns={"starter_code": CHANGES},
        )


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [(2, 2.0), (2000, 2.0), (1.5, 1.5), ("2.0 seconds", 2.0), ("2", 2.0), ("1500 ms", 1.5), ("1 s", 1.0), ({"seconds": 1, "nanos": 500_000_000}, 1.5), (None, None), ("", None)],
)  # fmt: skip
def test_the_rows_time_limit_is_that_of_one_test(limit: Any, seconds: float | None) -> None:
    tests = [PAIR, {"input": "2", "output": "3"}]
    assert read(tests, entry_point=None, columns={"time_limit": limit}).seconds == seconds


def test_a_rows_limits_go_to_each_test_and_are_longer_for_languages_they_are_not_made_for() -> None:
    columns = {"time_limit": 2, "memory_limit": 128.0}
    suite = read([PAIR], entry_point=None, columns=columns)
    compiled, python = (
        job_of(suite, "", timeout=8.0, fidelity="isolated", language=name) for name in ("cpp", "python")
    )
    assert (compiled.test_timeout, compiled.limits.memory) == (2.0, 128 << 20)
    assert (python.test_timeout, python.limits.memory) == (6.0, 1 << 30)
    large = read([PAIR], entry_point=None, columns={"memory_limit_bytes": 2 << 30})
    assert job_of(large, "", timeout=8.0, fidelity="isolated").limits.memory == 2 << 30


def test_a_row_that_says_stdio_may_name_an_entry_point_all_the_same() -> None:
    assert read([PAIR], format="stdio").pairs == (("1", "2"),)
    with pytest.raises(SuiteProblem, match="the tests call 'f', and the format is stdio"):
        read(CALLS, format="stdio")


def test_wrapped_tests_are_read_as_what_the_key_says() -> None:
    statements = read({"assert_case": ["assert f(1) == 2"], "inputs": [], "outputs": []}, entry_point=None)
    assert (statements.format, statements.tests) == ("asserts", ("assert f(1) == 2",))
    check = read(json.dumps({"functional": CHECK + "\n\ncheck(Solution().twoSum)"}), entry_point=None)
    assert (check.format, check.entry_point, check.names) == ("humaneval", "Solution().twoSum", {"Solution"})


def test_class_names_come_from_the_row_else_from_its_texts() -> None:
    texts = {
        "solution": "class Money:\n    pass\n\ndef f(x):\n    return Money()",
        "starter_code": "class Bank:\n",
        "prompt": "Write\n\nclass Vector(list):\n",
    }
    assert read([f"assert {'f(1)'} == 2"], columns=texts).classes == ("Vector", "Bank", "Money")
    assert read(["assert f(1) == 2"], columns={**texts, "classes": ["Own"]}).classes == ("Own",)
    assert read(["assert f(1) == 2"], columns={**texts, "class_name": "One"}).classes == (
        "One",
        "Vector",
        "Bank",
        "Money",
    )
    assert read(["assert f(1) == 2"]).classes == ()


# ------------------------------------------------------------------------------------------------ tests that no program can pass

BODY = "def test_f():\n    assert f(1) == 2\n"


@pytest.mark.parametrize(
    ("text", "given", "words"),
    [
        (BODY, {"entry_point": None}, "uses f, which nothing in it binds"), (BODY, {"entry_point": "other"}, "uses f"), ("import pytest\n" + BODY + "def test_g():\n    g()\n", {}, "uses g"),
        ("from solution import f\ndef test_f():\n    assert math.isclose(f(1), 2)\n", {}, "uses math"), ("class TestF:\n    def test(self):\n        assert F().x\n", {"entry_point": None}, "uses F"),
        ("import pytest\ndef test_f():\n    with pytest.raises(ValueError):\n        f(-1)\n", {"entry_point": None}, "uses f"),
        ("def test_f(answer):\n    assert answer == 2\n", {}, "argument 'answer'"), ("from solution import f\ndef test_f(mocker):\n    f(1)\n", {}, "argument 'mocker'"),
        ("from your_module import f\n" + BODY, {}, "does not import from solution"), ("def f(x):\n    return x + 1\n" + BODY, {}, "takes nothing from the program"),
        ("def test_f():\n    assert True\n", {}, "takes nothing from the program"),
    ],
)  # fmt: skip
def test_test_files_that_no_program_passes_or_none_fails_are_refused(
    text: str, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(SuiteProblem, match=words):
        read(text, **given)
    code = get_reward("code")
    assert words in (code.row_problem({"tests": text, "entry_point": "f", **given}) or "")


@pytest.mark.parametrize(
    ("text", "given", "bound"),
    [
        (BODY, {}, "from solution import f\n" + BODY), ('"""Tests."""\nfrom __future__ import annotations\n' + BODY, {}, '"""Tests."""\nfrom __future__ import annotations\nfrom solution import f\n' + BODY),
        ("import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        B().x\n", {"entry_point": None, "columns": {"class_name": "B"}}, None),
        (BODY.replace("f(1)", "Solution().f(1)"), {"entry_point": "Solution().f"}, "from solution import Solution\n" + BODY.replace("f(1)", "Solution().f(1)")),
    ],
)  # fmt: skip
def test_what_the_row_names_and_the_file_does_not_bind_is_imported(
    text: str, given: dict[str, Any], bound: str | None
) -> None:
    suite = read(text, **given)
    assert suite.format == "pytest"
    assert suite.tests == (bound or f"from solution import B\n{text}")


@pytest.mark.parametrize(
    "text",
    [
        FILE, "import solution\ndef test_f():\n    assert solution.f(1) == 2\n", "from solution import *\n" + BODY, "import importlib\nf = importlib.import_module('solution').f\n" + BODY,
        "import solution as s\n\ndef helper(x):\n    return pprint(x)\n\ndef test_f():\n    assert s.f(1) == 2\n", FILE + "if __name__ == '__main__':\n    main()\n",
        "from solution import f\nimport pytest\n@pytest.mark.parametrize('x', [1])\ndef test_f(x, capsys, tmp_path):\n    assert f(x) == 2\n",
        "from solution import f\nimport pytest\n@pytest.fixture\ndef one():\n    return 1\ndef test_f(one, times=2):\n    assert f(one) == 2\n",
        "from solution import f\ntry:\n    import numpy as np\nexcept ImportError:\n    np = None\ndef test_f():\n    try:\n        missing\n    except NameError:\n        pass\n    assert f(1) == 2\n",
        "from solution import f\nclass TestF:\n    one = 1\n    def test(self):\n        total = [y for y in range(self.one)]\n        assert all(f(y) for y in total)\n",
        "from solution import f\ndef test_f():\n    global made\n    made = 1\n    assert f(made) == 2\ndef test_g():\n    assert f(made) == 2\n",
        "from solution import f\nglobals()['one'] = 1\ndef test_f():\n    assert f(one) == 2\n",
    ],
)  # fmt: skip
def test_test_files_that_bind_what_they_use_stay_as_they_are(text: str) -> None:
    assert read(text, entry_point=None).tests == text


def test_a_file_in_the_programs_namespace_gets_those_imports_of_the_prompt_that_it_uses() -> None:
    text = "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f(random.random()), 2)\n"
    suite = read(text, prompt="import random, os.path\nimport torch\nfrom typing import List\n\ndef f(x):\n")
    assert suite.tests == "from solution import f\nimport random, os.path\n" + text
    with pytest.raises(SuiteProblem, match="uses random"):
        read(text, prompt="import torch\n\ndef f(x):\n")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["input", "output", "inputs", "outputs", "fn_name", "testtype", "metadata", "func_name", "test_cases", "assert_case", "stdin", "x"]), inner, max_size=4
    ),
    max_leaves=12,
)  # fmt: skip


@given(
    JSON,
    st.dictionaries(
        st.sampled_from(["metadata", "language", "time_limit", "func_name", "labels", "classes", "starter_code"]),
        JSON,
        max_size=3,
    ),
)
def test_whatever_a_row_holds_is_read_or_refused(tests: Any, columns: dict[str, Any]) -> None:
    for given_tests in (tests, json.dumps(tests)):
        try:
            suite = read(given_tests, entry_point=None, columns=columns)
        except SuiteProblem:
            continue
        assert suite.for_job()


def test_setup_comes_before_the_tests_of_a_file() -> None:
    suite = read("from __future__ import annotations\n" + FILE, setup="import math")
    assert suite.tests == "from __future__ import annotations\nimport math\n" + FILE
