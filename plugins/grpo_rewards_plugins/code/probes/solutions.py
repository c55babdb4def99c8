"""A row's own solutions, in the columns that public data sets have them in."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping

from grpo_rewards_plugins.cells import from_json, is_blank, plain
from grpo_rewards_plugins.code.extraction import find_program
from grpo_rewards_plugins.code.shapes.columns import REFERENCES
from grpo_rewards_plugins.code.suite import Suite
from grpo_rewards_plugins.syntax import parsed

_COLUMNS = (*REFERENCES, "reference_solution", "gold_standard_solution", "solutions")
_OF_PROGRAMS = ("code", "canonical_solution", "gold_standard_solution", "reference_solution")
_DEFINED = re.compile(r"\b(?:def|class|function|func|fn)\s+(\w+)")
_OTHER = re.compile(  # of languages other than Python, none of which stands in words
    r"^\s*#include\s*<|\bpublic\s+(?:static|class)\s|\bconsole\.log\(|\b(?:function|func|fn)\s+\w+\s*\([^)]*\).{0,40}\{|\busing namespace\s|<\?php",
    re.M,
)
_MOST = 3  # solutions that are tried until one passes
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_PYTHON3 = 3  # in the columns of CodeContests


def solutions_of(columns: Mapping[str, object], suite: Suite) -> tuple[str, ...]:
    """Return up to three programs that the row says are right, each once."""
    found: dict[str, None] = {}
    for name in _COLUMNS:
        for text in _texts(from_json(plain(columns.get(name)))):
            program, _ = find_program(text, wanted=suite.names, language=suite.language or "python")
            if program.strip() and (suite.format in ("stdio", "program") or _is_program(program, name, suite.names)):
                found.setdefault(program)
            if len(found) == _MOST:
                return tuple(found)
    return tuple(found)


def unreadable_of(columns: Mapping[str, object]) -> str:
    """Return the first column for programs that holds something else than text, empty where there is none."""
    cells = ((name, plain(columns.get(name))) for name in _OF_PROGRAMS)
    return next((name for name, cell in cells if not is_blank(cell) and not isinstance(cell, str | list | tuple)), "")


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


def _is_program(text: str, column: str, names: frozenset[str]) -> bool:
    """Whether a text is a program, even one that does not compile: a column ``solution`` may well hold words."""
    return (
        column in _OF_PROGRAMS
        or _is_python(text)
        or _OTHER.search(text) is not None
        or any(name in names for name in _DEFINED.findall(text))
    )


def _is_python(program: str) -> bool:
    """Whether a text is Python, perhaps the body of a function."""
    # HumanEval's canonical_solution is the indented body alone
    tree = parsed(program, f"def _body():\n{program}")
    return tree is not None and bool(tree.body)


def body_of(program: str, names: Collection[str]) -> str:
    """Return the statements of the function with one of the `names` (else of the last one), without its docstring.

    Methods count where there is no function; without either it is empty.
    """
    tree = parsed(program)
    if tree is None:
        return ""
    functions = [node for node in tree.body if isinstance(node, _Function)]
    methods = [
        node
        for owner in tree.body
        if isinstance(owner, ast.ClassDef)
        for node in owner.body
        if isinstance(node, _Function)
    ]
    chosen = [node for node in (*functions, *methods) if node.name in names] or (functions or methods)[-1:]
    if not chosen:
        return ""
    body = chosen[-1].body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    return "\n".join(filter(None, (ast.get_source_segment(program, node) for node in body)))
