"""Trees into sympy, built node by node (no text is ever evaluated), and sympy's word on their difference."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy  # type: ignore[import-untyped]
from sympy import Float, Integer, Rational, Symbol

_LARGEST_POWER = 10_000
# kind, value by the kind, and the parts, as `wire.packed` makes them of a node
Packed = tuple[str, Any, Sequence["Packed"]]
_FUNCTIONS: dict[str, Callable[..., sympy.Expr]] = {
    **{
        name: getattr(sympy, name)
        for name in (
            "sin cos tan cot sec csc sinh cosh tanh coth sech csch asin acos atan asec acsc asinh acosh atanh exp erf "
            "factorial factorial2 gamma zeta floor sign re im arg binomial gcd lcm"
        ).split()
    },
    "ln": sympy.log, "conj": sympy.conjugate, "ceil": sympy.ceiling, "abs": sympy.Abs, "norm": sympy.Abs, "binom": sympy.binomial,
    "acot": lambda x: sympy.pi / 2 - sympy.atan(x),
    "max": sympy.Max, "min": sympy.Min, "mod": sympy.Mod,
}  # fmt: skip
_CONSTANTS = {"pi": sympy.pi, "e": sympy.E, "i": sympy.I, "oo": sympy.oo}


def _power(base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
    # sympy works out a power of two numbers as soon as it is made
    if exponent.is_number and base.is_number and base not in (0, 1, -1) and not abs(exponent) < _LARGEST_POWER:
        raise ValueError("a power too large")
    return sympy.Pow(base, exponent)


def build(node: Packed) -> sympy.Expr:
    """The sympy expression of a packed tree.

    Raises:
        ValueError: it has a part that sympy is not asked about.
    """
    kind, value, args = node
    if kind in ("num", "dec"):
        return Rational(value)
    if kind == "sym":
        # real, as letters of answers mostly are meant, but for z
        return Symbol(str(value), real=True) if str(value) != "z" else Symbol("z")
    if kind == "const":
        return _CONSTANTS[value]
    if kind == "add":
        return sympy.Add(*(build(arg) for arg in args))
    if kind == "mul":
        return sympy.Mul(*(build(arg) for arg in args))
    if kind == "pow":
        return _power(build(args[0]), build(args[1]))
    if kind == "percent":
        return build(args[0]) / 100
    if kind == "degree":
        return build(args[0]) * sympy.pi / 180
    if kind == "call":
        inner = [build(arg) for arg in args]
        if value in ("factorial", "gamma", "binom", "factorial2") and not all(
            not part.is_number or abs(part) < _LARGEST_POWER for part in inner
        ):
            raise ValueError("a factorial too large")
        if value == "log":
            return sympy.log(*inner)
        if value == "lb":
            return sympy.log(inner[0], 2)
        if value in _FUNCTIONS:
            return _FUNCTIONS[value](*inner)
    if kind == "apply":
        return sympy.Function(str(value))(*(build(arg) for arg in args))
    if kind in ("sum", "prod"):
        name = Symbol(str(value), real=True)
        maker = sympy.Sum if kind == "sum" else sympy.Product
        return maker(build(args[0]), (name, build(args[1]), build(args[2])))
    if kind == "opaque":
        return _calculus(value, [build(arg) for arg in args])
    raise ValueError(f"a {kind}")


def _calculus(name: str, args: list[sympy.Expr]) -> sympy.Expr:
    if name == "int":
        return sympy.Integral(args[0], args[1] if len(args) == 2 else (args[1], args[2], args[3]))
    if name == "lim":
        return sympy.Limit(args[0], args[1], args[2])
    if name == "diff":
        return sympy.Derivative(args[0], args[1])
    raise ValueError(name)


def decide(gold: Packed, answer: Packed) -> tuple[bool | None, str]:
    """Is the difference of two packed trees zero?"""
    one, other = build(gold), build(answer)
    difference = one - other
    if difference.has(sympy.Integral, sympy.Limit, sympy.Derivative, sympy.Sum, sympy.Product):
        difference = difference.doit()
    if difference == 0:
        return True, "sympy: the difference is 0"
    if difference.has(sympy.nan, sympy.zoo):
        return None, "sympy: undefined"
    if difference.is_number:
        value = difference.evalf(60, maxn=500)
        # far above the error of 60 digits: a difference, and no rounding
        if value.is_comparable and abs(value) > Float("1e-40"):
            return False, "sympy: a difference that is not 0"
    simple = sympy.simplify(difference)
    if simple == 0:
        return True, "sympy: simplified to 0"
    if simple.equals(Integer(0)):
        return True, "sympy: equal"
    if simple.is_number and simple.is_zero is False:
        return False, "sympy: simplified to a number that is not 0"
    return None, "sympy could not tell"


def answer(question: tuple[Packed, Packed]) -> list[object]:
    """What a worker replies to ``[gold, answer]``: equal or null, and the rule."""
    try:
        return list(decide(*question))
    except MemoryError:
        return [None, "sympy ran out of memory"]  # the worker's own limit; it lives on
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
        RuntimeError,
    ) as error:
        return [None, f"sympy: {type(error).__name__}"]
