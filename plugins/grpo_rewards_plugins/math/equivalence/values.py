"""Values of trees at points: exact rationals as long as that is possible, else balls with a certified error.

A value is an ``fmpq`` (exact), an ``arb`` (a real ball) or an ``acb`` (a complex ball). A budget bounds the number of steps.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

import flint
from flint import acb, arb, fmpq, fmpq_mat

from grpo_rewards.forks import PerProcess

from ..reading.tree import Node
from .functions import NO_SMALL_INTEGER, Undefined, Unknown, as_integer, as_real, ball_call, call, raised

__all__ = ["NO_SMALL_INTEGER", "Point", "Undefined", "Unknown", "evaluate", "holds", "precision", "pseudo"]

# steps of `evaluate`, so that a sum within a sum comes to an end
_BUDGET = 40_000
_lock = PerProcess(threading.RLock)
_TERMS = 2_000
_EXTREME_BITS = 300
_HUGE, _TINY = arb(2) ** _EXTREME_BITS, arb(2) ** -_EXTREME_BITS


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Balls are computed to ``bits``; the library's precision is one per process, so one thread at a time."""
    with _lock():
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
    # never 0, so that no factor beside it is lost
    return fmpq(1 + int.from_bytes(digest[:6], "big") % 9_999_991, 2_097_143) + fmpq(1, 7)


def _sum(node: Node, point: Point) -> object:
    body, lower, upper = node.args
    low = evaluate(lower, point)
    infinite = upper.kind == "const" and upper.value == "oo"
    # the index may have the name of a letter that stands outside of the sum too
    kept = dict(point.values)
    try:
        if infinite:
            shape = []
            for probe in (fmpq(3), fmpq(5), fmpq(8)):
                point.values[node.value] = low + probe  # so that a series may begin at another index
                shape.append(evaluate(body, point))
            if not all(isinstance(v, fmpq) for v in shape):
                raise Unknown("an infinite series")
            point.opaque = True
            return pseudo(node.kind, shape)
        start, stop = as_integer(low, 10**9), as_integer(evaluate(upper, point), 10**9)
        if stop - start > _TERMS:
            # a long sum may have a closed form, a long product is a number too large for sympy
            raise Unknown(f"more than {_TERMS} terms" if node.kind == "sum" else NO_SMALL_INTEGER)
        total: object = fmpq(0 if node.kind == "sum" else 1)
        for index in range(start, stop + 1):
            point.values[node.value] = fmpq(index)
            value = evaluate(body, point)
            total = total + value if node.kind == "sum" else total * value
        return total
    finally:
        point.values = kept


def _determinant(node: Node, point: Point) -> object:
    matrix = node.args[0]
    if matrix.kind != "matrix" or matrix.value[0] != matrix.value[1]:
        raise Unknown("the determinant of no square matrix")
    entries = [evaluate(entry, point) for entry in matrix.args]
    if not all(isinstance(entry, fmpq) for entry in entries):
        raise Unknown("a determinant of inexact entries")
    return fmpq_mat(matrix.value[0], matrix.value[1], entries).det()


def _case(node: Node, point: Point) -> object:
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
    values = [as_real(evaluate(arg, point)) for arg in node.args]
    return all(_ordered(op, a, b) for op, a, b in zip(node.value, values, values[1:], strict=False))


def _ordered(op: str, left: object, right: Any) -> bool:
    less, more = bool(left < right), bool(left > right)
    exact = isinstance(left, fmpq) and isinstance(right, fmpq)
    # balls that overlap have no order
    if not (less or more or exact):
        raise Unknown("a comparison too close to call")
    table = {"<": less, ">": more, "<=": not more, ">=": not less, "=": not (less or more), "!=": less or more}
    if op not in table:
        raise Unknown(f"the relation {op}")
    return table[op]


def _guarded(value: object, point: Point) -> object:
    if isinstance(value, fmpq):
        if value != 0 and max(int(value.p.bit_length()), int(value.q.bit_length())) > _EXTREME_BITS:
            point.extreme = True
    elif isinstance(value, arb):
        size = abs(value)
        # "not <", so that a ball without bounds counts as well
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
            value = ball_call("exp", evaluate(exponent, point))
        else:
            value = raised(evaluate(base, point), evaluate(exponent, point))
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


def _compound(node: Node, point: Point) -> object:
    kind = node.kind
    if kind == "call":
        if node.value == "det":
            return _determinant(node, point)
        value = call(node.value, [evaluate(arg, point) for arg in node.args])
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
            # f(2) and f(1+1) are one number
            return pseudo(node.value, values)
        point.opaque = True
        return pseudo(node.value, node.args)
    if kind in ("sum", "prod"):
        return _sum(node, point)
    if kind == "opaque":
        point.opaque = True
        return pseudo(node.value, node.args)
    # an unknown factor, the same one wherever the unit stands
    if kind in ("unit", "residue"):
        return evaluate(node.args[0], point) * pseudo(kind, node.value)
    if kind == "ratio" and len(node.args) == 2:
        return evaluate(node.args[0], point) / evaluate(node.args[1], point)
    if kind == "cases":
        return _case(node, point)
    raise Unknown(f"a {kind} is no number")
