"""Answers as structures, compared part by part: units, equations, lists, tuples, sets, matrices, ratios; values at the leaves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from itertools import product
from math import prod

from flint import acb, arb, fmpq

from ..reading.tree import MINUS_ONE, Node, add, free, mul, negate, walk
from .deciding import Decision, constant_value, expressions_equal, proportional
from .membership import by_membership, same_sign
from .sets import as_pieces, same_pieces
from .values import precision

__all__ = ["compare", "matched_share", "within"]

_slack: ContextVar[float] = ContextVar("tolerance", default=0.0)
_MANY = 64  # parts of a list that are matched
_SETS = frozenset(("interval", "named", "union", "cap", "setminus", "builder"))
_LISTS = frozenset(("list", "set"))
_NO = Decision(False, "different kinds")


def compare(gold: Node, answer: Node, seed: str = "") -> Decision:
    """Decide an answer against a gold; `equal` is None where only a slower method could tell."""
    if gold == answer:
        return Decision(True, "same form")
    if gold.kind == answer.kind == "rel" and "~" in gold.value and gold.value == answer.value:
        last = _values(gold.args[-1], answer.args[-1], seed)
        if last.equal is False:
            return Decision(False, "different approximations")
    if _computed_chain(gold) and _computed_chain(answer) and len(gold.args) == len(answer.args):
        return _ordered_parts(gold, answer, seed)
    found = _compare(_settled(gold), _settled(answer), seed)
    if found.equal is False and "," in (comma := _decimal_comma(gold, answer)):
        return Decision(True, comma)
    return found


def _computed_chain(node: Node) -> bool:
    """``2^3 = 8 = 5 + 3``: equal values in a row, of which none is a name."""
    equal = node.kind == "rel" and len(node.value) > 1 and all(op == "=" for op in node.value)
    return equal and not _name_like(node.args[0])


def _decimal_comma(gold: Node, answer: Node) -> str:
    """``1000,99`` for the decimal gold 1000.99, or a gold ``0,111`` for 0.111."""
    for one, other, leading in ((gold, answer, False), (answer, gold, True)):
        if one.kind == "dec" and other.kind == "list" and other.value == "," and len(other.args) == 2:
            whole, rest = other.args
            plain = all(part.kind == "num" and part.value.q == 1 for part in other.args)
            if plain and rest.value >= 0 and (not leading or whole.value == 0):
                exact, digits = one.value
                scale = fmpq(10) ** digits if 0 < digits < 400 else fmpq(0)
                if scale and rest.value < scale and whole.value + rest.value / scale == exact:
                    return "a decimal comma, not a list"
    return ""


def _settled(node: Node) -> Node:
    """Without what changes nothing: chains like ``a = b = c`` read as their end, ``\\pm`` as its two values."""
    if node.kind in ("list", "set", "tuple"):
        parts: list[Node] = []
        for part in node.args:
            inner = _settled(part)
            if node.kind != "tuple" and inner.kind == "list" and inner.value == "pm":
                parts.extend(inner.args)
            else:
                parts.append(inner)
        if node.kind == "list":
            parts = _shared_name(parts)
        if node.kind == "tuple" and any(part.kind == "list" and part.value == "pm" for part in parts):
            return _points(parts, node.value)
        return Node(node.kind, node.value, tuple(parts))
    if node.kind == "rel":
        return _chain(node)
    if any(here.kind == "pm" for here in walk(node)):
        return _both_signs(node)
    return node


def _points(parts: list[Node], brackets: object) -> Node:
    """``(0, \\pm 3)`` as its two points."""
    choices = [part.args if part.kind == "list" and part.value == "pm" else (part,) for part in parts]
    if prod(len(choice) for choice in choices) > _MANY:
        return Node("tuple", brackets, tuple(parts))
    return Node("list", "pm", tuple(Node("tuple", brackets, point) for point in product(*choices)))


def _shared_name(parts: list[Node]) -> list[Node]:
    """``n = 2, 3, 4`` names one variable for all parts."""
    first = parts[0]
    named = first.kind == "rel" and first.value == ("=",) and _name_like(first.args[0])
    if named and all(part.kind != "rel" for part in parts[1:]):
        return [first, *(Node("rel", ("=",), (first.args[0], part)) for part in parts[1:])]
    return parts


def _chain(node: Node) -> Node:
    ops, args = node.value, node.args
    if "~" in ops:
        cut = ops.index("~")
        if cut == 0:
            return _settled(args[0]) if not _name_like(args[0]) else Node("rel", ("=",), args[:2])
        return _settled(Node("rel", ops[:cut], args[: cut + 1]))
    if len(ops) >= 2 and all(op == "=" for op in ops):
        if _name_like(args[0]):
            return _both_signs(Node("rel", ("=",), (args[0], args[-1])))
        return _settled(args[-1]) if not free(args[-1]) else node
    return _both_signs(node) if any(here.kind == "pm" for here in walk(node)) else node


def _both_signs(node: Node) -> Node:
    marks = [here.value for here in walk(node) if here.kind == "pm"]
    if not marks:
        return node
    together = "-" in marks or len(marks) > 3
    count = 1 if together else len(marks)
    out = []
    for choice in range(1 << count):
        signs = [1 if not choice >> (0 if together else at) & 1 else -1 for at in range(len(marks))]
        out.append(_signed(node, iter(signs)))
    return Node("list", "pm", tuple(dict.fromkeys(out)))


def _signed(node: Node, signs: object) -> Node:
    if node.kind == "pm":
        sign = next(signs)  # type: ignore[call-overload]
        inner = _signed(node.args[0], signs)
        plus = sign > 0 if node.value == "+" else sign < 0
        return inner if plus else negate(inner)
    if not node.args:
        return node
    args = tuple(_signed(arg, signs) for arg in node.args)
    return add(*args) if node.kind == "add" else mul(*args) if node.kind == "mul" else Node(node.kind, node.value, args)


def _name_like(node: Node) -> bool:
    """Something that is named rather than computed: ``x``, ``f(x)``, ``AB``, ``|AB|``, ``A:B``, ``(x, y)``."""
    kind = node.kind
    if kind in ("sym", "apply") or (kind == "const" and node.value in ("e", "i")):
        return True
    if kind == "mul":
        return all(_segment(arg) for arg in node.args) or (
            len(node.args) == 2
            and node.args[0].kind == "sym"
            and (node.args[1].kind == "tuple" or (node.args[1].kind == "sym" and node.args[0].value[:1].isupper()))
        )
    if kind == "call" and node.value in ("abs", "norm", "arg", "re", "im", "max", "min", "gcd", "lcm"):
        return all(_name_like(arg) for arg in node.args)
    if kind == "call" and node.value in ("cos", "sin", "tan", "cot", "sec", "csc") and node.args:
        return _name_like(node.args[0])
    if kind == "pow":
        return False
    if kind in ("ratio", "tuple"):
        return all(_name_like(arg) for arg in node.args)
    return bool(kind == "opaque" and node.value == "diff")


def _segment(node: Node) -> bool:
    """A point's letter in a segment such as ``AB``, also below the line of ``\\frac{AB}{CD}``."""
    if node.kind == "pow" and node.args[1] == MINUS_ONE:
        return _name_like(node.args[0])
    return node.kind == "sym" and bool(node.value[:1].isupper())


def _without_name(node: Node) -> Node:
    """``x = 5`` as 5 and ``x \\in S`` as S, where the left side only names the value."""
    if node.kind == "rel" and len(node.value) == 1:
        left, right = node.args
        if node.value[0] in ("=", "in"):
            if _name_like(left) and (not (free(left) & free(right)) or left.kind == "apply"):
                return right
            if node.value[0] == "=" and not free(node) and expressions_equal(left, right).equal:
                return right  # "2 + 3 = 5"
            turned = node.value[0] == "=" and _name_like(right) and right.kind != "const" and not _name_like(left)
            if turned and not free(left):
                return left
    if node.kind == "list" and all(p.kind == "rel" and p.value == ("=",) for p in node.args):
        return Node("list", node.value, tuple(_without_name(part) for part in node.args))
    return node


def _compare(gold: Node, answer: Node, seed: str) -> Decision:
    if gold == answer:
        return Decision(True, "same form")
    gold_set, answer_set = _set_like(gold), _set_like(answer)
    if "matrix" in (gold.kind, answer.kind):
        return _objects(_without_name(gold), _without_name(answer), seed)
    if gold.kind == "rel" or answer.kind == "rel" or gold_set or answer_set:
        found = _relations_and_sets(gold, answer, seed)
        if found is not None:
            return found
    bare_gold, bare_answer = _without_name(gold), _without_name(answer)
    several_names = gold.kind == "list" and len({_name_of(part) for part in gold.args}) > 1
    if several_names and answer.kind == "list":
        if any(_name_of(part) for part in answer.args):
            return _lists(gold, answer, seed)
        return _ordered_parts(bare_gold, answer, seed)  # values without their names stand in the names' order
    if bare_gold.kind == "rel" or bare_answer.kind == "rel":
        return _NO
    return _objects(bare_gold, bare_answer, seed)


def _name_of(node: Node) -> str:
    return repr(node.args[0]) if node.kind == "rel" and node.value == ("=",) else ""


def _set_like(node: Node) -> bool:
    if node.kind in _SETS:
        return True
    if node.kind == "list":
        return any(part.kind == "rel" and part.value != ("=",) for part in node.args)
    return node.kind == "rel" and node.value != ("=",)


def _relations_and_sets(gold: Node, answer: Node, seed: str) -> Decision | None:
    """Sets of numbers in any form; equations against equations. None where neither applies."""
    if _set_like(gold) or _set_like(answer):
        ones, others = as_pieces(gold), as_pieces(answer)
        if ones is not None and others is not None:
            if ones[0] and others[0] and ones[0] != others[0]:
                return Decision(False, "different variables")
            equal = same_pieces(ones[1], others[1], seed)
            return Decision(equal, "sets of numbers")
        sampled = by_membership(gold, answer)
        if sampled is not None:
            return sampled
        if gold.kind == "rel" and answer.kind == "rel":
            return _inequalities(gold, answer, seed)
        if gold.kind == answer.kind and len(gold.args) == len(answer.args) and gold.value == answer.value:
            found = _ordered_parts(gold, answer, seed)
            if found.equal or gold.kind not in ("union", "cap"):
                return found
            return _lists(Node("set", None, _flat(gold)), Node("set", None, _flat(answer)), seed)
        stripped_gold, stripped_answer = _without_name(gold), _without_name(answer)
        if (stripped_gold, stripped_answer) != (gold, answer):
            return _compare(stripped_gold, stripped_answer, seed)
        return Decision(False, "a set against something else")
    if gold.kind == "rel" and answer.kind == "rel" and gold.value == answer.value == ("=",):
        return _equations(gold, answer, seed)
    return None


def _letters(node: Node) -> frozenset[str]:
    """The letters and numbers of a name, without its accents."""
    return frozenset(
        str(here.value).split()[-1] if here.kind == "sym" else repr(here.value)
        for here in walk(node)
        if here.kind in ("sym", "num") and not (here.kind == "num" and here.value == -1)
    )


def _flat(node: Node) -> tuple[Node, ...]:
    """The parts of a union of unions."""
    return tuple(part for arg in node.args for part in (_flat(arg) if arg.kind == node.kind else (arg,)))


def _equations(gold: Node, answer: Node, seed: str) -> Decision:
    (left, right), (other_left, other_right) = gold.args, answer.args
    if left == other_left:
        return _objects(right, other_right, seed)
    plain = all(part.kind not in ("tuple", "list", "set", "interval", "matrix") for part in (*gold.args, *answer.args))
    if not plain:
        same_left = _objects(left, other_left, seed)
        return _objects(right, other_right, seed) if same_left.equal else same_left
    if _name_like(left) and _name_like(other_left) and not (free(right) or free(other_right)):
        if left.kind == other_left.kind == "sym" and left.value.lower() != other_left.value.lower():
            return Decision(False, "different variables")
        if left.kind != "sym" or other_left.kind != "sym":
            if not (_letters(left) <= _letters(other_left) or _letters(left) >= _letters(other_left)):
                return Decision(False, "different names")
            return _objects(right, other_right, seed)
    one, other = add(left, negate(right)), add(other_left, negate(other_right))
    equal = proportional(one, other, seed)
    if equal is False and (free(one) != free(other)):
        return Decision(False, "different variables")
    if equal is False and len(free(one)) > 1:
        whole, other_whole = _without_denominators(one), _without_denominators(other)
        if (whole, other_whole) != (one, other) and proportional(whole, other_whole, seed):
            return Decision(True, "equations as multiples of each other")
    return Decision(equal, "equations as multiples of each other")


def _without_denominators(node: Node) -> Node:
    """An expression times its denominators: of ``y - 1/x`` comes ``x (y - 1/x)``."""
    below = {
        here.args[0] for here in walk(node) if here.kind == "pow" and here.args[1] == MINUS_ONE and free(here.args[0])
    }
    return mul(node, *sorted(below, key=repr)) if below else node


def _inequalities(gold: Node, answer: Node, seed: str) -> Decision:
    """``f < g`` against ``f' < g'``: the differences are positive multiples of each other."""
    if len(gold.value) != len(answer.value):
        return Decision(None, "inequalities")
    flip = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
    if gold.value != answer.value:
        answer = Node("rel", tuple(flip.get(op, op) for op in reversed(answer.value)), tuple(reversed(answer.args)))
        if gold.value != answer.value:
            return Decision(None, "inequalities")
    if len(gold.value) == 1 and gold.value[0] in ("<", ">", "<=", ">=", "!="):
        one, other = (add(n.args[0], negate(n.args[1])) for n in (gold, answer))
        if expressions_equal(one, other, seed).equal:
            return Decision(True, "the same inequality")
        multiple = proportional(one, other, seed)
        if multiple is not False:
            return Decision(multiple and same_sign(one, other, seed), "inequalities")
        return Decision(None if free(one) == free(other) and len(free(one)) == 1 else False, "different inequalities")
    return _ordered_parts(gold, answer, seed)


def _ordered_parts(gold: Node, answer: Node, seed: str) -> Decision:
    if len(gold.args) != len(answer.args):
        return Decision(False, f"{len(gold.args)} parts against {len(answer.args)}")
    doubt: Decision | None = None
    for mine, theirs in zip(gold.args, answer.args, strict=True):
        here = _compare(mine, theirs, seed)
        if here.equal is False:
            return Decision(False, f"a part differs ({here.rule})")
        if here.equal is None:
            doubt = here
    return doubt or Decision(True, "part by part")


def _lists(gold: Node, answer: Node, seed: str) -> Decision:
    """Unordered: each part of one has its own part of the other; in a set repeats count once."""
    ones, others = list(gold.args), list(answer.args)
    if len(others) > len(ones) > 1 and len(set(ones)) == len(ones):
        others = list(dict.fromkeys(others))  # the answer names one twice
    as_set = gold.kind == "set" or answer.kind == "set"
    if len(ones) != len(others) and not as_set:
        return Decision(False, f"{len(ones)} parts against {len(others)}")
    if max(len(ones), len(others)) > _MANY:
        return _ordered_parts(gold, answer, seed)
    doubt = False
    left = list(range(len(others)))
    for mine in ones:
        hit = None
        for at in left:
            equal = _compare(mine, others[at], seed).equal
            if equal:
                hit = at
                break
            doubt = doubt or equal is None
        if hit is None:
            if as_set and any(_compare(mine, other, seed).equal for other in others):
                continue
            return Decision(None if doubt else False, "a part without its equal")
        left.remove(hit)
    for at in left:
        if not (as_set and any(_compare(mine, others[at], seed).equal for mine in ones)):
            return Decision(None if doubt else False, "a part too many")
    return Decision(True, "part by part, in any order")


def _objects(gold: Node, answer: Node, seed: str) -> Decision:
    """Values, or structures of values."""
    if gold == answer:
        return Decision(True, "same form")
    kinds = (gold.kind, answer.kind)
    if gold.kind in _LISTS and answer.kind in _LISTS:
        return _lists(gold, answer, seed)
    if kinds == ("tuple", "tuple"):
        return _ordered_parts(gold, answer, seed)
    if "matrix" in kinds or _transposed(gold) is not None or _transposed(answer) is not None:
        return _matrices(gold, answer, seed)
    if "interval" in kinds or gold.kind in _SETS or answer.kind in _SETS:
        ones, others = as_pieces(gold), as_pieces(answer)
        if ones is None or others is None:
            return _NO
        return Decision(same_pieces(ones[1], others[1], seed), "sets of numbers")
    if kinds in (("tuple", "list"), ("list", "tuple"), ("tuple", "set"), ("set", "tuple")):
        if "pm" in (gold.value, answer.value):
            return Decision(False, "two values against a point")
        return _ordered_parts(gold, answer, seed)
    if gold.kind in _LISTS or answer.kind in _LISTS or "tuple" in kinds:
        for one, other in ((gold, answer), (answer, gold)):
            if one.kind in ("set", "tuple") and len(one.args) == 1:
                inner = (one.args[0], other) if one is gold else (other, one.args[0])
                return _compare(*inner, seed)
        return Decision(False, "one value against several")
    if "based" in kinds:
        same = gold.kind == answer.kind and gold.value[1] == answer.value[1]
        return Decision(
            same and gold.value[0].lstrip("0").upper() == answer.value[0].lstrip("0").upper(), "digits and base"
        )
    if gold.kind == "ratio" and answer.kind == "ratio" and len(gold.args) != 2:
        return _ratios(gold, answer, seed)
    return _quantities(gold, answer, seed)


def _ratios(gold: Node, answer: Node, seed: str) -> Decision:
    if len(gold.args) != len(answer.args):
        return Decision(False, "ratios of different length")
    first, other = gold.args[0], answer.args[0]
    for mine, theirs in zip(gold.args[1:], answer.args[1:], strict=True):
        here = expressions_equal(mul(first, theirs), mul(other, mine), seed)
        if not here.equal:
            return Decision(here.equal, "ratios")
    return Decision(True, "ratios")


def _rows(node: Node) -> Node | None:
    """``[[1, 2], [3, 4]]`` as a matrix."""
    rows = [row.args for row in node.args if row.kind in ("tuple", "interval")]
    if len(rows) != len(node.args) or len({len(row) for row in rows}) != 1:
        return None
    return Node("matrix", (len(rows), len(rows[0])), tuple(entry for row in rows for entry in row))


def _transposed(node: Node) -> Node | None:
    """The matrix or row under a transpose."""
    upper = node.kind == "pow" and node.args[1].kind == "sym" and node.args[1].value in ("T", "t", "\\top")
    if not upper and not (node.kind == "apply" and node.value in ("^\\top", "^\\intercal")):
        return None
    inner = node.args[0]
    if inner.kind == "tuple":
        return Node("matrix", (len(inner.args), 1), inner.args)
    found = _scaled(inner)
    if found is None:
        return None
    rows, columns = found.value
    return Node(
        "matrix", (columns, rows), tuple(found.args[i * columns + j] for j in range(columns) for i in range(rows))
    )


def _scaled(node: Node) -> Node | None:
    """A product of numbers and one matrix, a sum of matrices, or a transposed one, as one matrix."""
    if node.kind == "matrix":
        return node
    if node.kind in ("pow", "apply"):
        return _transposed(node)
    if node.kind in ("tuple", "interval"):
        return _rows(node)
    if node.kind == "mul":
        matrices = [arg for arg in node.args if arg.kind == "matrix"]
        scalars = [arg for arg in node.args if arg.kind != "matrix"]
        return _product(matrices, scalars)
    if node.kind == "add":
        parts = [_scaled(arg) for arg in node.args]
        found = [part for part in parts if part is not None]
        if len(found) == len(parts) and len({part.value for part in found}) == 1:
            entries = zip(*(part.args for part in found), strict=True)
            return Node("matrix", found[0].value, tuple(add(*entry) for entry in entries))
    return None


def _product(matrices: list[Node], scalars: list[Node]) -> Node | None:
    """The product of matrices in order, times numbers; None where the shapes do not fit or it is large."""
    if not matrices:
        return None
    found = matrices[0]
    for right in matrices[1:]:
        (rows, inner), (height, columns) = found.value, right.value
        if inner != height or rows * inner * columns > 1_000:
            return None
        entries = tuple(
            add(*(mul(found.args[i * inner + k], right.args[k * columns + j]) for k in range(inner)))
            for i in range(rows)
            for j in range(columns)
        )
        found = Node("matrix", (rows, columns), entries)
    return Node("matrix", found.value, tuple(mul(*scalars, entry) for entry in found.args)) if scalars else found


def _matrices(gold: Node, answer: Node, seed: str) -> Decision:
    one, other = _scaled(gold), _scaled(answer)
    for mine, theirs in ((one, answer), (other, gold)):
        if mine is not None and theirs.kind == "tuple" and 1 in mine.value:
            return _ordered_parts(Node("tuple", None, mine.args), theirs, seed)
    if one is None or other is None:
        return Decision(False, "a matrix against something else")
    if one.value != other.value:
        return Decision(False, "matrices of different shape")
    return _ordered_parts(one, other, seed)


def _stripped(node: Node) -> tuple[Node, str]:
    """A quantity's number and its mark: a unit, ``%``, degrees or nothing."""
    if node.kind == "unit":
        inner, mark = _stripped(node.args[0])
        return inner, f"{mark} {node.value}".strip()
    if node.kind == "percent":
        return node.args[0], "%"
    if node.kind == "degree":
        return node.args[0], "degree"
    if node.kind == "mul" and sum(arg.kind in ("unit", "degree", "percent") for arg in node.args) == 1:
        parts = [_stripped(arg) for arg in node.args]
        return mul(*(inner for inner, _ in parts)), "".join(mark for _, mark in parts)
    if node.kind == "add":
        marked = [_stripped(arg) for arg in node.args]
        marks = {mark for _, mark in marked if mark}
        if len(marks) == 1 and all(mark for _, mark in marked):
            return add(*(inner for inner, _ in marked)), marks.pop()
    return node, ""


_POUNDS = {"£", "lb"}  # both are called pounds


def _quantities(gold: Node, answer: Node, seed: str) -> Decision:
    mine, mark = _stripped(gold)
    theirs, other = _stripped(answer)
    if mark and other and mark != other and {mark, other} != _POUNDS:
        return Decision(False, f"{mark} is not {other}")
    found = _values(mine, theirs, seed)
    if mark == other or (found.equal and not (other == "%" and _share(mine))):
        return found
    if "%" in (mark, other):
        hundredth = Node("num", fmpq(1, 100))
        if mark:
            mine = mul(mine, hundredth)
        else:
            theirs = mul(theirs, hundredth)
        share = expressions_equal(mine, theirs, seed)
        return Decision(True, "percent") if share.equal else Decision(False, "percent of one against the other")
    if "degree" in (mark, other):
        turn = Node("degree", None, (mine if mark else theirs,))
        rest = theirs if mark else mine
        if any(here == Node("const", "pi") for here in walk(rest)):
            return expressions_equal(*((turn, rest) if mark else (rest, turn)), seed)
    return found


def _share(gold: Node) -> bool:
    """Is a gold without a mark a share of one, so that an answer's percent sign is not just a unit?"""
    value = constant_value(gold)
    return value is not None and not isinstance(value, acb) and bool(abs(value) <= 1) and not bool(value == 0)


def _values(gold: Node, answer: Node, seed: str) -> Decision:
    found = expressions_equal(gold, answer, seed)
    if not found.equal and (slack := _slack.get()) and _near(gold, answer, slack):
        return Decision(True, "within the tolerance")
    if found.equal is False and gold.kind == "dec" and gold.value[1] > 0 and answer.kind != "dec" and not free(answer):
        return _to_its_digits(gold, answer) or found
    return found


def _near(gold: Node, answer: Node, slack: float) -> bool:
    """Do two numbers differ by at most `slack` of the gold's size?"""
    values = [None if free(node) else constant_value(node, 192) for node in (gold, answer)]
    one, other = values
    if one is None or other is None or isinstance(one, acb) != isinstance(other, acb):
        return False
    with precision(192):
        return bool(abs(one - other) <= abs(one) * arb(slack))


@contextmanager
def within(tolerance: float) -> Iterator[None]:
    """Inside it, two numbers are equal whose difference is at most `tolerance` of the gold's size."""
    token = _slack.set(tolerance)
    try:
        yield
    finally:
        _slack.reset(token)


def matched_share(gold: Node, answer: Node) -> float:
    """The share of a gold's parts that an answer has, 0 where the gold has one part only."""
    gold, answer = _settled(gold), _settled(answer)
    mine, theirs = _without_name(gold), _without_name(answer)
    if mine.kind not in ("tuple", *_LISTS) or not 1 < len(mine.args) <= _MANY:
        return 0.0
    parts = theirs.args if theirs.kind in ("tuple", *_LISTS) else (theirs,)
    if len(parts) > _MANY:
        return 0.0
    left = list(parts)
    hits = 0
    for at, part in enumerate(mine.args):
        if mine.kind == "tuple":
            hits += at < len(parts) and _compare(part, parts[at], "").equal is True
            continue
        found = next((other for other in left if _compare(part, other, "").equal), None)
        if found is not None:
            left.remove(found)
            hits += 1
    return hits / max(len(mine.args), len(parts))


def _to_its_digits(gold: Node, answer: Node) -> Decision | None:
    """An exact answer equals a decimal gold that is the answer rounded to the gold's digits."""
    value = constant_value(answer, 256)
    if value is None or isinstance(value, acb):
        return None
    if any(here.kind == "dec" for here in walk(answer)):
        return None  # a rounded decimal is no exact answer
    exact, digits = gold.value
    half = fmpq(1, 2) / fmpq(10) ** digits
    if isinstance(value, fmpq) and _terminates(value, digits):
        return None
    with precision(256):
        off = abs(arb(value) - arb(exact)) if not isinstance(value, fmpq) else abs(value - exact)
        close = bool(off <= half)
    return Decision(True, f"rounded to the gold's {digits} digits") if close else None


def _terminates(value: fmpq, digits: int) -> bool:
    """Is it a decimal of about as many digits, which would have been written out?"""
    return bool((value * fmpq(10) ** (digits + 3)).q == 1) and Fraction(int(value.p), int(value.q)).denominator < 10**9
