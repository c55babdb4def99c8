"""Values of trees at points: exact rationals as long as that is possible, else balls with a certified error.

A value is an ``fmpq`` (exact), an ``arb`` (a real ball) or an ``acb`` (a complex ball). Nothing here runs long: exact powers
and factorials have caps, beyond which balls take over, and a budget bounds the number of steps.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

import flint
from flint import acb, arb, fmpq, fmpq_mat, fmpz

from ..reading.tree import Node

__all__ = ["NO_SMALL_INTEGER", "Point", "Undefined", "Unknown", "evaluate", "holds", "precision", "pseudo"]

NO_SMALL_INTEGER = "no small integer"
_EXACT_BITS = 60_000
_TERMS = 2_000
_BUDGET = 40_000
_EXTREME_BITS = 300
_HUGE, _TINY = arb(2) ** _EXTREME_BITS, arb(2) ** -_EXTREME_BITS
_LOCK = threading.RLock()


def _fresh_lock() -> None:
    global _LOCK
    _LOCK = threading.RLock()


os.register_at_fork(after_in_child=_fresh_lock)


class Undefined(ArithmeticError):
    """The expression has no finite value here."""


class Unknown(ArithmeticError):
    """The expression is of a kind that has no number, or costs too much."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Balls are computed to ``bits``; the library's precision is one per process, so one thread at a time."""
    with _LOCK:
        before = flint.ctx.prec
        flint.ctx.prec = bits
        try:
            yield
        finally:
            flint.ctx.prec = before


class Point:
    """Where a tree is evaluated, and what was met on the way.

    ``opaque``: a part stands for an unknown number, so that *different* proves nothing.
    ``extreme``: a part is so large or small that it could hide in the rounding, so that *equal* proves nothing.
    """

    __slots__ = ("budget", "extreme", "guard", "opaque", "values")

    def __init__(self, values: dict[str, fmpq] | None = None, *, guard: bool = False) -> None:
        self.values = values or {}
        self.guard = guard
        self.opaque = False
        self.extreme = False
        self.budget = _BUDGET


def pseudo(*key: object) -> fmpq:
    """A fixed, arbitrary rational for a key: stands for what an unknown function gives."""
    digest = blake2b(repr(key).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return fmpq(1 + int.from_bytes(digest[:6], "big") % 9_999_991, 2_097_143) + fmpq(1, 7)


def _exact_power(base: fmpq, exponent: int) -> Any:
    if base == 0:
        if exponent <= 0:
            raise Undefined("a power of zero")
        return base
    size = max(int(base.p.bit_length()), int(base.q.bit_length()))
    if base in (1, -1) or abs(exponent) * size <= _EXACT_BITS:
        return base**exponent
    return arb(base) ** fmpz(exponent)


def _root(base: fmpq, exponent: fmpq) -> Any:
    """A rational power; the real root where the denominator is odd (``(-8)^{1/3} = -2``), the principal one else."""
    degree, times = int(exponent.q), exponent.p
    if base < 0:
        if degree % 2:
            value = _root(-base, exponent)
            return -value if int(times) % 2 else value
        return acb(base) ** acb(exponent)
    if base == 0:
        if exponent < 0:
            raise Undefined("a negative power of zero")
        return base
    if degree <= 64 and max(int(base.p.bit_length()), int(base.q.bit_length())) < 4_000:
        top, bottom = base.p.root(degree), base.q.root(degree)
        if top**degree == base.p and bottom**degree == base.q and abs(times) < 10_000:
            return _exact_power(fmpq(top, bottom), int(times))
    return arb(base) ** exponent


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(exponent, fmpq):
        if isinstance(base, fmpq):
            if exponent.q == 1:
                if abs(exponent.p) < 1 << 62:
                    return _exact_power(base, int(exponent.p))
                if base in (0, 1, -1):
                    raise Unknown("a huge power of a unit")
                return arb(base) ** exponent.p
            if abs(exponent.p) < 1 << 40 and exponent.q < 1 << 20:
                return _root(base, exponent)
            return arb(base) ** arb(exponent) if base > 0 else acb(base) ** acb(exponent)
        if exponent.q == 1:
            value = base ** fmpz(exponent.p)
            if not value.is_finite():
                raise Undefined("a power without a finite value")
            return value
        if isinstance(base, arb):
            if base > 0:
                return base**exponent
            if base < 0 and int(exponent.q) % 2 and exponent.q < 1 << 20:
                value = (-base) ** exponent
                return -value if int(exponent.p) % 2 else value
            if base < 0:
                return acb(base) ** acb(exponent)
            if exponent > 0:
                return base.abs_upper() ** exponent * arb(0, 1)  # a ball around zero
            raise Undefined("a root near zero")
        return base ** acb(exponent)
    if isinstance(exponent, arb):
        real = arb(base) if isinstance(base, fmpq) else base
        if isinstance(real, arb) and real > 0:
            return real**exponent
        if isinstance(base, fmpq) and base == 0:
            if exponent > 0:
                return base
            raise Undefined("a power of zero")
    return acb(base) ** acb(exponent)


def _real(value: Any) -> Any:
    if isinstance(value, acb):
        if value.imag.is_zero():
            return value.real
        raise Undefined("a complex number where a real one is needed")
    return value


_BALL_FUNCTIONS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "cot": "cot", "sec": "sec", "csc": "csc", "sinh": "sinh", "cosh": "cosh",
    "tanh": "tanh", "coth": "coth", "sech": "sech", "csch": "csch", "asin": "asin", "acos": "acos", "atan": "atan",
    "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "exp": "exp", "erf": "erf",
}  # fmt: skip
_NEED_COMPLEX = frozenset(("asin", "acos", "acosh", "atanh"))
_INVERTED = {"acot": "atan", "asec": "acos", "acsc": "asin"}


def _log(value: Any) -> Any:
    if isinstance(value, fmpq):
        if value == 1:
            return fmpq(0)
        if value == 0:
            raise Undefined("the logarithm of zero")
        return arb(value).log() if value > 0 else acb(value).log()
    if isinstance(value, arb) and value > 0:
        return value.log()
    return acb(value).log()


def _ball_call(name: str, value: Any) -> Any:
    if isinstance(value, fmpq):
        if value == 0 and name in ("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf"):
            return fmpq(0)
        if value == 0 and name in ("cos", "exp", "cosh", "sec", "sech"):
            return fmpq(1)
    ball = value if isinstance(value, acb) else arb(value)
    result = getattr(ball, name)()
    if name in _NEED_COMPLEX and isinstance(ball, arb) and result.is_nan():
        result = getattr(acb(ball), name)()
    return result


def _integer(value: Any, limit: int) -> int:
    if isinstance(value, fmpq) and value.q == 1 and abs(value.p) <= limit:
        return int(value.p)
    raise Unknown(NO_SMALL_INTEGER)


def _factorial(value: Any) -> Any:
    if isinstance(value, fmpq) and value.q == 1:
        if value < 0:
            raise Undefined("the factorial of a negative number")
        if value <= 3_000:
            return fmpq(fmpz.fac_ui(value.p))
    return arb(value).gamma() if isinstance(value, fmpq) and value == 0 else (_real_or_ball(value) + 1).gamma()


def _real_or_ball(value: Any) -> Any:
    return arb(value) if isinstance(value, fmpq) else value


def _binomial(top: Any, bottom: Any) -> Any:
    if isinstance(top, fmpq) and isinstance(bottom, fmpq) and top.q == 1 and bottom.q == 1:
        if bottom < 0 or (0 <= top < bottom):
            return fmpq(0)
        if 0 <= top <= 3_000:
            return fmpq(fmpz.bin_uiui(int(top.p), int(bottom.p)))
    x, y = _real_or_ball(top), _real_or_ball(bottom)
    return (x + 1).gamma() / ((y + 1).gamma() * (x - y + 1).gamma())


def _choose(values: list[Any], *, largest: bool) -> Any:
    best = values[0]
    for value in values[1:]:
        value, best = _real(value), _real(best)
        if value > best:
            best = value if largest else best
        elif value < best:
            best = best if largest else value
        elif not (isinstance(value, fmpq) and isinstance(best, fmpq)):
            raise Unknown("which is larger is open")
    return best


def _call(name: str, args: list[Any]) -> Any:
    first = args[0]
    if name in _BALL_FUNCTIONS:
        return _ball_call(_BALL_FUNCTIONS[name], first)
    if name == "ln" or (name == "log" and len(args) == 1):
        return _log(first)
    if name == "log":
        return _log(first) / _log(args[1])
    if name == "lb":
        return _log(first) / _log(fmpq(2))
    if name == "abs" or name == "norm":
        return (
            abs(first)
            if isinstance(first, acb)
            else (first if first >= 0 else -first if first < 0 else abs(arb(first)))
        )
    if name in ("floor", "ceil"):
        real = _real(first)
        if isinstance(real, fmpq):
            return fmpq(real.floor() if name == "floor" else real.ceil())
        return real.floor() if name == "floor" else real.ceil()
    if name == "sign":
        real = _real(first)
        return fmpq(1) if real > 0 else fmpq(-1) if real < 0 else fmpq(0) if isinstance(real, fmpq) else real.sgn()
    if name == "factorial":
        return _factorial(first)
    if name == "factorial2":
        value, out = _integer(first, 2_000), fmpz(1)
        while value > 1:
            out, value = out * value, value - 2
        return fmpq(out)
    if name == "gamma":
        return _factorial(first - 1)
    if name == "binom":
        return _binomial(first, args[1])
    if name == "mod":
        if args[1] == 0:
            raise Undefined("modulo zero")
        quotient = _call("floor", [first / args[1]])
        return first - args[1] * quotient
    if name in ("gcd", "lcm"):
        out = fmpz(_integer(first, 1 << 200))
        for value in args[1:]:
            other = fmpz(_integer(value, 1 << 200))
            out = out.gcd(other) if name == "gcd" else out.lcm(other)
        return fmpq(out)
    if name in ("max", "min"):
        return _choose(args, largest=name == "max")
    if name in _INVERTED:
        return _ball_call(_INVERTED[name], 1 / first)
    if name == "re":
        return first.real if isinstance(first, acb) else first
    if name == "im":
        return first.imag if isinstance(first, acb) else fmpq(0)
    if name == "arg":
        return acb(first).arg()
    raise Unknown(f"the function {name}")


def _sum(node: Node, point: Point) -> Any:
    body, lower, upper = node.args
    low = evaluate(lower, point)
    infinite = upper.kind == "const" and upper.value == "oo"
    kept = dict(point.values)
    try:
        if infinite:
            shape = []
            for probe in (fmpq(3), fmpq(5), fmpq(8)):
                point.values[node.value] = probe
                shape.append(evaluate(body, point))
            if not all(isinstance(v, fmpq) for v in shape):
                raise Unknown("an infinite series")
            point.opaque = True
            return pseudo(node.kind, low, shape)
        start, stop = _integer(low, 10**9), _integer(evaluate(upper, point), 10**9)
        if stop - start > _TERMS:
            # a long sum may have a closed form, a long product is a number too large for sympy
            raise Unknown(f"more than {_TERMS} terms" if node.kind == "sum" else NO_SMALL_INTEGER)
        total: Any = fmpq(0 if node.kind == "sum" else 1)
        for index in range(start, stop + 1):
            point.values[node.value] = fmpq(index)
            value = evaluate(body, point)
            total = total + value if node.kind == "sum" else total * value
        return total
    finally:
        point.values = kept


def _determinant(node: Node, point: Point) -> Any:
    matrix = node.args[0]
    if matrix.kind != "matrix" or matrix.value[0] != matrix.value[1]:
        raise Unknown("the determinant of no square matrix")
    entries = [evaluate(entry, point) for entry in matrix.args]
    if not all(isinstance(entry, fmpq) for entry in entries):
        raise Unknown("a determinant of inexact entries")
    return fmpq_mat(matrix.value[0], matrix.value[1], entries).det()


def _case(node: Node, point: Point) -> Any:
    """The value of the case that applies; none, or several that differ, is undefined."""
    found: list[Any] = []
    for value, condition in zip(node.args[::2], node.args[1::2], strict=True):
        rest = condition.kind == "sym" and condition.value in _OTHERWISE
        if (not found) if rest else holds(condition, point):
            found.append(evaluate(value, point))
    if not found:
        raise Undefined("no case applies")
    if any(
        not (other - found[0]).is_zero() if not isinstance(other - found[0], fmpq) else other != found[0]
        for other in found[1:]
    ):
        raise Undefined("two cases apply")
    return found[0]


_OTHERWISE = ("otherwise", "else", "other", "elsewhere")


def holds(node: Node, point: Point) -> bool:
    """Is a condition true at the point?  Raises :class:`Unknown` where that is open."""
    if node.kind == "list" and node.value in ("and", ",", "or"):
        found = [holds(part, point) for part in node.args]
        return any(found) if node.value == "or" else all(found)
    if node.kind == "sym" and node.value in _OTHERWISE:
        return True
    if node.kind != "rel":
        raise Unknown("no condition")
    values = [_real(evaluate(arg, point)) for arg in node.args]
    return all(_ordered(op, a, b) for op, a, b in zip(node.value, values, values[1:], strict=False))


def _ordered(op: str, left: Any, right: Any) -> bool:
    less, more = bool(left < right), bool(left > right)
    exact = isinstance(left, fmpq) and isinstance(right, fmpq)
    if not (less or more or exact):
        raise Unknown("a comparison too close to call")
    table = {"<": less, ">": more, "<=": not more, ">=": not less, "=": not (less or more), "!=": less or more}
    if op not in table:
        raise Unknown(f"the relation {op}")
    return table[op]


def _guarded(value: Any, point: Point) -> Any:
    if isinstance(value, fmpq):
        if value != 0 and max(int(value.p.bit_length()), int(value.q.bit_length())) > _EXTREME_BITS:
            point.extreme = True
    elif isinstance(value, arb):
        size = abs(value)
        if not size < _HUGE or (size < _TINY and not value.contains(0)):
            point.extreme = True
    return value


def evaluate(node: Node, point: Point) -> Any:
    """The value of a tree: ``fmpq``, ``arb`` or ``acb``.

    Raises :class:`Undefined` where there is none and :class:`Unknown` where it cannot be told.
    """
    point.budget -= 1
    if point.budget < 0:
        raise Unknown("too many steps")
    kind = node.kind
    if kind == "num":
        return node.value
    if kind == "dec":
        return node.value[0]
    if kind == "add":
        total = evaluate(node.args[0], point)
        for arg in node.args[1:]:
            total = total + evaluate(arg, point)
        return total
    if kind == "mul":
        total = evaluate(node.args[0], point)
        for arg in node.args[1:]:
            total = total * evaluate(arg, point)
        return total
    if kind == "pow":
        base, exponent = node.args
        if base.kind == "const" and base.value == "e":
            value = _ball_call("exp", evaluate(exponent, point))
        else:
            value = _power(evaluate(base, point), evaluate(exponent, point))
        if not isinstance(value, fmpq) and not value.is_finite():
            raise Undefined("no finite power")
        return _guarded(value, point) if point.guard else value
    if kind == "sym":
        found = point.values.get(node.value)
        return pseudo(node.value) if found is None else found
    if kind == "const":
        if node.value == "pi":
            return arb.pi()
        if node.value == "e":
            return arb.const_e()
        if node.value == "i":
            return acb(0, 1)
        raise Undefined("infinity")
    return _compound(node, point)


def _compound(node: Node, point: Point) -> Any:
    kind = node.kind
    if kind == "call":
        if node.value == "det":
            return _determinant(node, point)
        value = _call(node.value, [evaluate(arg, point) for arg in node.args])
        if not isinstance(value, fmpq) and not value.is_finite():
            raise Undefined(f"no finite {node.value}")
        return _guarded(value, point) if point.guard else value
    if kind == "percent":
        return evaluate(node.args[0], point) / 100
    if kind == "degree":
        return evaluate(node.args[0], point) * arb.pi() / 180
    if kind == "apply":
        values = [evaluate(arg, point) for arg in node.args]
        if all(isinstance(value, fmpq) for value in values):
            return pseudo(node.value, values)
        point.opaque = True
        return pseudo(node.value, node.args)
    if kind in ("sum", "prod"):
        return _sum(node, point)
    if kind == "opaque":
        point.opaque = True
        return pseudo(node.value, node.args)
    if kind == "unit":
        return evaluate(node.args[0], point) * pseudo("unit", node.value)
    if kind == "ratio" and len(node.args) == 2:
        return evaluate(node.args[0], point) / evaluate(node.args[1], point)
    if kind == "cases":
        return _case(node, point)
    raise Unknown(f"a {kind} is no number")
