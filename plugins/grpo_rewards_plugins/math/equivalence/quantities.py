"""Quantities: numbers with a unit, a percent sign, degrees or a currency; and what a decimal or a tolerance lets be equal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import NamedTuple

from flint import acb, arb, fmpq

from ..reading.tree import MINUS_ONE, Node, add, free, mul, number, power, walk
from ..reading.units import DEGREE, NO_UNIT, PERCENT, RADIAN, Unit, named_unit
from .equality import Decision, constant_value, expressions_equal
from .rounding import to_its_digits
from .values import precision

# of the context, not arguments: only the leaves ask, many calls below `grade`
_slack: ContextVar[float] = ContextVar("tolerance", default=0.0)
_converting: ContextVar[bool] = ContextVar("convert_units", default=True)
_MARKS = frozenset(("unit", "degree", "percent"))
_POUNDS = frozenset((named_unit("£"), named_unit("lb")))  # both are called pounds
_CENT = named_unit("cent") or NO_UNIT
_LARGEST_POWER = 12


class Quantity(NamedTuple):
    """A value and its unit; `NO_UNIT` for a plain value."""

    value: Node
    unit: Unit


def quantity(node: Node) -> Quantity:
    """Value and unit of a tree: a unit at its end belongs to a whole sum, units of factors multiply."""
    if node.kind == "unit":
        inner = quantity(node.args[0])
        return Quantity(inner.value, inner.unit.times(node.value).reduced())
    if node.kind == "percent":
        return Quantity(node.args[0], PERCENT)
    if node.kind == "degree":
        return Quantity(node.args[0], DEGREE)
    if node.kind in ("mul", "add", "pow") and has_unit(node):
        return (_product if node.kind == "mul" else _sum if node.kind == "add" else _power)(node)
    return Quantity(node, NO_UNIT)


_ENDED = frozenset(("interval", "tuple", "union", "cap", "setminus", "rel"))


def bounds(node: Node) -> tuple[Node, Unit] | None:
    """A set of numbers and the unit that all its ends have (``[2 m, 3 m]``, ``[2,3] m``); None where there is no such unit."""
    if node.kind == "unit" and node.args[0].kind in _ENDED:
        return node.args[0], node.value
    units: set[Unit] = set()
    plain = _plain_ends(node, units)
    return (plain, units.pop()) if len(units) == 1 else None


def _plain_ends(node: Node, units: set[Unit]) -> Node:
    if node.kind in _ENDED:
        return Node(node.kind, node.value, tuple(_plain_ends(arg, units) for arg in node.args))
    found = quantity(node)
    if found.unit not in (PERCENT, DEGREE, NO_UNIT):
        units.add(found.unit)
        return found.value
    return node


def same_bounds(gold: Node, answer: Node) -> tuple[Node, Node] | Decision | None:
    """Two sets of numbers in one unit, or why they are not; None where neither has a unit."""
    mine, theirs = bounds(gold), bounds(answer)
    if mine is None and theirs is None:
        return None
    if mine is None or theirs is None:
        return (mine or (gold,))[0], (theirs or (answer,))[0]
    if mine[1] != theirs[1] and (mine[1].bases != theirs[1].bases or not _converting.get()):
        return Decision(False, f"{mine[1]} is not {theirs[1]}")
    return mine[0], _scaled_ends(theirs[0], theirs[1].scale / mine[1].scale)


def _scaled_ends(node: Node, factor: Fraction) -> Node:
    if node.kind in _ENDED:
        named = node.kind == "rel"  # in "R >= 0.6 m" the letter is not counted in a unit
        args = (arg if named and arg.kind in ("sym", "apply") else _scaled_ends(arg, factor) for arg in node.args)
        return Node(node.kind, node.value, tuple(args))
    return _scaled(node, factor)


def has_unit(node: Node) -> bool:
    """Is there a unit, a percent sign or a degree anywhere?"""
    return any(here.kind in _MARKS for here in walk(node))


def _product(node: Node) -> Quantity:
    parts = [quantity(arg) for arg in node.args]
    marked = [part.unit for part in parts if part.unit != NO_UNIT]
    if len(marked) > 1 and any(unit in (PERCENT, DEGREE) for unit in marked):
        return Quantity(node, NO_UNIT)
    unit = NO_UNIT
    for found in marked:
        unit = unit.times(found)
    return Quantity(mul(*(part.value for part in parts)), unit.reduced())


def _power(node: Node) -> Quantity:
    base, exponent = node.args
    inner = quantity(base)
    if (
        exponent.kind != "num"
        or exponent.value.q != 1
        or abs(exponent.value) > _LARGEST_POWER
        or inner.unit in (PERCENT, DEGREE)
    ):
        return Quantity(node, NO_UNIT)
    return Quantity(power(inner.value, exponent), NO_UNIT.times(inner.unit, int(exponent.value.p)))


def _sum(node: Node) -> Quantity:
    """Terms of one kind, or a unit behind the last term that belongs to all of them (``100-25\\pi\\text{ cm}^2``)."""
    parts = [quantity(arg) for arg in node.args]
    units = [part.unit for part in parts]
    if all(unit.bases == units[0].bases and unit != NO_UNIT for unit in units):
        return Quantity(add(*(_scaled(part.value, part.unit.scale / units[0].scale) for part in parts)), units[0])
    if units[-1] not in (NO_UNIT, PERCENT, DEGREE) and all(unit == NO_UNIT for unit in units[:-1]):
        return Quantity(add(*(part.value for part in parts)), units[-1])
    return Quantity(node, NO_UNIT)


def _scaled(node: Node, factor: Fraction) -> Node:
    """A value times a factor; a number stays a number."""
    if factor == 1:
        return node
    exact = fmpq(factor.numerator, factor.denominator)
    if node.kind in ("num", "dec"):
        return number((node.value if node.kind == "num" else node.value[0]) * exact)
    return mul(number(exact), node)


def same_quantity(gold: Node, answer: Node, seed: str) -> Decision:
    """Decide two quantities: a unit may be left out or added, two of different dimensions are different."""
    for residue, value in ((gold, answer), (answer, gold)):
        if residue.kind == "residue" and value.kind == "num":  # "3 (mod 4)" and 3
            return expressions_equal(residue.args[0], value, seed)
    if (
        gold.kind == answer.kind == "residue"
        and gold.value == answer.value
        and (same := _congruent(gold, answer)) is not None
    ):
        return Decision(same, "residues")
    (mine, unit), (theirs, other) = quantity(gold), quantity(answer)
    if {unit, other} == {DEGREE, RADIAN}:
        turns = [
            Node("degree", None, (value,)) if mark == DEGREE else value
            for value, mark in ((mine, unit), (theirs, other))
        ]
        return expressions_equal(turns[0], turns[1], seed)
    unit, other = _said_by_both(unit, other)
    if not {unit, other}.isdisjoint((PERCENT, NO_UNIT)):  # a share "per year" is a share
        unit, other = (PERCENT if PERCENT.bases[0] in mark.bases else mark for mark in (unit, other))
    if NO_UNIT not in (unit, other) and unit != other and {unit, other} != _POUNDS:
        one, two = _kelvins(mine, unit), _kelvins(theirs, other)
        if _converting.get() and one is not None and two is not None:
            return expressions_equal(one, two, seed)._replace(rule="temperatures, in kelvins")
        if unit.bases != other.bases or not _converting.get():
            return Decision(False, f"{unit} is not {other}")
        converted = same_value(mine, _scaled(theirs, other.scale / unit.scale), seed, rounded=not _decimal(theirs))
        # "2 bar" and "2.0 atm": where the digits do not tell the units apart, they are no reason to take one for the other
        if converted.equal and same_value(mine, theirs, seed).equal and not _slack.get():
            converted = expressions_equal(mine, _scaled(theirs, other.scale / unit.scale), seed)
        return converted._replace(rule=f"{converted.rule}, in other units")
    found = same_value(mine, theirs, seed)
    if unit == other or (found.equal and not (other == PERCENT and not _percentage(mine))):
        return found
    if {unit, other} == {NO_UNIT, _CENT}:  # "75 cents" for 0.75, of dollars that nobody names
        return same_value(_scaled(mine, unit.scale), _scaled(theirs, other.scale), seed)
    if PERCENT in (unit, other):
        hundredth = Node("num", fmpq(1, 100))
        part, whole = (
            mul(value, hundredth) if mark == PERCENT else value for value, mark in ((mine, unit), (theirs, other))
        )
        share = expressions_equal(part, whole, seed)
        return Decision(True, "percent") if share.equal else Decision(False, "percent of one against the other")
    if DEGREE in (unit, other):
        turn = Node("degree", None, (mine if unit == DEGREE else theirs,))
        rest = theirs if unit == DEGREE else mine
        if any(here == Node("const", "pi") for here in walk(rest)):
            return expressions_equal(*((turn, rest) if unit == DEGREE else (rest, turn)), seed)
    return found


def _kelvins(value: Node, unit: Unit) -> Node | None:
    """A temperature in kelvins; None for what is none."""
    if (
        value.kind == "mul"
        and value.args[0] == MINUS_ONE
        and len(value.args) == 2
        and value.args[1].kind in ("num", "dec")
    ):
        size = -(value.args[1].value if value.args[1].kind == "num" else value.args[1].value[0])
        value = Node("num", size)
    if unit.scale != 1 or unit.bases not in TEMPERATURES or value.kind not in ("num", "dec"):
        return None
    size = value.value if value.kind == "num" else value.value[0]
    name = unit.bases[0][0]
    return Node("num", size if name == "K" else size + _ICE if name == "degC" else (size - 32) * fmpq(5, 9) + _ICE)


_ICE = fmpq(27315, 100)
# these differ by their zero too, so no scale turns one into another
TEMPERATURES = frozenset(((("K", 1),), (("degC", 1),), (("degF", 1),)))


def _said_by_both(one: Unit, other: Unit) -> tuple[Unit, Unit]:
    """Both units; what only one of them says was counted (``2 mol H_2O``, ``20% increase``) is left out where it has a unit beside it."""
    mine, theirs = one.measured(), other.measured()
    if NO_UNIT in (mine, theirs) or (mine != one) == (theirs != other):
        return one, other
    return mine, theirs


def _congruent(gold: Node, answer: Node) -> bool | None:
    """Are two whole numbers one residue?"""
    one, other, modulus = gold.args[0], answer.args[0], str(gold.value)
    if one.kind == other.kind == "num" and modulus.isdigit() and 0 < len(modulus) < 40 and int(modulus):
        return bool(((one.value - other.value) / int(modulus)).q == 1)
    return None


def _percentage(gold: Node) -> bool:
    """Is a gold without a mark a number of percent, so that an answer's percent sign is just a unit?  A share of one is none, nor
    is what nobody writes before the sign: fractions, roots, letters.
    """
    if gold.kind == "num":
        return bool(gold.value.q == 1 and (abs(gold.value) > 1 or gold.value == 0))
    return gold.kind == "dec" and bool(abs(gold.value[0]) > 1)


def _decimal(node: Node) -> bool:
    return any(here.kind == "dec" for here in walk(node))


def same_value(gold: Node, answer: Node, seed: str, *, rounded: bool = True) -> Decision:
    """Decide two values without units, with what the tolerance and a decimal gold (where an answer may be `rounded` to it) allow."""
    found = expressions_equal(gold, answer, seed)
    if not found.equal and (slack := _slack.get()) and _near(gold, answer, slack):
        return Decision(True, "within the tolerance")
    decimal = gold.kind == "dec" and gold.value[1] > 0 and answer.kind != "dec"
    if rounded and found.equal is False and decimal and not free(answer):
        return to_its_digits(gold, answer) or found
    return found


def _near(gold: Node, answer: Node, slack: float) -> bool:
    """Do two numbers differ by at most `slack` of the gold's size?"""
    values = [None if free(node) else constant_value(node, 192) for node in (gold, answer)]
    one, other = values
    if one is None or other is None or isinstance(one, acb) != isinstance(other, acb):
        return False
    with precision(192):
        return bool(abs(one - other) <= abs(one) * arb(slack))


@contextmanager
def rules(*, tolerance: float, convert_units: bool) -> Iterator[None]:
    """Inside it, two numbers are equal whose difference is at most `tolerance` of the gold's size, and units convert or not."""
    slack, converting = _slack.set(tolerance), _converting.set(convert_units)
    try:
        yield
    finally:
        _slack.reset(slack)
        _converting.reset(converting)
