"""What a text of tests says of itself that the border needs to know: its words, and where checks are still to come."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Sequence, Set
from typing import Any, TypeGuard

from ..border.proxies import Reading
from . import names
from .names import called

_ANSWER_BY_ERROR = frozenset("__getattr__ __getattribute__ __get__ __getitem__ __len__ __length_hint__".split())
# a container of which the tests say that nothing is in it
_ASSERTED_EMPTY = re.compile(
    r"\bassert not (\w+)|\bassertFalse\((\w+)|\b(\w+)\)? == (?:\[\]|set\(\)|0)|\bassertEqual\((\w+), \[\]"
)
_GO_THROUGH = frozenset(
    "range zip enumerate sorted reversed list tuple set items keys values product permutations combinations".split()
)


@functools.lru_cache(maxsize=256)
def reading(text: str) -> Reading:
    """Return what the text says of itself that the border needs to know."""
    # checks to come are the lines of `with` statements after or in which one follows, and those of functions, with the function's
    # name: an error that is swallowed there, or raised, takes the check along
    nodes, words, kinds = names.parsed(text), names.words(text), names.kinds(text)
    functions = [node for node in nodes if isinstance(node, names.FUNCTIONS)]
    contexts = [node for node in nodes if isinstance(node, (ast.With, ast.AsyncWith))]
    beside = not words.isdisjoint(("threading", "concurrent", "asyncio"))
    catches = [node for node in nodes if isinstance(node, (ast.Try, ast.TryStar, ast.With, ast.AsyncWith))]
    empty = {name for found in _ASSERTED_EMPTY.findall(text) for name in found if name}
    # one alone is no other's
    several = functions if len(functions) > 1 or contexts else []
    helpers = {node.name for node in several if any(checks_something(part, set()) for part in ast.walk(node))}
    checking = {(node.name, line) for node in functions for line in _lines_to_check(node.body, helpers, empty)}
    lambdas = (node for node in nodes if isinstance(node, ast.Lambda))
    made = (node for node in lambdas if any(checks_something(part, helpers) for part in ast.walk(node.body)))
    checking |= {("<lambda>", line) for line in _lines(made)}
    endless = _endless(nodes) if beside else set()
    caught = _lines(catches)
    answer = {node.name for node in functions if _answers_by_error(node)}
    return Reading(
        words=words,
        kinds=kinds,
        errors=kinds | names.errors(nodes),
        said=kinds | names.errors(_said_elsewhere(nodes, contexts)),
        given=frozenset(
            (name, line) for node in contexts for name in names.errors(node.items) for line in _lines(node.body)
        ),
        replaced=names.replaced(text),
        unread=names.unread(text),
        by_id="id" in names.free(text),
        by_identity=any(map(_by_identity, _in_callbacks(functions))),
        still_to_check=frozenset(line for node in contexts for line in _lines_to_check(node.body, helpers)),
        checking=frozenset(checking),
        due=frozenset(place for place in checking if beside and place[1] not in endless),
        unheard=frozenset(place for place in checking if place[0] in answer and place[1] not in caught),
    )


def _said_elsewhere(nodes: Sequence[ast.AST], contexts: Sequence[ast.With | ast.AsyncWith]) -> list[ast.AST]:
    """Where a text says what class an error is that is no more on its way, or gives one to what it enters later."""
    entered = {names.last_name(item.context_expr) for node in contexts for item in node.items} - {""}
    found: list[ast.AST] = [node for node in nodes if isinstance(node, ast.Compare)]
    for node in nodes:
        if isinstance(node, ast.Assign) and not entered.isdisjoint(map(names.last_name, node.targets)):
            found.append(ast.withitem(node.value))
        elif isinstance(node, ast.Call) and called(node).startswith("enter_"):
            found.append(ast.withitem(node))
    return found


def _in_callbacks(functions: Iterable[ast.AST]) -> Iterable[ast.AST]:
    """All within functions that stand in others, which tests hand over."""
    parts = (part for function in functions for part in ast.walk(function) if part is not function)
    return (node for part in parts if isinstance(part, (*names.FUNCTIONS, ast.Lambda)) for node in ast.walk(part))


def _by_identity(node: ast.AST) -> bool:
    """Two values are compared by `is`, of which none is a constant."""
    if not isinstance(node, ast.Compare) or not any(isinstance(part, (ast.Is, ast.IsNot)) for part in node.ops):
        return False
    return not any(isinstance(part, ast.Constant) for part in (node.left, *node.comparators))


def _endless(nodes: Sequence[ast.AST]) -> set[int]:
    """The lines of loops of which the text does not say that they end, but for checks."""
    made: dict[str, list[ast.expr]] = {}
    for node in (node for node in nodes if isinstance(node, ast.Assign)):
        for target in node.targets:
            made.setdefault(names.last_name(target), []).append(node.value)
    loops = (node for node in nodes if isinstance(node, (ast.While, ast.For, ast.AsyncFor)) and not _ends(node, made))
    return _lines(loops) - _lines(filter(names.is_check, nodes))


def _lines(nodes: Iterable[Any]) -> set[int]:
    return {line for node in nodes for line in range(node.lineno, node.end_lineno + 1)}


def _answers_by_error(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """An error of it may be an answer to Python: that there is no such attribute, or that there are no more items."""
    kinds = {ast.unparse(kind).rpartition(".")[2] for kind in function.decorator_list}
    return function.name in _ANSWER_BY_ERROR or not kinds.isdisjoint(("property", "cached_property"))


def _ends(loop: ast.While | ast.For | ast.AsyncFor, made: dict[str, list[ast.expr]]) -> bool:
    """A loop has an end, as it is written: it counts, or goes through what the tests have. `made`: what they gave names to."""
    if isinstance(loop, ast.While):
        return any(isinstance(part, ast.Compare) or names.last_name(part) == "empty" for part in ast.walk(loop.test))
    values = (value for part in ast.walk(loop.iter) if isinstance(part, ast.Name) for value in made.get(part.id, ()))
    calls = [part for value in (loop.iter, *values) for part in ast.walk(value) if isinstance(part, ast.Call)]
    return isinstance(loop, ast.For) and all(called(call) in _GO_THROUGH for call in calls)


def _lines_to_check(body: list[ast.stmt], helpers: Set[str], empty: Set[str] = frozenset()) -> set[int]:
    """The lines up to the last check, but for those that raise on purpose. `empty`: where the tests put what is wrong."""
    parts = [part for statement in body for part in ast.walk(statement)]
    checks = [part for part in parts if _notes_wrong(part, empty) or checks_something(part, helpers)]
    last = max((part.end_lineno or 0 for part in checks), default=0)
    return set(range(body[0].lineno, last + 1)) - {part.lineno for part in parts if isinstance(part, ast.Raise)}


def _notes_wrong(node: ast.AST, empty: Set[str]) -> TypeGuard[ast.If]:
    """`if f(3) != 9: wrong.append(3)`."""
    inside = [getattr(part, "func", None) for part in ast.walk(node)] if empty and isinstance(node, ast.If) else []
    puts = (use for use in inside if isinstance(use, ast.Attribute) and use.attr in ("append", "add"))
    return any(names.last_name(use.value) in empty for use in puts)


def checks_something(node: ast.AST, helpers: Set[str]) -> TypeGuard[ast.stmt | ast.expr]:
    """`helpers`: functions of the tests that check something."""
    if (isinstance(node, ast.Call) and called(node) in helpers) or _fails_unless(node):
        return True
    return names.is_check(node) and not (isinstance(node, ast.Assert) and on_purpose(node))


def _fails_unless(node: ast.AST) -> bool:
    """`if f(3) != 9: pytest.fail("no")`, or `f(3) == 9 or pytest.fail("no")`."""
    within = node.body if isinstance(node, ast.If) else node.values[1:] if isinstance(node, ast.BoolOp) else []
    parts = [part.value if isinstance(part, ast.Expr) else part for part in within]
    return any(on_purpose(part) or (isinstance(part, ast.Call) and called(part) == "fail") for part in parts)


def on_purpose(node: ast.AST) -> bool:
    """`raise AssertionError`, or an assert of constants that is false."""
    if isinstance(node, ast.Raise):
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return isinstance(raised, ast.Name) and raised.id == "AssertionError"
    return isinstance(node, ast.Assert) and not any(
        isinstance(part, (ast.Name, ast.Call)) for part in ast.walk(node.test)
    )
