"""Calls written as Python, read from the syntax tree: nothing is evaluated.

The rules are those of BFCL's decoder, whose own reader runs what stands in an operator expression. Here such an expression
is computed from numbers, texts and lists alone, within bounds.
"""

from __future__ import annotations

import ast
from typing import Any

from grpo_rewards_plugins.operators import evaluated
from grpo_rewards_plugins.syntax import parse

Calls = list[dict[Any, Any]]
"""Calls in order, each ``{name: {parameter: value}}``."""

_LONGEST = 100_000  # characters of a completion that are read


class Unreadable(Exception):
    """A completion holds no calls in the format that is asked."""


class Ambiguous(Unreadable):
    """A call is there, and not what it says: it gives one parameter two values, or breaks off. So it is not "no call" either."""


def python_calls(text: str, *, once: bool = False) -> Calls:
    """Return the calls of a Python list of them; back-ticks and white space around it go, and brackets may be missing.

    Raises:
        Ambiguous: with `once`, a call names a parameter twice.
        Unreadable: the text is no such list.
    """
    text = text.strip("`\n ")
    text = f"{'' if text.startswith('[') else '['}{text}{'' if text.endswith(']') else ']'}".strip().strip("'")
    if len(text) > _LONGEST:
        raise Unreadable(f"{len(text)} characters are too many for calls")
    try:
        tree = parse(text, mode="eval").body
        found = [tree] if isinstance(tree, ast.Call) else tree.elts  # type: ignore[attr-defined]
        if once and any(map(_repeats, found)):
            raise Ambiguous("a parameter stands twice in one call")
        return [_call(call) for call in found]
    except (SyntaxError, ValueError, TypeError, AttributeError, OverflowError, ArithmeticError):
        raise Unreadable("not a Python list of calls") from None
    except (RecursionError, MemoryError):
        raise Unreadable("nested too deeply") from None


def _repeats(call: ast.expr) -> bool:
    return isinstance(call, ast.Call) and len({keyword.arg for keyword in call.keywords}) < len(call.keywords)


def _call(node: ast.expr) -> dict[object, object]:
    """A call as ``{name: arguments}``; arguments without a name are left out, as BFCL does."""
    if not isinstance(node, ast.Call):
        raise TypeError("not a call")
    parts: list[str] = []
    function = node.func
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    if isinstance(function, ast.Name):
        parts.append(function.id)
    return {".".join(reversed(parts)): {keyword.arg: _value(keyword.value) for keyword in node.keywords}}


def _value(node: ast.expr | None) -> object:
    """An argument's value; names and calls without keywords are their own text."""
    match node:
        case ast.Constant(value=value):
            return "..." if value is Ellipsis else value  # as BFCL's decoder has it
        case ast.UnaryOp(operand=ast.Constant(value=value)):
            return -value  # type: ignore[operator]  # whatever the operator is: `+5` and `not 5` are -5 to BFCL
        case ast.List(elts=items):
            return [_value(item) for item in items]
        case ast.Tuple(elts=items):
            return tuple(_value(item) for item in items)
        case ast.Dict(keys=keys, values=values):
            return {_value(key): _value(value) for key, value in zip(keys, values, strict=True)}
        case ast.Name(id=name):
            return name
        case ast.Call(keywords=[]):
            return ast.unparse(node)
        case ast.Call():
            return _call(node)
        case ast.Subscript(value=whole, slice=part):
            return f"{ast.unparse(whole)}[{ast.unparse(part)}]"
        case ast.BinOp():
            return evaluated(node)
    raise TypeError("no value")
