"""A row's own solutions, in the columns that public data sets have them in."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from grpo_rewards_plugins.cells import from_json, is_blank, plain
from grpo_rewards_plugins.code.extraction import find_program
from grpo_rewards_plugins.code.shapes.columns import REFERENCES
from grpo_rewards_plugins.code.suite import Suite
from grpo_rewards_plugins.syntax import parse

__all__ = ["body_of", "solutions_of"]

_COLUMNS = (*REFERENCES, "reference_solution", "gold_standard_solution", "solutions")
_MOST = 3  # solutions that are tried until one passes
_PYTHON3 = 3  # in the columns of CodeContests


def solutions_of(columns: Mapping[str, object], suite: Suite) -> tuple[str, ...]:
    """Return up to three programs that the row says are right, each once."""
    found: dict[str, None] = {}
    for name in _COLUMNS:
        for text in _texts(from_json(plain(columns.get(name)))):
            program, _ = find_program(text, wanted=suite.names, language=suite.language or "python")
            if program.strip() and (suite.format in ("stdio", "program") or _is_python(program)):
                found.setdefault(program)
            if len(found) == _MOST:
                return tuple(found)
    return tuple(found)


def _texts(cell: object) -> Iterator[str]:
    """The programs in a cell: one, a list, or CodeContests' ``{language: [...], solution: [...]}``."""
    if is_blank(cell):
        return
    if isinstance(cell, str):
        yield cell
    elif isinstance(cell, Mapping):
        texts, kinds = plain(cell.get("solution")), plain(cell.get("language"))
        if isinstance(texts, list) and isinstance(kinds, list):
            yield from (text for text, kind in zip(texts, kinds, strict=False) if kind == _PYTHON3)
    elif isinstance(cell, list | tuple):
        yield from (one for one in cell if isinstance(one, str))


def _is_python(program: str) -> bool:
    """Whether a text is Python, perhaps the body of a function: a column ``solution`` may well hold words."""
    # HumanEval's canonical_solution is the indented body alone
    for text in (program, f"def _body():\n{program}"):
        try:
            return bool(parse(text).body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return False


def body_of(program: str, name: str) -> str:
    """Return the statements of the function `name` (or of the last one), without its docstring; empty where there is none."""
    try:
        functions = [node for node in parse(program).body if isinstance(node, ast.FunctionDef)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    chosen = [node for node in functions if node.name == name] or functions[-1:]
    if not chosen:
        return ""
    body = chosen[-1].body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    return "\n".join(filter(None, (ast.get_source_segment(program, node) for node in body)))
