"""The small tree that an answer is read into.

One node type for everything. ``kind``, a `Kind`, says what it is, ``value`` carries what is not a tree, ``args`` the subtrees:

========== ======================================= =========================================================
kind       value                                   args
========== ======================================= =========================================================
num        fmpq                                    a number, exact
dec        (fmpq, digits after the point)          a decimal literal, exact, with the precision it was given in
sym        name                                    a variable
const      "pi" "e" "i" "oo"                       a constant
add mul    None                                    terms, factors
pow        None                                    base, exponent
call       function name                           arguments
apply      name                                    arguments of an unknown function, or the index of a sequence
sum prod   bound variable's name                   body, lower, upper
opaque     name                                    what only the slow path can work out (integral, limit, derivative)
pm         "+" or "-" (``\\mp``)                    one operand
percent    None                                    the number before the sign
degree     None                                    the number of degrees
unit       Unit                                    the number before it
residue    modulus                                 the number before ``\\pmod``
matrix     (rows, columns)                         entries, row by row
cases      None                                    value, condition, value, condition ...
tuple      None                                    ordered parts in round brackets (also an open interval)
list       "," ";" "or" "and"                      unordered parts without brackets
set        None                                    unordered parts in braces
interval   (closed left, closed right)             lower, upper
named      "R" "Z" "Q" "N" "C" "empty"             a set with a name
union cap setminus                                 sets
quantified "\\forall" "\\exists" ...                 the letter with its set or condition, and what is said
builder    None                                    variable, condition
rel        operators                               operands, one more than operators
ratio      None                                    parts
========== ======================================= =========================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from flint import fmpq, fmpz

Kind = Literal[
    "num", "dec", "sym", "const", "add", "mul", "pow", "call", "apply", "sum", "prod", "opaque", "pm", "percent", "degree", "unit",
    "residue", "matrix", "cases", "tuple", "list", "set", "interval", "named", "union", "cap", "setminus", "builder", "rel", "ratio",
    "quantified",
]  # fmt: skip
"""What a node may be; a type, so that a comparison with anything else is an error before it runs."""


class ParseError(ValueError):
    """The text is not one that the reader knows; the message says what it met and where."""


class Node(NamedTuple):
    """One node of the tree; see the module's table."""

    kind: Kind
    value: Any
    args: tuple[Node, ...] = ()


def number(value: int | fmpz | fmpq) -> Node:
    """A number node."""
    return Node("num", fmpq(value))


ONE = number(1)
MINUS_ONE = number(-1)


def add(*terms: Node) -> Node:
    """The sum, flattened."""
    flat: list[Node] = []
    for term in terms:
        flat.extend(term.args if term.kind == "add" else (term,))
    return flat[0] if len(flat) == 1 else Node("add", None, tuple(flat))


def mul(*factors: Node) -> Node:
    """The product, flattened."""
    flat: list[Node] = []
    for factor in factors:
        flat.extend(factor.args if factor.kind == "mul" else (factor,))
    return flat[0] if len(flat) == 1 else Node("mul", None, tuple(flat))


def power(base: Node, exponent: Node) -> Node:
    """The power."""
    return Node("pow", None, (base, exponent))


def divide(top: Node, bottom: Node) -> Node:
    """The quotient; that of two plain numbers at once."""
    if top.kind == "num" and bottom.kind == "num" and bottom.value != 0:
        return Node("num", top.value / bottom.value)
    return mul(top, power(bottom, MINUS_ONE))


def negate(node: Node) -> Node:
    """The opposite; of a literal it stays a literal."""
    if node.kind == "num":
        return Node("num", -node.value)
    if node.kind == "dec":
        return Node("dec", (-node.value[0], node.value[1]))
    return mul(MINUS_ONE, node)


def replaced(node: Node, values: Mapping[str, Node]) -> Node:
    """The tree with some of its variables replaced."""
    if node.kind == "sym":
        return values.get(node.value, node)
    return Node(node.kind, node.value, tuple(replaced(arg, values) for arg in node.args)) if node.args else node


def walk(node: Node) -> list[Node]:
    """All nodes, the root first."""
    out = [node]
    # the list grows while it is gone through: no recursion, whatever the depth
    for here in out:
        out.extend(here.args)
    return out


def free(node: Node) -> frozenset[str]:
    """Names of the free variables."""
    if node.kind == "sym":
        return frozenset((node.value,))
    if not node.args:
        return frozenset()
    names: frozenset[str] = frozenset()
    for arg in node.args:
        names |= free(arg)
    return names - {node.value} if node.kind in ("sum", "prod") else names


_LIMIT_POWER = 100_000  # digits that a literal's "e" exponent may ask for


def literal(text: str) -> Node:
    """A number as written; a decimal keeps its count of digits."""
    mantissa, mark, tail = text.lower().partition("e")
    head, point, fraction = mantissa.partition(".")
    top = fmpz(head + fraction or "0")
    if mark:
        shift = int(tail) - len(fraction)
        # 1e999999999 is left as a power: written out it would take all memory
        if abs(shift) > _LIMIT_POWER:
            return mul(Node("num", fmpq(top)), power(number(10), number(shift)))
        scale = fmpz(10) ** abs(shift)
        return Node("dec", (fmpq(top * scale) if shift >= 0 else fmpq(top, scale), -shift))
    if not point:
        return Node("num", fmpq(top))
    return Node("dec", (fmpq(top, fmpz(10) ** len(fraction)), len(fraction)))


def as_set(node: Node) -> Node:
    """A list of values, or a number, as the set of it: braces that lost their backslash."""
    if node.kind == "list" and node.value == "," and all(part.kind != "rel" for part in node.args):
        return Node("set", None, node.args)
    return Node("set", None, (node,)) if node.kind == "num" else node


def of_sets(kind: Kind, one: Node, other: Node) -> Node:
    """A union or the like; of ``{1,3} \\cup {2}`` as of ``\\{1,3\\} \\cup \\{2\\}``."""
    if "list" in (one.kind, other.kind) and {one.kind, other.kind} <= {"list", "set", "num"}:
        one, other = as_set(one), as_set(other)
    return Node(kind, None, (one, other))
