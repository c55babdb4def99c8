"""When an exact value is what a decimal rounds: to all the digits that the decimal has, and not one that would have been written out."""

from __future__ import annotations

from fractions import Fraction

from flint import acb, arb, fmpq

from ..reading.tree import Node, walk
from .equality import Decision, constant_value
from .values import precision


def to_its_digits(gold: Node, answer: Node) -> Decision | None:
    """An exact answer equals a decimal gold that is the answer rounded to the gold's digits."""
    value = constant_value(answer, 256)
    if value is None or isinstance(value, acb):
        return None
    if any(here.kind == "dec" for here in walk(answer)):
        return None  # a rounded decimal is no exact answer
    exact, digits = gold.value
    if abs(exact) * fmpq(10) ** digits < 10:
        return None  # one digit says too little
    half = fmpq(1, 2) / fmpq(10) ** digits
    if isinstance(value, fmpq) and _terminates(value, digits):
        return None
    with precision(256):
        off = abs(arb(value) - arb(exact)) if not isinstance(value, fmpq) else abs(value - exact)
        close = bool(off <= half)
    return Decision(True, f"rounded to the gold's {digits} digits") if close else None


def about(one: Node, other: Node) -> bool:
    """Is either a decimal whose last digit does not tell it from the other?"""
    values = [constant_value(node) for node in (one, other)]
    if any(value is None or isinstance(value, acb) for value in values):
        return True
    with precision(128):
        off = abs(arb(values[0]) - arb(values[1]))
        return any(node.kind == "dec" and not off > arb(10) ** -node.value[1] for node in (one, other))


def _terminates(value: fmpq, digits: int) -> bool:
    """Is it a decimal of about as many digits, which would have been written out?"""
    return bool((value * fmpq(10) ** (digits + 3)).q == 1) and Fraction(int(value.p), int(value.q)).denominator < 10**9
