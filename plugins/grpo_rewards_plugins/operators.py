"""Python's operators on literals, within bounds: what a completion's expression comes to, read instead of run."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sized
from typing import Any

_MOST_BITS = 4096  # of a number
_MOST_ITEMS = 100_000  # of a text or list


def evaluated(node: ast.expr, allowed: tuple[type[ast.operator], ...] = ()) -> object:
    """Return the value of an expression of literals, with the operators that are `allowed`, all that are known here without any.

    Raises:
        ValueError: it holds anything else, formats a text, or a result would be too large.
        TypeError, ArithmeticError: as Python says.
    """
    match node:
        case ast.Constant(value):
            return value
        case ast.List(items):
            return [evaluated(item, allowed) for item in items]
        case ast.Tuple(items):
            return tuple(evaluated(item, allowed) for item in items)
        case ast.Set(items):
            return {evaluated(item, allowed) for item in items}
        case ast.Dict(keys, values) if None not in keys:
            pairs = zip(keys, values, strict=True)
            return {evaluated(key, allowed): evaluated(value, allowed) for key, value in pairs if key is not None}
        case ast.UnaryOp(sign, operand):
            return _UNARY[type(sign)](evaluated(operand, allowed))
        case ast.BinOp(left, sign, right) if not allowed or isinstance(sign, allowed):
            return _binary(sign, evaluated(left, allowed), evaluated(right, allowed))
    raise ValueError(f"a {type(node).__name__} is not evaluated")


def _binary(sign: ast.operator, one: object, other: object) -> object:
    if type(sign) not in _BINARY:
        raise ValueError(f"the operator {type(sign).__name__} is not evaluated")
    if _size(one) > _MOST_ITEMS or _size(other) > _MOST_ITEMS:
        raise ValueError("too large")
    # operands within the bounds give no result too large to build; powers, shifts and products of texts look first
    found = _BINARY[type(sign)](one, other)
    if isinstance(found, int) and found.bit_length() > _MOST_BITS:
        raise ValueError("too large")
    return found


def _size(value: object) -> int:
    return value.bit_length() if isinstance(value, int) else len(value) if isinstance(value, Sized) else 64


def _power(base: object, exponent: object) -> object:
    if not isinstance(base, int | float) or not isinstance(exponent, int | float):
        raise TypeError("a power of numbers")
    # before it is computed: 9**9**9 would not come back
    if isinstance(base, int) and isinstance(exponent, int) and abs(exponent) * max(1, base.bit_length()) > _MOST_BITS:
        raise ValueError("too large")
    return base**exponent


def _times(one: object, other: object) -> object:
    number, whole = (one, other) if isinstance(one, int) else (other, one)
    if isinstance(whole, str | bytes | list | tuple) and isinstance(number, int) and number * len(whole) > _MOST_ITEMS:
        raise ValueError("too large")
    return operator.mul(one, other)


def _shifted(one: object, other: object) -> object:
    if not isinstance(other, int) or other > _MOST_BITS:
        raise ValueError("too large")
    return operator.lshift(one, other)


def _remainder(one: object, other: object) -> object:
    if not isinstance(one, int | float):
        raise ValueError("no formatting")  # which pads a text to any length
    return operator.mod(one, other)


_BINARY: dict[type[ast.operator], Callable[[object, object], object]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: _times, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: _remainder, ast.Pow: _power, ast.LShift: _shifted,
    ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], Callable[[Any], object]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
