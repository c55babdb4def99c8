"""Families of values: every `\\frac{\\pi}{4} + k\\pi` for an integer `k`. What the integer is called says nothing."""

from __future__ import annotations

from ..reading.tree import Node, walk

__all__ = ["same_parameter"]

_LETTERS = frozenset("klmn")
_PI, _INTEGERS = Node("const", "pi"), Node("named", "Z")


def same_parameter(gold: Node, answer: Node) -> tuple[Node, Node] | None:
    """Both without what they say of their integer, the answer's called as the gold's; None where that changes nothing.

    An integer is one that is said to be (`k \\in \\mathbb{Z}`), or a usual letter for one beside a factor of pi.
    """
    (mine, letter), (theirs, other) = _family(gold), _family(answer)
    if letter is None or other is None or ((mine, theirs) == (gold, answer) and letter == other):
        return None
    if letter != other and Node("sym", letter) in walk(theirs):
        return None
    return mine, _renamed(theirs, other, letter)


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


def _renamed(tree: Node, old: str, new: str) -> Node:
    if tree.kind == "sym":
        return Node("sym", new) if tree.value == old else tree
    return tree._replace(args=tuple(_renamed(part, old, new) for part in tree.args))
