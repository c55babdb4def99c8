"""Rows of the public code formats in their odd variants, each with a right and a wrong program, for ``code_formats.py``.

Run: ``python benchmarks/code_format_rows.py > ROWS.jsonl``. A few small tasks, of which each has something that readers trip
over (huge integers, quotes and line breaks in texts, lists of one, keys that are numbers, nodes, arguments changed in place,
no arguments, no output), are written in the columns of each data set: cells as JSON or as values, packed, with empty columns
beside them, under the other names that a column has, with and without starter code.
"""

from __future__ import annotations

# fmt: off
import base64
import json
import pickle
import random
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

J = json.dumps
Rendered = Iterator[tuple[str, dict[str, Any]]]


def _fenced(text: str, tag: str = "python") -> str:
    return f"```{tag}\n{text}\n```"


def packed(value: Any) -> str:
    """As LiveCodeBench packs its private tests."""
    return base64.b64encode(zlib.compress(pickle.dumps(J(value)))).decode()


def packed_list(value: Any) -> str:
    """As open-instruct packs."""
    return base64.b64encode(zlib.compress(pickle.dumps(value))).decode()


# ------------------------------------------------------------------------------------------------ tasks that are called


@dataclass(frozen=True)
class Call:
    """A function: its signature, the bodies of a right and a wrong program, and arguments of its tests."""

    name: str
    signature: str
    right: str
    wrong: str
    arguments: tuple[Any, ...]
    result: str = ""
    nodes: bool = False
    place: bool = False
    results: tuple[Any, ...] = ()
    plain: str = field(default="")

    def function(self, body: str) -> str:
        """The program as a function."""
        return f"def {self.name}({_bare(self.signature)}):\n{_indented(body)}\n"

    def method(self, body: str) -> str:
        """The program as LeetCode has it, with its hints and without its imports."""
        head = f"    def {self.name}(self{', ' if self.signature else ''}{self.signature}){self.result and ' -> ' + self.result}:"
        return f"class Solution:\n{head}\n{_indented(body, 8)}\n"

    @property
    def starter(self) -> str:
        """The beginning of the method."""
        return self.method("").rstrip() + "\n        "

    @property
    def wanted(self) -> list[Any]:
        """The results of the right program, as JSON has them."""
        if self.results:
            return list(self.results)
        space: dict[str, Any] = {}
        exec(f"from math import *\nfrom collections import *\n{self.function(self.right)}", space)  # noqa: S102  the task above
        found = []
        for given in self.arguments:
            given = json.loads(J(given))
            got = space[self.name](*given)
            found.append(given[0] if self.place else got)
        return json.loads(J(found))

    @property
    def names(self) -> list[str]:
        """The parameters."""
        return [part.split(":")[0].strip() for part in _bare(self.signature).split(",") if part.strip()]


def _bare(signature: str) -> str:
    depth, out, hint = 0, "", False
    for mark in signature:
        depth += (mark in "[(") - (mark in "])")
        hint = (hint or mark == ":") and not (mark == "," and depth == 0)
        out += "" if hint else mark
    return out


def _indented(body: str, by: int = 4) -> str:
    return "\n".join(" " * by + line for line in body.splitlines())


CALLS = (
    Call("power", "a: int, b: int", "return a ** b", "return int(float(a) ** b)", ((2, 70), (3, 41), (7, 1), (10, 30)), "int"),
    Call("shift", "s: str, k: int", "return ''.join(chr(ord(c) + k) if c.isalpha() else c for c in s)", "return s",
         (("abc\n\"q\" \\ d", 1), ("é, ß", 2), ("", 3), ("x y", 1)), "str"),
    Call("evens", "nums: List[int]", "return [x for x in nums if x % 2 == 0]", "return sorted(x for x in nums if x % 2 == 0)",
         (([3, 4, 2],), ([1],), ([],), ([8, 6, 4],)), "List[int]"),
    Call("largest", "nums: List[int]", "return [max(nums)]", "return [min(nums)]", (([3, 4, 2],), ([1, 5],), ([8, 6, 9],)), "List[int]"),
    Call("mean", "nums: List[int]", "return sum(nums) / len(nums)", "return sum(nums) // len(nums)", (([1, 2],), ([2, 2, 3],), ([7],)), "float"),
    Call("counts", "words: List[str]", "return dict(Counter(words))", "return dict.fromkeys(words, 1)", ((["a", "b", "a"],), (["x"],), (["q", "q"],)), "Dict[str, int]"),
    Call("turned", "d: Dict[int, int]", "return {v: int(k) for k, v in d.items()}", "return {v: 0 for k, v in d.items()}", (({"1": 2, "3": 4},), ({"5": 6},)), "Dict[int, int]"),
    Call("bounds", "nums: List[int]", "return (min(nums), max(nums))", "return (min(nums), min(nums))", (([3, 4, 2],), ([5, 1],)), "Tuple[int, int]"),
    Call("place_of", "nums: List[int], x: int", "return nums.index(x) if x in nums else None", "return nums.index(x) if x in nums else -1", (([3, 4], 4), ([3], 9), ([], 1)), "Optional[int]"),
    Call("flipped", "grid: List[List[int]]", "return [list(r) for r in zip(*grid)]", "return grid", (([[1, 2], [3, 4]],), ([[1, 2, 3]],), ([],)), "List[List[int]]"),
    Call("answer", "", "return 42", "return 41", ((),), "int"),
    Call("same", "a: str, b: str", "return sorted(a) == sorted(b)", "return len(a) == len(b)", (("ab", "ba"), ("ab", "cc"), ("", "")), "bool"),
    Call("ordered", "nums: List[int]", "nums.sort()", "nums.reverse()", (([3, 1, 2],), ([9, 8, 10],)), "None", place=True,
         plain='"""\n        Do not return anything, modify nums in-place instead.\n        """'),
    Call("back", "head: Optional[ListNode]", "out = None\nwhile head:\n    head.next, out, head = out, head, head.next\nreturn out",
         "return head", (([1, 2, 3],), ([],), ([4, 5],)), "Optional[ListNode]", nodes=True, results=([3, 2, 1], [], [5, 4])),
    Call("mirrored", "root: Optional[TreeNode]", "if root:\n    root.left, root.right = self.mirrored(root.right), self.mirrored(root.left)\nreturn root",
         "return root", (([1, 2, 3],), ([],), ([4, None, 5],)), "Optional[TreeNode]", nodes=True, results=([1, 3, 2], [], [4, 5])),
    Call("joined", "lists: List[Optional[ListNode]]", "xs = []\nfor one in lists:\n    while one:\n        xs.append(one.val)\n        one = one.next\nout = None\nfor x in sorted(xs, reverse=True):\n    out = ListNode(x, out)\nreturn out",
         "return lists[0] if lists else None", (([[1, 4], [2, 3]],), ([],), ([[7], [5]],)), "Optional[ListNode]", nodes=True, results=([1, 2, 3, 4], [], [5, 7])),
)  # fmt: skip


def call_rows(task: Call) -> Rendered:
    """A called task in the columns of every family that has calls."""
    name, args, wanted, starter = task.name, [list(one) for one in task.arguments], task.wanted, task.starter
    if task.place:
        starter = starter.rstrip() + "\n        " + task.plain
    asked = f"Write {name}.\n\n```python\n{starter}\n```\n"
    hinted = {"starter_code": starter}
    lists = {"fn_name": name, "inputs": args, "outputs": wanted}
    whole = all(isinstance(one, list) for one in wanted)
    wrapped = {**lists, "outputs": [[one] for one in wanted]}
    lines = {"fn_name": name, "inputs": ["\n".join(J(part) for part in one) for one in args], "outputs": [J(one) for one in wanted]}
    functional = [{"input": one, "output": other, "testtype": "functional"} for one, other in zip(lines["inputs"], lines["outputs"], strict=True)]
    bare = {} if not (whole and all(len(one) == 1 for one in wanted)) else hinted

    # APPS and TACO
    yield ("apps", {"input_output": J(wrapped), "question": asked, "difficulty": "introductory", "url": "https://leetcode.com/x", **hinted})
    yield "apps", {"input_output": wrapped, "question": asked, "solutions": "[]", "problem_id": 7, **hinted}
    yield "apps", {"input_output": J(lists), "question": asked, **hinted}
    yield "apps", {"input_output": J(lists, ensure_ascii=False, indent=2), **hinted, "solutions": None, "url": None}
    yield ("taco", {"input_output": J(wrapped), "question": asked, "starter_code": f"\n{starter}", "time_limit": None, "memory_limit": None, "raw_tags": "['x']", "name": None, "source": "leetcode", "tags": "[]", "skill_types": "[]"})
    yield ("taco", {"input_output": J(wrapped), "question": asked, **hinted, "time_limit": "2.0 seconds", "memory_limit": "256.0 megabytes", "date": None})
    if not task.nodes and not task.place:
        yield ("apps", {"input_output": J(wrapped), "question": f"Write {name}.", **(bare or {"starter_code": f"def {name}({_bare(task.signature)}):\n\t"})})
        yield "taco", {"input_output": J(lists), "question": "", "starter_code": starter if bare else ""}
    # PRIME, verl, SkyRL
    for ground in (J(lines), lines):
        yield ("prime", {"data_source": "taco", "ability": "code", "prompt": [{"role": "user", "content": asked}], "reward_model": {"style": "rule", "ground_truth": ground}, "extra_info": {"index": 0, "split": "train", "reference": "[]"}, "starter_code": starter})
    yield ("prime", {"data_source": "apps", "ability": "code", "prompt": [{"role": "system", "content": "Think."}, {"role": "user", "content": asked}], "reward_model": {"ground_truth": J(wrapped), "style": "rule"}, **hinted})
    yield ("prime", {"data_source": "codeforces", "reward_model": J({"ground_truth": J(lines)}), "prompt": asked, **hinted})
    yield ("skyrl", {"data_source": "lcb", "env_class": "lcb", "prompt": [{"role": "user", "content": asked}], "reward_spec": {"method": "rule", "ground_truth": J([{**one, "metadata": {"func_name": name}} for one in functional])}, **hinted})
    yield ("skyrl", {"reward_spec": J({"ground_truth": [{**one, "metadata": J({"func_name": name})} for one in functional]}), "prompt": [{"role": "user", "content": asked}], **hinted})
    # SYNTHETIC
    tests = [{"type": "function_call", "fn_name": name, "input": one, "output": other} for one, other in zip(args, wanted, strict=True)]
    boxed = [{**one, "output": [one["output"]]} for one in tests]
    for info in (J({"language": "python", "test_cases": tests}), {"language": "python", "test_cases": boxed}, str({"language": "python", "test_cases": boxed}), J({"language": "python", "test_cases": J(tests)})):
        yield ("synthetic", {"verification_info": info, "task_type": "verifiable_code", "prompt": asked, "problem_id": "p", "gold_standard_solution": None, "metadata": "{}", **hinted})
    # DeepCoder
    meta = {"func_name": name}
    yield "deepcoder", {"tests": J(functional), "metadata": meta, "problem": asked, **hinted}
    yield ("deepcoder", {"tests": J(functional), "metadata": J({**meta, "difficulty": "easy", "platform": "leetcode"}), "problem": asked, **hinted})
    yield "deepcoder", {"tests": functional, "metadata": meta, "problem": asked, **hinted}
    yield "deepcoder", {"tests": J([{**one, "metadata": meta} for one in functional]), "problem": asked, **hinted}
    yield "deepcoder", {"tests": J(wrapped), "problem": asked, **hinted, "metadata": None}
    yield "deepcoder", {"tests": J(boxed), "problem": asked, **hinted}
    yield "deepcoder", {"tests": J([{**one, "fn_name": name} for one in functional]), "problem": asked, **hinted}
    # LiveCodeBench
    for private in (J(functional[1:]), packed(functional[1:]), functional[1:], J([])):
        shown = functional if private == "[]" else functional[:1]
        yield ("livecodebench", {"question_title": name, "question_content": asked, "platform": "leetcode", "question_id": "1", "contest_id": "c", "contest_date": "2024-01-01T00:00:00", "difficulty": "easy", "public_test_cases": J(shown, indent=1), "private_test_cases": private, "metadata": J(meta), **hinted})
    yield ("livecodebench", {"public_test_cases": functional, "private_test_cases": None, "metadata": meta, **hinted, "question_content": asked})
    # NeMo Gym, NeMo-Skills, rStar, open-instruct
    yield ("nemo_gym", {"verifier_metadata": {"unit_tests": lines}, "responses_create_params": {"input": [{"role": "user", "content": asked}]}, **hinted})
    yield "nemo_gym", {"verifier_metadata": J({"unit_tests": J(lines), "problem_id": "x"}), "hash_id": "x", **hinted}
    yield ("rstar", {"question": asked, "inputs": J(lines["inputs"]), "outputs": J(lines["outputs"]), "is_synthesized": J([1] * len(args)), "test_case_type": "fn_name", "func_name": name, "class_name": "Solution", **hinted})
    yield ("rstar", {"question": asked, "inputs": lines["inputs"], "outputs": lines["outputs"], "is_synthesized": None, "test_case_type": "fn_name", "func_name": name, "class_name": "", **hinted})
    yield ("open_instruct", {"dataset": "code_stdio", "ground_truth": [J([{**one, "metadata": meta} for one in functional])], "messages": [{"role": "user", "content": asked}], **hinted})
    yield ("rllm", {"data_source": "livecodebench", "ground_truth": packed_list([{**one, "metadata": meta} for one in functional]), "question": asked, **hinted})
    # LeetCodeDataset: examples for people
    if task.signature:
        shown = [{"input": ", ".join(f"{k} = {v!r}" for k, v in zip(task.names, one, strict=True)), "output": repr(other)} for one, other in zip(args, wanted, strict=True)]
        yield ("leetcode", {"prompt": HEAD, "query": asked, "entry_point": f"Solution().{name}", "input_output": shown, **hinted})
        words = [{"input": one["input"].replace("None", "null").replace("True", "true"), "output": one["output"].replace("None", "null").replace("True", "true").replace("False", "false")} for one in shown]
        yield ("leetcode", {"prompt": HEAD, "query": asked, "entry_point": f"Solution().{name}", "input_output": J(words), **hinted, "task_id": "x", "difficulty": "Easy"})


NODES = """
class ListNode:
    def __init__(self, val=0, next=None):
        self.val = val
        self.next = next

class TreeNode:
    def __init__(self, val=0, left=None, right=None):
        self.val = val
        self.left = left
        self.right = right
"""
HEAD = f"import random\nimport functools\nimport collections\nfrom typing import *\nfrom collections import *\nfrom math import *\n\ninf = float('inf')\n{NODES}"


def check_rows(task: Call) -> Rendered:
    """A called task as statements, check functions and test files; only data crosses there, and no nodes."""
    if task.nodes or task.place or not task.signature:
        return
    name, args = task.name, task.arguments
    asserts = [f"assert {name}({', '.join(map(repr, one))}) == {other!r}" for one, other in zip(args, _python(task), strict=True)]
    keywords = "".join(f"    assert candidate({', '.join(f'{k} = {v!r}' for k, v in zip(task.names, one, strict=True))}) == {other!r}\n" for one, other in zip(args, _python(task), strict=True))
    check = f"def check(candidate):\n{keywords}"
    prompt = f'from typing import *\nfrom collections import Counter\n\n\ndef {name}({task.signature}) -> {task.result}:\n    """Do it."""\n'
    indented = "".join(f"    {line}\n" for line in asserts)
    yield ("humaneval", {"task_id": "X/1", "prompt": prompt, "entry_point": name, "test": f"\n\nMETADATA = {{'author': 'x'}}\n\n\n{check}", "canonical_solution": _indented(task.right)})
    yield "humaneval", {"prompt": prompt, "entry_point": name, "test": f"{check}\ncheck({name})\n"}
    yield ("humaneval", {"prompt": prompt, "entry_point": name, "test": f"import unittest\n\nclass TestCases(unittest.TestCase):\n    def test_all(self):\n{''.join(f'        self.assertEqual({name}({chr(44).join(map(repr, one))}), {other!r}){chr(10)}' for one, other in zip(args, _python(task), strict=True))}"})
    yield ("mbpp", {"task_id": 2, "text": "Do it.", "code": task.function(task.right), "test_list": asserts, "test_setup_code": "", "challenge_test_list": []})
    yield "mbpp", {"prompt": "Do it.", "test_list": J(asserts), "test_imports": ["import math"], "source_file": "x"}
    yield ("acecode", {"id": "a", "source": "bigcode_python_fns", "question": "Do it.", "test_cases": asserts, "inferences": []})
    yield "acecode", {"test_cases": J(asserts), "question": "Do it.", "context_messages": None}
    yield ("open_instruct", {"dataset": "code", "ground_truth": asserts, "messages": [{"role": "user", "content": "Do it."}]})
    yield "open_instruct", {"dataset": "code", "ground_truth": [J(asserts)]}
    yield "open_instruct", {"dataset": ["code"], "ground_truth": J(asserts)}
    yield ("verl", {"data_source": "x", "reward_model": {"ground_truth": J({"assert_case": asserts, "inputs": [], "outputs": []})}})
    yield "coder1", {"data_source": "code", "reward_model": {"ground_truth": J({"functional": "\n".join(asserts)})}}
    deep = "_inputs = {}\n_outputs = {}\nimport math\ndef _deep_eq(a, b, tol=1e-5):\n    if isinstance(a, float) or isinstance(b, float):\n        return math.isclose(a, b, rel_tol=tol, abs_tol=tol)\n    if isinstance(a, (list, tuple)):\n        if len(a) != len(b): return False\n        return all(_deep_eq(x, y, tol) for x, y in zip(a, b))\n    return a == b\n\nfor i, o in zip(_inputs, _outputs):\n    assert _deep_eq({}(*i), {})"
    yield "coder1", {"data_source": "code", "reward_model": {"ground_truth": J({"functional": deep.format([list(one) for one in args], _python(task), name, "o")})}}
    yield "coder1", {"data_source": "code", "reward_model": {"ground_truth": J({"functional": deep.format([list(one) for one in args], [[one] for one in _python(task)], f"Solution().{name}", "o[0]")})}}
    yield ("coder1", {"data_source": "code", "reward_model": {"ground_truth": J({"functional": f"{check}\n\ncheck({name})"})}})
    yield ("coder1", {"data_source": "code", "reward_model": {"ground_truth": J({"pytest": f"from solution import {name}\n\ndef test_it():\n{indented}"})}})
    yield "kodcode", {"question": "Do it.", "test": f"from solution import {name}\nimport pytest\n\n" + "\n".join(f"def test_{k}():\n    {line}\n" for k, line in enumerate(asserts)), "test_info": [{"function_name": name, "parameter_list": "(x)", "function_declaration": f"def {name}(x):", "docstring": "d"}], "style": "instruct", "gpt_pass_percentage": 1.0}
    yield ("kodcode", {"test": f"import pytest\nfrom solution import *\n\n@pytest.mark.parametrize('given, wanted', {[(list(one), other) for one, other in zip(args, _python(task), strict=True)]!r})\ndef test_all(given, wanted):\n    assert {name}(*given) == wanted\n", "test_info": J([{"function_name": name}])})
    yield ("leetcode", {"prompt": HEAD, "query": "?", "entry_point": f"Solution().{name}", "test": check, "task_id": "x", "starter_code": task.starter})
    yield ("leetcode", {"prompt": HEAD, "entry_point": f"Solution().{name}", "test": check, "problem_description": "d", "completion": None})
    yield ("evalplus", {"task_id": "HumanEval/1", "prompt": prompt, "entry_point": name, "canonical_solution": _indented(task.right), "base_input": [list(one) for one in args[:1]], "plus_input": [list(one) for one in args[1:]], "contract": "", "atol": 0, "base": None})
    yield "evalplus", {"task_id": "Mbpp/2", "prompt": f'"""\nDo it.\n{asserts[0]}\n"""\n', "entry_point": name, "canonical_solution": f"from collections import Counter\n{task.function(task.right)}", "base_input": J([list(one) for one in args[:1]]), "plus_input": J([list(one) for one in args[1:]]), "contract": "\n", "assertion": asserts[0], "atol": 1e-6}
    results = f"inputs = {[list(one) for one in args]!r}\nresults = {_python(task)!r}\nfor i, (inp, exp) in enumerate(zip(inputs, results)):\n    assertion({name}(*inp), exp, 0)\n"
    yield "mbpp_plus", {"task_id": 2, "code": task.function(task.right), "prompt": "Do it.", "test_imports": [], "test_list": asserts[:1], "test": f'import numpy as np\nfrom math import inf\n\ndef is_floats(x) -> bool:\n    if isinstance(x, float):\n        return True\n    if isinstance(x, (list, tuple)) and x:\n        return all(isinstance(i, float) for i in x)\n    if isinstance(x, np.ndarray):\n        return x.dtype == np.float64 or x.dtype == np.float32\n    return False\n\n\ndef assertion(out, exp, atol):\n    if atol == 0 and is_floats(exp):\n        atol = 1e-6\n    if out != exp and atol != 0:\n        assert np.allclose(out, exp, rtol=1e-07, atol=atol)\n    else:\n        assert out == exp, f"out: {{out}}, exp: {{exp}}"\n\n\n{results}'}
    yield ("autoeval", {"id": 3, "content": "Do it.", "labels": J({"programming_language": "python"}), "test": J({"code": "#<INSERT>\n\n" + "\n".join(asserts) + "\n"})})
    called = "\n".join(f"assert my_solution.{name}(*{list(one)!r}) == {other!r}" for one, other in zip(args, _python(task), strict=True))
    yield "autoeval", {"id": 3, "content": "Do it.", "labels": J({"programming_language": "python"}), "test": J({"code": f"\nfrom typing import *\n\n#<INSERT>\n\nmy_solution = Solution()\n\n{called}\n"})}
    yield "autoeval", {"id": 5, "content": "Do it.", "labels": {}, "test": {"code": "#<INSERT>\n" + deep.format([list(one) for one in args], _python(task), name, "o")}}
    yield ("autoeval", {"id": 4, "content": "Do it.", "labels": {"programming_language": "python"}, "test": {"code": f"from typing import *\nfrom collections import *\n#<INSERT>\n\n{check}\ncheck({name})\n", "asset": {}}})


def _python(task: Call) -> list[Any]:
    """The right program's own results, tuples and number keys kept."""
    space: dict[str, Any] = {}
    exec(f"from math import *\nfrom collections import *\n{task.function(task.right)}", space)  # noqa: S102  the task above
    return [space[task.name](*json.loads(J(one))) for one in task.arguments]


# ------------------------------------------------------------------------------------------------ whole programs


@dataclass(frozen=True)
class Program:
    """A task of standard input and output: programs by language, and tests."""

    name: str
    right: dict[str, str]
    wrong: dict[str, str]
    tests: tuple[tuple[str, str], ...]


SUM = {
    "python": "import sys\nn, *xs = map(int, sys.stdin.read().split())\nprint(sum(xs[:n]))",
    "cpp": "#include <bits/stdc++.h>\nusing namespace std;\nint main() { int n; cin >> n; long long s = 0, x; while (n--) { cin >> x; s += x; } cout << s << endl; }",
    "c": "#include <stdio.h>\nint main(void) { int n; long long s = 0, x; scanf(\"%d\", &n); while (n--) { scanf(\"%lld\", &x); s += x; } printf(\"%lld\\n\", s); return 0; }",
    "java": "import java.util.*;\npublic class Main {\n  public static void main(String[] a) {\n    Scanner in = new Scanner(System.in);\n    int n = in.nextInt();\n    long s = 0;\n    while (n-- > 0) s += in.nextLong();\n    System.out.println(s);\n  }\n}",
    "javascript": "const t = require('fs').readFileSync(0, 'utf8').split(/\\s+/).filter(Boolean);\nlet s = 0n;\nfor (let i = 1; i <= Number(t[0]); i++) s += BigInt(t[i]);\nconsole.log(String(s));",
    "typescript": "import * as fs from 'fs';\nconst t: string[] = fs.readFileSync(0, 'utf8').split(/\\s+/).filter(Boolean);\nlet s: number = 0;\nfor (let i = 1; i <= Number(t[0]); i++) s += Number(t[i]);\nconsole.log(String(s));",
    "go": "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tvar n int\n\tfmt.Scan(&n)\n\tvar s, x int64\n\tfor i := 0; i < n; i++ {\n\t\tfmt.Scan(&x)\n\t\ts += x\n\t}\n\tfmt.Println(s)\n}",
    "rust": "use std::io::Read;\nfn main() {\n    let mut t = String::new();\n    std::io::stdin().read_to_string(&mut t).unwrap();\n    let v: Vec<i64> = t.split_whitespace().map(|x| x.parse().unwrap()).collect();\n    println!(\"{}\", v[1..=(v[0] as usize)].iter().sum::<i64>());\n}",
    "ruby": "t = STDIN.read.split.map(&:to_i)\nputs t[1, t[0]].sum",
    "php": "<?php\n$t = array_map('intval', preg_split('/\\s+/', trim(stream_get_contents(STDIN))));\necho array_sum(array_slice($t, 1, $t[0])), \"\\n\";",
    "bash": "read -r n\ns=0\nfor x in $(cat); do s=$((s + x)); done\necho \"$s\"",
}  # fmt: skip
TURNED = {
    "python": ("sum(xs[:n])", "sum(xs[:n]) + 1"),
    "cpp": ("<< s", "<< s + 1"),
    "c": ('", s)', '", s + 1)'),
    "java": ("println(s)", "println(s + 1)"),
    "javascript": ("String(s)", "String(s + 1n)"),
    "typescript": ("String(s)", "String(s + 1)"),
    "go": ("Println(s)", "Println(s + 1)"),
    "rust": ("sum::<i64>()", "sum::<i64>() + 1"),
    "ruby": (".sum", ".sum + 1"),
    "php": (', "\\n"', ' + 1, "\\n"'),
    "bash": ('echo "$s"', 'echo "$((s + 1))"'),
}
PROGRAMS = (
    Program("sum", SUM, {name: text.replace(*TURNED[name]) for name, text in SUM.items()}, (("3\n1 2 3\n", "6\n"), ("1\n-5", "-5"), ("2\r\n4000000000 4000000000\r\n", "8000000000\r\n"), ("2\n\n7\n\n8\n", "15\n\n"))),
    Program("big", {"python": "print(int(input()) + 1)"}, {"python": "print(int(float(input())) + 1)"}, (("50000000000000000000\n", "50000000000000000001\n"), ("9007199254740993\n", "9007199254740994\n"))),
    Program("echo", {"python": "import sys\nfor line in sys.stdin.read().splitlines():\n    print(line[::-1])"}, {"python": "import sys\nfor line in sys.stdin.read().splitlines():\n    print(line)"}, (("abc def\nxy\n", "fed cba\nyx\n"), ("żółw\n", "włóż\n"), ("\n", "\n"), ("a,b\n", "b,a\n"))),
    Program("half", {"python": "a, b = map(int, input().split())\nprint(a / b)"}, {"python": "a, b = map(int, input().split())\nprint(a // b)"}, (("1 3\n", "0.333333333\n"), ("4 2\n", "2.0\n"), ("7 2\n", "3.5"), ("1 7\n", "1.4285714e-01\n"))),
    Program("silent", {"python": "n = int(input())\nfor i in range(n):\n    print(i, end=' ')"}, {"python": "n = int(input())\nfor i in range(n - 1):\n    print(i, end=' ')"}, (("0\n", ""), ("3\n", "0 1 2\n"), ("1\n", "0"))),
    Program("bits", {"python": "print(bin(int(input()))[2:].zfill(40))"}, {"python": "print(int(bin(int(input()))[2:]))"}, (("5\n", "101".zfill(40)), ("12\n", "1100".zfill(40) + "\n"))),
    Program("case", {"python": "print('YES' if int(input()) % 2 else 'NO')"}, {"python": "print('yes' if int(input()) % 2 else 'no')"}, (("5\n", "YES\n"), ("4\n", "NO\n"), ("7\n", "YES\n"))),
    Program("many", {"python": "n = int(input())\nprint(n * n)"}, {"python": "n = int(input())\nprint(n * n if n != 57 else 0)"}, tuple((f"{n}\n", f"{n * n}\n") for n in range(60))),
)  # fmt: skip


def stdio_rows(task: Program, language: str) -> Rendered:
    """A task of standard input and output in the columns of every family that has such."""
    given = [one for one in task.tests if language != "bash" or "\r" not in one[0]]
    tests = [{"input": one, "output": other} for one, other in given]
    pairs = {"inputs": [one for one, _ in given], "outputs": [other for _, other in given]}
    asked = f"Read {task.name}; write the answer in {language}."
    user = [{"role": "user", "content": asked}]
    stdin = [{**one, "testtype": "stdin"} for one in tests]
    kind = [{"type": "stdin_stdout", "fn_name": None, **one} for one in tests]
    dicts = {"input": pairs["inputs"][:2], "output": pairs["outputs"][:2]}
    others = {"input": pairs["inputs"][2:], "output": pairs["outputs"][2:]}
    oj = [{"input": {"stdin": one["input"]}, "output": {"stdout": one["output"]}} for one in tests]
    yield ("synthetic", {"verification_info": J({"language": language, "test_cases": kind}), "prompt": asked, "task_type": "verifiable_code"})
    yield "codeforces", {"id": "1/A", "aliases": None, "contest_id": "1", "time_limit": 2.0, "memory_limit": 256.0, "language": language, "official_tests": tests, "official_tests_complete": True, "input_mode": "stdio", "interaction_format": None, "generated_checker": None, "executable": True, "generated_tests": 0, "examples": tests[:1], "note": None, "editorial": None, "prompt": asked}
    yield "common_oj", {"id": 9, "content": asked, "labels": J({"programming_language": language}), "test": J(oj)}
    yield ("common_oj", {"id": "9", "content": asked, "labels": {"programming_language": language, "fewshot": False}, "test": oj, "canonical_solution": ""})
    if language != "python":
        return
    yield "apps", {"input_output": J(pairs), "starter_code": "", "question": asked}
    yield "apps", {"input_output": pairs, "question": asked, "solutions": "[]", "starter_code": None}
    yield "apps", {"input_output": J({**pairs, "fn_name": None}), "question": asked, "starter_code": ""}
    if all(one.strip() for one in pairs["outputs"]) and not any("\r" in one for one in pairs["inputs"]):
        yield ("apps", {"input_output": J({"inputs": [one.split("\n") for one in pairs["inputs"]], "outputs": [one.rstrip("\n").split("\n") for one in pairs["outputs"]]})})
        yield ("taco", {"input_output": J({"inputs": pairs["inputs"], "outputs": [[one] for one in pairs["outputs"]]}), "time_limit": "1.0 seconds", "memory_limit": "256.0 megabytes", "starter_code": "", "name": "x", "source": "codeforces", "picture_num": "0"})
    yield "code_contests", {"name": "1_A", "description": asked, "public_tests": dicts, "private_tests": {"input": [], "output": []}, "generated_tests": others, "time_limit": {"seconds": 2, "nanos": 500000000}, "memory_limit_bytes": 256000000, "input_file": "", "output_file": "", "solutions": {"language": [3], "solution": ["x"]}, "incorrect_solutions": {"language": [], "solution": []}, "cf_rating": 800, "is_description_translated": False}
    yield ("code_contests", {"public_tests": tests[:1], "private_tests": None, "generated_tests": tests[1:], "time_limit": None, "input_file": None, "output_file": None, "source": 2, "difficulty": 0})
    yield ("code_contests", {"public_tests": J(dicts), "private_tests": J(others), "generated_tests": J({"input": [], "output": []}), "time_limit": J({"seconds": 1, "nanos": 0})})
    yield "code_contests_plus", {"source": "Codeforces", "id": "1_A", "title": "x", "description": asked, "time_limit": 2000, "memory_limit": 256, "validator": "int main(){}", "generator": "int main(){}", "generator_cmd": "./gen", "checker": None, "correct_submissions": [], "incorrect_submissions": [], "test_cases": tests, "true_positive_rate": 1.0, "true_negative_rate": 0.9}
    yield ("code_contests_plus", {"source": "Codeforces", "title": "x", "test_cases": tests, "checker": WCMP, "time_limit": 1000, "memory_limit": 256})
    yield ("code_contests_o", {"corner_cases": oj, "generator": "int main(){}", "commands": ["./gen"], "checker": WCMP, "time_limit": "2 seconds"})
    yield ("prime", {"data_source": "codecontests", "ability": "code", "prompt": user, "reward_model": {"style": "rule", "ground_truth": J(pairs)}, "extra_info": {}})
    yield ("prime", {"data_source": "codeforces", "reward_model": {"ground_truth": J({**pairs, "fn_name": None})}, "prompt": user})
    yield ("skyrl", {"data_source": "lcb", "env_class": "lcb", "reward_spec": {"method": "rule", "ground_truth": J([{**one, "metadata": {"func_name": None}} for one in stdin])}, "prompt": user})
    yield ("synthetic", {"verification_info": str({"language": "python", "test_cases": kind}), "prompt": asked, "metadata": "{'difficulty': 'x'}"})
    yield ("synthetic", {"verification_info": {"language": "python", "test_cases": [{"type": "stdin_stdout", **one} for one in tests]}, "prompt": asked})
    yield ("synthetic", {"verification_info": {"language": "python", "test_cases": J(kind)}, "problem": asked, "solution": None})
    yield ("deepcoder", {"tests": J([{**one, "testtype": "stdin_stdout"} for one in tests]), "problem": asked, "metadata": {}, "starter_code": ""})
    yield ("deepcoder", {"tests": J([{"type": "stdin_stdout", **one, "fn_name": None} for one in tests]), "problem": asked, "solutions": ["x"]})
    yield "deepcoder", {"tests": J(stdin), "metadata": {"func_name": None}, "starter_code": "", "problem": asked}
    yield "deepcoder", {"tests": J(pairs), "problem": asked, "solutions": None, "metadata": None}
    for private in (packed(stdin[1:]), J(stdin[1:]), stdin[1:]):
        yield ("livecodebench", {"question_content": asked, "platform": "atcoder", "public_test_cases": J(stdin[:1]), "private_test_cases": private, "metadata": "{}", "starter_code": "", "contest_date": "2024-01-01"})
    yield ("livecodebench", {"public_test_cases": J(stdin), "private_test_cases": "", "metadata": J({"func_name": None}), "starter_code": ""})
    yield ("nemo_gym", {"verifier_metadata": {"unit_tests": {**pairs, "fn_name": None}, "difficulty": "x"}, "responses_create_params": {"input": user}})
    yield "nemo_gym", {"verifier_metadata": J({"unit_tests": J(pairs)})}
    yield ("rstar", {"question": asked, "inputs": J(pairs["inputs"]), "outputs": J(pairs["outputs"]), "is_synthesized": J([0] * len(tests)), "test_case_type": "stdio", "func_name": "", "class_name": "", "starter_code": ""})
    yield "rstar", {"question_id": "synthetic_1", "inputs": J(pairs["inputs"]), "outputs": J(pairs["outputs"])}
    yield ("rstar", {"inputs": pairs["inputs"], "outputs": pairs["outputs"], "func_name": None, "class_name": None, "starter_code": None, "test_case_type": "stdin"})
    yield "open_instruct", {"dataset": "code_stdio", "ground_truth": [J(tests)], "messages": user}
    yield "open_instruct", {"dataset": ["code_stdio"], "ground_truth": packed_list(tests), "messages": user}
    yield "open_instruct", {"dataset": "code_stdio", "ground_truth": [packed_list(tests)], "messages": user}
    yield "rllm", {"data_source": "codeforces", "ground_truth": J(stdin), "question": asked}
    yield ("hardtests", {"pid": "1_A", "test_cases": J(tests), "test_cases_kit": J({"output_judging_function": None, "input_validator": "x"})})
    yield "hardtests", {"pid": "1_A", "test_cases": tests, "output_judging_function": JUDGES}
    yield ("hardtests", {"pid": "1_A", "test_cases": {"input": pairs["inputs"], "output": pairs["outputs"]}, "test_cases_kit": {"output_judging_function": JUDGES}})
    yield ("codeforces", {"official_tests": J(tests), "official_tests_complete": True, "time_limit": 1.0, "memory_limit": 64.0, "generated_checker": CODEFORCES, "input_mode": "stdio", "executable": True, "language": None})
    yield ("codeforces", {"official_tests": tests, "input_mode": None, "interaction_format": "", "generated_checker": "", "time_limit": None, "memory_limit": None})
    yield ("coder1", {"data_source": "code", "reward_model": {"style": "rule", "ground_truth": J(pairs)}, "prompt": user, "extra_info": {"reference": "x", "dataset": "LeetCodeDataset"}})


WCMP = """#include "testlib.h"
using namespace std;
int main(int argc, char *argv[]) {
    setName("compare sequences of tokens");
    registerTestlibCmd(argc, argv);
    int n = 0;
    while (!ans.seekEof() && !ouf.seekEof()) {
        n++;
        string j = ans.readToken(), p = ouf.readToken();
        double x, y;
        if (j != p && !(sscanf(j.c_str(), "%lf", &x) == 1 && sscanf(p.c_str(), "%lf", &y) == 1 && j.find('.') != string::npos && fabs(x - y) < 1e-6))
            quitf(_wa, "%d%s words differ - expected: '%s', found: '%s'", n, englishEnding(n).c_str(), j.c_str(), p.c_str());
    }
    if (ans.seekEof() && ouf.seekEof()) quitf(_ok, "%d tokens", n);
    if (ans.seekEof()) quitf(_wa, "Participant output contains extra tokens");
    quitf(_wa, "Unexpected EOF in the participants output");
}
"""
_TOKENS = """
def near(a, b):
    if a == b:
        return True
    try:
        return "." in b and abs(float(a) - float(b)) < 1e-6
    except ValueError:
        return False
"""
JUDGES = f"""import math
{_TOKENS}
def output_judging_function(input_str, candidate_output, reference_output):
    one, other = candidate_output.split(), reference_output.split()
    return len(one) == len(other) and all(map(near, one, other))
"""
CODEFORCES = f"""import sys
{_TOKENS}
def main():
    given, answer, printed = (open(path, encoding="utf-8").read() for path in sys.argv[1:4])
    one, other = printed.split(), answer.split()
    print(1 if len(one) == len(other) and all(map(near, one, other)) else 0)

if __name__ == "__main__":
    main()
"""


# ------------------------------------------------------------------------------------------------ classes, literals, other shapes

STACK = "class Stack:\n    def __init__(self, limit=None):\n        self.items, self.limit = [], limit\n\n    def push(self, x):\n        if self.limit is not None and len(self.items) >= self.limit:\n            raise OverflowError('full')\n        self.items.append(x)\n        return self\n\n    def pop(self):\n        return self.items.pop()\n\n    def __len__(self):\n        return len(self.items)\n"
STACK_TESTS = "import unittest\n\nclass StackTestPush(unittest.TestCase):\n    def setUp(self):\n        self.stack = Stack(2)\n\n    def test_push(self):\n        self.assertEqual(len(self.stack.push(1).push(2)), 2)\n        self.assertEqual(self.stack.items, [1, 2])\n\n    def test_full(self):\n        self.stack.push(1).push(2)\n        with self.assertRaises(OverflowError):\n            self.stack.push(3)\n\n\nclass StackTestPop(unittest.TestCase):\n    def test_pop(self):\n        stack = Stack()\n        stack.push(5).push('x')\n        self.assertEqual(stack.pop(), 'x')\n        self.assertEqual(stack.pop(), 5)\n        self.assertRaises(IndexError, stack.pop)\n"
FRAME = "import pandas as pd\nimport numpy as np\n\ndef task_func(rows):\n    frame = pd.DataFrame(rows, columns=['a', 'b'])\n    return frame.groupby('a')['b'].sum().reset_index(), np.float64(frame['b'].mean())\n"
FRAME_TESTS = "import unittest\nimport pandas as pd\nimport numpy as np\n\nclass TestCases(unittest.TestCase):\n    def test_sums(self):\n        frame, mean = task_func([('x', 1), ('y', 2), ('x', 4)])\n        self.assertIsInstance(frame, pd.DataFrame)\n        self.assertListEqual(frame['b'].tolist(), [5, 2])\n        self.assertAlmostEqual(mean, 7 / 3)\n\n    def test_one(self):\n        frame, mean = task_func([('z', 3)])\n        pd.testing.assert_frame_equal(frame, pd.DataFrame({'a': ['z'], 'b': [3]}))\n        self.assertEqual(mean, 3.0)\n\n    def test_columns(self):\n        self.assertEqual(list(task_func([('z', 3)])[0].columns), ['a', 'b'])\n"
LITERALS = (("[(4, 1), (2, 3)]", "[(4, 1), (2, 4)]"), ("{'a': 1, 'b': [None, True]}", "{'a': 1, 'b': [None, 0]}"), ("'it\\'s\\n'", "'its\\n'"), ("-1.5", "1.5"), ("set()", "{}"), ("12345678901234567890123", "1.2345678901234568e+22"), ("(1,)", "1"), ("'ż\\x00'", "'z'"), ("[[], {}, ()]", "[[], {}, []]"), ("b'ab'", "'ab'"))


def other_rows() -> Iterator[tuple[str, dict[str, Any], str, int]]:
    """Rows of classes, of libraries and of literals: family, columns, completion, what is expected."""
    for columns in (
        {"task_id": "ClassEval_1", "skeleton": "class Stack:\n    ...\n", "test": STACK_TESTS, "class_name": "Stack", "test_classes": ["StackTestPush", "StackTestPop"], "import_statement": [], "methods_info": [{"method_name": "push", "test_code": "x"}]},
        {"test": STACK_TESTS, "class_name": "Stack", "import_statement": ["import math", "from typing import *"], "solution_code": STACK, "class_description": None},
    ):
        for text, expected in ((STACK, 1), (STACK.replace("pop()\n", "pop(0)\n"), 0), (STACK.replace(">=", ">"), 0)):
            yield "classeval", columns, _fenced(text), expected
    for columns in (
        {"task_id": "BigCodeBench/1", "complete_prompt": FRAME.partition("    frame")[0], "instruct_prompt": "Do it.", "code_prompt": FRAME.partition("    frame")[0], "test": FRAME_TESTS, "entry_point": "task_func", "libs": "['pandas', 'numpy']", "doc_struct": "{}", "canonical_solution": "x"},
        {"test": FRAME_TESTS, "entry_point": "task_func", "libs": None, "code_prompt": None},
    ):
        for text, expected in ((FRAME, 1), (FRAME.replace("sum()", "max()"), 0), (FRAME.replace("mean()", "median()"), 0)):
            yield "bigcodebench", columns, _fenced(text), expected
    for right, wrong in LITERALS:
        for given in ("[1], 'x'", ""):
            columns = {"code": "def f(*args):\n    return args", "input": given, "output": right, "id": "sample_1"}
            for answer, expected in ((right, 1), (wrong, 0)):
                for text in (f"[ANSWER]\n{answer}\n[/ANSWER]", f"<think>[ANSWER]0[/ANSWER]</think> So [ANSWER]assert f({given}) == {answer}[/ANSWER]", f"<answer>{answer}</answer>"):
                    yield "cruxeval", columns, text, expected


# ------------------------------------------------------------------------------------------------ completions and rows


COMPLETIONS: tuple[Callable[[str, str], str], ...] = (
    lambda text, tag: _fenced(text, tag),
    lambda text, tag: f"<think>\nPerhaps\n```{tag}\npass\n```\n</think>\n\nHere it is:\n\n{_fenced(text, tag)}\n\nIt runs in O(n).",
    lambda text, tag: f"1. First:\n\n   ```{tag}\n" + "\n".join(f"   {line}" if line else "" for line in text.split("\n")) + "\n   ```\n",
    lambda text, tag: f"The program:\r\n```{tag}\r\n" + text.replace("\n", "\r\n") + "\r\n```\r\nDone.",
)
TAGS = {"python": "python", "cpp": "cpp", "bash": "bash"}


def rows() -> Iterator[dict[str, Any]]:
    """All rows, with the kinds of completions in turn."""
    draw, number = random.Random(0), 0
    for task in CALLS:
        for family, columns in (*call_rows(task), *check_rows(task)):
            method = task.nodes or task.place or "Solution" in J(columns, default=str) or draw.random() < 0.3
            if "Solution" in J(columns) and family in ("coder1", "autoeval"):
                method = True
            elif family in ("humaneval", "mbpp", "mbpp_plus", "acecode", "kodcode", "evalplus", "verl", "coder1", "autoeval") or columns.get("dataset") in ("code", ["code"]):
                method = False
            make = task.method if method else task.function
            head = "" if method else "from math import *\nfrom collections import *\nfrom typing import *\n\n"
            for body, expected in ((task.right, 1), (task.wrong, 0)):
                number += 1
                text = head + (make(body) if method or "self." not in body else make(body.replace("self.", "")))
                yield {"id": f"{family}/{task.name}/{number}", "family": family, "task": task.name, "columns": columns, "completion": draw.choice(COMPLETIONS)(text, "python"), "expected": expected}
    for family, columns, completion, expected in other_rows():
        number += 1
        yield {"id": f"{family}/{number}", "family": family, "task": family, "columns": columns, "completion": completion, "expected": expected}
    for program in PROGRAMS:
        for language, right in program.right.items():
            for family, columns in stdio_rows(program, language):
                for text, expected in ((right, 1), (program.wrong[language], 0)):
                    number += 1
                    yield {"id": f"{family}/{program.name}/{language}/{number}", "family": family, "task": program.name, "columns": columns, "completion": draw.choice(COMPLETIONS)(text, TAGS.get(language, language)), "expected": expected}


if __name__ == "__main__":
    for row in rows():
        sys.stdout.write(J(row) + "\n")
