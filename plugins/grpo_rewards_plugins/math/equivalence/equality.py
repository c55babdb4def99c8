"""Are two expressions equal?  Cheapest proof first; the answer is yes, no, or open, and by which rule.

*No* needs one admissible point where the difference is certainly not zero. *Yes* needs the same form, exact values at every
point tried (a polynomial identity test with points of 40 bits), or agreement to 300 digits (1,024 of 2,048 bits) at a constant
and to 75 (256 of 512 bits) at each of several points, where no part is so large or small that it could hide in the rounding; with
absolute values, even roots, max and min on both sides of each of their kinks. Everything else stays open.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import count, pairwise
from typing import Any, NamedTuple

from flint import acb, arb, fmpq

from ..reading.tree import Node, free, walk
from .kinks import bends, points_between
from .values import Point, Undefined, Unknown, evaluate, precision

_POINTS = 7
_NEEDED = 3
_MOST_LINES = 6  # variables in whose direction kinks are looked for
_WHOLE_SCALE = fmpq(1)
_FAR_SCALES = (fmpq(1, 8), fmpq(30), fmpq(1000), fmpq(10**7))
_STEPS = frozenset(("floor", "ceil", "sign", "mod", "max", "min", "gcd", "lcm"))
_UNEVEN, _MOST_UNEVEN = (fmpq(1, 64), fmpq(64)), 6  # where one letter has to be small, or large, beside the others
_OTHER_SCALES = (fmpq(1, 8), fmpq(16))  # for expressions that are defined near zero only, or far from it


class Decision(NamedTuple):
    """``equal`` is None where no rung could tell."""

    equal: bool | None
    rule: str


def _points(
    names: list[str], integers: frozenset[str], seed: str, scale: fmpq = _WHOLE_SCALE, *, long: bool = False
) -> list[dict[str, fmpq]]:
    """Rational points, the same for the same two answers: positive, then of mixed signs; whole numbers where needed."""
    out: list[dict[str, fmpq]] = []
    for turn in range(_POINTS):
        here: dict[str, fmpq] = {}
        for name in names:
            # not hash(), which differs from process to process; a completion may hold half a surrogate pair
            raw = blake2b(f"{seed}|{turn}|{name}".encode("utf-8", "surrogatepass"), digest_size=10).digest()
            bits = int.from_bytes(raw, "big")
            if name in integers:
                here[name] = fmpq(3 + bits % max(11, int(scale)) + turn)
                continue
            if long:  # whole numbers keep the denominators of long sums small
                here[name] = fmpq(3 + bits % 1_000_003)
                continue
            # about 0.2 to 6.6, over a prime near 2^31, so that 40 bits are random
            size = scale * fmpq(430_000_000 + (bits >> 8) % 13_700_000_000, 2_147_483_647)
            # positive first, where roots and logarithms of a letter are defined
            here[name] = -size if turn >= 3 and bits & 1 else size
        out.append(here)
    return out


_WHOLE = frozenset(("factorial", "factorial2", "binom", "mod", "gcd", "lcm"))


def _integers(node: Node) -> frozenset[str]:
    """Variables that only make sense as whole numbers: bounds of sums, under factorials, exponents of a negative base."""
    names: frozenset[str] = frozenset()
    for here in walk(node):
        if here.kind in ("sum", "prod"):
            names |= free(here.args[1]) | free(here.args[2])
        elif (here.kind == "call" and here.value in _WHOLE) or (here.kind == "apply" and here.value.endswith("_")):
            names |= free(here)
        elif here.kind == "pow" and here.args[0].kind == "num" and here.args[0].value < 0:
            names |= free(here.args[1])
    return names


def _nonzero(value: Any) -> bool:
    return bool(value != 0) if isinstance(value, fmpq) else not value.contains(0)


def _real_pair(left: object, right: object) -> bool:
    return isinstance(left, acb) == isinstance(right, acb)


def _value(node: Node, point: Point) -> Any:
    value = evaluate(node, point)
    if isinstance(value, acb) and value.imag.is_zero():
        return value.real
    return value


def constant_value(node: Node, bits: int = 128) -> Any:
    """The value of a tree without variables, or None."""
    try:
        with precision(bits):
            return _value(node, Point())
    except (ArithmeticError, ValueError):
        return None


def _infinity(node: Node) -> int:
    """+1 or -1 for the two infinities as they stand alone, else 0."""
    if node.kind == "const" and node.value == "oo":
        return 1
    if node.kind == "mul" and len(node.args) == 2 and node.args[1].kind == "const" and node.args[1].value == "oo":
        return -1 if node.args[0].kind == "num" and node.args[0].value < 0 else 1 if node.args[0].kind == "num" else 0
    return 0


def _constants(gold: Node, answer: Node) -> Decision:
    # a difference mostly shows in the first round; balls that agree count as equal after the last alone
    for bits in (128, 640, 2048):
        # what could hide in the rounding matters where equality is concluded, and looking for it costs
        left, right = Point(guard=bits > 600), Point(guard=bits > 600)
        try:
            with precision(bits):
                a, b = _value(gold, left), _value(answer, right)
                difference = a - b
                opaque = left.opaque or right.opaque
                if isinstance(difference, fmpq):
                    if difference == 0:
                        return Decision(True, "exact value")
                    return Decision(None, "an unknown part") if opaque else Decision(False, "exact value")
                # a ball that is too wide: more bits may narrow it
                if not difference.is_finite():
                    continue
                if _nonzero(difference):
                    return Decision(None, "an unknown part") if opaque else Decision(False, "certified difference")
                size = difference.abs_upper() if isinstance(difference, acb) else abs(difference)
                sharp = bool(size < arb(2) ** (-bits // 2))
        except Undefined as error:
            return Decision(False, f"undefined: {error}")
        except ZeroDivisionError:
            return Decision(False, "undefined: division by zero")
        except (ArithmeticError, ValueError) as error:
            return Decision(None, str(error))
        if opaque:
            return Decision(None, "an unknown part")
    if sharp and not (left.extreme or right.extreme):
        return Decision(True, "agreement to 300 digits")
    return Decision(None, _TOO_CLOSE)


def expressions_equal(gold: Node, answer: Node, seed: str = "") -> Decision:
    """Decide one expression against another."""
    if gold == answer:
        return Decision(True, "same form")
    one, other = _infinity(gold), _infinity(answer)
    if one or other:
        return Decision(one == other, "infinity")
    names = free(gold) | free(answer)
    if not names:
        return _constants(gold, answer)
    if len(names) == 1 and any(here.kind == "cases" for node in (gold, answer) for here in walk(node)):
        # first: random points hardly ever meet the ends at which two functions by cases differ
        split = _differ_somewhere(gold, answer, next(iter(names)))
        if split is not None:
            return Decision(False, split)
    integers = _integers(gold) | _integers(answer)
    long = any(here.kind in ("sum", "prod") for node in (gold, answer) for here in walk(node))
    found = _at_points(gold, answer, _points(sorted(names), integers, seed, long=long))
    if found.equal is not False and bends(gold, answer):
        if (apart := _differ_between_kinks(gold, answer, sorted(names), integers, seed)) is not None:
            return Decision(False, apart)
        if _has_steps(gold, answer):
            for scale in _FAR_SCALES:
                far = _at_points(gold, answer, _points(sorted(names), integers, seed, scale))
                if far.equal is False:
                    return far
    if found.equal and (rounded := _at_steps(gold, answer, sorted(names), integers)):
        return rounded
    # a difference between two whole numbers says nothing about a letter that counts
    if found.equal is False and (counted := _steps_of_counts(gold, answer, names)):
        again = _at_points(gold, answer, counted)
        return again._replace(rule=f"{again.rule}, for every whole number") if again.equal else found
    if found.equal is None and found.rule in (_NOWHERE, _TOO_CLOSE):
        for scale in _OTHER_SCALES:
            again = _at_points(gold, answer, _points(sorted(names), integers, seed, scale))
            if again.rule not in (_NOWHERE, _TOO_CLOSE):
                return again
        for name in sorted(names - integers)[:_MOST_UNEVEN]:
            for factor in _UNEVEN:
                uneven = [{**here, name: here[name] * factor} for here in _points(sorted(names), integers, seed)]
                again = _at_points(gold, answer, uneven)
                if again.rule not in (_NOWHERE, _TOO_CLOSE):
                    return again
    return found


def _at_steps(gold: Node, answer: Node, names: list[str], integers: frozenset[str]) -> Decision | None:
    """Where two roundings differ that agree at random points: ``\\lfloor x \\rfloor + 1`` and ``\\lceil x \\rceil`` do so where they step.

    A letter that counts is tried at whole numbers, any other at halves on both sides of zero.
    """
    if not any(here.kind == "call" and here.value in _ROUNDINGS for node in (gold, answer) for here in walk(node)):
        return None
    points = []
    for at in range(1, 2 * _LARGEST_STEP + 1):
        whole = {name: fmpq((at * (1 + turn)) % (2 * _LARGEST_STEP + 1)) for turn, name in enumerate(names)}
        points.append(whole)
        if not any(name in integers or name in _COUNTING for name in names):
            points += [{name: sign * value / 2 for name, value in whole.items()} for sign in (1, -1)]
    again = _at_points(gold, answer, points)
    return again if again.equal is False else None


_ROUNDINGS = frozenset(("floor", "ceil"))


def _steps_of_counts(gold: Node, answer: Node, names: frozenset[str]) -> list[dict[str, fmpq]]:
    """Whole numbers in a row, for a letter that counts and is rounded: ``\\lceil n/2 \\rceil`` is ``\\lfloor (n+1)/2 \\rfloor``.

    They go through every residue more than twice; empty where the letter need not be whole or the numbers are too large for that.
    """
    if len(names) != 1 or not names <= _COUNTING:
        return []
    nodes = [*walk(gold), *walk(answer)]
    rounded = [
        here for node in (gold, answer) for here in walk(node) if here.kind == "call" and here.value in _ROUNDINGS
    ]
    plain = all(here.kind in ("num", "sym", "add", "mul", "call") or _is_power(here) for here in nodes)
    if not rounded or not plain or any(abs(here.value) > _LARGEST_STEP for here in nodes if here.kind == "num"):
        return []
    return [{min(names): fmpq(at)} for at in range(1, 3 * _LARGEST_STEP)]


def _is_power(node: Node) -> bool:
    return node.kind == "pow" and node.args[1].kind == "num" and abs(node.args[1].value) <= _LARGEST_POWER


_COUNTING = frozenset("nmk")
_LARGEST_STEP = 12
_LARGEST_POWER = 4


def _differ_between_kinks(
    gold: Node, answer: Node, names: list[str], integers: frozenset[str], seed: str
) -> str | None:
    """Where two expressions with absolute values, even roots and the like differ, tried between all their kinks."""
    names = [name for name in names if name not in integers]
    if not names or len(names) > _MOST_LINES:
        return None
    whole = {name: fmpq(4 + at) for at, name in enumerate(sorted(integers))}
    complex_meant = any(here == Node("const", "i") for node in (gold, answer) for here in walk(node))
    cases = any(here.kind == "cases" for node in (gold, answer) for here in walk(node))
    for point in points_between(gold, answer, names, _chances(seed)):
        left, right = Point({**whole, **point}), Point({**whole, **point})
        try:
            with precision(128):
                one, other = _value(gold, left), _value(answer, right)
                if (isinstance(one, acb) or isinstance(other, acb)) and not complex_meant:
                    continue  # outside the domain of one
                if not (left.opaque or right.opaque) and _nonzero(one - other):
                    return "certified difference between two kinks"
        except (Undefined, ZeroDivisionError):
            if cases and _defined(gold, point) != _defined(answer, point):
                return "only one is defined between two kinks"
        except (ArithmeticError, ValueError):
            return None
    return None


def _chances(seed: str) -> Iterator[fmpq]:
    """Random numbers between 0 and 1, the same for the same gold."""
    for turn in count():
        raw = blake2b(f"{seed}|kinks|{turn}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
        yield fmpq(1 + int.from_bytes(raw[:5], "big"), (1 << 40) + 15)


def _around_ends(*nodes: Node) -> list[fmpq]:
    """Points at, beside, between and beyond the numbers in the conditions of functions by cases."""
    conditions = [rel for node in nodes for cases in walk(node) if cases.kind == "cases" for rel in cases.args[1::2]]
    values = [
        constant_value(end) for rel in conditions for part in walk(rel) if part.kind == "rel" for end in part.args
    ]
    ends: set[fmpq] = set()
    for value in values:
        if isinstance(value, fmpq):
            ends.add(value)
        elif isinstance(value, arb) and abs(value) < 10**9:
            ends.add(fmpq(int((value * 1000).floor().unique_fmpz() or 0), 1000))
    ordered = sorted(ends)[:40]
    middles = [(one + other) / 2 for one, other in pairwise(ordered)]
    beside = [end + step for end in ordered for step in (0, fmpq(1, 997), -fmpq(1, 997), 1, -1, 29, -29)]
    return [*beside, *middles, *((3 * end + 1) for end in ordered[-1:]), *((end * 3 - 1) for end in ordered[:1])]


def _has_steps(*nodes: Node) -> bool:
    """Is there a function that is constant for long, so that a few points near zero tell little?"""
    return any(
        here.kind == "cases" or (here.kind == "call" and here.value in _STEPS) for node in nodes for here in walk(node)
    )


def _differ_somewhere(gold: Node, answer: Node, name: str) -> str | None:
    """Where two functions by cases differ on a grid, or only one is defined; None where they do not."""
    for here in (*(fmpq(step, 4) for step in range(-40, 41)), *_around_ends(gold, answer)):
        values: list[Any] = []
        for node in (gold, answer):
            try:
                with precision(128):
                    values.append(_value(node, Point({name: here})))
            except (Undefined, ZeroDivisionError):
                values.append(None)
            except (ArithmeticError, ValueError):
                return None
        one, other = values
        if (one is None) != (other is None):
            return f"only one is defined at {name} = {here}"
        if one is not None and _nonzero(one - other):
            return f"certified difference at {name} = {here}"
    return None


_TOO_CLOSE = "too close to call"
_NOWHERE = "no point in the domain of both"


def _at_points(gold: Node, answer: Node, points: list[dict[str, fmpq]]) -> Decision:
    agreed, exact, refused = 0, True, ""
    complex_meant = any(n.kind == "const" and n.value == "i" for n in (*walk(gold), *walk(answer)))
    complex_agreed, complex_differs, alone = 0, False, 0
    for turn, here in enumerate(points):
        # three sharp points are enough evidence; the other ones look for a difference in sign or domain
        bits = 512 if turn < _NEEDED else 128
        left, right = Point(here, guard=bits == 512), Point(here, guard=bits == 512)
        try:
            with precision(bits):
                a, b = _value(gold, left), _value(answer, right)
                if not _real_pair(a, b) and not complex_meant:
                    continue  # one side is not real here: outside its domain
                difference = a - b
                if isinstance(a, acb) and not complex_meant:
                    # both are outside the reals: roots may take other branches there, so it tells only where nothing else does
                    complex_differs = complex_differs or _nonzero(difference)
                    complex_agreed += not (left.extreme or right.extreme or _nonzero(difference))
                    continue
                if _nonzero(difference):
                    if left.opaque or right.opaque:
                        return Decision(None, "an unknown part")
                    return Decision(False, "certified difference at a point")
                if isinstance(difference, fmpq):
                    agreed += 1
                    continue
                exact = False
                size = difference.abs_upper() if isinstance(difference, acb) else abs(difference)
                if left.extreme or right.extreme or not size < arb(2) ** (-bits // 2):
                    refused = _TOO_CLOSE
                    continue
                agreed += 1
        except (Undefined, ZeroDivisionError):
            alone += _defined(gold, here) != _defined(answer, here)
            continue
        except (ArithmeticError, ValueError) as error:
            return Decision(None, str(error))
        # a longer list is of whole numbers in a row, of which each has to be tried
        if turn >= _NEEDED and exact and agreed > _NEEDED and len(points) <= _POINTS:
            break
    if agreed >= _NEEDED and not refused:
        return Decision(True, "exact agreement at random points" if exact else "agreement at random points")
    if not agreed and not refused and complex_differs:
        return Decision(False, "certified difference at a complex value")
    if not agreed and not refused and complex_agreed >= _NEEDED:
        return Decision(True, "agreement at complex values")
    if alone == len(points):
        return Decision(False, "only one of them is ever defined")
    return Decision(None, refused or _NOWHERE)


def _defined(node: Node, values: dict[str, fmpq]) -> bool:
    """Has it a value at a point?"""
    try:
        with precision(128):
            _value(node, Point(values))
    except (Undefined, ZeroDivisionError):
        return False
    except (ArithmeticError, ValueError):
        return True  # or that is not known
    return True


def proportional(one: Node, other: Node, seed: str = "") -> bool | None:
    """Is one a constant multiple (not zero) of the other?  For equations ``one = 0`` and ``other = 0``."""
    names = sorted(free(one) | free(other))
    if not names:
        return None
    integers = _integers(one) | _integers(other)
    pairs: list[tuple[object, Any]] = []
    try:
        with precision(256):
            for here in _points(names, integers, seed):
                try:
                    left, right = Point(here, guard=True), Point(here, guard=True)
                    a, b = _value(one, left), _value(other, right)
                except (Undefined, ZeroDivisionError):
                    continue
                if not _real_pair(a, b):
                    continue
                if left.opaque or right.opaque or left.extreme or right.extreme:
                    return None
                zero_a, zero_b = not _nonzero(a), not _nonzero(b)
                if zero_a != zero_b:
                    return False
                if not zero_a:
                    pairs.append((a, b))
            if len(pairs) < _NEEDED:
                return None
            a0, b0 = pairs[0]
            # crosswise: a quotient by a value near zero would be a ball without bounds
            return not any(_nonzero(a * b0 - b * a0) for a, b in pairs[1:])
    except (ArithmeticError, ValueError, Unknown):
        return None
