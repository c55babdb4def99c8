"""Answers as structures, compared part by part: equations, lists, tuples, sets, matrices, ratios; values at the leaves."""

from __future__ import annotations

import re
from collections import Counter

from ..reading.tree import MINUS_ONE, Node, add, as_set, free, mul, negate, replaced, walk
from .chains import chain_differs
from .equality import Decision, expressions_equal, proportional
from .families import same_residue
from .lines import same_line
from .matrices import as_vector, identity, scaled, spanned, transposed
from .membership import by_membership, same_sign
from .normalization import in_parts, name_like, normalized, without_name, without_set_name
from .quantities import has_unit, same_bounds, same_quantity, same_value
from .sets import as_pieces, closed_at_infinity, same_pieces, same_products

_MANY = 64  # parts of a list that are matched, each with each
_SETS = frozenset(("interval", "named", "union", "cap", "setminus", "builder"))
_SPAN = ("apply", "span")
_LISTS = frozenset(("list", "set"))
_NO = Decision(False, "different kinds")


def compare(gold: Node, answer: Node, seed: str = "") -> Decision:
    """Decide an answer against a gold; `equal` is None where only a slower method could tell."""
    if gold == answer:
        return Decision(True, "same form")
    if gold.kind == answer.kind == "rel" and "~" in gold.value and gold.value == answer.value:
        last = same_value(gold.args[-1], answer.args[-1], seed)
        if not last.equal and (last.equal is False or free(gold.args[-1])):
            return Decision(last.equal, "different approximations")
    if gold.kind == "rel" and gold.value[-1] == "~" and gold.args[-1] == answer and answer.kind == "dec":
        return Decision(True, "the gold's own decimal")
    if _says_where(gold, answer):
        return compare(gold, answer.args[0], seed)
    if (line := same_line(gold, answer)) is not None:
        return Decision(line, "lines in space")
    if _computed_chain(gold) and _computed_chain(answer) and len(gold.args) == len(answer.args):
        return _ordered_parts(gold, answer, seed)
    if (residue := same_residue(gold, answer)) is not None:
        return Decision(residue, "residues")
    gold, answer = in_parts(gold, answer), in_parts(answer, gold)
    if (why := chain_differs(gold, answer, seed)) is not None:
        return Decision(False, why)
    return _compare(normalized(gold), normalized(answer), seed)


def _says_where(gold: Node, answer: Node) -> bool:
    """Is the gold a function, and the answer one with what its variable is taken from: ``f(x) = 1/x, x > 0``?"""
    if gold.kind != "rel" or gold.value != ("=",) or gold.args[0].kind != "apply" or answer.kind != "list":
        return False
    said, *where = answer.args
    return (
        said.kind == "rel"
        and said.value == ("=",)
        and said.args[0] == gold.args[0]
        and len(where) == 1
        and where[0].kind == "rel"
        and "=" not in where[0].value
        and free(where[0]) <= free(gold.args[0])
    )


def _computed_chain(node: Node) -> bool:
    """``2^3 = 8 = 5 + 3``: equal values in a row, of which none is a name."""
    equal = node.kind == "rel" and len(node.value) > 1 and all(op == "=" for op in node.value)
    return equal and not name_like(node.args[0])


def _compare(gold: Node, answer: Node, seed: str) -> Decision:
    if gold == answer:
        return Decision(True, "same form")
    if (products := same_products(gold, answer)) is not None:
        return Decision(products, "products of sets")
    if "quantified" in (gold.kind, answer.kind):
        return _quantified(gold, answer, seed)
    gold_set, answer_set = _set_like(gold), _set_like(answer)
    if (gold_set or answer_set) and (has_unit(gold) or has_unit(answer)):
        found = same_bounds(gold, answer)
        if isinstance(found, Decision):
            return found
        if found is not None:
            return _compare(*found, seed)
    if _SPAN in (gold[:2], answer[:2]):
        one, other = spanned(gold), spanned(answer)
        return _NO if one is None or other is None else Decision(one == other, "spans")
    if "matrix" in (gold.kind, answer.kind):
        gold, answer = (_point_of_names(node) for node in (gold, answer))
        return _objects(without_name(gold), without_name(answer), seed)
    if gold.kind == "rel" or answer.kind == "rel" or gold_set or answer_set:
        related = _relations_and_sets(gold, answer, seed)
        if related is not None:
            return related
    bare_gold, bare_answer = without_name(gold), without_name(answer)
    if (
        gold.kind == answer.kind == "list"
        and (mine := _letters_named(gold))
        and (theirs := _letters_named(answer))
        and mine != theirs
    ):
        return _lists(gold, answer, seed)  # "x = 1 or x = 2" is not "y = 1 or x = 2"
    several_names = gold.kind == "list" and len({_name_of(part) for part in gold.args}) > 1
    if several_names and answer.kind == "list":
        if _without_index(gold) == {_name_of(part) for part in answer.args}:
            return _lists(bare_gold, bare_answer, seed)  # "x_1 = 1, x_2 = 2" for "x = 1 or x = 2"
        if any(_name_of(part) for part in answer.args):
            return _lists(gold, answer, seed)
        return _ordered_parts(bare_gold, answer, seed)  # values without their names stand in the names' order
    if bare_gold.kind == "rel" or bare_answer.kind == "rel":
        return _NO
    return _objects(bare_gold, bare_answer, seed)


def _quantified(gold: Node, answer: Node, seed: str) -> Decision:
    """``\\exists x \\in S, p(x)``: one quantifier over one set, and the same said; the letter may be another."""
    if gold.kind != answer.kind or gold.value != answer.value or len(gold.args) != len(answer.args):
        return Decision(False, "different quantifiers")
    letters = [node.args[0].args[0] if node.args[0].kind == "rel" else node.args[0] for node in (gold, answer)]
    if letters[0] != letters[1] and all(letter.kind == "sym" for letter in letters):
        if letters[0].value in free(answer):
            return Decision(False, "different letters")
        answer = replaced(answer, {letters[1].value: letters[0]})
    for mine, theirs in zip(gold.args, answer.args, strict=True):
        claims = mine.kind == theirs.kind == "rel" and mine.value != ("=",) and mine is not gold.args[0]
        # not as sets: no number is below 0 in "x^2 < 0" and in "x^2 + 1 < 0"
        here = _inequalities(mine, theirs, seed) if claims else _compare(mine, theirs, seed)
        if not here.equal:
            return Decision(False, "another claim")
    return Decision(True, "the same claim")


def _point_of_names(node: Node) -> Node:
    """``x_1 = 1, x_2 = -1``: the entries of a column, in the order of their names."""
    if node.kind != "list" or len({_name_of(part) for part in node.args} - {""}) != len(node.args):
        return node
    return Node("tuple", None, without_name(Node("list", ",", tuple(sorted(node.args, key=_name_of)))).args)


def _name_of(node: Node) -> str:
    return repr(node.args[0]) if node.kind == "rel" and node.value == ("=",) else ""


def _letters_named(node: Node) -> set[str]:
    """What a list's parts name, without numbers and in lower case; empty where one names nothing."""
    names = [part.args[0] if part.kind == "rel" and part.value == ("=",) else None for part in node.args]
    if None in names:
        return set()
    return {
        str(name.value).partition("_")[0].lower() if name.kind == "sym" or "_" in str(name.value) else repr(name)
        for name in names
        if name is not None
    }


def _without_index(node: Node) -> set[str]:
    """The names of a list's parts without their numbers; empty where one is no numbered letter."""
    names = {_name_of(part) for part in node.args}
    return {_INDEX.sub("", name) for name in names} if all(map(_INDEX.search, names)) else set()


_INDEX = re.compile(r"_\{?\d+\}?(?=')")


def _set_like(node: Node) -> bool:
    if node.kind in _SETS:
        return True
    if node.kind == "list":
        return any(part.kind == "rel" and part.value != ("=",) for part in node.args)
    return node.kind == "rel" and node.value != ("=",)


def _relations_and_sets(gold: Node, answer: Node, seed: str) -> Decision | None:
    """Sets of numbers in any form; equations against equations. None where neither applies."""
    if _set_like(gold) or _set_like(answer):
        gold, answer = without_set_name(gold), without_set_name(answer)
        if "list" in (gold.kind, answer.kind) and not {gold.kind, answer.kind}.isdisjoint(_COMBINED):
            gold, answer = as_set(gold), as_set(answer)
        if _facts(gold) and _facts(answer):
            return _lists(gold, answer, seed)
        if gold.kind == answer.kind == "rel" and len(free(gold)) > 1 and _inequalities(gold, answer, seed).equal:
            return Decision(True, "inequalities of several letters")
        ones, others = as_pieces(gold), as_pieces(answer)
        if closed_at_infinity(answer) and not closed_at_infinity(gold):
            return Decision(False, "an interval that is closed at infinity")
        if ones is not None and others is not None:
            if ones[0] and others[0] and ones[0] != others[0]:
                return Decision(False, "different variables")
            equal = same_pieces(ones[1], others[1], seed)
            return Decision(equal, "sets of numbers")
        if _conditions(gold) and _conditions(answer):
            return _lists(gold, answer, seed)
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
        stripped_gold, stripped_answer = without_name(gold), without_name(answer)
        if (stripped_gold, stripped_answer) != (gold, answer):
            return _compare(stripped_gold, stripped_answer, seed)
        return Decision(False, "a set against something else")
    if gold.kind == "rel" and answer.kind == "rel" and gold.value == answer.value == ("=",):
        return _equations(gold, answer, seed)
    return None


_COMBINED = frozenset(("union", "cap", "setminus"))


def _conditions(node: Node) -> bool:
    """``x > 2, y \\ge 0``: conditions on a variable each."""
    names = [free(part) for part in node.args]
    return (
        node.kind == "list"
        and node.value != "or"
        and all(part.kind == "rel" for part in node.args)
        and all(len(name) == 1 for name in names)
        and len(frozenset().union(*names)) == len(names)
    )


def _facts(node: Node) -> bool:
    """``x \\equiv 2 \\pmod 7 or x \\equiv 5 \\pmod 7``, ``a \\perp b and b \\perp c``: classes of whole numbers, relations, in any order."""
    if node.kind != "list" or any(part.kind != "rel" for part in node.args):
        return False
    said = {part.value for part in node.args}
    return said <= {("perp",), ("parallel",)} or (said == {("==",)} and node.value != "and")


def _functions(node: Node) -> Counter[str]:
    """The functions in a name, without bars around a segment (``|AB|``) and what only says that it is an angle."""
    out: Counter[str] = Counter()
    for here in walk(node):
        if here.kind in ("call", "apply", "union", "cap", "setminus") and here.value not in _SILENT:
            segment = here.value in ("abs", "norm") and here.args[0].kind == "mul"
            out[str(here.value or here.kind)] += not segment
        elif here.kind == "rel":
            out[repr(_downwards(here))] += 1
        elif here == _CHANGE:
            out["\\Delta"] += 1
    return +out


def _downwards(node: Node) -> Node:
    """A condition in a name with its larger side first: ``P(2 < X)`` is ``P(X > 2)``."""
    flip = {"<": ">", "<=": ">="}
    if len(node.value) == 1 and node.value[0] in flip:
        return Node("rel", (flip[node.value[0]],), node.args[::-1])
    return node


_CHANGE = Node("sym", "\\Delta")
_SILENT = frozenset(("\\angle", "\\triangle", "\\measuredangle"))


def _letters(node: Node) -> Counter[str]:
    """The letters and numbers of a name, without its accents; those below its line as such."""
    found = Counter(
        str(here.value).split()[-1] if here.kind == "sym" else repr(here.value)
        for here in walk(node)
        if here.kind in ("sym", "num") and not (here.kind == "num" and here.value == -1)
    )
    for here in walk(node):
        if here.kind == "pow" and here.args[1] == MINUS_ONE and here.args[0].kind in ("sym", "mul"):
            found.update(f"1/{part.value}" for part in walk(here.args[0]) if part.kind == "sym")
    return found


def _flat(node: Node) -> tuple[Node, ...]:
    """The parts of a union of unions."""
    return tuple(part for arg in node.args for part in (_flat(arg) if arg.kind == node.kind else (arg,)))


def _equations(gold: Node, answer: Node, seed: str) -> Decision:
    (left, right), (other_left, other_right) = gold.args, answer.args
    if left == other_left or _same_head(left, other_left, right) or _same_head(other_left, left, other_right):
        return _objects(right, other_right, seed)
    plain = all(part.kind not in ("tuple", "list", "set", "interval", "matrix") for part in (*gold.args, *answer.args))
    if not plain:
        same_left = _objects(left, other_left, seed)
        return _objects(right, other_right, seed) if same_left.equal else same_left
    if name_like(left) and name_like(other_left) and not (free(right) or free(other_right)):
        if left.kind == other_left.kind == "sym" and left.value.lower() != other_left.value.lower():
            return Decision(False, "different variables")
        if left.kind != "sym" or other_left.kind != "sym":
            if _functions(left) != _functions(other_left) or (left.kind == "pow") != (other_left.kind == "pow"):
                return Decision(False, "different names")
            mine, theirs = _letters(left), _letters(other_left)
            if mine != theirs and (
                left.kind == other_left.kind or not (set(mine) <= set(theirs) or set(mine) >= set(theirs))
            ):
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


def _same_head(one: Node, other: Node, value: Node) -> bool:
    """``h(t)`` and ``h``, ``\\vec{F}`` and ``F``, ``x_1`` and ``x``, ``E_n`` and ``E`` of what depends on n, ``f(1/2)`` and ``f(0.5)``: one thing."""
    if one.kind == other.kind == "apply" and one.value == other.value and len(one.args) == len(other.args):
        return all(_compare(*pair, "").equal for pair in zip(one.args, other.args, strict=True))
    if one.kind == "apply" and other.kind == "sym" and one.value == f"{other.value}_":
        return free(one) <= free(value)
    if one.kind == other.kind == "sym" and _INDEX.sub("", f"{one.value}'") == f"{other.value}'":
        return True
    if one.kind == other.kind == "apply" and str(other.value).endswith("_"):  # "v_x(t)" and "v_x", "E_r(r)" and "E_r"
        return str(one.value) == "".join(str(part.value) for part in (other, *other.args))
    if one.kind == other.kind == "sym" or (one.kind == other.kind == "apply" and one.args == other.args):
        return str(one.value) in (f"\\vec {other.value}", f"\\hat {other.value}")  # a vector, an estimate
    return one.kind == "apply" and other.kind == "sym" and one.value == other.value and not free(one) & {other.value}


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
    if gold.value in (("perp",), ("parallel",)):
        return _lists(gold, answer, seed)
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
            equal = _elements(mine, others[at], seed).equal
            if equal:
                hit = at
                break
            doubt = doubt or equal is None
        if hit is None:
            if as_set and any(_elements(mine, other, seed).equal for other in others):
                continue
            return Decision(None if doubt else False, "a part without its equal")
        left.remove(hit)
    for at in left:
        if not (as_set and any(_elements(mine, others[at], seed).equal for mine in ones)):
            return Decision(None if doubt else False, "a part too many")
    return Decision(True, "part by part, in any order")


def _elements(gold: Node, answer: Node, seed: str) -> Decision:
    """Two elements: a set of one number is not that number here."""
    if (gold.kind == "set") != (answer.kind == "set"):
        return Decision(False, "a set against its element")
    return _compare(gold, answer, seed)


def _objects(gold: Node, answer: Node, seed: str) -> Decision:
    """Values, or structures of values."""
    if gold == answer:
        return Decision(True, "same form")
    gold, answer = as_vector(gold), as_vector(answer)
    kinds = (gold.kind, answer.kind)
    if gold.kind in _LISTS and answer.kind in _LISTS:
        return _lists(gold, answer, seed)
    if kinds == ("tuple", "tuple"):
        return _ordered_parts(gold, answer, seed)
    if "matrix" in kinds or transposed(gold) is not None or transposed(answer) is not None:
        return _matrices(gold, answer, seed)
    if "interval" in kinds or gold.kind in _SETS or answer.kind in _SETS:
        ones, others = as_pieces(gold), as_pieces(answer)
        if ones is None or others is None:
            return _NO
        return Decision(same_pieces(ones[1], others[1], seed), "sets of numbers")
    for one, other in ((gold, answer), (answer, gold)):
        if one.kind == "set" and len(one.args) == 1 and other.kind == "tuple" and one.args[0].kind == "tuple":
            return _objects(one.args[0], other, seed) if one is gold else _objects(other, one.args[0], seed)
    if kinds in (("tuple", "list"), ("list", "tuple"), ("tuple", "set"), ("set", "tuple")):
        if "pm" in (gold.value, answer.value):
            return Decision(False, "two values against a point")
        unordered = "set" in kinds and ";" in (gold.value, answer.value)
        return _lists(gold, answer, seed) if unordered else _ordered_parts(gold, answer, seed)
    for one, other in ((gold, answer), (answer, gold)):
        forms = other.kind == "list" and other.value == "or" and one.kind not in (*_LISTS, "tuple")
        if forms and _one_value(one, other, seed):
            return Decision(True, "one value in several forms")
    if gold.kind in _LISTS or answer.kind in _LISTS or "tuple" in kinds:
        for one, other in ((gold, answer), (answer, gold)):
            if one.kind in ("set", "tuple") and len(one.args) == 1:
                inner = (one.args[0], other) if one is gold else (other, one.args[0])
                return _compare(*inner, seed)
        return Decision(False, "one value against several")
    if gold.kind == "ratio" and answer.kind == "ratio" and len(gold.args) != 2:
        return _ratios(gold, answer, seed)
    return same_quantity(gold, answer, seed)


def _one_value(value: Node, forms: Node, seed: str) -> bool:
    """Is each of several forms that value, one of them exactly and the others at least rounded (``7/12 or 0.583``)?"""
    found = [(_compare(value, part, seed).equal, _compare(part, value, seed).equal) for part in forms.args]
    return all(there or back for there, back in found) and any(there and back for there, back in found)


def _ratios(gold: Node, answer: Node, seed: str) -> Decision:
    if len(gold.args) != len(answer.args):
        return Decision(False, "ratios of different length")
    first, other = gold.args[0], answer.args[0]
    for mine, theirs in zip(gold.args[1:], answer.args[1:], strict=True):
        here = expressions_equal(mul(first, theirs), mul(other, mine), seed)
        if not here.equal:
            return Decision(here.equal, "ratios")
    return Decision(True, "ratios")


def _matrices(gold: Node, answer: Node, seed: str) -> Decision:
    gold, answer = identity(gold, answer), identity(answer, gold)
    one, other = scaled(gold), scaled(answer)
    for mine, theirs in ((one, answer), (other, gold)):
        if mine is not None and theirs.kind == "tuple" and 1 in mine.value:
            return _ordered_parts(Node("tuple", None, mine.args), theirs, seed)
    if one is None or other is None:
        return Decision(False, "a matrix against something else")
    if one.value != other.value:
        return Decision(False, "matrices of different shape")
    return _ordered_parts(one, other, seed)


def matched_share(gold: Node, answer: Node) -> float:
    """The share of a gold's parts that an answer has, 0 where the gold has one part only."""
    gold, answer = normalized(gold), normalized(answer)
    mine, theirs = without_name(gold), without_name(answer)
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
