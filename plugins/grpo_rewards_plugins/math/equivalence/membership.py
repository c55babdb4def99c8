"""Inequalities that have no simple form, tested point by point: on a grid, and at and beside every end that is known."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from flint import acb, fmpq

from ..reading.tree import Node, add, free, negate, replaced, walk
from .equality import Decision, constant_value, expressions_equal
from .sets import Piece, as_pieces, contains_point
from .values import Point, Undefined, evaluate, holds, precision

# beside all round numbers, so that no end of a set is met by chance
_GRID = tuple(fmpq(n, 7) + fmpq(1, 1009) for n in range(-140, 141, 3)) + tuple(
    sign * fmpq(size) for size in (30, 100, 1000, 10**6) for sign in (1, -1)
)


def by_membership(gold: Node, answer: Node) -> Decision | None:
    """Decide two conditions on one variable, of which at most one is in simple form; None where this does not apply.

    One point in one set and not in the other is a proof of difference. Equality needs agreement on the whole grid and, at
    each known end, that the condition changes there as it should.
    """
    gold, answer = _condition(gold), _condition(answer)
    name = _variable(gold) or _variable(answer)
    if name is None or not all(_variable(node) in (name, None) for node in (gold, answer)):
        return None
    pieces = [found[1] if (found := as_pieces(node)) is not None else None for node in (gold, answer)]
    if pieces[0] is not None and pieces[1] is not None:
        return None
    ends = _ends(pieces[0] or pieces[1] or [])
    if ends is None:
        return None
    points = sorted({*_GRID, *ends, *_beside(ends)})
    agreed = 0
    for point in points:
        one, other = (_in(node, known, name, point) for node, known in zip((gold, answer), pieces, strict=True))
        if one is None or other is None:
            continue
        if one != other:
            return Decision(False, f"only one holds at {name} = {point}")
        agreed += 1
    known = pieces[0] or pieces[1]
    condition = gold if pieces[0] is None else answer
    # where both are defined at few points, agreement there says little
    if agreed < len(_GRID) // 2 or not known or not _ends_are_exact(known, condition, name):
        return Decision(None, f"agreement at {agreed} points")
    return Decision(True, f"membership at {agreed} points and at every end")


def _condition(node: Node) -> Node:
    """What a set-builder over the real numbers asks of its variable; anything else as it is."""
    if node.kind != "builder":
        return node
    head, condition = node.args
    real = head.kind == "rel" and head.value == ("in",) and head.args[1] == Node("named", "R")
    return condition if free(head) == free(condition) and (real or head.kind == "sym") else node


def _variable(node: Node) -> str | None:
    """The one variable of an inequality or of several joined by or, and."""
    if node.kind == "list" and node.value in ("or", "and", ",") and all(part.kind == "rel" for part in node.args):
        names = {_variable(part) for part in node.args}
        return names.pop() if len(names) == 1 else None
    if node.kind != "rel" or not set(node.value) <= {"<", ">", "<=", ">=", "!="}:
        return None
    found = free(node)
    if len(found) != 1 or any(here.kind in ("apply", "opaque", "pm") for here in walk(node)):
        return None
    return next(iter(found))


def _ends(pieces: list[Piece]) -> list[fmpq] | None:
    """Rational ends as they are, irrational ones left out; None where one holds a variable."""
    out: list[fmpq] = []
    for piece in pieces:
        for end in (piece.low, piece.high):
            if end is not None:
                value = constant_value(end)
                if value is None or isinstance(value, acb):
                    return None
                if isinstance(value, fmpq):
                    out.append(value)
    return out


def _beside(ends: list[fmpq]) -> list[fmpq]:
    near = [end + sign * fmpq(1, size) for end in ends for size in (10**6, 1000, 20) for sign in (1, -1)]
    middles = [(a + b) / 2 for a, b in pairwise(sorted(ends))]
    return near + middles


def _in(node: Node, pieces: list[Piece] | None, name: str, value: fmpq) -> bool | None:
    if pieces is not None:
        return contains_point(pieces, value)
    try:
        with precision(192):
            return holds(node, Point({name: value}))
    except (Undefined, ZeroDivisionError):
        return False  # not defined there, so it does not hold there
    except ArithmeticError:
        return None


def _ends_are_exact(pieces: list[Piece], condition: Node, name: str) -> bool:
    """At each end of the set one of the condition's sides meets the other (or is not defined)."""
    parts = condition.args if condition.kind == "list" else (condition,)
    for piece in pieces:
        for end in (piece.low, piece.high):
            if end is None:
                continue
            met = False
            for part in parts:
                for left, right in pairwise(part.args):
                    gap = replaced(add(left, negate(right)), {name: end})
                    found = expressions_equal(gap, Node("num", fmpq(0)))
                    met = met or found.equal is True or found.rule.startswith("undefined")
                met = met or any(_begins(here, name, end) for here in walk(part))
            if not met:
                return False
    return True


def _begins(node: Node, name: str, end: Node) -> bool:
    """Is this an even root whose radicand is zero at the end, so that its domain begins there?"""
    if node.kind != "pow" or node.args[1].kind != "num" or int(node.args[1].value.q) % 2:
        return False
    base = node.args[0]
    return name in free(base) and expressions_equal(replaced(base, {name: end}), Node("num", fmpq(0))).equal is True


def same_sign(one: Node, other: Node, seed: str) -> bool | None:
    """Of two expressions that are multiples of each other: is the factor positive?"""
    names = sorted(free(one) | free(other))
    try:
        with precision(128):
            for turn in range(1, 8):
                point = {name: fmpq(turn * 37 + at * 11 + 5, 13 + at) for at, name in enumerate(names)}
                values: list[Any] = [evaluate(node, Point(point)) for node in (one, other)]
                if any(isinstance(value, acb) for value in values):
                    continue
                product = values[0] * values[1]
                if product > 0:
                    return True
                if product < 0:
                    return False
    except ArithmeticError:
        return None
    return None
