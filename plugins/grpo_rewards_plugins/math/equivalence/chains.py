"""Chains of equations, ``x = a = b``: where what stands on the way to the end says that two of them differ."""

from __future__ import annotations

from math import inf, log10

from flint import arb, fmpq

from ..reading.tree import Node, free
from ..reading.units import DEGREE, NO_UNIT, RADIAN, Unit
from .equality import constant_value, expressions_equal
from .quantities import TEMPERATURES, quantity
from .rounding import about
from .values import precision

_PLAIN = frozenset(("num", "dec", "add", "mul", "pow", "const", "call", "percent"))


def chain_differs(gold: Node, answer: Node, seed: str) -> str | None:
    """Why an answer is not the gold although its end may be; None where nothing on the way tells."""
    if _contradicts(answer, sums=gold.kind != "rel"):
        return "a chain that contradicts itself"
    if any(_misses(part) for part in (answer.args if answer.kind in _ROWS else (answer,))):
        return "a decimal that is not what stands before it"
    if gold.kind == answer.kind == "rel":
        ones, others = _letters(gold), _letters(answer)
        if ones and others and ones != others and max(len(ones), len(others)) > 1:
            return "a value of other names"
        return _rows_differ((gold,), (answer,), seed)
    if gold.kind != "list" or answer.kind != "list" or len(gold.args) != len(answer.args):
        return None
    if any(_contradicts(part, sums=False) and part not in gold.args for part in answer.args):
        return "a chain that contradicts itself"
    if (mine := _approximations(gold)) and (theirs := _approximations(answer)) and mine != theirs:
        return "different approximations"
    return _rows_differ(gold.args, answer.args, seed)


def _letters(node: Node) -> frozenset[str]:
    """The names of ``x = y = 2``; none where a formula or dots stand on the way to the value, or where that is a letter too."""
    *names, value = node.args
    named = all(op == "=" for op in node.value) and all(name.kind == "sym" for name in names) and value.kind != "sym"
    letters = frozenset(name.value for name in names if named)
    return letters if "\\ldots" not in letters else frozenset()


def _rows_differ(golds: tuple[Node, ...], answers: tuple[Node, ...], seed: str) -> str | None:
    """Of a row that is no chain of one value each part counts; of any other the values of functions."""
    for gold, answer in zip(golds, answers, strict=True):
        if gold.kind != "rel" or answer.kind != "rel" or len(gold.value) < 2 or gold.value != answer.value:
            continue
        every = _broken(gold)
        for mine, theirs in zip(gold.args, answer.args, strict=True):
            called = mine.kind == theirs.kind == "apply" and mine.value == theirs.value
            if (every or called) and mine != theirs and expressions_equal(mine, theirs, seed).equal is not True:
                return "different equations in a row"
    return None


def _approximations(node: Node) -> list[str]:
    """The decimals behind the signs of approximation in a list, in order of their digits."""
    last = [part.args[-1] for part in node.args if part.kind == "rel" and "~" in part.value]
    return sorted(str(end.value[0] if end.kind == "dec" else end.value) for end in last)


def _contradicts(node: Node, *, sums: bool = True) -> bool:
    """``x = 6 = 5``: a number in a chain is certainly not its end.

    Without `sums` a slip in the arithmetic of whole numbers on the way to the end ("x = 3+3 = 5") does not count.
    """
    if node.kind != "rel" or len(node.value) < 2 or any(op != "=" for op in node.value):
        return False
    last = node.args[-1]
    plain = [arg for arg in node.args[:-1] if _plain(arg) and (sums or not _whole_sum(arg))]
    return _plain(last) and any(
        expressions_equal(middle, last).equal is False and not about(middle, last) for middle in plain
    )


def _misses(node: Node) -> bool:
    """``\\frac{1}{3} \\approx 0.35``: a value beside a sign of approximation that is neither what it rounds to nor its first digits."""
    if node.kind != "rel" or ("~" not in node.value and len(node.value) < 2):
        return False
    for op, *pair in zip(node.value, node.args, node.args[1:], strict=False):
        exact, last = pair
        if op not in ("~", "="):
            continue
        if exact.kind == last.kind == "tuple" and len(exact.args) == len(last.args):
            if any(_misses(Node("rel", ("~",), parts)) for parts in zip(exact.args, last.args, strict=True)):
                return True
            continue
        (mine, unit), (theirs, other) = quantity(exact), quantity(last)
        if _plain(mine) and _plain(theirs) and _other_kind(unit.measured(), other.measured()):
            return True
        size = _last_digit(theirs) if "~" in node.value else None
        if size is None or unit.bases != other.bases or not _plain(mine):
            continue
        one, two = constant_value(mine), constant_value(theirs)
        if unit != other and isinstance(two, (fmpq, arb)):
            scale = fmpq(other.scale.numerator, other.scale.denominator) / fmpq(
                unit.scale.numerator, unit.scale.denominator
            )
            two, size = two * scale, size * scale
        if isinstance(one, (fmpq, arb)) and isinstance(two, (fmpq, arb)):
            with precision(128):
                off, short = abs(arb(one) - arb(two)), abs(arb(one)) - abs(arb(two))
                if off > arb(size) / 2 and (short < 0 or off > arb(size)) and _meant(arb(one), arb(two)):
                    return True
    return False


def _other_kind(unit: Unit, other: Unit) -> bool:
    """Are two units of different dimensions, which no rounding makes one?"""
    if unit.bases == other.bases or NO_UNIT in (unit, other) or {unit, other} == {DEGREE, RADIAN}:
        return False
    return not {unit.bases, other.bases} <= TEMPERATURES


def _meant(value: arb, decimal: arb) -> bool:
    """Can a decimal be meant for a value: is it near it, or are its digits those of the value with the point elsewhere?

    ``1/3 \\approx 1.3`` is a slip of the pen, for which Math-Verify's own tests accept the 1/3.
    """
    if not (value != 0 and decimal != 0):
        return True
    ratio = float(abs(decimal / value).mid())
    places = log10(ratio) if 0 < ratio < inf else 0.0
    return abs(places) < log10(3) or abs(places - round(places)) < _SAME_DIGITS


_SAME_DIGITS = 0.03  # of the logarithm to base 10: 7 %


def _last_digit(node: Node) -> fmpq | None:
    """What one more in the last digit of a number is worth (0.01 for ``0.35``, 100 for ``1200``, 10 for ``1.2 \\times 10^2``)."""
    if node.kind == "dec":
        return fmpq(1, 10 ** node.value[1])
    if node.kind == "num" and node.value.q == 1:
        digits = str(abs(node.value.p))
        return fmpq(10 ** (len(digits) - len(digits.rstrip("0")))) if node.value else fmpq(1)
    if node.kind != "mul" or len(node.args) > 3:
        return None
    size = fmpq(1)
    for part in node.args:
        if part.kind == "pow":
            base, exponent = part.args
            if (
                base.kind != "num"
                or base.value != 10
                or exponent.kind != "num"
                or exponent.value.q != 1
                or abs(exponent.value) > _FAR
            ):
                return None
            size *= fmpq(10) ** int(exponent.value.p)
        elif (inner := _last_digit(part)) is None:
            return None
        elif part.kind == "dec" or abs(part.value) != 1:
            size *= inner
    return size


_FAR = 400
_ROWS = frozenset(("list", "set"))


def _whole_sum(node: Node) -> bool:
    if node.kind == "num":
        return bool(node.value.q == 1)
    return node.kind in ("add", "mul") and all(_whole_sum(arg) for arg in node.args)


def _broken(node: Node) -> bool:
    """Are the parts of a chain not equal, so that it is no chain of one value but a row of equations?"""
    if node.kind != "rel" or len(node.value) < 2 or any(op != "=" for op in node.value):
        return False
    return any(
        free(node.args[-1]) and expressions_equal(middle, node.args[-1]).equal is False
        for middle in node.args[1:-1]
        if free(middle)
    )


def _plain(node: Node) -> bool:
    """A number, without names, units and the like."""
    return node.kind in _PLAIN and all(_plain(arg) for arg in node.args)
