"""Families of values: every `\\frac{\\pi}{4} + k\\pi` for an integer `k`. What the integer is called says nothing."""

from __future__ import annotations

from flint import fmpq

from ..reading.tree import Node, free, number, replaced, walk
from .equality import constant_value

__all__ = ["same_parameter", "same_residue"]

_LETTERS = frozenset("klmn")
_PI, _INTEGERS = Node("const", "pi"), Node("named", "Z")


def same_parameter(gold: Node, answer: Node) -> tuple[Node, Node] | None:
    """Both without what they say of their integer, the answer's called as the gold's; None where that changes nothing.

    An integer is one that is said to be (`k \\in \\mathbb{Z}`), or a usual letter for one beside a factor of pi.
    """
    (mine, letter), (theirs, other) = _family(gold), _family(answer)
    if letter is None or other is None or ((mine, theirs) == (gold, answer) and letter == other):
        return None
    # the new name would meet another letter of the answer's
    if letter != other and Node("sym", letter) in walk(theirs):
        return None
    return mine, replaced(theirs, {other: Node("sym", letter)})


def _family(tree: Node) -> tuple[Node, str | None]:
    """A tree without the part that says what its integer is, and the integer's letter."""
    if tree.kind == "list" and tree.args[-1].kind == "rel" and tree.args[-1].value == ("in",):
        letter, where = tree.args[-1].args
        rest = tree.args[:-1]
        if where != _INTEGERS or letter.kind != "sym" or not any(letter in walk(part) for part in rest):
            return tree, None
        return rest[0] if len(rest) == 1 else Node("list", tree.value, rest), letter.value
    letters = {
        one.value
        for here in walk(tree)
        if here.kind == "mul" and _PI in here.args
        for one in here.args
        if one.kind == "sym" and one.value in _LETTERS
    }
    return tree, letters.pop() if len(letters) == 1 else None


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
