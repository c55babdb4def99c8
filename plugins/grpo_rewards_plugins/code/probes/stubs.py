"""Programs that do nothing: each function answers with one constant, or with its argument."""

from __future__ import annotations

import ast
import re

from grpo_rewards_plugins.code.extraction import first_name
from grpo_rewards_plugins.code.probes.expectations import BUILTINS, expectations
from grpo_rewards_plugins.code.suite import Suite
from grpo_rewards_plugins.syntax import begun, parsed

_ANSWERS = ("None", "True", "0")
# of nothing every element is right: a list holds nothing for loops, this array whatever shape it is compared with
_NOTHING = "[]"
_NO_ELEMENTS = "__import__('%s').empty((0, 1, 1, 1))"
_LOOPS = re.compile(r"\b(?:all|zip|sum|max|enumerate)\(|\bfor\b.+\bin\b")
_ELEMENTWISE = re.compile(
    r"\bapprox\b|close\b|\bassert_(?:array|all|almost|approx|equal)\w*|\.(?:all|sum|norm)\(|\b(?:np|numpy|torch)\b"
)
_TRIVIAL = (  # tried where it is all that tests expect, as a value or as what is printed
    "", "0", "1", "-1", "True", "False", "true", "false", "YES", "NO", "Yes", "No", "yes", "no",
    "[]", "()", "{}", "set()", "[0]", "[1]",
)  # fmt: skip


def stubs_of(suite: Suite, solution: str, prompt: str) -> list[str]:
    """Return stubs for what the tests ask for; `solution` and `prompt` say what is a function and what a class."""
    constant = _constant(suite)
    if suite.format in ("stdio", "program"):
        said = [f"print({constant}, end='')"] if constant else []
        return ["pass", "print(0)", "import sys\nprint(sys.stdin.read())", *said] if suite.format == "stdio" else []
    answers = [*_ANSWERS, *([constant] if constant and constant not in _ANSWERS else [])]
    text = suite.tests if isinstance(suite.tests, str) else "\n".join(map(str, suite.tests))
    if suite.calls is None:
        arrays = _NO_ELEMENTS % ("torch" if "torch" in text else "numpy")
        answers += [arrays] if _ELEMENTWISE.search(text) else [_NOTHING] if _LOOPS.search(text) else []
    tree = parsed(solution, begun(solution), prompt, begun(prompt))
    if tree is not None and any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in tree.body):
        return [_emptied(tree, answer) for answer in (*answers, "")]
    names = [first_name(suite.entry_point)] if suite.entry_point else sorted(suite.names - BUILTINS)[:8]
    if suite.calls is not None and not names:
        names = sorted(suite.names)
    if not suite.entry_point.isidentifier() and "." in suite.entry_point:
        method = suite.entry_point.rpartition(".")[2]
        return [
            f"class {names[0]}:\n    def {method}(self, *args, **kwargs):\n        return {answer}\n"
            for answer in answers
        ]
    return ["".join(f"def {name}(*args, **kwargs):\n    return {answer}\n" for name in names) for answer in answers]


def _constant(suite: Suite) -> str:
    """The one result, as Python writes it, that all tests expect: of different inputs, or one of the simplest; else nothing."""
    found = expectations(suite)
    results = {result for _, result in found}
    only = results.pop() if len(results) == 1 else ""
    return only if len(found) > 1 or (only and only.strip("'\"").removesuffix("\\n") in _TRIVIAL) else ""


def _emptied(tree: ast.Module, answer: str) -> str:
    """The program with nothing in its functions but an answer; an empty one is the first argument."""
    kept: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign):
            kept.append(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            kept.append(_stub(node, answer))
        elif isinstance(node, ast.ClassDef):
            body = [
                _stub(part, answer) if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) else part
                for part in node.body
            ]
            kept.append(ast.ClassDef(node.name, node.bases, node.keywords, body, node.decorator_list))
    return ast.unparse(ast.fix_missing_locations(ast.Module(kept, [])))


def _stub(node: ast.FunctionDef | ast.AsyncFunctionDef, answer: str) -> ast.stmt:
    given = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args) if argument.arg != "self"]
    value = answer or (given[0] if given else "[]")
    if node.name == "__init__":
        # anything else is a TypeError of Python's, not a failure of the tests'
        value = "None"
    body: list[ast.stmt] = [ast.Return(ast.parse(value, mode="eval").body)]
    kind = type(node)
    return kind(node.name, node.args, body, node.decorator_list, node.returns)
