"""What the tests of a row expect, as far as their text tells."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator

from grpo_rewards_plugins.code.suite import Suite
from grpo_rewards_plugins.syntax import begun, parsed

# CPython gives an imported module the mapping, and the main program the module
BUILTINS = frozenset(dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)


def expectations(suite: Suite) -> set[tuple[str, str]]:
    """Return pairs of an input (its place, for calls that are packed) or a call, and the result that is expected of it, as Python writes it.

    The result is empty where a test looks at something else than whether a call of the program gives a value.
    """
    if suite.format == "stdio":
        return {(given, repr(wanted)) for given, wanted in suite.pairs}
    if suite.calls is not None:
        different = dict.fromkeys(suite.calls.tests)
        return {(str(place), _from_json(result)) for place, (_, result) in enumerate(different)}
    text = suite.tests if isinstance(suite.tests, str) else "\n".join(suite.tests)
    tree = parsed(text, begun(text))
    return set(_asserted(tree)) if tree is not None else set()


def _from_json(text: str) -> str:
    try:
        return repr(json.loads(text))
    except (ValueError, RecursionError):
        return ""


def _asserted(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assert):
            continue
        match node.test:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[wanted]) if _is_own(left):
                yield ast.unparse(left), ast.unparse(wanted) if _is_literal(wanted) else ""
            case ast.UnaryOp(op=ast.Not(), operand=call) if _is_own(call):
                yield ast.unparse(call), "False"
            case call if _is_own(call):
                yield ast.unparse(call), "True"
            case other:
                yield ast.unparse(other), ""


def _is_own(node: ast.expr) -> bool:
    """Whether an expression is a call of the program's function: no ``len(...)``, no ``math.isclose(...)``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in BUILTINS


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
