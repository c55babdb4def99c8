"""Families of values: every `\\frac{\\pi}{4} + k\\pi` for an integer `k`. What the integer is called, and where its count begins, say nothing."""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm
from typing import NamedTuple

from flint import arb, fmpq

from ..reading.tree import Node, add, divide, free, mul, negate, number, replaced, walk
from .equality import constant_value, expressions_equal
from .normalization import normalized

_LETTERS = frozenset("klmn")
_PI = Node("const", "pi")
_MANY = 64  # values of a family in its longest step


class _Family(NamedTuple):
    """A `tree` with a `letter` that counts (None: there is none), and the set that it is said to be from (None: nothing is said)."""

    tree: Node
    letter: str | None
    source: Node | None


def families(gold: Node, answer: Node) -> Iterator[tuple[Node, Node, str]]:
    """Both without what they say of their integer, which has one name in them; then as their values in one step of both.

    An integer is one that is said to be (`k \\in \\mathbb{Z}`), a usual letter for one beside a factor of pi, or where the other side
    has one the only usual letter.
    """
    mine, theirs = _family(gold), _family(answer)
    if (mine.source is None) != (theirs.source is None):
        mine, theirs = (side if side.source is not None else _bounded(side) for side in (mine, theirs))
    if mine.source is None and theirs.source is None and (mine.letter is None or theirs.letter is None):
        return
    if mine.source is not None and theirs.source is not None and not _same_source(mine.source, theirs.source):
        return
    if any(
        side.source == _REALS and other.source is None and other.letter
        for side, other in ((mine, theirs), (theirs, mine))
    ):
        return  # "k\\pi, k \\in \\mathbb{R}"
    said = [family.letter is not None for family in (mine, theirs)]
    mine, theirs = _with_letter(mine, theirs), _with_letter(theirs, mine)
    if mine.letter != theirs.letter and theirs.letter is not None and mine.letter is not None:
        if mine.letter in free(theirs.tree):
            return  # the new name would meet another letter of the answer's
        theirs = theirs._replace(tree=replaced(theirs.tree, {theirs.letter: Node("sym", mine.letter)}))
    yield mine.tree, theirs.tree, _EVERY
    if mine.letter is None or not all(said) or _INTEGERS not in (mine.source, theirs.source):
        return
    one, other = (_progressions(family.tree, mine.letter) for family in (mine, theirs))
    if one is None or other is None or (one.head != other.head and None not in (one.head, other.head)):
        return
    if (pair := _in_one_step(one, other)) is not None:
        yield *pair, _EVERY


_EVERY = "for every whole number"
_INTEGERS, _REALS = Node("named", "Z"), Node("named", "R")


def _bounded(family: _Family) -> _Family:
    """``n = 2^k, k \\ge 1`` beside one that counts in a set: its letter counts from there."""
    tree = family.tree
    if tree.kind != "list" or len(tree.args) != 2 or tree.value == "or":
        return family
    what, bound = tree.args
    source = _BOUNDS.get((bound.value, bound.args[1])) if bound.kind == "rel" and len(bound.args) == 2 else None
    letter = bound.args[0] if source else None
    if letter is None or letter.kind != "sym" or letter.value not in _LETTERS or letter.value not in free(what):
        return family
    return _Family(what, letter.value, Node("named", source))


_BOUNDS = {
    ((">=",), number(1)): "Z^+", ((">",), number(0)): "Z^+", ((">=",), number(0)): "Z_>=0", ((">",), number(-1)): "Z_>=0",
}  # fmt: skip


def _same_source(one: Node, other: Node) -> bool:
    """Are two sets of whole numbers one?  Whether 0 is a natural number is left to the other side."""
    names = [_SOURCES.get(node.value, node.value) for node in (one, other)]
    return names[0] == names[1] or ("N" in names and set(names) <= {"N", "Z^+", "Z_>=0"})


_SOURCES = {
    **dict.fromkeys(("Z+", "N+", "N*", "Z>0", "Z\\ge1", "Z\\geq1", "N\\ge1", "N\\geq1"), "Z^+"),
    **dict.fromkeys(("Z\\ge0", "Z\\geq0", "N0", "Z0+"), "Z_>=0"), "Z-": "Z^-",
}  # fmt: skip


def _with_letter(family: _Family, other: _Family) -> _Family:
    """With the other side's letter, or the only usual one, where nothing says which letter counts."""
    named = family.tree.kind == "rel"
    if family.letter is not None or other.letter is None or (named and family.tree.value != ("=",)):
        return family
    usual = free(family.tree.args[1] if named else family.tree) & (_LETTERS | {other.letter})
    return family._replace(letter=min(usual)) if len(usual) == 1 else family


def _family(tree: Node) -> _Family:
    if (found := _counted(tree)) is not None:
        return _Family(found[0], found[1].args[0].value, found[1].args[1])
    letters = {
        one.value
        for here in walk(tree)
        if here.kind == "mul" and _PI in here.args
        for one in here.args
        if one.kind == "sym" and one.value in _LETTERS
    }
    return _Family(tree, letters.pop() if len(letters) == 1 else None, None)


def _counted(node: Node) -> tuple[Node, Node] | None:
    """What there is for every whole number, and the relation that says so; None where nothing does."""
    if node.kind == "builder":
        name, condition = normalized(node).args
        return (name, condition) if is_whole(condition, name) else None
    if node.kind == "list" and len(node.args) > 1:
        *parts, last = node.args
        rest = parts[0] if len(parts) == 1 else Node("list", node.value, tuple(parts))
        if not is_whole(last, rest):
            return None
        inequality = any(part.kind == "rel" and part.value not in (("=",), ("!=",)) for part in parts)
        return None if inequality else (rest, last)
    if node.kind == "rel" and node.value == ("=",):
        found = _counted(node.args[1])
        return None if found is None else (Node("rel", ("=",), (node.args[0], found[0])), found[1])
    return None


def is_whole(node: Node, other: Node) -> bool:
    """Does a relation say of a letter of another tree that it is a whole number (or any number)?"""
    if node.kind != "rel" or node.value != ("in",) or node.args[0].kind != "sym" or node.args[1].kind != "named":
        return False
    return node.args[0].value in free(other) and node.args[1].value[:1] in ("Z", "N", "R")


class _Progressions(NamedTuple):
    """Parts that step with an integer, each with its start and its step, under one `head` (None: there is none)."""

    head: tuple[object, ...] | None
    parts: tuple[tuple[Node, Node, Node], ...]
    letter: str


def _progressions(tree: Node, letter: str) -> _Progressions | None:
    """A family's parts; None where one of them is no value, interval or point whose first number steps evenly."""
    tree = normalized(tree)
    parts = tree.args if tree.kind == "list" else (tree,)
    heads: set[tuple[object, ...] | None] = set()
    found = []
    for part in parts:
        named = part.kind == "rel" and part.value in (("=",), ("!=",)) and part.args[0].kind == "sym"
        heads.add((part.value, part.args[0].value) if named else None)
        body = part.args[1] if named else part
        first = body.args[0] if body.kind in ("interval", "tuple") else body
        step = _step(first, letter)
        if step is None or "_" in str(part.args[0].value if named else ""):
            return None
        found.append((body, *step))
    heads -= {None} if len(heads) > 1 else set()
    return _Progressions(heads.pop(), tuple(found), letter) if len(heads) == 1 else None


def _step(value: Node, letter: str) -> tuple[Node, Node] | None:
    """Where a value begins and by what it steps; None where it does not step evenly, or has other letters."""
    if free(value) != {letter} or value.kind in ("rel", "list", "set"):
        return None
    start, second, third = (replaced(value, {letter: number(at)}) for at in range(3))
    step, again = add(second, negate(start)), add(third, negate(second))
    even = expressions_equal(step, again).equal and expressions_equal(step, number(0)).equal is False
    return (start, step) if even else None


def _whole_quotient(one: Node, other: Node) -> fmpq | None:
    """The quotient of two constants, rounded down; None where it cannot be told."""
    value = constant_value(divide(one, other))
    if isinstance(value, fmpq):
        return fmpq(value.floor())
    if not isinstance(value, arb):
        return None
    if (floor := value.floor().unique_fmpz()) is not None:
        return fmpq(floor)
    near = (value + fmpq(1, 2)).floor().unique_fmpz()
    if near is None or not expressions_equal(one, mul(number(near), other)).equal:
        return None
    return fmpq(near)


def _in_one_step(one: _Progressions, other: _Progressions) -> tuple[Node, Node] | None:
    """Two families as sets of what there is within the longest step of them, each value brought there."""
    unit = one.parts[0][2]
    counts: list[int] = []
    for _, _, step in (*one.parts, *other.parts):
        quotient = constant_value(divide(step, unit))
        if not isinstance(quotient, (fmpq, arb)):
            return None
        whole = (abs(arb(quotient)) * _FINEST + fmpq(1, 2)).floor().unique_fmpz()
        if not whole or not expressions_equal(_size(step), mul(number(fmpq(int(whole), _FINEST)), _size(unit))).equal:
            return None
        counts.append(int(whole))
    longest = lcm(*counts)
    if sum(longest // count for count in counts) > 2 * _MANY:
        return None
    whole_step = mul(number(fmpq(longest, _FINEST)), _size(unit))
    sides, at = [], 0
    for side in (one, other):
        values: list[Node] = []
        for body, start, step in side.parts:
            for turn in range(longest // counts[at]):
                begun = add(start, mul(number(turn), step))
                turns = _whole_quotient(begun, whole_step)
                if turns is None:
                    return None
                steps = add(number(turn), negate(mul(number(turns), divide(whole_step, step))))
                values.append(replaced(body, {side.letter: steps}))
            at += 1
        sides.append(Node("set", None, tuple(values)))
    return sides[0], sides[1]


_FINEST = 120  # steps are compared in these parts of one of them


def _size(value: Node) -> Node:
    """Its absolute value, as a constant."""
    number_of = constant_value(value)
    return negate(value) if number_of is not None and number_of < 0 else value


def same_residue(gold: Node, answer: Node) -> bool | None:
    """``x \\equiv 3 \\pmod 7`` and ``x = 7k + 3``: are they one class of whole numbers?  None where they are not of these forms."""
    if {gold.value, answer.value} != {("==",), ("=",)} or gold.kind != "rel" or answer.kind != "rel":
        return None
    congruence, equation = (gold, answer) if gold.value == ("==",) else (answer, gold)
    residue, value = congruence.args[1], equation.args[1]
    modulus = str(residue.value)
    if residue.kind != "residue" or not modulus.isdigit() or congruence.args[0] != equation.args[0]:
        return None
    names = free(value) - free(congruence)
    if (
        len(names) != 1
        or free(value) != names
        or not names <= _LETTERS | _OTHER_LETTERS
        or not 0 < int(modulus) < 10**9
    ):
        return None
    first, second, third = (constant_value(replaced(value, {min(names): number(at)})) for at in range(3))
    rest = constant_value(residue.args[0])
    if not all(isinstance(found, fmpq) and found.q == 1 for found in (first, second, third, rest)):
        return None
    step = second - first
    return bool(third - second == step and abs(step) == int(modulus) and ((first - rest) / int(modulus)).q == 1)


_OTHER_LETTERS = frozenset("qrst")
