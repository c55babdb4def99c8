"""Constants of integration and free constants of solutions: their names, and what they add to an antiderivative, say nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import permutations

from ..reading.tree import ONE, Node, add, divide, free, negate, number, replaced, walk

__all__ = ["function_head", "other_constants"]

_CONSTANTS = frozenset(("C", "c", "K", "k", "C_1", "c_1", "const"))
_UNKNOWNS = ("f", "g", "h", "y", "u")
_MANY = 400  # nodes; larger answers are read once


def other_constants(gold: Node, answer: Node) -> Iterator[tuple[Node, Node, str]]:
    """Both, with the constants of one named as the other's, or without the constant that an antiderivative is free in."""
    names, other_names = free(gold), free(answer)
    if _LETTERS.isdisjoint(names) or _LETTERS.isdisjoint(other_names):
        return
    one, other = names & _CONSTANTS, other_names & _CONSTANTS
    sides = (names | other_names) & _OF_A_TRIANGLE and not names & _INTEGRATED  # "a+b+c" is no "a+b+C"
    if (
        len(one) == len(other) == 1
        and one != other
        and not sides
        and _has_constant(gold, one)
        and _has_constant(answer, other)
    ):
        new = Node("sym", next(iter(one)))
        yield gold, replaced(answer, {min(other): new}), "with the constant under another name"
    if (
        {one, other} == {frozenset("c"), frozenset("C")}
        and not (names | other_names) & _OF_A_TRIANGLE
        and names & _INTEGRATED
    ):
        yield (
            gold,
            replaced(answer, {min(other): Node("sym", min(one))}),
            "with the constant in the other case",
        )
    yield from _up_to_a_constant(gold, answer)
    for renaming in _numbered_constants(gold, answer):
        yield (
            gold,
            replaced(answer, {old: Node("sym", new) for old, new in renaming.items()}),
            "with the constants under other names",
        )
    heads = (function_head(gold), function_head(answer))
    if heads[0] == heads[1] and heads[0] in _UNKNOWNS and len(one) == len(other) == 1 and one != other:
        new = Node("sym", next(iter(one)))
        if _once(gold.args[1], one) and _once(answer.args[1], other) and free(gold) - one:
            yield gold, replaced(answer, {min(other): new}), "with the constant under another name"
    if heads[0] == heads[1] and heads[0] in _UNKNOWNS:
        yield from _factor_renamed(gold, answer)


def function_head(node: Node) -> str:
    """The name on the left of an equation: of a function or a variable; "" where there is none."""
    return (
        node.args[0].value
        if node.kind == "rel" and node.value == ("=",) and node.args[0].kind in ("sym", "apply")
        else ""
    )


# where sides and angles have these letters, C is one of them
_OF_A_TRIANGLE = frozenset("abAB")


def _has_constant(node: Node, names: frozenset[str]) -> bool:
    """Is a constant of integration one of the terms, and nowhere else?"""
    if node.kind == "rel" and node.value == ("=",):
        node = node.args[1]
    name = next(iter(names))
    return (
        node.kind == "add" and Node("sym", name) in node.args and sum(n == Node("sym", name) for n in walk(node)) == 1
    )


def _up_to_a_constant(gold: Node, answer: Node) -> Iterator[tuple[Node, Node, str]]:
    """Two antiderivatives: both have a constant of integration, so that what they are at one point says nothing."""
    values = [node.args[1] if node.kind == "rel" and node.value == ("=",) else node for node in (gold, answer)]
    heads = {node.args[0] for node in (gold, answer) if node.kind == "rel"}
    if not all(head.kind in ("sym", "apply", "opaque") for head in heads):
        return
    constants = [free(value) & _OF_INTEGRATION for value in values]
    if len(heads) > 1 or any(len(names) != 1 for names in constants):
        return
    if not all(map(_has_constant, values, constants)):
        return
    rests = [replaced(value, {min(names): number(0)}) for value, names in zip(values, constants, strict=True)]
    if len(names := free(rests[0])) != 1 or free(rests[1]) != names or not names <= _INTEGRATED:
        return  # of two variables one might stand in what is left out
    for point in _BASE_POINTS:
        mine, theirs = (add(rest, negate(replaced(rest, {min(names): point}))) for rest in rests)
        yield mine, theirs, "up to a constant"


_OF_INTEGRATION = frozenset(("C", "C_1", "const"))  # small letters stand for much else
_INTEGRATED = frozenset(("x", "t", "u", "v", "y", "z", "s", "w", "\\theta"))
_BASE_POINTS = (number(2), divide(ONE, number(3)))


def _numbered_constants(gold: Node, answer: Node) -> Iterator[dict[str, str]]:
    """Other names of a solution's free constants: ``C_1 e^x + C_2 e^{-x}`` is ``A e^{-x} + B e^x``.

    They are free where one side numbers them and each is a factor once, beside one variable that both sides have; beside
    several (capacities, say, and voltages) their numbers stay.
    """
    values = [node.args[1] if node.kind == "rel" and node.value == ("=",) else node for node in (gold, answer)]
    mine, theirs = (_once(value) for value in values)
    numbered = any(len(names) > 1 and all("_" in name for name in names) for names in (mine, theirs))
    rest = free(values[0]) - mine
    if not numbered or len(mine) != len(theirs) or len(mine) > _MOST_CONSTANTS or rest != free(values[1]) - theirs:
        return
    for names in permutations(sorted(mine)):
        renaming = dict(zip(sorted(theirs), names, strict=True))
        if len(rest) == 1 or all(old.lower() == new.lower() for old, new in renaming.items()):
            yield renaming


_FREE = frozenset(("A", "B", "C", "D", *(f"{letter}_{at}" for letter in "ABCc" for at in range(1, 5))))
_MOST_CONSTANTS = 3


def _once(node: Node, names: frozenset[str] = _FREE) -> frozenset[str]:
    """Those of some names that stand once in a tree, as a term or as a factor of one."""
    counts = Counter(here.value for here in walk(node)[:_MANY] if here.kind == "sym")
    factors: set[str] = set()
    open_nodes = [node]
    while open_nodes:
        here = open_nodes.pop()
        if here.kind == "sym":
            factors.add(here.value)
        elif here.kind in ("add", "mul"):
            open_nodes.extend(here.args)
    return frozenset(name for name in factors & names if counts[name] == 1)


def _factor_renamed(gold: Node, answer: Node) -> Iterator[tuple[Node, Node, str]]:
    """``y = Ce^{2x}`` and ``y = Ae^{2x}``: the one free constant of a solution, once a factor, beside its variable."""
    mine, theirs = (
        free(node) - free(other) for node, other in ((gold.args[1], answer.args[1]), (answer.args[1], gold.args[1]))
    )
    if len(mine) != 1 or len(theirs) != 1 or not mine | theirs <= _SOLUTION or not (mine | theirs) & _CONSTANTS:
        return
    if _once(gold.args[1], mine) and _once(answer.args[1], theirs) and free(gold.args[1]) & _INTEGRATED:
        new = Node("sym", next(iter(mine)))
        yield gold, replaced(answer, {min(theirs): new}), "with the constant under another name"


_SOLUTION = _CONSTANTS | {"A", "B"}
_LETTERS = _CONSTANTS | _FREE  # what is called otherwise is no constant
