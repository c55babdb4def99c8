"""Quantities: numbers with a unit, a percent sign, degrees or a currency; and what a decimal or a tolerance lets be equal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from flint import acb, arb, fmpq

from ..reading.tree import Node, add, free, mul, walk
from .deciding import Decision, constant_value, expressions_equal
from .points import precision
from .rounding import to_its_digits

__all__ = ["same_quantity", "same_value", "within"]

_slack: ContextVar[float] = ContextVar("tolerance", default=0.0)


def _stripped(node: Node) -> tuple[Node, str]:
    """A quantity's number and its mark: a unit, ``%``, degrees or nothing."""
    if node.kind == "unit":
        inner, mark = _stripped(node.args[0])
        return inner, f"{mark} {node.value}".strip()
    if node.kind == "percent":
        return node.args[0], "%"
    if node.kind == "degree":
        return node.args[0], "degree"
    if node.kind == "mul" and sum(arg.kind in ("unit", "degree", "percent") for arg in node.args) == 1:
        parts = [_stripped(arg) for arg in node.args]
        return mul(*(inner for inner, _ in parts)), "".join(mark for _, mark in parts)
    if node.kind == "add":
        marked = [_stripped(arg) for arg in node.args]
        marks = {mark for _, mark in marked if mark}
        if len(marks) == 1 and all(mark for _, mark in marked):
            return add(*(inner for inner, _ in marked)), marks.pop()
    return node, ""


_TURNS = {"degree", "rad"}
_POUNDS = {"£", "lb"}  # both are called pounds


def same_quantity(gold: Node, answer: Node, seed: str) -> Decision:
    mine, mark = _stripped(gold)
    theirs, other = _stripped(answer)
    if {mark, other} == _TURNS:
        if mark == "degree":
            return expressions_equal(Node("degree", None, (mine,)), theirs, seed)
        return expressions_equal(mine, Node("degree", None, (theirs,)), seed)
    if mark == other and mark.startswith("mod ") and (same := _congruent(mine, theirs, mark)) is not None:
        return Decision(same, "residues")
    if mark and other and mark != other and {mark, other} != _POUNDS:
        return Decision(False, f"{mark} is not {other}")
    found = same_value(mine, theirs, seed)
    if mark == other or (found.equal and not (other == "%" and _share(mine))):
        return found
    if "%" in (mark, other):
        hundredth = Node("num", fmpq(1, 100))
        if mark:
            mine = mul(mine, hundredth)
        else:
            theirs = mul(theirs, hundredth)
        share = expressions_equal(mine, theirs, seed)
        return Decision(True, "percent") if share.equal else Decision(False, "percent of one against the other")
    if "degree" in (mark, other):
        turn = Node("degree", None, (mine if mark else theirs,))
        rest = theirs if mark else mine
        if any(here == Node("const", "pi") for here in walk(rest)):
            return expressions_equal(*((turn, rest) if mark else (rest, turn)), seed)
    return found


def _congruent(one: Node, other: Node, mark: str) -> bool | None:
    """Are two whole numbers one residue?"""
    modulus = mark.removeprefix("mod ")
    if one.kind == other.kind == "num" and modulus.isdigit() and 0 < len(modulus) < 40 and int(modulus):
        return bool(((one.value - other.value) / int(modulus)).q == 1)
    return None


def _share(gold: Node) -> bool:
    """Is a gold without a mark a share of one, so that an answer's percent sign is not just a unit?"""
    value = constant_value(gold)
    return value is not None and not isinstance(value, acb) and bool(abs(value) <= 1) and not bool(value == 0)


def same_value(gold: Node, answer: Node, seed: str) -> Decision:
    found = expressions_equal(gold, answer, seed)
    if not found.equal and (slack := _slack.get()) and _near(gold, answer, slack):
        return Decision(True, "within the tolerance")
    if found.equal is False and gold.kind == "dec" and gold.value[1] > 0 and answer.kind != "dec" and not free(answer):
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
def within(tolerance: float) -> Iterator[None]:
    """Inside it, two numbers are equal whose difference is at most `tolerance` of the gold's size."""
    token = _slack.set(tolerance)
    try:
        yield
    finally:
        _slack.reset(token)
