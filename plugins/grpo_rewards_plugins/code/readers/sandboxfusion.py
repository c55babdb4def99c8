"""The reader of SandboxFusion."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from grpo_rewards_plugins.cells import is_blank
from grpo_rewards_plugins.code.problems import SuiteProblem, compiled
from grpo_rewards_plugins.code.readers.python import humaneval
from grpo_rewards_plugins.code.row import DataRow, beginning_of, opened
from grpo_rewards_plugins.code.shapes.binding import unbound_names
from grpo_rewards_plugins.code.shapes.columns import language_of
from grpo_rewards_plugins.code.shapes.packed import is_packed, unpacked
from grpo_rewards_plugins.code.suite import Suite

_PLACE = "#<INSERT>"
_NODES = ("ListNode", "TreeNode", "Node")


def read(row: DataRow) -> Suite | None:
    """SandboxFusion's CommonOJ, AutoEval and its copies of other sets: `test`.

    CommonOJ has JSON of ``{input: {stdin}, output: {stdout}}`` there; names of files other than ``stdin`` and ``stdout`` are refused.
    AutoEval has ``code`` in which ``#<INSERT>`` stands for the program: what follows are the tests, and the imports and node classes
    before it are the program's too. `labels` may name the language and the `entry_point` that test code is about (`content` begins it); AutoEval's rows of another one than Python are refused. Rows
    with test code go to the other families.
    """
    cell = row.data("test")
    if isinstance(cell, Mapping) and "code" in cell:
        return _around(row, cell)
    if isinstance(cell, str) and is_packed(cell):
        return _packed(row, cell)
    if isinstance(cell, list | Mapping):
        return row.tests(cell)
    labels = row.data("labels")
    entry = labels.get("entry_point") if isinstance(labels, Mapping) else None
    if is_blank(entry) or not isinstance(cell, str) or row.get("entry_point") is not None:
        return None
    beginning = row.get("code_prompt") or beginning_of(str(row.get("content") or ""), entry)
    suite = humaneval(row.having(entry_point=entry, code_prompt=beginning))
    return replace(suite, beginning=beginning)


def _packed(row: DataRow, cell: str) -> Suite:
    """Read LiveCodeBench's rows, which are packed as ``{"input_output": JSON}``."""
    tests = unpacked(cell)
    if isinstance(tests, Mapping) and set(tests) == {"input_output"}:
        tests = opened(tests["input_output"])
    return row.tests(tests)


def _around(row: DataRow, cell: Mapping[str, object]) -> Suite:
    """Read the text around the program as what stands before it and its tests."""
    if others := [key for key, value in cell.items() if key != "code" and not is_blank(value)]:
        raise SuiteProblem(f"the tests hold a key beside 'code' that is not known: {str(others[0])[:60]!r}")
    if language_of(row.columns) not in ("", "python"):
        raise SuiteProblem(
            "the tests stand around a program in another language than Python, and are not told apart from it"
        )
    lines = str(cell["code"]).splitlines()
    places = [number for number, line in enumerate(lines) if _PLACE in line]
    if len(places) != 1 or lines[places[0]].rstrip() != _PLACE:
        raise SuiteProblem(f"the tests run the program within their own text, where {_PLACE} is no line of its own")
    before, after = "\n".join(lines[: places[0]]), "\n".join(lines[places[0] + 1 :])
    body = compiled(before, "what stands before the program does not compile").body
    shown = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom) or _is_node(node)]
    # the one name that the tests use and nobody binds is what the program has to define
    asked = sorted(unbound_names(after))
    entry = {} if len(asked) != 1 else {"entry_point": asked[0]}
    suite = row.having(test=None, setup=before, code_prompt=None, **entry).tests(after)
    return replace(suite, beginning="\n".join(map(ast.unparse, shown)))


def _is_node(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef) and node.name in _NODES
