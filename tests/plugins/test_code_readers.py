"""Rows of the public data sets by their own columns: right programs pass, wrong ones do not, and what is not understood is refused."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from grpo_rewards_plugins.code.readers import FAMILIES, families, read_row
from grpo_rewards_plugins.code.readers.__main__ import page
from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.scores import fraction
from grpo_rewards_plugins.code.shapes import literal
from grpo_rewards_sandbox import SandboxUnavailable, open_sandbox

from grpo_rewards import get_reward, hookimpl
from grpo_rewards._contract import Batch
from grpo_rewards._registry import registry


def _isolates() -> bool:
    try:
        open_sandbox("local", workers=1).close()
    except SandboxUnavailable:
        return False
    return True


needs_sandbox = pytest.mark.skipif(not _isolates(), reason="this machine cannot isolate code")


def packed(value: Any) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(value))).decode()


J = json.dumps
SPAN = "def span(xs):\n    return [min(xs), max(xs)]"
METHOD = "class Solution:\n    def span(self, xs: List[int]) -> List[int]:\n        return [min(xs), max(xs)]"
WHOLE = "xs = [int(x) for x in input().split()]\nprint(min(xs), max(xs))"
LISTS = {"fn_name": "span", "inputs": [[[3, 1]], [[5, 9, 7]]], "outputs": [[[1, 3]], [[5, 9]]]}
LINES = {"fn_name": "span", "inputs": ["[3, 1]", "[5, 9, 7]"], "outputs": ["[1, 3]", "[5, 9]"]}
FUNCTIONAL = [{"input": "[3, 1]", "output": "[1, 3]", "testtype": "functional"}, {"input": "[5, 9, 7]", "output": "[5, 9]", "testtype": "functional"}]  # fmt: skip
STDIN = [{"input": "3 1\n", "output": "1 3\n"}, {"input": "5 9 7\n", "output": "5 9\n"}]
PAIRS = {"inputs": ["3 1\n", "5 9 7\n"], "outputs": ["1 3\n", "5 9\n"]}
DICT = {"input": ["5 9 7\n"], "output": ["5 9\n"]}
CHECK = "def check(candidate):\n    assert candidate(xs = [3, 1]) == [1, 3]\n    assert candidate(xs = [5, 9, 7]) == [5, 9]\n"
ASSERTS = ["assert span([3, 1]) == [1, 3]", "assert span([5, 9, 7]) == [5, 9]"]
UNITTEST = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual({}([3, 1]), [1, 3])\n"
MBPP_PLUS = "def assertion(out, exp, atol):\n    assert out == exp\n\nfor inp, exp in zip([[[3, 1]], [[5, 9, 7]]], [[1, 3], [5, 9]]):\n    assertion(span(*inp), exp, 0)\n"
DEEP = "_inputs = [[[3, 1]], [[5, 9, 7]]]\n_outputs = [[1, 3], [5, 9]]\ndef _deep_eq(a, b):\n    if isinstance(a, (list, tuple)):\n        return len(a) == len(b) and all(map(_deep_eq, a, b))\n    return a == b\n\nfor i, o in zip(_inputs, _outputs):\n    assert _deep_eq(span(*i), o)"
AROUND = "from typing import *\n\n#<INSERT>\n\nmy_solution = Solution()\n\nassert my_solution.span(*[[3, 1]]) == [1, 3]\nassert my_solution.span(*[[5, 9, 7]]) == [5, 9]\n"
CONTEXT = """\
import copy
def generate_test_case(test_case_id):
    def define_test_input(test_case_id):
        return [3, 1] if test_case_id == 1 else [5, 9, 7]
    def generate_ans(data):
        return [min(data), max(data)]
    test_input = define_test_input(test_case_id)
    return test_input, generate_ans(copy.deepcopy(test_input))
def exec_test(result, ans):
    try:
        assert result == ans
        return 1
    except:
        return 0
exec_context = r\"\"\"
def f(xs):
[insert]
result = f(test_input)
\"\"\"
def test_execution(solution: str):
    code = exec_context.replace("[insert]", solution)
    for i in range(2):
        test_input, expected_result = generate_test_case(i + 1)
        test_env = {"test_input": test_input}
        exec(code, test_env)
        assert exec_test(test_env["result"], expected_result)
def test_string(solution: str):
    tokens = []
    for token in tokenize.tokenize(io.BytesIO(solution.encode("utf-8")).readline):
        tokens.append(token.string)
    assert "for" not in tokens and "return" in tokens
"""
HEAD = "from typing import *\nfrom math import *\ninf = float('inf')\n"
QUERY = "Write it.\n```python\nclass Solution:\n    def span(self, xs: List[int]) -> List[int]:\n```"
NODES = "```python\nclass Solution:\n    def span(self, head: Optional[ListNode]) -> Optional[ListNode]:\n```"

ROWS: list[tuple[str, dict[str, Any], str]] = [
    ("apps", {"input_output": J(LISTS), "starter_code": "def span(xs):\n\t", "question": "?"}, SPAN),
    ("apps", {"input_output": J({**LISTS, "outputs": [[1, 3], [5, 9]]}), "time_limit": "2.0 seconds"}, METHOD),
    ("apps", {"input_output": J(PAIRS), "starter_code": ""}, WHOLE),
    ("apps", {"input_output": J({"inputs": [["3 1"], ["5 9 7"]], "outputs": [["1 3"], ["5 9"]]})}, WHOLE),
    ("prime", {"data_source": "taco", "ability": "code", "reward_model": {"style": "rule", "ground_truth": J(LINES)}}, METHOD),
    ("prime", {"data_source": "apps", "reward_model": {"ground_truth": J(LISTS)}}, SPAN),
    ("prime", {"data_source": "x", "reward_model": {"ground_truth": J({"assert_case": ASSERTS})}}, SPAN),
    ("prime", {"data_source": "code", "reward_model": J({"ground_truth": J({"functional": f"{CHECK}\n\ncheck(Solution().span)"})})}, METHOD),
    ("prime", {"data_source": "leetcode", "reward_model": {"ground_truth": J({"test_code": CHECK, "entry_point": "Solution().span", "import_prefix": HEAD})}}, METHOD),
    ("prime", {"reward_spec": {"ground_truth": J([{**case, "metadata": {"func_name": "span"}} for case in FUNCTIONAL])}}, METHOD),
    ("synthetic", {"verification_info": J({"language": "python", "test_cases": [{"type": "function_call", "fn_name": "span", "input": [[3, 1]], "output": [1, 3]}]}), "metadata": "{}"}, SPAN),
    ("synthetic", {"verification_info": str({"language": "python", "test_cases": [{"type": "stdin_stdout", "fn_name": None, **case} for case in STDIN]})}, WHOLE),
    ("own", {"tests": J(FUNCTIONAL), "metadata": {"func_name": "span"}, "starter_code": "class Solution:\n    def span(self, xs):\n"}, METHOD),
    ("own", {"tests": J(LISTS)}, SPAN),
    ("livecodebench", {"public_test_cases": J(FUNCTIONAL[:1]), "private_test_cases": packed(J(FUNCTIONAL[1:])), "metadata": J({"func_name": "span"})}, METHOD),
    ("livecodebench", {"public_test_cases": J(STDIN[:1]), "private_test_cases": J([{**STDIN[1], "testtype": "stdin"}]), "metadata": "{}"}, WHOLE),
    ("code_contests", {"public_tests": {"input": ["3 1\n"], "output": ["1 3\n"]}, "private_tests": {"input": [], "output": []}, "generated_tests": DICT, "time_limit": {"seconds": 2, "nanos": 0}, "input_file": ""}, WHOLE),
    ("codeforces", {"official_tests": STDIN, "official_tests_complete": True, "input_mode": "stdio", "interaction_format": None, "time_limit": 2.0, "executable": True}, WHOLE),
    ("nemo_gym", {"verifier_metadata": {"unit_tests": LINES}}, METHOD),
    ("open_instruct", {"dataset": "code", "ground_truth": J(ASSERTS)}, SPAN),
    ("open_instruct", {"dataset": "code_stdio", "ground_truth": packed(STDIN)}, WHOLE),
    ("open_instruct", {"data_source": "livecodebench", "ground_truth": STDIN}, WHOLE),
    ("rstar", {"inputs": J(LINES["inputs"]), "outputs": J(LINES["outputs"]), "test_case_type": "fn_name", "func_name": "span", "class_name": "Solution"}, METHOD),
    ("test_cases", {"test_cases": ASSERTS, "question": "?"}, SPAN),
    ("test_cases", {"pid": "1", "test_cases": STDIN, "output_judging_function": None}, WHOLE),
    ("sandboxfusion", {"id": 0, "labels": "{}", "test": J([{"input": {"stdin": "3 1\n"}, "output": {"stdout": "1 3\n"}}])}, WHOLE),
    ("sandboxfusion", {"id": 1, "labels": "{}", "test": J({"code": AROUND})}, METHOD),
    ("sandboxfusion", {"id": "1", "test": {"code": "#<INSERT>\n" + DEEP, "asset": {}}}, SPAN),
    ("prime", {"reward_model": {"ground_truth": J({"functional": DEEP})}}, SPAN),
    ("ds1000", {"code_context": CONTEXT, "prompt": "Write it.", "metadata": {"library": "Numpy"}}, "    return [min(xs), max(xs)]"),
    ("ioi", {"year": 2020, "id": "a", "subtask": "01", "score": 5.0, "test_names": ["b", "a"], "test_cases": {"a": ["3 1\n", "1 3\n"], "b": ["5 9 7\n", "5 9\n"]}, "grader_files": [["a.h", None]], "language": "python", "time_limit": 1.0}, WHOLE),
    ("ioi", {"test_names": ["b", "a"], "test_cases": [["3 1\n", "1 3\n"], {"input": "5 9 7\n", "output": "5 9\n"}], "language": "python"}, WHOLE),
    ("leetcode", {"prompt": HEAD, "query": "?", "entry_point": "Solution().span", "test": CHECK}, METHOD),
    ("apps", {"prompt": HEAD, "query": QUERY, "entry_point": "Solution().span", "input_output": [{"input": "xs = [3, 1]", "output": "(1, 3)"}]}, METHOD),
    ("apps", {"prompt": HEAD, "query": NODES, "entry_point": "Solution().span", "input_output": [{"input": "head = [3,1]", "output": "[3,1]"}]}, "class Solution:\n    def span(self, a):\n        return a and ListNode(a.val, a.next)"),
    ("apps", {"starter_code": "class Solution:\n    def span(self, xs):\n", "entry_point": "Solution().Span", "prompt": HEAD + "class ListNode:\n    pass\n", "input_output": [{"input": "xs = [3, 1]", "output": "(1, 3)"}]}, METHOD),
    ("apps", {"prompt": HEAD, "query": QUERY, "entry_point": "Solution().span", "test": CHECK, "input_output": [{"input": "xs = [3, 1]", "output": "(1, 3)"}]}, METHOD),
    ("own", {"tests": {**LISTS, "fn_name": "s_pan"}, "starter_code": "def span(xs):\n    "}, SPAN),
    ("kodcode", {"test": "def test_a():\n    assert span([3, 1]) == [1, 3]\n", "test_info": [{"function_name": "span"}]}, SPAN),
    ("kodcode", {"test": "from solution import A\ndef test_a():\n    assert str(A()) == '[1, 3]'\n", "test_info": [{"function_name": "A", "function_declaration": "class A:"}]}, "class A:\n    def __repr__(self, xs=(3, 1)):\n        return str([min(xs), max(xs)])"),
    ("classeval", {"test": UNITTEST.format("A().span"), "class_name": "A", "skeleton": "class A:\n", "import_statement": ["import math"]}, METHOD.replace("Solution", "A").replace("List[int]", "list")),
    ("humaneval", {"test": UNITTEST.format("span"), "entry_point": "span"}, SPAN),
    ("humaneval", {"test": "from typing import *\n" + UNITTEST.format("span"), "entry_point": "span"}, SPAN),
    ("evalplus", {"prompt": "def span(xs):\n    '''Go.'''\n", "entry_point": "span", "canonical_solution": "    return [min(xs), max(xs)]\n", "base_input": [[[3, 1]]], "plus_input": [[[5, 9, 7]]], "atol": 0}, SPAN),
    ("evalplus", {"prompt": "import math\ndef root(x):\n    ", "entry_point": "root", "canonical_solution": "def root(x):\n    return math.sqrt(x)\n", "base_input": [[2]], "plus_input": []}, "def root(x):\n    return x ** 0.5"),
    ("evalplus", {"prompt": "from typing import *\ndef span(xs: List[int]) -> List[int]:\n    '''Go.'''\n", "entry_point": "span", "canonical_solution": "    return [min(xs), max(xs)]\n", "base_input": J([[[3, 1]]]), "plus_input": J([[[5, 9, 7]]]), "atol": 0}, SPAN),
    ("mbpp", {"test_list": ASSERTS, "test_setup_code": ""}, SPAN),
    ("mbpp_plus", {"test_list": ["assert span([1]) == [1, 1]"], "test": MBPP_PLUS, "code": SPAN}, SPAN),
    ("prime", {"reward_model": {"ground_truth": J({"fn_name": "span", "inputs": [], "outputs": [], "assert_case": ASSERTS})}}, SPAN),
    ("apps", {"input_output": J({key: LISTS[key] for key in ("inputs", "outputs")}), "entry_point": "span"}, SPAN),
    ("synthetic", {"verification_info": J({"language": "python", "time_limit": 2, "test_cases": STDIN})}, WHOLE),
    ("codeforces", {"official_tests": STDIN, "generated_tests": 0, "examples": STDIN, "memory_limit": 256.0, "time_limit": 1.0}, WHOLE),
    ("test_cases", {"test_cases": STDIN, "time_limit": 2000, "memory_limit": 256, "checker": None, "validator": "x"}, WHOLE),
]  # fmt: skip


@needs_sandbox
def test_rows_of_public_data_are_judged_by_their_own_columns() -> None:
    code = get_reward("code").with_(workers=2, sandbox="local")
    rows = []
    for _, columns, program in ROWS:
        wrong = program.replace("max(xs)", "min(xs)").replace("a and", "None and").replace("0.5", "0.4")
        assert wrong != program
        rows += [{**columns, "completion": f"So:\n```python\n{text}\n```\n"} for text in (program, wrong)]
    for number, (right, wrong_one) in enumerate(zip(rows[::2], rows[1::2], strict=True)):
        family = ROWS[number][0]
        passed, failed = code.outcomes(Batch.from_rows([right, wrong_one]))
        assert (passed.value, passed.details.get("data")) == (1.0, family), (number, passed)
        assert (failed.value, failed.status) == (0.0, "scored"), (number, failed)
        assert failed.reason


def test_a_family_that_is_registered_late_is_asked_too() -> None:
    plugin = SimpleNamespace()
    plugin.register_code_readers = hookimpl(lambda: {"ours": (("given", "wanted"), lambda row: None)})
    assert "ours" not in {family.name for family in families()}
    manager = registry().manager
    manager.register(plugin, "late")
    try:
        assert families()[0].name == "ours"
    finally:
        manager.unregister(plugin)
    assert "ours" not in {family.name for family in families()}


def refusal(**columns: Any) -> str:
    reward = get_reward("code")
    return reward.row_problem(columns) or ""


class Evil:
    def __reduce__(self) -> Any:
        return (open, ("/dev/null",))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"question": "?"}, "no tests in the columns"), ({"input_output": ""}, "no tests in the columns"), ({"input_output": "not json"}, "no JSON"), ({"input_output": J({"inputs": [], "outputs": []})}, "empty"),
        ({"input_output": J({"inputs": ["1"]})}, "as many"), ({"input_output": J({"inputs": ["1", "1"], "outputs": ["2", "3"]})}, "same input"), ({"input_output": J({**LISTS, "outputs": [[1]]})}, "as many"),
        ({"input_output": J({**LISTS, "inputs": ["1 2\n3", "4"]})}, "no JSON"), ({"input_output": J({**LINES, "outputs": ["two apples", "3"]})}, "no JSON"), ({"input_output": J({"inputs": ["N = 5"], "outputs": ["1"]})}, "written for people"),
        ({"public_test_cases": J(FUNCTIONAL), "metadata": "{}"}, "do not say which"), ({"public_test_cases": "x"}, "no list of tests"),
        ({"public_test_cases": J(STDIN), "private_test_cases": packed(Evil())}, "only plain data"), ({"public_test_cases": J(STDIN), "private_test_cases": packed({1, 2})}, "no list of tests"),
        ({"private_test_cases": base64.b64encode(zlib.compress(bytes(300 << 20))).decode()}, "hold more than"), ({"private_test_cases": base64.b64encode(b"no zlib, but long enough").decode()}, "not as zlib"),
        ({"private_test_cases": base64.b64encode(zlib.compress(b"\x80\x04" + b"\x8c\x05other" * 9)).decode()}, "no pickle"), ({"private_test_cases": base64.b64encode(zlib.compress(J(STDIN).encode())[:-9]).decode()}, "cut short"),
        ({"public_tests": {"input": [], "output": []}, "private_tests": {"input": [], "output": []}}, "empty"), ({"official_tests": STDIN, "interaction_format": "asks"}, "interactive"), ({"official_tests": STDIN, "executable": False}, "executable"),
        ({"official_tests": STDIN, "official_tests_complete": False}, "not complete"), ({"reward_model": {"ground_truth": "42"}, "ability": "math"}, "another task"), ({"reward_model": {"ground_truth": "\\boxed{42}"}}, "no JSON of tests"),
        ({"reward_model": {"style": "rule"}}, "no ground_truth"), ({"verification_info": "x"}, "no mapping"), ({"verification_info": J({"language": "brainfudge", "test_cases": STDIN})}, "brainfudge"), ({"ground_truth": "42"}, "no list of tests"),
        ({"code_context": "def test_execution(solution): ..."}, "does not define exec_test"), ({"code_context": "def ("}, "does not compile"), ({"code_context": CONTEXT.replace("assert exec_test", "print(code); assert exec_test")}, "does more than"),
        ({"code_context": CONTEXT.replace('"return" in tokens', "len(tokens) < 9")}, "more than words"), ({"code_context": CONTEXT.replace("result == ans", "result.todense() == ans")}, "as an object (.todense)"), ({"code_context": CONTEXT.replace("[insert]\n", "")}, "no exec_context"),
        ({"test": J({"code": "x = '#<INSERT>'"}), "id": 1}, "no line of its own"), ({"test": J({"code": "#<INSERT>\nassert f(1)", "asset": {"a": "b"}}), "id": 1}, "'asset'"), ({"test": {"code": "#<INSERT>\nassert f(1)"}, "id": 1, "labels": {"programming_language": "cpp"}}, "another language"),
        ({"test_names": ["a"], "test_cases": {"b": ["1", "2"]}}, "has no input and output"), ({"test_names": ["a"], "test_cases": {"a": ["1", "2"]}, "grader_files": [["a.cpp", "int main() {}"]]}, "grader_files"), ({"test_names": ["a"], "grader_files": [["a.h", ""]]}, "files of their own"),
        ({"tests": STDIN, "subtasks": [{"points": 1, "tests": [2]}]}, "there is none"), ({"tests": STDIN, "subtasks": [{"points": -1, "tests": [1]}]}, "no number of points"), ({"tests": STDIN, "subtasks": [{"score": 1}]}, "no list of tests"), ({"tests": STDIN, "subtasks": ["a"]}, "no list of {points"), ({"code": "def f(x): ...", "input": "1", "output": "<object>"}, "no literal"),
        ({"base_input": [[1]], "canonical_solution": "    return 1", "entry_point": "are_equivalent", "prompt": "def are_equivalent(x):\n"}, "rule of their own"),
        ({"base_input": [[1]], "canonical_solution": "???", "entry_point": "f", "prompt": "def f(x):\n"}, "does not define"), ({"entry_point": "Solution().f", "input_output": [{"input": "x = [1", "output": "1"}]}, "not understood"),
        ({"test_cases": STDIN, "checker": "int main() {}"}, "'checker'"), ({"input_output": J({"fn_name": "__init__", "inputs": [[3]], "outputs": [None]})}, "call '__init__'"),
        ({"reward_model": {"ground_truth": J({"test_code": CHECK, "entry_point": "span", "judge": "x"})}}, "'judge'"),
    ],
)  # fmt: skip
def test_rows_that_are_not_understood_are_refused_by_name(columns: dict[str, Any], words: str) -> None:
    assert words in refusal(**columns)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("[ANSWER]f([1]) == [(4, 1)][/ANSWER]", True), ("<think>[ANSWER][][/ANSWER]</think>[ANSWER][(4, 1)][/ANSWER]", True), ("<answer>[(4, 1)]</answer>", True), ("[(4, 1)]", True), ("assert f([1]) == [(4, 1)]", True), ('The output is:\n```json\n{"output": [[4, 1]]}\n```\n', False),
        ('It is [(4, 2)]: {"output": [(4, 1)]}', True), ('{"output": [(4, 1)]} or {"output": [(4, 2)]}', False), ('{"output":' * 9000 + "}", False),
        ("The output is:\n```python\n[(4, 1)]\n```\nsince 4 comes first.", True), ("```\n[(4, 1)]\n```\nor\n```\n[(4, 2)]\n```", False), ("[ANSWER]\n```\n[(4, 1)]\n```\n[/ANSWER]", True),
        ("[ANSWER]f([1])[/ANSWER]", False), ("[ANSWER][(4, 2)][/ANSWER]", False), ("[ANSWER][[4, 1]][/ANSWER]", False), ("It is [(4, 1)].", False), ("[ANSWER]__import__('os')[/ANSWER]", False), ("[" * 90_000, False), ("-" * 5000 + "1", False),
    ],
)  # fmt: skip
def test_literals_are_compared_without_running(text: str, right: bool) -> None:
    suite = read_row(DataRow({"code": "def f(x): ...", "input": "[1]", "output": "[(4, 1)]"}))
    assert suite.format == "literal"
    assert literal.answers(text, str(suite.tests), tag="answer") is right


@pytest.mark.parametrize(
    ("text", "right"),
    [("<think>a</think>'a</think>b'", True), ("[ANSWER]'a</think>b'[/ANSWER]", True), ("<think>'a</think>b'</think>[ANSWER]'c'[/ANSWER]", False)],
)  # fmt: skip
def test_a_literal_may_hold_the_end_of_reasoning(text: str, right: bool) -> None:
    assert literal.answers(text, "'a</think>b'", tag="answer") is right


def test_a_fraction_does_not_pay_constants() -> None:
    tests = [{"input": str(n), "output": "NO" if n < 6 else f"YES {n}"} for n in range(10)]
    suite = read_row(DataRow({"tests": tests}))
    assert [fraction(suite, passed, 10) for passed in (0, 6, 8, 10)] == [0.0, 0.0, 0.5, 1.0]
    distinct = read_row(DataRow({"tests": [{"input": str(n), "output": str(n)} for n in range(4)]}))
    assert [fraction(distinct, passed, 4) for passed in (0, 1, 3, 4)] == [0.0, 0.25, 0.75, 1.0]


@needs_sandbox
def test_parts_are_scored_by_their_points() -> None:
    code = get_reward("code").with_(workers=1, sandbox="local", score="weighted")
    row = {"public_test_cases": J(FUNCTIONAL[:1]), "private_test_cases": J([*FUNCTIONAL[1:], {"input": "[2, 4]", "output": "[2, 4]", "testtype": "functional"}]), "metadata": J({"func_name": "span"})}  # fmt: skip
    half = "```python\ndef span(xs):\n    return [1, 3] if len(xs) == 2 else [5, 9]\n```"
    outcome = code.one(half, **row)
    assert outcome.value == pytest.approx(1 / 3)
    assert (outcome.details["tests_passed"], outcome.details["tests_total"]) == (2, 3)
    assert code.one(f"```python\n{SPAN}\n```", **row).value == 1.0


@needs_sandbox
def test_a_subtask_counts_as_its_worst_test_and_a_test_in_two_is_run_once() -> None:
    tests = [{"input": f"{n}\n", "output": f"{n * n}\n", "test_name": f"t{n}"} for n in range(4)]
    subtasks = [{"points": 10, "tests": ["t0", "t1"]}, {"points": 30, "tests": ["t1", "t2"]}, {"score": 60, "tests": [0, 1, 2, 3]}]  # fmt: skip
    suite = read_row(DataRow({"tests": tests, "subtasks": J(subtasks)}))
    assert suite.groups == ((0,), (1,), (2,), (3,))
    code = get_reward("code").with_(workers=2, sandbox="local", score="weighted")
    program = "```python\nn = int(input())\nprint(n * n if n != {} else 7)\n```"
    for wrong, points in {3: 0.4, 2: 0.1, 1: 0.0, 9: 1.0}.items():
        outcome = code.one(program.format(wrong), tests=tests, subtasks=subtasks)
        assert outcome.value == pytest.approx(points), outcome
        assert outcome.details["tests_total"] == 4
    assert code.with_(score="binary").one(program.format(3), tests=tests, subtasks=subtasks).value == 0.0


@needs_sandbox
@pytest.mark.parametrize(
    ("text", "block", "value"),
    [
        (f"```python\n{SPAN}\n    ```\nDone.", "last", 1.0), (f"1. Write:\n\n   ```python\n   {SPAN.replace(chr(10), chr(10) + '   ')}\n   ```\n", "last", 1.0), (f"```Python3\n{SPAN}\n```", "last", 1.0), (f"```py\n{SPAN}\n```", "last", 1.0),
        (f"```\n{SPAN}\n```", "last", 1.0), (f"```python\n{SPAN}", "last", 1.0), (SPAN, "last", 1.0), (f"~~~python\n{SPAN}\n~~~", "last", 1.0), (f"```python\n{SPAN}\n```\n```python\ndef span(xs):\n    return 1\n```", "last", 0.0),
        (f"```python\n{SPAN}\n```\n```python\ndef span(xs):\n    return 1\n```", "first", 1.0), ("```python\nlow = min\n```\n```python\ndef span(xs):\n    return [low(xs), max(xs)]\n```", "joined", 1.0),
        (f"```python\n{SPAN}\n```\nUse:\n```python\nprint(span([1]))\n```", "last", 1.0), (f"- so\n\n    ```python\n{SPAN}\n    ```", "last", 1.0),
    ],
)  # fmt: skip
def test_the_block_that_counts(text: str, block: str, value: float) -> None:
    code = get_reward("code").with_(workers=1, sandbox="local", block=block)
    assert code.one(text, tests=J(LISTS)).value == value


def test_the_page_on_formats_is_what_the_readers_say() -> None:
    there = Path(__file__).resolve().parents[2] / "docs" / "code-formats.md"
    now = there.read_text(encoding="utf-8")
    assert now == page(now), "python -m grpo_rewards_plugins.code.readers"
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)
