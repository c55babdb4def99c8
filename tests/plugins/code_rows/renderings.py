"""The columns of each public data set, for a task."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from collections.abc import Callable
from typing import Any

from .tasks import Call, Whole, fenced, indented

J = json.dumps
Columns = dict[str, Any]


def packed(value: Any) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(value))).decode()


def lines(task: Call) -> list[tuple[str, str]]:
    """Arguments as a JSON value per line, and the result as JSON."""
    pairs = zip(task.arguments, task.results(), strict=True)
    return [("\n".join(J(one) for one in given), J(result)) for given, result in pairs]


def lists(task: Call, *, wrapped: bool = True) -> Columns:
    results = task.results()
    return {"fn_name": task.name, "inputs": [list(one) for one in task.arguments], "outputs": [[one] for one in results] if wrapped else results}  # fmt: skip


def functional(task: Call, *, own_name: bool) -> list[Columns]:
    named = {"metadata": {"func_name": task.name}} if own_name else {}
    return [{"input": given, "output": wanted, "testtype": "functional", **named} for given, wanted in lines(task)]


def asserts(task: Call) -> list[str]:
    pairs = zip(task.arguments, task.results(), strict=True)
    return [f"assert {task.name}({', '.join(map(repr, given))}) == {wanted!r}" for given, wanted in pairs]


def check(task: Call, *, keywords: bool) -> str:
    found = []
    for given, wanted in zip(task.arguments, task.results(), strict=True):
        named = [f"{name} = {one!r}" if keywords else repr(one) for name, one in zip(task.names, given, strict=True)]
        found.append(f"    assert candidate({', '.join(named)}) == {wanted!r}")
    return "def check(candidate):\n" + "\n".join(found) + "\n"


def example_text(task: Call) -> list[Columns]:
    def written(value: Any) -> str:
        return J(value).replace("null", "None" if task.result == "x" else "null")

    pairs = zip(task.arguments, task.results(), strict=True)
    return [{"input": ", ".join(f"{name} = {written(one)}" for name, one in zip(task.names, given, strict=True)), "output": written(wanted)} for given, wanted in pairs]  # fmt: skip


def pytest_file(task: Call) -> str:
    tests = [f"def test_{number}():\n    {line}\n" for number, line in enumerate(asserts(task))]
    return f"from solution import {task.name}\nimport pytest\n\n" + "\n".join(tests)


def unittest_class(task: Call, name: str) -> str:
    pairs = enumerate(zip(task.arguments, task.results(), strict=True))
    tests = [f"    def test_case_{at}(self):\n        self.assertEqual({name}({', '.join(map(repr, given))}), {wanted!r})\n" for at, (given, wanted) in pairs]  # fmt: skip
    return "import unittest\n\nclass TestCases(unittest.TestCase):\n" + "\n".join(tests)


def humaneval_prompt(task: Call) -> str:
    return (
        f'from typing import *\n{task.before}\n\n\ndef {task.name}({task.head}) -> {task.result}:\n    """Do it."""\n'
    )


def leetcode_prompt() -> str:
    return "import random\nimport functools\nimport collections\nimport string\nimport math\nimport datetime\n\nfrom typing import *\nfrom functools import *\nfrom collections import *\nfrom itertools import *\nfrom heapq import *\nfrom bisect import *\nfrom string import *\nfrom operator import *\nfrom math import *\n\ninf = float('inf')\n"


def evalplus(task: Call) -> Columns:
    prompt = humaneval_prompt(task)
    given = [list(one) for one in task.arguments]
    return {"task_id": "HumanEval/7", "prompt": prompt, "entry_point": task.name, "canonical_solution": indented(task.body) + "\n", "base_input": given[:1], "plus_input": given[1:], "contract": "", "atol": 0}  # fmt: skip


def mbpp_plus(task: Call) -> Columns:
    given, wanted = [list(one) for one in task.arguments], task.results()
    script = f"import numpy as np\nfrom math import inf\n\ndef is_floats(x) -> bool:\n    if isinstance(x, float):\n        return True\n    if isinstance(x, (list, tuple)):\n        return all(isinstance(i, float) for i in x)\n    if isinstance(x, np.ndarray):\n        return x.dtype == np.float64 or x.dtype == np.float32\n    return False\n\ndef assertion(out, exp, atol):\n    exact_match = out == exp\n    if atol == 0 and is_floats(exp):\n        atol = 1e-6\n    if not exact_match and atol != 0:\n        np.testing.assert_allclose(out, exp, rtol=1e-07, atol=atol)\n    else:\n        assert exact_match\n\ninputs = {given!r}\nresults = {wanted!r}\nfor i, (inp, exp) in enumerate(zip(inputs, results)):\n    assertion({task.name}(*inp), exp, 0)\n"
    return {"task_id": 12, "code": "", "prompt": "Write a function.", "test_imports": [], "test_list": asserts(task)[:1], "test": script}  # fmt: skip


def deep_equal(task: Call) -> str:
    given, wanted = [list(one) for one in task.arguments], task.results()
    return f"_inputs = {given!r}\n_outputs = {wanted!r}\nimport math\ndef _deep_eq(a, b, tol=1e-5):\n    if isinstance(a, float) or isinstance(b, float):\n        return math.isclose(a, b, rel_tol=tol, abs_tol=tol)\n    if isinstance(a, (list, tuple)):\n        if len(a) != len(b): return False\n        return all(_deep_eq(x, y, tol) for x, y in zip(a, b))\n    return a == b\n\nfor i, o in zip(_inputs, _outputs):\n    assert _deep_eq({task.name}(*i), o)"


def said(task: Call) -> str:
    """What the statement says."""
    return f"Do it.{' Modify nums in-place, do not return anything.' if task.place else ''}"


Render = Callable[[Call], Columns]
JSON_CALLS: dict[str, Render] = {
    "apps": lambda task: {
        "problem_id": 3001,
        "question": said(task),
        "solutions": "[]",
        "input_output": J(lists(task)),
        "difficulty": "interview",
        "url": "https://leetcode.com/problems/x/",
        "starter_code": task.starter,
    },
    "apps_bare_name": lambda task: {
        "prompt": [{"role": "user", "content": said(task)}],
        "input_output": J(lists(task)),
        "starter_code": f"def {task.name}({', '.join(task.names)}):\n\t",
    },
    "taco": lambda task: {
        "question": said(task),
        "input_output": J(lists(task)),
        "starter_code": f"#User function Template for python3\n\nclass Solution:\n    def {task.name}(self, {', '.join(task.names)}):\n        # code here",
        "time_limit": "1.0 seconds",
        "memory_limit": None,
        "raw_tags": "['dp']",
        "name": None,
        "source": "geeksforgeeks",
        "skill_types": "[]",
        "url": None,
        "Expected Auxiliary Space": "O(1)",
    },
    "eurus_lines": lambda task: {
        "prompt": [{"role": "user", "content": said(task)}],
        "data_source": "taco",
        "ability": "code",
        "reward_model": {
            "style": "rule",
            "ground_truth": J(
                {
                    "fn_name": task.name,
                    "inputs": [given for given, _ in lines(task)],
                    "outputs": [wanted for _, wanted in lines(task)],
                }
            ),
        },
        "extra_info": {"split": "dummy", "index": 0},
    },
    "eurus_lists": lambda task: {
        "prompt": [{"role": "user", "content": said(task)}],
        "data_source": "apps",
        "ability": "code",
        "reward_model": {"style": "rule", "ground_truth": J(lists(task))},
    },
    "verl_mapping": lambda task: {
        "prompt": [{"role": "user", "content": said(task)}],
        "data_source": "taco",
        "reward_model": J({"style": "rule", "ground_truth": J(lists(task))}),
    },
    "synthetic": lambda task: {
        "source": "apps",
        "task_type": "verifiable_code",
        "in_source_id": "7",
        "prompt": f"{said(task)} Write a function named {task.name}.",
        "verification_info": J(
            {
                "language": "python",
                "test_cases": [
                    {"fn_name": task.name, "input": list(given), "output": [wanted], "type": "function_call"}
                    for given, wanted in zip(task.arguments, task.results(), strict=True)
                ],
            }
        ),
        "metadata": J({"difficulty": "introductory"}),
        "gold_standard_solution": "x",
        "problem_id": "vfc_1",
    },
    "synthetic_repr": lambda task: {
        "prompt": [{"role": "user", "content": said(task)}],
        "verification_info": repr(
            {
                "language": "python",
                "test_cases": [
                    {"fn_name": task.name, "input": list(given), "output": wanted, "type": "function_call"}
                    for given, wanted in zip(task.arguments, task.results(), strict=True)
                ],
            }
        ),
    },
    "deepcoder_prime": lambda task: {
        "problem": said(task),
        "solutions": ["x"],
        "tests": J(
            [
                {"type": "function_call", "fn_name": task.name, "input": list(given), "output": [wanted]}
                for given, wanted in zip(task.arguments, task.results(), strict=True)
            ]
        ),
    },
    "deepcoder_taco": lambda task: {"problem": said(task), "tests": J(lists(task))},
    "deepcoder_lcb": lambda task: {
        "problem": said(task),
        "starter_code": task.starter,
        "tests": J(functional(task, own_name=False)),
        "metadata": {"func_name": task.name},
    },
    "rllm": lambda task: {
        "prompt": [{"role": "user", "content": said(task)}],
        "data_source": "livecodebench",
        "ground_truth": J(functional(task, own_name=True)),
        "uid": "a",
        "extra_info": {"index": 1},
    },
    "lcb": lambda task: {
        "question_title": "t",
        "question_content": said(task),
        "platform": "leetcode",
        "question_id": "2727",
        "contest_id": "weekly",
        "contest_date": "2023-04-08T00:00:00",
        "starter_code": task.starter,
        "difficulty": "easy",
        "public_test_cases": J(functional(task, own_name=False)[:1]),
        "private_test_cases": J(functional(task, own_name=False)[1:]),
        "metadata": J({"func_name": task.name}),
    },
    "lcb_packed": lambda task: {
        "question_content": said(task),
        "starter_code": task.starter,
        "public_test_cases": J(functional(task, own_name=False)[:1]),
        "private_test_cases": packed(J(functional(task, own_name=False)[1:])),
        "metadata": J({"func_name": task.name}),
    },
    "skyrl": lambda task: {
        "prompt": [{"role": "user", "content": said(task)}],
        "data_source": "lcb",
        "env_class": "lcb",
        "reward_spec": {"method": "rule", "ground_truth": J(functional(task, own_name=True))},
        "extra_info": {"split": "train"},
    },
    "nemo_gym": lambda task: {
        "prompt": [{"role": "user", "content": said(task)}],
        "responses_create_params": {"input": [{"role": "user", "content": "Do it."}]},
        "verifier_metadata": {
            "problem_id": "p",
            "unit_tests": {
                "inputs": [given for given, _ in lines(task)],
                "outputs": [wanted for _, wanted in lines(task)],
                "fn_name": task.name,
            },
        },
        "hash_id": "a",
        "dataset": "taco",
        "source": "leetcode",
    },
    "rstar": lambda task: {
        "question_id": "q",
        "question": said(task),
        "starter_code": task.starter,
        "inputs": J([given for given, _ in lines(task)]),
        "outputs": J([wanted for _, wanted in lines(task)]),
        "is_synthesized": J([0] * len(task.arguments)),
        "test_case_type": "fn_name",
        "func_name": task.name,
        "class_name": "Solution",
    },
    "leetcode_examples": lambda task: {
        "task_id": "x",
        "question_id": 9,
        "problem_description": "Do it.",
        "starter_code": task.starter,
        "prompt": leetcode_prompt(),
        "query": f"Do it.\n```python\n{task.starter}\n```",
        "entry_point": f"Solution().{task.name}",
        "input_output": example_text(task),
    },
}
"""Data sets whose values are JSON, and whose sites have ``class Solution``."""

PYTHON_CALLS: dict[str, Render] = {
    "verl_asserts": lambda task: {"data_source": "prime_code", "reward_model": {"ground_truth": J({"inputs": [], "outputs": [], "assert_case": asserts(task)})}},
    "open_instruct": lambda task: {"messages": [{"role": "user", "content": "Do it."}], "ground_truth": asserts(task), "dataset": "code"},
    "open_instruct_json": lambda task: {"ground_truth": J(asserts(task)), "dataset": ["code"], "good_program": True},
    "acecode": lambda task: {"id": "oss_1", "source": "oss", "question": "Do it.", "test_cases": asserts(task), "inferences": [{"model_name": "m", "pass_rate": 1.0}], "context_messages": None},
    "mbpp": lambda task: {"task_id": 11, "text": "Write a function.", "code": "x = 1", "test_list": asserts(task), "test_setup_code": "", "challenge_test_list": []},
    "mbpp_sanitized": lambda task: {"source_file": "a.jsonl", "task_id": 2, "prompt": "Write a function.", "code": "x = 1", "test_imports": ["import math"], "test_list": asserts(task)},
    "mbpp_plus": mbpp_plus,
    "humaneval": lambda task: {"task_id": "HumanEval/7", "prompt": humaneval_prompt(task), "entry_point": task.name, "canonical_solution": indented(task.body), "test": f"\n\nMETADATA = {{\n    'author': 'jt',\n    'dataset': 'test'\n}}\n\n\n{check(task, keywords=False)}\n"},
    "evoeval_copy": lambda task: {"id": "e/1", "content": humaneval_prompt(task), "labels": J({"entry_point": task.name}), "canonical_solution": indented(task.body), "test": check(task, keywords=False) + f"\ncheck({task.name})\n"},
    "evalplus": evalplus,
    "kodcode": lambda task: {"version": "v1.0", "style": "instruct", "question_id": "k", "question": "Do it.", "solution": f"{task.before}\n{task.function(hints=False)}", "test": pytest_file(task), "test_info": [{"function_name": task.name, "parameter_list": f"({', '.join(task.names)})", "function_declaration": f"def {task.name}({', '.join(task.names)}):", "docstring": "Do it."}], "gpt_pass_percentage": 1.0},
    "coder1_functional": lambda task: {"data_source": "code", "ability": "coding", "reward_model": {"style": "rule", "ground_truth": J({"functional": deep_equal(task)})}},
    "coder1_pytest": lambda task: {"data_source": "code", "reward_model": {"style": "rule", "ground_truth": J({"pytest": pytest_file(task)})}},
    "leetcode": lambda task: {"task_id": "x", "entry_point": task.name, "prompt": leetcode_prompt(), "query": "Do it.", "test": check(task, keywords=True)},
    "auto_eval": lambda task: {"id": 4, "content": "Do it.", "labels": J({"programming_language": "python", "category": "mbxp", "fewshot": False}), "test": J({"code": "#<INSERT>\n\n" + check(task, keywords=False) + f"check({task.name})\n", "asset": None})},
    "mhpp": lambda task: {"id": 1, "content": f"Write it.\n\ndef {task.name}({task.head}):\n    \"\"\"Do it.\"\"\"", "labels": J({"difficulty_type": "Distraction"}), "test": "\n".join(asserts(task))},
    "bigcodebench": lambda task: {"task_id": "BigCodeBench/1", "complete_prompt": "x", "instruct_prompt": "Do it.", "code_prompt": f"from typing import *\n{task.before}\ndef {task.name}({', '.join(task.names)}):\n", "entry_point": task.name, "libs": "['itertools']", "test": unittest_class(task, task.name), "canonical_solution": indented(task.body)},
}  # fmt: skip
"""Data sets whose tests are Python."""

Rendered = Callable[[Whole], Columns]


def _cases(task: Whole, **more: Any) -> list[Columns]:
    return [{"input": given, "output": wanted, **more} for given, wanted in task.pairs]


def _both(task: Whole) -> Columns:
    return {"inputs": [given for given, _ in task.pairs], "outputs": [wanted for _, wanted in task.pairs]}


def _dict(pairs: list[tuple[str, str]]) -> Columns:
    return {"input": [given for given, _ in pairs], "output": [wanted for _, wanted in pairs]}


STDIO: dict[str, Rendered] = {
    "apps": lambda task: {"question": "Do it.", "input_output": J(_both(task)), "starter_code": "", "difficulty": "interview"},
    "apps_lines": lambda task: {"input_output": J({"inputs": [given.split("\n") for given, _ in task.pairs], "outputs": [wanted.split("\n") for _, wanted in task.pairs]}), "starter_code": ""},
    "taco": lambda task: {"input_output": J(_both(task)), "starter_code": None, "time_limit": "2.0 seconds", "memory_limit": "256.0 megabytes", "source": "codeforces"},
    "code_contests": lambda task: {"name": "1_A. x", "description": "Do it.", "public_tests": _dict(task.pairs[:1]), "private_tests": _dict([]), "generated_tests": _dict(task.pairs[1:]), "source": 2, "difficulty": 7, "time_limit": {"seconds": 2, "nanos": 500000000}, "memory_limit_bytes": 256000000, "input_file": "", "output_file": "", "is_description_translated": False},
    "code_contests_plus": lambda task: {"source": "Codeforces", "id": "1_A", "title": "x", "time_limit_ms": 2000, "memory_limit_mb": 256, "test_cases": _cases(task), "checker": None},
    "eurus": lambda task: {"data_source": "codecontests", "ability": "code", "reward_model": {"style": "rule", "ground_truth": J(_both(task))}},
    "coder1": lambda task: {"data_source": "code", "reward_model": {"ground_truth": J({"inputs": [given.strip() for given, _ in task.pairs], "outputs": [wanted.strip() for _, wanted in task.pairs]}), "style": "rule"}},
    "synthetic": lambda task: {"task_type": "verifiable_code", "verification_info": J({"language": "python", "test_cases": [{"fn_name": None, "input": given, "output": wanted, "type": "stdin_stdout"} for given, wanted in task.pairs]}), "metadata": "{}"},
    "open_r1": lambda task: {"problem": "Do it.", "verification_info": {"language": "python", "test_cases": [{"fn_name": "", "input": given, "output": wanted, "type": "stdin_stdout"} for given, wanted in task.pairs]}},
    "deepcoder": lambda task: {"problem": "Do it.", "tests": J(_cases(task, testtype="stdin_stdout")), "metadata": {}},
    "deepcoder_lcb": lambda task: {"tests": J([{**one, "testtype": "stdin"} for one in _cases(task)]), "metadata": {"func_name": None}, "starter_code": ""},
    "lcb": lambda task: {"platform": "atcoder", "starter_code": "", "public_test_cases": J(_cases(task, testtype="stdin")[:1]), "private_test_cases": packed(J(_cases(task, testtype="stdin")[1:])), "metadata": "{}"},
    "lcb_copy": lambda task: {"id": 1, "content": "Do it.", "labels": J({"task_id": "codeforces/1_A", "programming_language": "python", "execution_language": "python", "difficulty": "easy", "fewshot": False}), "test": packed({"input_output": J(_both(task))})},
    "skyrl": lambda task: {"reward_spec": {"method": "rule", "ground_truth": J(_cases(task, testtype="stdin", metadata={"func_name": None}))}},
    "nemo_gym": lambda task: {"verifier_metadata": {"unit_tests": {**_both(task), "fn_name": None}}, "hash_id": "x"},
    "open_instruct": lambda task: {"dataset": "code_stdio", "ground_truth": J(_cases(task))},
    "open_instruct_packed": lambda task: {"dataset": "code_stdio", "ground_truth": packed(_cases(task))},
    "codeforces": lambda task: {"id": "1/A", "aliases": None, "contest_id": "1", "time_limit": 2.0, "memory_limit": 256.0, "title": "x", "examples": _cases(task)[:1], "official_tests": _cases(task), "official_tests_complete": True, "input_mode": "stdio", "interaction_format": None, "generated_checker": None, "executable": True, "generated_tests": 0, "language": "python"},
    "rstar": lambda task: {"question_id": "s", "inputs": J(_both(task)["inputs"]), "outputs": J(_both(task)["outputs"]), "test_case_type": "stdin", "func_name": None, "class_name": None},
    "hardtests": lambda task: {"pid": "cf_1_A", "test_cases": _cases(task), "test_cases_kit": {"output_judging_function": None, "input_validator": "x"}},
    "hardtests_judged": lambda task: {"pid": "cf_1_A", "test_cases": _cases(task), "test_cases_kit": {"output_judging_function": "def output_judging_function(input_str, candidate_output, reference_output):\n    def near(a, b):\n        try:\n            return abs(float(a) - float(b)) < 1e-6 and ('.' in b or a == b)\n        except ValueError:\n            return a == b\n    a, b = candidate_output.split(), reference_output.split()\n    return len(a) == len(b) and all(map(near, a, b))"}},
    "common_oj": lambda task: {"id": "a", "content": "Do it.", "labels": J({"source": "CODECHEF"}), "test": J([{"input": {"stdin": given}, "output": {"stdout": wanted}} for given, wanted in task.pairs])},
    "code_contests_o": lambda task: {"id": "1", "corner_cases": [{"input": {"stdin": given}, "output": {"stdout": wanted}} for given, wanted in task.pairs], "checker": None, "generator": "x", "commands": "y"},
    "ours": lambda task: {"tests": _cases(task), "format": "stdio"},
}  # fmt: skip


def refused() -> dict[str, tuple[Columns, str]]:
    """Rows that no score is right for, with a program that would pass what is there."""
    echo, add = fenced("print(input())"), fenced("def add(a, b):\n    return a + b")
    one = [{"input": "1\n", "output": "1\n"}]
    call = {"fn_name": "add", "inputs": [[1, 2]], "outputs": [[3]]}
    func = [{"input": "1\n2", "output": "3", "testtype": "functional"}]
    return {
        "apps_empty": ({"input_output": "", "starter_code": ""}, echo),
        "apps_no_tests": ({"input_output": J({"inputs": [], "outputs": []})}, echo),
        "apps_unequal": ({"input_output": J({"inputs": ["1\n", "2\n"], "outputs": ["1\n"]})}, echo),
        "apps_null_output": ({"input_output": J({"inputs": ["1\n"], "outputs": [None]})}, echo),
        "apps_contradiction": ({"input_output": J({"inputs": ["1\n", "1\n"], "outputs": ["1\n", "2\n"]})}, echo),
        "apps_expects_nothing": ({"input_output": J({"inputs": ["1\n"], "outputs": [""]})}, echo),
        "apps_broken_json": ({"input_output": '{"inputs": ["1'}, echo),
        "apps_unknown_key": ({"input_output": J({**call, "spj": "checker.cpp"})}, add),
        "taco_display_text": ({"input_output": J({"inputs": ["N = 5", "N = 6"], "outputs": ["5", "6"]})}, echo),
        "taco_starter_without_name": ({"input_output": J({"inputs": ["5"], "outputs": ["5"]}), "starter_code": "class Solution:\n    def f(self, n):\n        "}, echo),
        "lcb_no_name": ({"public_test_cases": J(func), "private_test_cases": "[]", "metadata": "{}"}, add),
        "lcb_not_packed": ({"public_test_cases": J(one), "private_test_cases": base64.b64encode(b"no zlib at all, only text").decode(), "metadata": "{}"}, echo),
        "lcb_pickle_with_class": ({"public_test_cases": "[]", "private_test_cases": packed({"a": print}), "metadata": "{}"}, echo),
        "lcb_mixed": ({"public_test_cases": J(func), "private_test_cases": J([{**one[0], "testtype": "stdin"}]), "metadata": J({"func_name": "add"})}, add),
        "codeforces_interactive": ({"official_tests": one, "official_tests_complete": True, "interaction_format": "Print ? x and flush.", "input_mode": "stdio"}, echo),
        "codeforces_cut": ({"official_tests": one, "official_tests_complete": False, "input_mode": "stdio"}, echo),
        "codeforces_not_executable": ({"official_tests": one, "official_tests_complete": True, "executable": False}, echo),
        "codeforces_no_tests": ({"official_tests": [], "official_tests_complete": True}, echo),
        "contests_files_named": ({"public_tests": {"input": ["1"], "output": ["1"]}, "input_file": "../in.txt"}, echo),
        "contests_all_empty": ({"public_tests": {"input": [], "output": []}, "private_tests": {"input": [], "output": []}, "generated_tests": {"input": [], "output": []}}, echo),
        "plus_checker_no_testlib": ({"test_cases": one, "checker": "int main() { return 0; }"}, echo),
        "hardtests_null_tests": ({"test_cases": None, "test": None, "pid": "x"}, echo),
        "synthetic_haskell": ({"verification_info": J({"language": "haskell", "test_cases": [{"type": "stdin_stdout", "input": "1", "output": "1"}]})}, echo),
        "synthetic_unknown_type": ({"verification_info": J({"language": "python", "test_cases": [{"type": "http_request", "input": "1", "output": "1"}]})}, echo),
        "synthetic_two_names": ({"verification_info": J({"language": "python", "test_cases": [{"type": "function_call", "fn_name": "add", "input": [1, 2], "output": 3}, {"type": "function_call", "fn_name": "sub", "input": [1, 2], "output": -1}]})}, add),
        "deepcoder_functional_no_name": ({"tests": J(func), "metadata": {}}, add),
        "eurus_not_code": ({"ability": "math", "reward_model": {"ground_truth": "42"}}, echo),
        "eurus_no_truth": ({"ability": "code", "reward_model": {"style": "rule"}}, echo),
        "eurus_no_json": ({"ability": "code", "reward_model": {"ground_truth": J({"fn_name": "add", "inputs": ["1\ntwo"], "outputs": ["3"]})}}, add),
        "common_oj_file": ({"id": 1, "test": J([{"input": {"data.bin": "1"}, "output": {"stdout": "1"}}])}, echo),
        "auto_eval_cpp": ({"id": 1, "labels": J({"programming_language": "cpp"}), "test": J({"code": "#<INSERT>\nint main() { assert(f() == 1); }"})}, fenced("int f() { return 1; }", "cpp")),
        "leetcode_sql": ({"tests": J(one), "language": "mysql"}, fenced("select 1", "sql")),
        "multipl_e_swift": ({"name": "HumanEval_0", "language": "swift", "prompt": "func f() -> Int {", "tests": "assert(f() == 1)", "stop_tokens": ["\n}"]}, fenced("func f() -> Int { 1 }", "swift")),
        "humaneval_no_check": ({"prompt": "def add(a, b):\n", "entry_point": "add", "test": "METADATA = {}\n"}, add),
        "kodcode_empty_file": ({"test": "from solution import add\n", "test_info": [{"function_name": "add"}]}, add),
        "acecode_empty": ({"test_cases": [], "question": "x"}, add),
        "mbpp_broken": ({"test_list": ["assert add(1, 2 == 3"], "test_setup_code": ""}, add),
        "no_tests": ({"question": "x", "answer": "y"}, echo),
        "leetcode_nodes_unsaid": ({"question": "Reverse a linked list.", "input_output": J({"fn_name": "flip", "inputs": [[[1, 2]]], "outputs": [[[2, 1]]]})}, fenced("def flip(head):\n    return head[::-1]")),
        "packed_bomb": ({"public_test_cases": "[]", "private_test_cases": base64.b64encode(zlib.compress(b"[" + b" " * (300 << 20) + b"]", 9)).decode(), "metadata": "{}"}, echo),
    }  # fmt: skip
