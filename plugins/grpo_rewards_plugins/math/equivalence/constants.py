"""Constants of integration and free constants of solutions: two answers are one where they name the same functions or curves.

What a constant is called says nothing, nor how the solutions of an equation are spanned (``A e^x + B e^{-x}`` and ``C_1 \\cosh x +
C_2 \\sinh x``), nor what a free constant absorbs (``x^2 - y^2 = C`` and ``y^2 - x^2 = C``). Each reading here gives the ladder two trees
to compare; what is guessed from values is never taken for equal unseen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from flint import acb, arb, arb_mat, fmpq, fmpq_mat

from ..reading.tree import ONE, Node, add, divide, free, mul, negate, number, power, replaced, walk
from .values import Point, evaluate, precision

_CONSTANTS = frozenset(("C", "c", "K", "k", "C_1", "c_1", "const"))
_OF_INTEGRATION = frozenset(("C", "C_1", "const"))  # small letters stand for much else
_SOLUTION = _CONSTANTS | {"A", "B"}
_FREE = frozenset(("A", "B", "C", "D", *(f"{letter}_{at}" for letter in "ABCc" for at in range(1, 5))))
_LETTERS = _CONSTANTS | _FREE  # what is called otherwise is no constant
_UNKNOWNS = frozenset(("f", "g", "h", "y", "u", "r"))
_VARIABLES = ("x", "t", "\\theta", "z", "s", "u", "v", "y", "w")
_INTEGRATED = frozenset(_VARIABLES)
_OF_A_TRIANGLE = frozenset("abAB")  # where sides and angles have these letters, C is one of them
_MANY = 400  # nodes; larger answers are read once
_MOST_CONSTANTS = 4
_BASE_POINTS = (number(2), divide(ONE, number(3)))
_EQUAL = ("=",)


def other_constants(gold: Node, answer: Node) -> Iterator[tuple[Node, Node, str]]:
    """Both, with the constants of the answer as combinations of the gold's, or without a constant that is free to be anything."""
    if _LETTERS.isdisjoint(free(gold)) or _LETTERS.isdisjoint(free(answer)):
        return
    if (free(gold) | free(answer)) & _OF_A_TRIANGLE and not free(gold) & _INTEGRATED:
        return  # "a+b+c" is no "a+b+C"
    yield from _term_renamed(gold, answer)
    yield from _up_to_a_constant(gold, answer)
    yield from _level_sets(gold, answer)
    mine, theirs = _solved(gold), _solved(answer)
    yield from _same_solutions(mine, theirs)
    if (mine, theirs) != (gold, answer):
        yield mine, theirs, "solved for the unknown"


def function_head(node: Node) -> str:
    """The name on the left of an equation: of a function or a variable; "" where there is none."""
    named = node.kind == "rel" and node.value == _EQUAL and node.args[0].kind in ("sym", "apply")
    return str(node.args[0].value) if named else ""


def _right(node: Node) -> Node:
    return node.args[1] if node.kind == "rel" and node.value == _EQUAL else node


def _term_renamed(gold: Node, answer: Node) -> Iterator[tuple[Node, Node, str]]:
    """``x^2 + c`` and ``x^2 + k``: a constant that is one of the terms, and nowhere else."""
    one, other = free(gold) & _CONSTANTS, free(answer) & _CONSTANTS
    if len(one) != 1 or len(other) != 1 or one == other:
        return
    terms = _has_term(_right(gold), min(one)) and _has_term(_right(answer), min(other))
    if terms or (min(one).lower() == min(other).lower() and free(gold) & _INTEGRATED):
        yield gold, replaced(answer, {min(other): Node("sym", min(one))}), "with the constant under another name"


def _has_term(node: Node, name: str) -> bool:
    constant = Node("sym", name)
    return node.kind == "add" and constant in node.args and sum(here == constant for here in walk(node)) == 1


def _up_to_a_constant(gold: Node, answer: Node) -> Iterator[tuple[Node, Node, str]]:
    """Two antiderivatives or potentials: both have a constant, so that what they are at one point says nothing."""
    heads = {node.args[0] for node in (gold, answer) if node.kind == "rel"}
    if len(heads) > 1 or any(head.kind not in ("sym", "apply", "opaque") for head in heads):
        return
    values = (_right(gold), _right(answer))
    constants = [free(value) & _CONSTANTS for value in values]
    if any(len(names) != 1 for names in constants):
        return
    if constants[0] == constants[1] and not constants[0] <= _OF_INTEGRATION:
        return
    if not all(_has_term(value, min(names)) for value, names in zip(values, constants, strict=True)):
        return
    mine, theirs = (replaced(value, {min(names): number(0)}) for value, names in zip(values, constants, strict=True))
    yield from _from_a_point(mine, theirs, "up to a constant")


def _from_a_point(one: Node, other: Node, why: str) -> Iterator[tuple[Node, Node, str]]:
    """Two functions less what they are at a point."""
    names = free(one)
    if not names or names != free(other) or not names <= _INTEGRATED:
        return
    for point in _BASE_POINTS:
        at = {name: add(point, number(turn)) for turn, name in enumerate(sorted(names))}
        yield add(one, negate(replaced(one, at))), add(other, negate(replaced(other, at))), why


def _level_sets(gold: Node, answer: Node) -> Iterator[tuple[Node, Node, str]]:
    """``x^2 - y^2 = C`` and ``y^2 - x^2 = C``: the curves on which a function is constant are those of its multiples."""
    one, other = _level(gold), _level(answer)
    if one is None or other is None or len(free(one[0])) < 2:
        return
    if one[1] == other[1] and one[1] not in _OF_INTEGRATION:
        return
    for mine, theirs, why in _from_a_point(one[0], other[0], "curves for every constant"):
        yield (
            Node("rel", _EQUAL, (mine, number(0))),
            Node("rel", _EQUAL, (theirs, number(0))),
            why,
        )


def _level(node: Node) -> tuple[Node, str] | None:
    """The function that an equation says to be constant, and the constant's name."""
    if node.kind != "rel" or node.value != _EQUAL:
        return None
    terms = [*_terms(node.args[0]), *map(negate, _terms(node.args[1]))]
    names = {name for term in terms if len(name := free(term)) == 1 and name <= _CONSTANTS}
    if len(names) != 1:
        return None
    name = names.pop()
    rest = [term for term in terms if free(term) != name]
    if len(terms) - len(rest) != 1 or not rest or any(free(term) & name for term in rest):
        return None
    return add(*rest), min(name)


def _terms(node: Node) -> tuple[Node, ...]:
    return node.args if node.kind == "add" else (node,)


def _solved(node: Node) -> Node:
    """``y + 1 = f(x)`` as ``y = f(x) - 1``, and ``\\ln|y| = f(x) + C`` as ``y = C e^{f(x)}``."""
    if node.kind != "rel" or node.value != _EQUAL or free(node.args[1]) & _UNKNOWNS:
        return node
    left, right = node.args
    if left.kind == "add":
        heads = [term for term in left.args if term.kind == "sym" and term.value in _UNKNOWNS]
        rest = [term for term in left.args if term not in heads]
        if len(heads) == 1 and not any(free(term) & _UNKNOWNS for term in rest):
            return Node("rel", _EQUAL, (heads[0], add(right, *map(negate, rest))))
    if left.kind == "call" and left.value in ("ln", "log") and len(left.args) == 1:
        inner = left.args[0]
        inner = inner.args[0] if inner.kind == "call" and inner.value == "abs" else inner
        if inner.kind == "sym" and inner.value in _UNKNOWNS and _has_term(right, "C"):
            rest = [term for term in right.args if term != Node("sym", "C")]
            grown = mul(Node("sym", "C"), power(Node("const", "e"), add(*rest)))
            return Node("rel", _EQUAL, (inner, grown))
    return node


def _same_solutions(gold: Node, answer: Node) -> Iterator[tuple[Node, Node, str]]:
    """The answer with its free constants as those combinations of the gold's that would make the two one."""
    values = (_right(gold), _right(answer))
    heads = {function_head(gold), function_head(answer)}
    solution = len(heads) == 1 and heads <= _UNKNOWNS and values[0] is not gold
    mine, theirs = (_free_constants(value, other, solution=solution) for value, other in (values, values[::-1]))
    if len(mine) != len(theirs) or not 0 < len(mine) <= _MOST_CONSTANTS:
        return
    rest = free(values[0]) - mine
    if rest != free(values[1]) - theirs or not rest & _INTEGRATED:
        return
    if len(mine) == 1:
        if not (solution and (mine | theirs) & _CONSTANTS) or (mine == theirs and not mine <= _OF_INTEGRATION):
            return
    elif not any(all("_" in name for name in names) for names in (mine, theirs)):
        return  # they are free where one side numbers them
    elif len(rest) > 1 and not (solution or _of_a_variable(gold, answer)):
        # beside several letters (capacities, say, and voltages) their numbers stay
        by_name = {old: Node("sym", new) for old in theirs for new in mine if old.lower() == new.lower()}
        if len(by_name) == len(mine):
            yield gold, replaced(answer, by_name), _OTHER_NAMES
        return
    variable = next(name for name in _VARIABLES if name in rest)
    ones, others = sorted(mine), sorted(theirs)
    if all(names == _factors(value, names) for names, value in ((mine, values[0]), (theirs, values[1]))):
        combined = _combined(values, ones, others, variable, rest)
        if combined is not None:
            yield gold, replaced(answer, combined), _OTHER_NAMES
    elif len(mine) == 1:
        for new in (Node("sym", ones[0]), negate(Node("sym", ones[0]))):
            yield gold, replaced(answer, {others[0]: new}), _OTHER_NAMES


_OTHER_NAMES = "with the constants under other names"


def _of_a_variable(gold: Node, answer: Node) -> bool:
    """Do both say which variable their one function is of: ``x(t) = ...``?"""
    heads = {node.args[0] for node in (gold, answer) if node.kind == "rel"}
    head = heads.pop() if len(heads) == 1 else None
    return (
        head is not None
        and head.kind == "apply"
        and len(head.args) == 1
        and not free(head.args[0]).isdisjoint(_INTEGRATED)
    )


def _free_constants(value: Node, other: Node, *, solution: bool) -> frozenset[str]:
    """The letters of a value that are free constants: several that are factors; of a solution one that may stand anywhere."""
    several = _factors(value, free(value) & _FREE)
    if len(several) > 1 or not solution:
        return several
    own = free(value) & _SOLUTION
    return own if len(own) == 1 else own - free(other)


def _factors(node: Node, names: frozenset[str]) -> frozenset[str]:
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


def _combined(
    values: tuple[Node, Node], ones: list[str], others: list[str], variable: str, rest: frozenset[str]
) -> dict[str, Node] | None:
    """What the answer's constants are in the gold's, where both are sums of functions with a constant each; None where nothing fits.

    The functions of the gold, and what is in the gold without a constant, are solved for in the functions of the answer, at as many
    points as there are constants; the shares are guessed as fractions with small denominators.
    """
    start, mine = _spanned(values[0], ones)
    begin, theirs = _spanned(values[1], others)
    wanted = [*mine, add(start, negate(begin))]
    try:
        with precision(128):
            points = [
                {
                    name: fmpq(7 + 6 * turn, 10) if name == variable else fmpq(11 + 3 * at, 8)
                    for at, name in enumerate(sorted(rest))
                }
                for turn in range(len(ones))
            ]
            table = arb_mat([[_at(part, point) for part in theirs] for point in points])
            aims = arb_mat([[_at(part, point) for part in wanted] for point in points])
            shares = [[_small_fraction(share) for share in row] for row in table.solve(aims).tolist()]
    except (ArithmeticError, ValueError, TypeError):
        return None
    size = len(ones)
    if fmpq_mat([row[:size] for row in shares]).det() == 0:
        return None
    names = [*(Node("sym", name) for name in ones), ONE]
    return {
        name: add(*(mul(number(share), constant) for share, constant in zip(row, names, strict=True)))
        for name, row in zip(others, shares, strict=True)
    }


def _spanned(value: Node, names: list[str]) -> tuple[Node, list[Node]]:
    """A value without its constants, and what stands beside each of them."""
    none = dict.fromkeys(names, number(0))
    start = replaced(value, none)
    return start, [add(replaced(value, {**none, name: ONE}), negate(start)) for name in names]


def _at(node: Node, point: dict[str, fmpq]) -> arb:
    value = evaluate(node, Point(point))
    if isinstance(value, acb):
        raise ValueError("no real value")
    return arb(value)


def _small_fraction(value: Any) -> fmpq:
    """The fraction of a small denominator that a ball is around.

    Raises :class:`ValueError` where there is none.
    """
    near = Fraction(float(value.mid())).limit_denominator(_LARGEST_DENOMINATOR)
    found = fmpq(near.numerator, near.denominator)
    if not abs(value - arb(found)) < arb(2) ** -40:
        raise ValueError("no small fraction")
    return found


_LARGEST_DENOMINATOR = 60
