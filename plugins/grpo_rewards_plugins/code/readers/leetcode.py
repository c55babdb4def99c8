"""The reader of LeetCodeDataset."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grpo_rewards_plugins.code.extraction import preamble
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.shapes.calls import calls_of, parameters_of
from grpo_rewards_plugins.code.shapes.columns import as_begun
from grpo_rewards_plugins.code.shapes.reading import calls_suite
from grpo_rewards_plugins.code.suite import Suite
from grpo_rewards_plugins.syntax import UNREADABLE, parse

_WORDS = {"true": True, "false": False, "null": None}


def read(row: DataRow) -> Suite | None:
    """LeetCodeDataset: `test`, a check function with keyword arguments, or `input_output`, a list of examples.

    `entry_point` is an expression such as ``Solution().twoSum``. The program runs after the imports and the node classes of `prompt`,
    which most solutions count on. Examples are written for people (``nums = [3,3], target = 6``): each is a call by name, with values in Python's
    notation or JSON's; where `test` has more asserts than there are examples, it is read. Where the signature in `query` or `starter_code` says ``ListNode`` or ``TreeNode``, lists stand for nodes there. Tasks in
    which any order is right have one order in the tests. The set's own columns `completion` and `response` hold its reference: ``score`` takes a row's
    `completion` for the model's, so what a model wrote has to stand there in their place.
    """
    return row.tests(row.get("test")) if "()." in str(row.get("entry_point")) else None


def is_examples(cell: list[object]) -> bool:
    """Whether tests are examples such as ``nums = [3,3], target = 6``."""
    return bool(cell) and all(
        isinstance(case, Mapping) and isinstance(given := case.get("input"), str) and _NAMED.match(given)
        for case in cell
    )


def examples(row: DataRow, cell: list[Mapping[str, Any]]) -> Suite:
    """Read examples as calls of the row's entry point; a `test` that holds more than they do is read in their place."""
    test = row.get("test")
    if isinstance(test, str) and len(_ASSERT.findall(test)) > len(cell):
        return row.tests(test)
    entry = row.get("entry_point")
    match = _ENTRY.fullmatch(as_begun(entry.strip(), row.columns)) if isinstance(entry, str) else None
    if match is None:
        raise SuiteProblem(
            f"the inputs are written for people, as in {cell[0]['input'][:60]!r}, not as programs read them"
        )
    name, columns = match[2], {**row.columns, "class_name": match[1] or "Solution"}
    pairs = [(_arguments(case["input"]), _value(str(case.get("output", "")))) for case in cell]
    order = parameters_of(name, columns)
    called = [
        # by place where the signature is known: a solution may name its parameters otherwise, and nodes go by place only
        ([given[one] for one in order] if order and set(order) == set(given) else given, wanted)
        for given, wanted in pairs
    ]
    suite = calls_suite(name, calls_of(name, called, columns), columns)
    return replace(suite, beginning=preamble(row.prompt, entry))


_ASSERT = re.compile(r"^[ \t]+assert\b", re.M)
_NAMED = re.compile(r"\s*[A-Za-z_]\w*\s*=\s*\S")
_ENTRY = re.compile(r"(?:([A-Za-z_]\w*)\(\)\.)?([A-Za-z_]\w*)")


def _arguments(text: str) -> dict[str, object]:
    """``a = [1], b = "x, y = 2"`` as a mapping."""
    try:
        # as the keywords of a call: Python's parser knows where texts and brackets end
        call = parse(f"f({text.strip()})", mode="eval").body
    except UNREADABLE:
        raise SuiteProblem(f"the arguments of an example are not understood: {text[:60]!r}") from None
    if not isinstance(call, ast.Call) or call.args or any(keyword.arg is None for keyword in call.keywords):
        raise SuiteProblem(f"the arguments of an example are not understood: {text[:60]!r}")
    return {str(keyword.arg): _literal(keyword.value, text) for keyword in call.keywords}


def _value(text: str) -> object:
    try:
        return _literal(parse(text.strip(), mode="eval").body, text)
    except UNREADABLE:
        raise SuiteProblem(f"the output of an example is no value: {text[:60]!r}") from None


class _Words(ast.NodeTransformer):
    """Puts Python's constants in place of JSON's words."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Constant(_WORDS[node.id]), node) if node.id in _WORDS else node


def _literal(node: ast.expr, text: str) -> object:
    try:
        return ast.literal_eval(_Words().visit(node))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise SuiteProblem(f"a value of an example is not understood: {text[:60]!r}") from None
