"""Sets of real numbers: intervals, unions, inequalities and named sets, brought to one form and compared end by end."""

from __future__ import annotations

import re
from functools import cmp_to_key
from typing import Any, NamedTuple

from flint import acb, fmpq, fmpz

from ..reading.tree import Node, negate, number, walk
from .equality import constant_value, expressions_equal
from .quantities import same_value

_INFINITY = Node("const", "oo")
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}


class Piece(NamedTuple):
    """One interval: its ends as trees (None: unbounded) and whether each belongs to it."""

    low: Node | None
    low_in: bool
    high: Node | None
    high_in: bool


_LINE = Piece(None, False, None, False)
_REAL = Node("named", "R")
_WHOLE_NUMBERS = 100
_ZERO = number(0)
_ABOVE, _BELOW = Piece(_ZERO, False, None, False), Piece(None, False, _ZERO, False)
_LINES: dict[str, tuple[Piece, ...]] = {
    "R": (_LINE,), "empty": (), "R*": (_BELOW, _ABOVE),
    **dict.fromkeys(("R+", "R>0"), (_ABOVE,)), **dict.fromkeys(("R-", "R<0"), (_BELOW,)),
    **dict.fromkeys(("R>=0", "R0+", "R+0"), (_ABOVE._replace(low_in=True),)),
    **dict.fromkeys(("R<=0", "R0-", "R-0"), (_BELOW._replace(high_in=True),)),
}  # fmt: skip


def _end(node: Node) -> tuple[Node | None, int]:
    """An end and, where it is infinite, its sign."""
    if node == _INFINITY:
        return None, 1
    if node == negate(_INFINITY):
        return None, -1
    return node, 0


def _compare(one: Node, other: Node) -> int | None:
    """Order of two ends; None where it cannot be told (they hold variables)."""
    if one == other:
        return 0
    a, b = constant_value(one), constant_value(other)
    if a is None or b is None or isinstance(a, acb) or isinstance(b, acb):
        return 0 if expressions_equal(one, other).equal else None
    if a < b:
        return -1
    if a > b:
        return 1
    return 0 if expressions_equal(one, other).equal else None


def _half(op: str, bound: Node) -> list[Piece] | None:
    end, sign = _end(bound)
    if end is None:
        return [_LINE] if (sign > 0) == (op in ("<", "<=")) else None
    if op in ("<", "<="):
        return [Piece(None, False, end, op == "<=")]
    if op in (">", ">="):
        return [Piece(end, op == ">=", None, False)]
    if op == "!=":
        return [Piece(None, False, end, False), Piece(end, False, None, False)]
    return [Piece(end, True, end, True)] if op == "=" else None


def _around_zero(op: str, bound: Node) -> list[Piece] | None:
    """``|x| < c`` and ``|x| > c`` for a bound that is not negative."""
    value = constant_value(bound)
    if value is None or isinstance(value, acb) or not value >= 0:
        return None
    if op in ("<", "<="):
        return [Piece(negate(bound), op == "<=", bound, op == "<=")]
    if op in (">", ">="):
        return [Piece(None, False, negate(bound), op == ">="), Piece(bound, op == ">=", None, False)]
    return None


def _is_name(node: Node) -> bool:
    return node.kind in ("sym", "apply")


def _relation(node: Node) -> tuple[str, list[Piece]] | None:
    """The variable and the set of a simple inequality: ``x < 3``, ``-2 <= x < 7``, ``x \\in [0,1]``."""
    ops, args = node.value, node.args
    if len(ops) == 1:
        op, (left, right) = ops[0], args
        if op == "in" and _is_name(left):
            pieces = as_pieces(right)
            return None if pieces is None else (repr(left), pieces[1])
        if op not in _FLIPPED:
            return None
        for bound, name, way in ((right, left, op), (left, right, _FLIPPED[op])):
            if (
                name.kind == "call"
                and name.value == "abs"
                and _is_name(name.args[0])
                and not _holds(bound, name.args[0])
            ):
                around = _around_zero(way, bound)
                return None if around is None else (repr(name.args[0]), around)
        if _is_name(left) and not _holds(right, left):
            half = _half(op, right)
            return None if half is None else (repr(left), half)
        if _is_name(right) and not _holds(left, right):
            half = _half(_FLIPPED[op], left)
            return None if half is None else (repr(right), half)
        return None
    if len(ops) == 2 and args[1].kind == "call" and args[1].value == "abs" and _is_name(args[1].args[0]):
        outer, inner = _around_zero(ops[1], args[2]), _around_zero(_FLIPPED.get(ops[0], "?"), args[0])
        between = None if outer is None or inner is None else _intersection(outer, inner)
        return None if between is None else (repr(args[1].args[0]), between)
    if len(ops) == 2 and _is_name(args[1]) and "!=" not in ops:
        if any(here.kind == "apply" for end in (args[0], args[2]) for here in walk(end)):
            return None  # the order of unknown values is not known
        low, high = _half(_FLIPPED.get(ops[0], "?"), args[0]), _half(ops[1], args[2])
        if low is None or high is None:
            return None
        both = _intersection(low, high)
        return (repr(args[1]), both) if both else None  # "5 < x < 4" is no set that anybody means
    return None


def _holds(node: Node, name: Node) -> bool:
    return node == name or any(_holds(arg, name) for arg in node.args)


def as_pieces(node: Node) -> tuple[str, list[Piece]] | None:
    """The variable (or ``""``) and the intervals of a set of real numbers; None for anything else."""
    kind = node.kind
    # a pair in round brackets is a point as well; what stands on the other side has brought it here
    if kind == "interval" or (kind == "tuple" and node.value is None and len(node.args) == 2):
        closed = node.value if kind == "interval" else (False, False)
        low, left = _end(node.args[0])
        high, right = _end(node.args[1])
        if (low is None and left > 0) or (high is None and right < 0):
            return None
        return "", [Piece(low, closed[0] and low is not None, high, closed[1] and high is not None)]
    if kind == "named":
        line = _LINES.get(node.value)
        return None if line is None else ("", list(line))
    if kind == "set":
        return "", [Piece(arg, True, arg, True) for arg in node.args]
    if kind == "rel":
        return _relation(node)
    if kind == "builder":
        name, condition = node.args
        found = as_pieces(condition)
        among = None
        if name.kind == "rel" and name.value == ("in",):
            name, among = name.args
        if found is None or found[0] != repr(name):
            return None
        return found if among in (None, _REAL) else _only(found, among)
    if kind in ("union", "cap", "setminus"):
        one, other = as_pieces(node.args[0]), as_pieces(node.args[1])
        if one is None or other is None:
            return None
        if kind == "union":
            joined: list[Piece] | None = one[1] + other[1]
        elif kind == "cap":
            joined = _intersection(one[1], other[1])
        else:
            outside = _complement(other[1])
            joined = None if outside is None else _intersection(one[1], outside)
        return None if joined is None else (one[0] or other[0], joined)
    if kind == "list" and node.value in ("or", "and", ",", ";"):
        return _several(node)
    return None


def _only(found: tuple[str, list[Piece]], among: Node | None) -> tuple[str, list[Piece]] | None:
    """Of a set of numbers those that are in another set: whole numbers one by one."""
    if among is None or among.kind != "named" or among.value in _LINES or among.value[:1] not in ("Z", "N"):
        inside = None if among is None else as_pieces(among)
        both = None if inside is None else _intersection(found[1], inside[1])
        return None if both is None else (found[0], both)
    first = {"Z": None, "N": None, "Z+": 1, "N*": 1, "N+": 1, "Z>0": 1, "Z>=0": 0, "N0": 0}.get(among.value, "unknown")
    out: list[Piece] = []
    for piece in found[1]:
        ends: list[Any] = [None if end is None else constant_value(end) for end in (piece.low, piece.high)]
        if first == "unknown" or any(not isinstance(end, fmpq) or abs(end) > 10**6 for end in ends):
            return None
        low, high = int(ends[0].ceil()), int(ends[1].floor())
        low += not piece.low_in and ends[0] == low
        high -= not piece.high_in and ends[1] == high
        if high - low > _WHOLE_NUMBERS or (among.value == "N" and low <= 0):  # whether 0 is one is open
            return None
        out += [
            Piece(number(n), True, number(n), True) for n in range(low, high + 1) if first is None or n >= int(first)
        ]
    return found[0], out


def _several(node: Node) -> tuple[str, list[Piece]] | None:
    whole = [
        part for part in node.args if part.kind == "rel" and part.value == ("in",) and part.args[1].kind == "named"
    ]
    if len(whole) == 1 and len(node.args) > 1 and node.value != "or" and whole[0].args[1] != _REAL:
        rest = tuple(part for part in node.args if part is not whole[0])
        of = as_pieces(rest[0] if len(rest) == 1 else Node("list", node.value, rest))
        return _only(of, whole[0].args[1]) if of is not None and of[0] == repr(whole[0].args[0]) else None
    intervals = all(
        part.kind in ("interval", "union") or (part.kind == "tuple" and len(part.args) == 2) for part in node.args
    )
    if intervals and (node.value == "or" or any(_unbounded(part) for part in node.args)):
        node = Node("list", "or", node.args)  # points cannot have an infinite coordinate
    elif not any(part.kind == "rel" and part.value != ("=",) for part in node.args):
        return None
    found = [as_pieces(part) for part in node.args]
    parts = [part for part in found if part is not None]
    if len(parts) != len(found) or len({name for name, _ in parts}) != 1:
        return None
    pieces = parts[0][1]
    for _, more in parts[1:]:
        both = _intersection(pieces, more) if node.value != "or" else pieces + more
        if both is None:
            return None
        if not both and node.value in (",", ";"):  # "x < 1, x > 3" says or
            both = pieces + more
        pieces = both
    return parts[0][0], pieces


def _unbounded(node: Node) -> bool:
    return any(_end(arg)[0] is None or _unbounded(arg) for arg in node.args)


def _complement(pieces: list[Piece]) -> list[Piece] | None:
    ordered = _merged(pieces)
    if ordered is None:
        return None
    out: list[Piece] = []
    low: Node | None = None
    low_in, open_left = False, True
    for piece in ordered:
        if piece.low is not None:
            out.append(Piece(None if open_left else low, low_in, piece.low, not piece.low_in))
        open_left = False
        if piece.high is None:
            return out
        low, low_in = piece.high, not piece.high_in
    out.append(Piece(None if open_left else low, low_in, None, False))
    return out


def _intersection(ones: list[Piece], others: list[Piece]) -> list[Piece] | None:
    out: list[Piece] = []
    for a in ones:
        for b in others:
            low, low_in = a.low, a.low_in
            if low is None:
                low, low_in = b.low, b.low_in
            elif b.low is not None:
                order = _compare(a.low or b.low, b.low)
                if order is None:
                    return None
                if order < 0 or (order == 0 and not b.low_in):
                    low, low_in = b.low, b.low_in
            high, high_in = a.high, a.high_in
            if high is None:
                high, high_in = b.high, b.high_in
            elif b.high is not None:
                order = _compare(high, b.high)
                if order is None:
                    return None
                if order > 0 or (order == 0 and not b.high_in):
                    high, high_in = b.high, b.high_in
            if low is not None and high is not None:
                order = _compare(low, high)
                if order is None:
                    if len(ones) > 1 or len(others) > 1:
                        return None
                elif order > 0 or (order == 0 and not (low_in and high_in)):
                    continue
            out.append(Piece(low, low_in, high, high_in))
    return out


def _merged(pieces: list[Piece]) -> list[Piece] | None:
    """In order, with overlaps joined; None where the ends cannot be ordered."""
    if len(pieces) <= 1:
        return pieces
    # sorting evaluates both ends at each step
    if len(pieces) > 200:
        return None
    open_question = False

    def order(a: Piece, b: Piece) -> int:
        nonlocal open_question
        if a.low is None or b.low is None:
            return (a.low is not None) - (b.low is not None)
        found = _compare(a.low, b.low)
        if found is None:
            open_question = True
            return 0
        return found or b.low_in - a.low_in

    ordered = sorted(pieces, key=cmp_to_key(order))
    if open_question:
        return None
    out = [ordered[0]]
    for piece in ordered[1:]:
        last = out[-1]
        if last.high is None:
            break
        gap = -1 if piece.low is None else _compare(piece.low, last.high)
        if gap is None:
            return None
        if gap < 0 or (gap == 0 and (piece.low_in or last.high_in)):
            longer = 1 if piece.high is None else _compare(piece.high, last.high)
            if longer is None:
                return None
            high, high_in = (piece.high, piece.high_in) if longer > 0 else (last.high, last.high_in)
            if longer == 0:
                high_in = last.high_in or piece.high_in
            out[-1] = Piece(last.low, last.low_in, high, high_in)
        else:
            out.append(piece)
    return out


def same_pieces(gold: list[Piece], answer: list[Piece], seed: str = "") -> bool | None:
    """Are two sets of real numbers one?  None where an end cannot be compared."""
    ones, others = _merged(gold), _merged(answer)
    if ones is None or others is None:
        ones, others = gold, answer
    if len(ones) != len(others):
        return False if ones is not gold or len(gold) == 1 or len(answer) == 1 else None
    answer_open = False
    for a, b in zip(ones, others, strict=True):
        if (a.low_in, a.high_in) != (b.low_in, b.high_in):
            return False
        for mine, theirs in ((a.low, b.low), (a.high, b.high)):
            if (mine is None) != (theirs is None):
                return False
            if mine is not None and theirs is not None:
                equal = same_value(mine, theirs, seed).equal
                if equal is False:
                    return False
                answer_open = answer_open or equal is None
    return None if answer_open else True


def closed_at_infinity(node: Node) -> bool:
    """Is there an interval such as ``[3, \\infty]``, which takes infinity for a number?"""
    for here in walk(node):
        if here.kind == "interval":
            low, high = (_end(arg)[1] for arg in here.args)
            if (low and here.value[0]) or (high and here.value[1]):
                return True
    return False


def contains_point(pieces: list[Piece], value: fmpq) -> bool | None:
    """Is a rational number in the set?"""
    point = Node("num", value)
    for piece in pieces:
        low = 1 if piece.low is None else _compare(point, piece.low)
        high = -1 if piece.high is None else _compare(point, piece.high)
        if low is None or high is None:
            return None
        if (low > 0 or (low == 0 and piece.low_in)) and (high < 0 or (high == 0 and piece.high_in)):
            return True
    return False


def same_products(one: Node, other: Node) -> bool | None:
    """Are two products of named sets or groups one (``\\mathbb{Z}_2 \\oplus \\mathbb{Z}_4``)?  None where one is something else.

    Of groups the factors may stand in any order; ``\\mathbb{R} \\times \\mathbb{Z}`` are pairs in order.
    """
    if one.kind not in _PRODUCTS or other.kind not in _PRODUCTS or not (_has_named(one) or _has_named(other)):
        return None
    mine, theirs = _factors(one), _factors(other)
    if mine is None or theirs is None or (len(mine) == len(theirs) == 1 and mine != theirs):
        return None  # one set may have two names
    return mine == theirs


_PRODUCTS = frozenset(("named", "mul", "pow", "sym"))
_LARGEST_POWER = 12
_LONGEST_ORDER = 10


def _has_named(node: Node) -> bool:
    return node.kind == "named" or (
        node.kind in ("mul", "pow") and any(arg.kind == "named" or _has_named(arg) for arg in node.args)
    )


def _factors(node: Node) -> list[str] | None:
    """The names of a product's factors, of groups in one order; None where one is no name."""
    out: list[str] = []
    for factor in node.args if node.kind == "mul" else (node,):
        base, power = factor.args if factor.kind == "pow" else (factor, number(1))
        if base.kind not in ("named", "sym") or power.kind != "num" or not str(power.value).isdigit():
            return None
        name, _, times = str(base.value).partition("^")
        if base.kind == "sym":
            name = _CYCLIC.sub(r"Z\1", name)
        count = int(power.value) * (int(times) if times.isdigit() and len(times) < 3 else 1)
        if count > _LARGEST_POWER:
            return None
        out.extend([name if times.isdigit() or not times else str(base.value)] * count)
    if any(name in ("R", "Q", "N", "C") for name in out):
        return out
    return sorted(part for name in out for part in _coprime(name))


def _coprime(name: str) -> list[str]:
    """A cyclic group as the product of those of coprime orders: ``Z_6`` as ``Z_2 \\times Z_3``."""
    order = int(name[1:]) if name[:1] == "Z" and name[1:].isdigit() and len(name) < _LONGEST_ORDER else 0
    return [f"Z{prime**power}" for prime, power in fmpz(order).factor()] if order > 1 else [name]


_CYCLIC = re.compile(r"^[ZC]_(\d{1,6})$")
