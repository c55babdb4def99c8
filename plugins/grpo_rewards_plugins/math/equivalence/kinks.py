"""Where an expression changes its form: the zeros of what stands in absolute values, even roots, max, min and sign.

Between two neighbouring kinks such an expression is one formula, so that agreement says something about an interval only where it
was tried there. On a line (all variables but one fixed) the kinks are the real roots of polynomials wherever the arguments are
rational in the variable, in any branch of the kinks inside them; where they are not, changes of sign are looked for on a grid.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise, product
from typing import Any, NamedTuple

from flint import acb, arb, fmpq, fmpq_poly
from flint.utils.flint_exceptions import FlintError

from ..reading.tree import Node, add, free, negate, walk
from .values import Point, evaluate, precision

_LARGEST_DEGREE = 32
_MOST_BRANCHES = 32
_MOST_KINKS = 48
_FAR = (fmpq(3), fmpq(1_003), fmpq(10_000_019))
# dense near zero and sparse far out: a change of sign there is found by halving
_GRID = tuple(
    sign * fmpq(size)
    for size in (10**15, 10**12, 10**9, 10**7, 10**4, 1000, 300, 100, 30, 17, 10, 7, 5, 3, 2, 1)
    for sign in (-1, 1)
)
_STEPS = frozenset(("floor", "ceil", "mod", "gcd", "lcm"))


class _Quotient(NamedTuple):
    top: fmpq_poly
    bottom: fmpq_poly


def bends(*nodes: Node) -> bool:
    """Is there an absolute value, an even root, max, min, sign, a step or a function by cases?"""
    return any(_is_bend(here) for node in nodes for here in walk(node))


def _is_bend(node: Node) -> bool:
    if node.kind == "call":
        return node.value in ("abs", "norm", "max", "min", "sign") or node.value in _STEPS
    return node.kind == "cases" or (node.kind == "pow" and _even_root(node) and bool(free(node.args[0])))


def _even_root(node: Node) -> bool:
    exponent = node.args[1]
    return exponent.kind == "num" and int(exponent.value.q) % 2 == 0


def points_between(gold: Node, answer: Node, names: list[str], chance: Iterator[fmpq]) -> Iterator[dict[str, fmpq]]:
    """Points on both sides of every kink, along lines in each variable, and far out on both sides.

    `chance` gives random numbers between 0 and 1.
    """
    for name in names:
        others = [other for other in names if other != name]
        for scale in (fmpq(4),) if not others else (fmpq(4), fmpq(-300)):
            fixed = {other: scale * (next(chance) + fmpq(1, 5)) for other in others}
            ends = sorted({*_kinks(gold, name, fixed), *_kinks(answer, name, fixed)})[:_MOST_KINKS]
            for here in _spread(ends, chance):
                yield {**fixed, name: here}


def _spread(ends: list[fmpq], chance: Iterator[fmpq]) -> Iterator[fmpq]:
    low, high = (ends[0], ends[-1]) if ends else (fmpq(0), fmpq(0))
    for size in _FAR:
        yield low - size * (1 + next(chance))
        yield high + size * (1 + next(chance))
    for left, right in pairwise(ends):
        for _ in range(2):
            yield left + (right - left) * next(chance)


def _kinks(node: Node, name: str, fixed: dict[str, fmpq]) -> set[fmpq]:
    """Rational numbers at, or within rounding of, the places where a tree may change its form along a line."""
    out: set[fmpq] = set()
    for argument in _arguments(node):
        if name not in free(argument):
            continue
        branches = _rational(argument, name, fixed)
        if branches is None:
            out |= _changes_of_sign(argument, name, fixed)
            continue
        for quotient in branches:
            out |= _real_roots(quotient.top) | _real_roots(quotient.bottom)
    return out


def _arguments(node: Node) -> Iterator[Node]:
    """What changes its sign at a kink."""
    for here in walk(node):
        if here.kind == "call" and here.value in ("abs", "norm", "sign"):
            yield here.args[0]
        elif here.kind == "call" and here.value in ("max", "min"):
            # eight have 28 pairs, and each pair kinks of its own
            for one, other in combinations(here.args[:8], 2):
                yield add(one, negate(other))
        elif here.kind == "pow" and _even_root(here):
            yield here.args[0]
        elif here.kind == "cases":
            for condition in here.args[1::2]:
                for relation in walk(condition):
                    if relation.kind == "rel":
                        for one, other in pairwise(relation.args):
                            yield add(one, negate(other))


def _real_roots(poly: fmpq_poly) -> set[fmpq]:
    if poly.degree() < 1:
        return set()
    found: list[Any] = list(poly.numer().complex_roots())  # pairs of a root and how often it counts
    # flint gives real roots with an imaginary part of exactly 0
    return {_near(root.real) for root, _ in found if root.imag.is_zero()}


def _near(value: Any) -> fmpq:
    """A rational number within rounding of a ball."""
    if isinstance(value, fmpq):
        return value
    mantissa, exponent = arb(value).mid().man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)


def _rational(node: Node, name: str, fixed: dict[str, fmpq]) -> list[_Quotient] | None:
    """A tree as a quotient of polynomials in one variable, in each branch that it may take; None where it is none."""
    if name not in free(node):
        constant = _constant(node, fixed)
        return None if constant is None else [_Quotient(fmpq_poly([constant]), fmpq_poly([1]))]
    if node.kind == "sym":
        return [_Quotient(fmpq_poly([0, 1]), fmpq_poly([1]))]
    if node.kind == "pow":
        return _rational_power(node, name, fixed)
    if node.kind not in ("add", "mul") and not (
        node.kind == "call" and node.value in ("abs", "norm", "sign", "max", "min")
    ):
        return None
    parts = [_rational(arg, name, fixed) for arg in node.args]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        return None
    if node.kind == "call":
        if node.value in ("max", "min"):
            out = [branch for part in found for branch in part]
        elif node.value == "sign":
            out = [_Quotient(fmpq_poly([value]), fmpq_poly([1])) for value in (1, -1)]
        else:
            out = [_Quotient(sign * branch.top, branch.bottom) for branch in found[0] for sign in (1, -1)]
        return out if len(out) <= _MOST_BRANCHES else None
    total = 1
    for part in found:
        total *= len(part)
        if total > _MOST_BRANCHES:
            return None
    joined = [_joined(node.kind, chosen) for chosen in product(*found)]
    return None if any(max(j.top.degree(), j.bottom.degree()) > _LARGEST_DEGREE for j in joined) else joined


def _joined(kind: str, parts: tuple[_Quotient, ...]) -> _Quotient:
    out = parts[0]
    for part in parts[1:]:
        if kind == "mul":
            out = _Quotient(out.top * part.top, out.bottom * part.bottom)
        else:
            out = _Quotient(out.top * part.bottom + part.top * out.bottom, out.bottom * part.bottom)
    return out


def _rational_power(node: Node, name: str, fixed: dict[str, fmpq]) -> list[_Quotient] | None:
    base, exponent = node.args
    branches = _rational(base, name, fixed)
    if branches is None or exponent.kind != "num":
        return None
    times, degree = int(exponent.value.p), int(exponent.value.q)
    out: list[_Quotient] = []
    for top, bottom in branches:
        if max(top.degree(), bottom.degree(), 1) * abs(times) > _LARGEST_DEGREE:
            return None
        quotient = _Quotient(top ** abs(times), bottom ** abs(times))
        if times < 0:
            if not top:
                return None
            quotient = _Quotient(quotient.bottom, quotient.top)
        roots = [quotient] if degree == 1 else _square_roots(quotient) if degree == 2 else None
        if roots is None:
            return None
        out.extend(roots)
    return out if len(out) <= _MOST_BRANCHES else None


def _square_roots(quotient: _Quotient) -> list[_Quotient] | None:
    """Both square roots of a square."""
    try:
        top, bottom = quotient.top.sqrt(), quotient.bottom.sqrt()
    except (FlintError, ArithmeticError, ValueError):  # no square
        return None
    return [_Quotient(top, bottom), _Quotient(-top, bottom)]


def _constant(node: Node, fixed: dict[str, fmpq]) -> fmpq | None:
    """A rational number within rounding of the value of a tree without the variable."""
    value = _sample(node, fixed)
    return None if value is None else _near(value)


def _sample(node: Node, values: dict[str, fmpq]) -> Any:
    try:
        with precision(96):
            found = evaluate(node, Point(dict(values)))
    except (ArithmeticError, ValueError):
        return None
    return None if isinstance(found, acb) or (isinstance(found, arb) and not found.is_finite()) else found


def _changes_of_sign(node: Node, name: str, fixed: dict[str, fmpq]) -> set[fmpq]:
    """Where an expression of any kind changes its sign between two points of a grid, halved until it is near."""
    out: set[fmpq] = set()
    grid = sorted({*_GRID, *(fmpq(step, 3) + fmpq(1, 101) for step in range(-30, 31))})
    known = [(place, _sample(node, {**fixed, name: place})) for place in grid]
    for (low, below), (high, above) in pairwise([pair for pair in known if pair[1] is not None]):
        if not ((below > 0 and above < 0) or (below < 0 and above > 0)):
            continue
        start, end = low, high
        for _ in range(40):
            middle = (start + end) / 2
            value = _sample(node, {**fixed, name: middle})
            if value is None or not (value > 0 or value < 0):
                break
            start, end = (middle, end) if bool(value > 0) == bool(below > 0) else (start, middle)
        out.add((start + end) / 2)
        if len(out) >= _MOST_KINKS:
            break
    return out
