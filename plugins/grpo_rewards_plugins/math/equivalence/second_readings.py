"""Second readings: what a notation may also mean, tried where the first reading says that the answer is not the gold.

Each is sound: it replaces a spelling by another that the writer can have meant (``j`` for the imaginary unit, ``log`` to
base ten, ``C(6,2)``), on whichever side it stands, and the ladder decides again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..reading.tree import Node, add, divide, free, mul, negate, number, power, replaced, walk
from .constants import function_head, other_constants
from .equality import Decision, expressions_equal
from .families import families, is_whole
from .normalization import name_like, without_name
from .quantities import same_quantity
from .structures import compare

_IMAGINARY = ("j", "I")
_I = Node("const", "i")
_REDUCED = {"\\hbar": divide(Node("sym", "h"), mul(number(2), Node("const", "pi")))}
_MANY = 400  # nodes; larger answers are read once


def decide(gold: Node, answer: Node, seed: str = "") -> Decision:
    """Decide an answer against a gold, under their first readings, then under others."""
    found = compare(gold, answer, seed)
    if found.equal:
        return found
    for mine, theirs, why in _others(gold, answer):
        again = compare(mine, theirs, seed)
        if again.equal:
            return Decision(True, f"{again.rule}, {why}")
        if why in (_PRODUCT, _UNIT_VECTORS) and found.equal is None:
            found = again  # what the other side says settles which reading is meant
    return found


_PRODUCT = "with a product of letters"
_UNIT_VECTORS = "with unit vectors by their letters"


@dataclass(slots=True)
class _Marks:
    """What is in a tree that can be read in another way."""

    imaginary: bool = False
    log: bool = False
    member: bool = False  # of a set: "k \\in Z"
    accented: bool = False
    applied: frozenset[str] = frozenset()


def _marks(node: Node) -> _Marks:
    out = _Marks()
    for here in walk(node)[:_MANY]:
        if here.kind == "const" and here.value == "i":
            out.imaginary = True
        elif here.kind == "call" and here.value == "log" and len(here.args) == 1:
            out.log = True
        elif here.kind == "apply":
            out.applied |= {str(here.value)}
            out.accented |= here.value in ("\\hat", "\\vec")
        elif here.kind == "sym":
            out.accented |= here.value[:1] == "\\"
        elif here.kind == "rel":
            out.member |= "in" in here.value
    return out


def _others(gold: Node, answer: Node) -> Iterator[tuple[Node, Node, str]]:
    mine, theirs = _marks(gold), _marks(answer)
    names, other_names = free(gold), free(answer)
    if mine.imaginary:
        for letter in _IMAGINARY:
            if letter in other_names and letter not in names:
                yield gold, replaced(answer, {letter: _I}), f"with {letter} for the imaginary unit"
    if theirs.imaginary:
        for letter in _IMAGINARY:
            if letter in names and letter not in other_names:
                yield replaced(gold, {letter: _I}), answer, f"with {letter} for the imaginary unit"
    if mine.log or theirs.log:
        yield _base_ten(gold), _base_ten(answer), "with log to base 10"
    if ("\\hbar" in names) != ("\\hbar" in other_names) and "h" in names | other_names:
        yield replaced(gold, _REDUCED), replaced(answer, _REDUCED), "with h over two pi for hbar"
    yield from other_constants(gold, answer)
    if (renamed := _same_function(gold, answer)) is not None:
        yield gold, replaced(answer, dict([renamed])), "with the variable under another name"
    if "y" in (function_head(gold), function_head(answer)):
        named = [_as_graph(node) for node in (gold, answer)]
        if named != [gold, answer]:
            yield named[0], named[1], "with y for the value of the function"
    if gold.kind == answer.kind == "builder" and len(names) == len(other_names) == 1 and names != other_names:
        yield (
            gold,
            replaced(answer, {min(other_names): Node("sym", min(names))}),
            "with another name inside",
        )
    for one, other, turned in ((gold, answer, False), (answer, gold, True)):
        if other.kind != "rel" and (value := _worked_out(one)) is not None:
            yield (other, value, "worked out") if turned else (value, other, "worked out")
    if mine.applied & other_names or theirs.applied & names:
        yield _multiplied(gold, other_names), _multiplied(answer, names), _PRODUCT
    for ones, others, turned in ((_converted(gold), answer, False), (_converted(answer), gold, True)):
        for one in ones:
            yield (others, one, "in one of its units") if turned else (one, others, "in one of its units")
    yield from _without_exclusions(gold, answer)
    for one, other, turned in ((gold, answer, False), (answer, gold, True)):
        if (spelled := _with_definitions(one, free(other))) is not None:
            yield (other, spelled, _DEFINED) if turned else (spelled, other, _DEFINED)
    if mine.member or theirs.member:
        yield from _counted_names(gold, answer)
    if not _COUNTING.isdisjoint(names | other_names) or mine.member or theirs.member:
        yield from families(gold, answer)
    if mine.accented or theirs.accented or not {"j", "k"}.isdisjoint(names | other_names):
        yield from _vectors(gold, answer)
    yield from _called(gold, answer)
    if "C_" in mine.applied | theirs.applied:
        yield _chosen(gold), _chosen(answer), "a number of choices"
    if gold == Node("named", "empty") and answer.kind == "sym" and answer.value in ("\\phi", "\\Phi"):
        # one tree twice, which is equal to itself
        yield gold, gold, "with phi for the empty set"


def _base_ten(node: Node) -> Node:
    args = tuple(_base_ten(arg) for arg in node.args)
    if node.kind == "call" and node.value == "log" and len(args) == 1:
        args = (*args, number(10))
    return Node(node.kind, node.value, args)


def _worked_out(node: Node) -> Node | None:
    """The end of ``(x+1)(x+2) = x^2+3x+2``, an equation that holds everywhere; None for any other, which says something."""
    if node.kind != "rel" or node.value != ("=",) or name_like(node.args[0]) or name_like(node.args[1]):
        return None
    left, right = node.args
    return right if free(left) and free(left) == free(right) and expressions_equal(left, right).equal else None


def _same_function(gold: Node, answer: Node) -> tuple[str, Node] | None:
    """The answer's variable and the gold's, where both define one function: ``f(x) = ...`` and ``f(t) = ...``."""
    heads = [node.args[0] for node in (gold, answer) if node.kind == "rel" and node.value == ("=",)]
    if len(heads) != 2 or heads[0].kind != "apply" or heads[0].value != heads[1].value or heads[1].kind != "apply":
        return None
    if any(len(head.args) != 1 or head.args[0].kind != "sym" for head in heads):
        return None
    mine, theirs = heads[0].args[0], heads[1].args[0]
    if mine.value not in free(gold.args[1]):
        return None  # "P(A) = 1/2" is about A
    return (
        None if mine == theirs or free(gold) != {mine.value} or free(answer) != {theirs.value} else (theirs.value, mine)
    )


def _as_graph(node: Node) -> Node:
    """``f(x) = ...`` as ``y = ...``."""
    if node.kind == "rel" and node.value == ("=",) and node.args[0].kind == "apply" and len(node.args[0].args) == 1:
        variable = node.args[0].args[0]
        if (
            len(node.args[0].value) == 1
            and variable.kind == "sym"
            and variable.value == "x"
            and free(node.args[1]) <= {"x"}
        ):
            return Node("rel", ("=",), (Node("sym", "y"), node.args[1]))
    return node


def _converted(node: Node) -> tuple[Node, ...]:
    """The parts of ``90 min = 1.5 h`` and ``90 min or 1.5 h``: one quantity in several units, each of which says it; else nothing."""
    chain = node.kind == "rel" and all(op == "=" for op in node.value)
    if not (chain or (node.kind, node.value) == ("list", "or")) or not all(part.kind == "unit" for part in node.args):
        return ()
    first, *rest = node.args
    return node.args if all(same_quantity(first, part, "").equal for part in rest) else ()


def _multiplied(node: Node, names: frozenset[str]) -> Node:
    """``g(x - y)`` as a product, where the other side has the letter by itself; ``I(0)`` is none, which would be nothing."""
    if node.kind == "apply" and node.args == (number(0),):
        return node
    if node.kind == "pow" and (base := node.args[0]).kind == "apply" and base.value in names and len(base.args) == 1:
        letter, inner = Node("sym", base.value), _multiplied(base.args[0], names)
        return mul(letter, power(inner, _multiplied(node.args[1], names)))
    args = tuple(_multiplied(arg, names) for arg in node.args)
    if node.kind == "apply" and node.value in names and len(args) == 1:
        return mul(Node("sym", node.value), *args)
    return Node(node.kind, node.value, args)


def _without_exclusions(gold: Node, answer: Node) -> Iterator[tuple[Node, Node, str]]:
    """``\\frac{x-1}{x+2}, x \\ne -2``: the values that a formula is not defined for may be left out."""
    mine, theirs = _defined_everywhere(gold), _defined_everywhere(answer)
    if (mine is gold) != (theirs is answer):
        yield mine, theirs, "without the values that are left out"


_DEFINED = "with what its letters stand for"


def _with_definitions(node: Node, known: frozenset[str]) -> Node | None:
    """``p^k q^{n-k}, q = 1 - p`` in the letters of the other side; None where nothing behind it defines another letter of it."""
    if node.kind != "list" or node.value == "or" or len(node.args) > _MOST_DEFINITIONS:
        return None
    first, *rest = node.args
    for part in rest:
        if part.kind != "rel" or part.value != ("=",) or part.args[0].kind != "sym":
            return None
        letter, value = part.args
        used = first.args[1] if first.kind == "rel" and len(first.args) == 2 else first
        if letter.value in known or letter.value not in free(used) or letter.value in free(value):
            return None
        first = replaced(first, {letter.value: value})
    return first


_MOST_DEFINITIONS = 4


def _defined_everywhere(node: Node) -> Node:
    if node.kind != "list" or node.value not in (",", "and", ";") or not free(node.args[0]):
        return node
    first, *rest = node.args
    plain = first.kind not in ("rel", "tuple", "list", "set", "interval") or first.value == ("=",)
    excluded = all(part.kind == "rel" and part.value == ("!=",) and free(part) <= free(first) for part in rest)
    return first if plain and excluded else node


def _counted_names(gold: Node, answer: Node) -> Iterator[tuple[Node, Node, str]]:
    """``n \\ge 3`` and ``n \\ge 3, n \\in \\mathbb{N}``: a letter that only counts is a whole number without saying so."""
    mine, theirs = _without_kind(gold), _without_kind(answer)
    if (mine is gold) != (theirs is answer) and free(mine) == free(theirs) <= _COUNTING:
        yield mine, theirs, "of whole numbers"


_COUNTING = frozenset("klmn")


def _without_kind(node: Node) -> Node:
    """An inequality without the relation behind it that says that its letter is a whole number."""
    if node.kind != "list" or len(node.args) != 2 or not is_whole(node.args[1], node.args[0]):
        return node
    return node.args[0] if node.args[0].kind == "rel" and node.args[0].value != ("=",) else node


def _vectors(gold: Node, answer: Node) -> Iterator[tuple[Node, Node, str]]:
    """``2i + 3j`` with bold or hatted letters against each other and against ``(2, 3)``."""
    mine, theirs = _without_arrows(gold, free(answer)), _without_arrows(answer, free(gold))
    if (mine is gold) != (theirs is answer):
        yield mine, theirs, "with vectors in bold type"
    mine, theirs = _bare_units(gold), _bare_units(answer)
    if (mine, theirs) != (gold, answer):
        yield mine, theirs, _UNIT_VECTORS
    mine, theirs = without_name(mine), without_name(theirs)
    for node, other, turned in ((mine, theirs, False), (theirs, mine, True)):
        parts = node.args if node.kind == "tuple" or (node.kind == "matrix" and 1 in node.value) else ()
        if len(parts) in (2, 3) and other.kind in ("add", "mul") and {"j", "k"} & free(other):
            units = (_I, Node("sym", "j"), Node("sym", "k"))
            spelled = add(*(mul(part, unit) for part, unit in zip(parts, units, strict=False)))
            yield (other, spelled, "as unit vectors") if turned else (spelled, other, "as unit vectors")


def _without_arrows(node: Node, names: frozenset[str]) -> Node:
    """A sum of multiples of vectors by their letters, all of which the other side has without an arrow."""
    arrows = {
        name: Node("sym", name[-1]) for name in free(node) if name.startswith("\\vec ") and len(name) == _ONE_LETTER
    }
    if not arrows or not {name[-1] for name in arrows} <= names or any(name.startswith("\\vec ") for name in names):
        return node
    for term in node.args if node.kind == "add" else (node,):
        if sum(here.kind == "sym" and here.value in arrows for here in walk(term)) != 1 or term.kind not in (
            "sym",
            "mul",
        ):
            return node
    return replaced(node, arrows)


_ONE_LETTER = len("\\vec a")


def _bare_units(node: Node) -> Node:
    if node.kind == "apply" and node.value in ("\\hat", "\\vec") and node.args == (_I,):
        return _I
    if node.kind == "sym" and node.value in ("\\hat j", "\\hat k", "\\vec j", "\\vec k"):
        return Node("sym", node.value[-1])
    return Node(node.kind, node.value, tuple(_bare_units(arg) for arg in node.args)) if node.args else node


def _called(gold: Node, answer: Node) -> Iterator[tuple[Node, Node, str]]:
    """``P(1, 2)`` as a named point; ``C(6, 2)`` and ``P(6, 2)`` as numbers of combinations and permutations."""
    for node, other, turned in ((answer, gold, False), (gold, answer, True)):
        if node.kind != "mul" or len(node.args) != 2:
            continue
        head, pair = node.args
        if head.kind != "sym" or not head.value[:1].isupper() or pair.kind != "tuple" or pair.value is not None:
            continue
        if other.kind == "rel" and other.value == ("=",) and other.args[0] == head:
            other = other.args[1]  # "A = (2, 5)"
        if other.kind in ("tuple", "list", "matrix"):
            found, why = pair, "a point by its name"
        elif len(pair.args) == 2 and head.value in ("C", "P", "A"):
            found, why = _count(head.value, *pair.args), "a number of choices"
        else:
            continue
        yield (found, other, why) if turned else (other, found, why)


def _chosen(node: Node) -> Node:
    """``C_{2n}^{n}`` as a number of combinations."""
    args = tuple(_chosen(arg) for arg in node.args)
    if node.kind == "pow" and args[0].kind == "apply" and args[0].value == "C_":
        return Node("call", "binom", (*args[0].args, args[1]))
    return Node(node.kind, node.value, args)


def _count(letter: str, top: Node, bottom: Node) -> Node:
    if letter == "C":
        return Node("call", "binom", (top, bottom))
    below = Node("add", None, (top, negate(bottom)))
    return mul(Node("call", "factorial", (top,)), power(Node("call", "factorial", (below,)), number(-1)))
