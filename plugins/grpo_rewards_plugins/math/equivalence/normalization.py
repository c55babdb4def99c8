"""What changes nothing about an answer, taken off: chains as their end, ``\\pm`` as its two values, names of values."""

from __future__ import annotations

from itertools import pairwise, product
from math import prod

from flint import fmpq

from ..reading.tree import MINUS_ONE, Node, add, free, mul, negate, number, replaced, walk
from .equality import expressions_equal

_MANY = 64  # points that signs may stand for


def normalized(node: Node) -> Node:
    """Without what changes nothing: chains like ``a = b = c`` read as their end, ``\\pm`` as its two values."""
    if node.kind == "tuple" and any(here.kind == "pm" and here.value == "-" for here in walk(node)):
        return _both_signs(node)  # the signs of one point go together
    if node.kind in ("list", "set", "tuple"):
        if all(part.kind == "rel" and part.value == ("=",) and part.args[0].kind == "sym" for part in node.args):
            node = Node("list", ",", node.args)  # "[x = 1, y = 2]"
        node = _written_out(node)
        parts: list[Node] = []
        for part in node.args:
            inner = normalized(part)
            if node.kind != "tuple" and inner.kind == "list" and inner.value == "pm":
                parts.extend(inner.args)
            elif node.kind == "list" and (named := _one_value(part)):
                parts.extend(named)
            else:
                parts.append(inner)
        if node.kind == "list":
            parts = _shared_name(parts)
            if (
                node.value == ";"
                and {"tuple"} != {part.kind for part in parts}
                and not any(part.kind == "rel" for part in parts)
            ):
                return Node("tuple", ";", tuple(parts))  # blanks of one question, in their order
        if node.kind == "tuple" and any(part.kind == "list" and part.value == "pm" for part in parts):
            return _points(parts, node.value)
        return Node(node.kind, node.value, tuple(parts))
    if node.kind == "rel" and node.value == ("=>",):
        return Node("rel", ("->",), node.args)  # both are written for "if ... then"
    if node.kind == "rel":
        return _constant_function(_chain(node))
    if node.kind == "builder":
        return _image(node)
    if any(here.kind == "pm" for here in walk(node)):
        return _both_signs(node)
    return node


def _one_value(node: Node) -> list[Node]:
    """``x = y = 4`` as an equation for each of its letters; nothing for any other node."""
    if node.kind != "rel" or len(node.value) < 2 or any(op != "=" for op in node.value):
        return []
    *names, value = node.args
    letters = all(name.kind == "sym" for name in names) and value.kind != "sym"
    return [Node("rel", ("=",), (name, value)) for name in names] if letters else []


def _written_out(node: Node) -> Node:
    """``1, 2, \\ldots, 10`` with the numbers between, and ``x = k\\pi, k = 0, 1, 2`` as its values."""
    first, *rest = node.args
    counted = node.kind == "list" and len(rest) > 1 and rest[0].kind == "rel" and rest[0].value == ("=",)
    head = rest[0].args[0] if counted else None
    if head is None or head.kind != "sym" or head.value not in free(first) or first == rest[0]:
        return Node(node.kind, node.value, _without_dots(node.args)) if _DOTS in node.args else node
    values = _without_dots((rest[0].args[1], *rest[1:]))
    if any(value.kind != "num" for value in values):
        return node
    return Node("list", node.value, tuple(replaced(first, {head.value: value}) for value in values))


_DOTS = Node("sym", "\\ldots")
_LONGEST_ROW = 400


def _without_dots(parts: tuple[Node, ...]) -> tuple[Node, ...]:
    """Whole numbers that step evenly up to the dots, and the last behind them, with those between; of equal parts as few as show it."""
    if _DOTS in parts and len(alike := set(parts) - {_DOTS}) == 1 and parts[0] != _DOTS != parts[-1]:
        return (*alike, _DOTS, *alike)
    if parts.count(_DOTS) != 1 or len(parts) < 4 or parts[-2] != _DOTS:
        return parts
    numbers = [part.value for part in parts if part.kind == "num" and part.value.q == 1]
    steps = {later - former for former, later in pairwise(numbers[:-1])}
    if len(numbers) != len(parts) - 1 or len(steps) != 1 or (step := steps.pop()) == 0:
        return parts
    count = (numbers[-1] - numbers[0]) / step
    if count.q != 1 or not len(numbers) - 1 <= count < _LONGEST_ROW:
        return parts
    return tuple(number(numbers[0] + turn * step) for turn in range(int(count.p) + 1))


def in_parts(node: Node, other: Node) -> Node:
    """A relation between tuples, or of several names to one value, in the parts in which the other side says the same.

    ``x = y = z = 1`` beside ``(1, 1, 1)`` is that point, ``(y, x) = (1, 2)`` beside a list of equations a list of them, and
    ``t = \\frac{\\ln 2}{k} \\approx 34.7`` beside a number is the number that the formula comes to.
    """
    if node.kind == "rel" and "~" in node.value and not free(other) and not free(node.args[-1]):
        before = node.args[node.value.index("~")]
        rest = mul(*before.args[1:]) if before.kind == "mul" and before.args[0].kind == "num" else before
        scaled = len(node.args) == 2 and (
            rest.kind == "add" or len(free(rest)) == 1 or name_like(rest)
        )  # "2x \\approx 6"
        return node.args[-1] if free(before) and not (name_like(before) or scaled) else node
    if node.kind == "rel" and "=>" in node.value[:-1] and not (other.kind == "rel" and "=>" in other.value):
        last = len(node.value) - node.value[::-1].index("=>")  # "n - 2 = 17 \\implies n = 19"
        solved = Node("rel", node.value[last:], node.args[last:])
        return solved if name_like(solved.args[0]) and not free(solved.args[-1]) else node
    if node.kind != "rel" or any(op != "=" for op in node.value):
        return node
    *names, value = node.args
    if len(names) > 1 and value.kind != "sym" and all(name.kind == "sym" for name in names) and _DOTS not in names:
        names.sort(key=lambda name: str(name.value))
        node = Node("rel", node.value, (*names, value))
    if other.kind == "tuple" and len(names) > 1:
        if _DOTS in names and _DOTS in other.args:  # "x_1 = ... = x_n = 1"
            return Node("tuple", None, (value, _DOTS, value))
        named = len(set(names)) == len(names) == len(other.args) and all(name.kind == "sym" for name in names)
        return Node("tuple", None, (value,) * len(names)) if named else node
    if len(names) > 1 and len(set(names)) == len(names) and all(name.kind == "sym" for name in names):
        if (
            other.kind == "rel"
            and other.value == ("=",)
            and other.args[0] == Node("tuple", other.args[0].value, tuple(names))
        ):
            return Node("rel", ("=",), (other.args[0], Node("tuple", None, (value,) * len(names))))
        named = all(part.kind == "rel" and part.value == ("=",) for part in other.args)
        if other.kind == "list" and (named or (len(other.args) == len(names) and all(map(_is_value, other.args)))):
            return Node("list", ",", tuple(Node("rel", ("=",), (name, value)) for name in names))
    if other.kind != "list" or any(part.kind != "rel" or part.value != ("=",) for part in other.args):
        return node
    points = names[0].kind == value.kind == "tuple" and len(names) == 1 and len(names[0].args) == len(value.args)
    if not points:
        return node
    return Node("list", ",", tuple(Node("rel", ("=",), pair) for pair in zip(names[0].args, value.args, strict=True)))


def _is_value(node: Node) -> bool:
    return node.kind not in ("rel", "list", "tuple", "set", "interval")


def _constant_function(node: Node) -> Node:
    """``W(n) = 1`` with its variable's name left out, which says nothing; ``P(A) = 1`` speaks of A."""
    if node.kind != "rel" or node.value != ("=",) or node.args[0].kind != "apply" or len(node.args[0].args) != 1:
        return node
    head, value = node.args
    variable = head.args[0]
    if variable.kind != "sym" or variable.value not in _VARIABLES or head.value in _OF_EVENTS or free(value):
        return node
    return Node("rel", ("=",), (Node("apply", head.value, (Node("sym", "\\cdot"),)), value))


_VARIABLES = frozenset("xyztnk")
_OF_EVENTS = frozenset(("P", "E", "V"))


def _image(node: Node) -> Node:
    """``\\{x : x = 2k, k \\in \\mathbb{Z}\\}`` as ``\\{2k : k \\in \\mathbb{Z}\\}``."""
    name, condition = node.args
    if condition.kind != "list" or condition.value not in (",", "and") or len(condition.args) != 2:
        return node
    for rule, rest in (condition.args, condition.args[::-1]):
        if rule.kind == "rel" and rule.value == ("=",) and rule.args[0] == name and not free(rule.args[1]) & free(name):
            return Node("builder", None, (rule.args[1], rest))
    return node


def _points(parts: list[Node], brackets: object) -> Node:
    """``(0, \\pm 3)`` as its two points."""
    choices = [part.args if part.kind == "list" and part.value == "pm" else (part,) for part in parts]
    if prod(len(choice) for choice in choices) > _MANY:
        return Node("tuple", brackets, tuple(parts))
    return Node("list", "pm", tuple(Node("tuple", brackets, point) for point in product(*choices)))


def _shared_name(parts: list[Node]) -> list[Node]:
    """``n = 2, 3, 4`` and ``x \\ne 2, 3`` name one variable for all parts."""
    first = parts[0]
    named = first.kind == "rel" and first.value in (("=",), ("!=",)) and name_like(first.args[0])
    if not named or any(
        part.kind == "rel" and part[1:2] + part.args[:1] != (first.value, first.args[0]) for part in parts
    ):
        return parts
    return [part if part.kind == "rel" else Node("rel", first.value, (first.args[0], part)) for part in parts]


def _chain(node: Node) -> Node:
    ops, args = node.value, node.args
    if "~" in ops:
        cut = ops.index("~")
        if cut == 0:
            named = name_like(args[0]) and not _is_e(*args[:2])
            return Node("rel", ("=",), args[:2]) if named else normalized(args[0])
        return normalized(Node("rel", ops[:cut], args[: cut + 1]))
    if len(ops) >= 2 and all(op == "=" for op in ops):
        if name_like(args[0]):
            return _both_signs(Node("rel", ("=",), (args[0], args[-1])))
        # the end counts: what stands before it is how it was found
        return normalized(args[-1]) if not free(args[-1]) else node
    return _both_signs(node) if any(here.kind == "pm" for here in walk(node)) else node


def _is_e(letter: Node, value: Node) -> bool:
    """Is an ``e`` the base of logarithms, by the decimal that it is said to be near, and no name of a value?"""
    return letter == Node("const", "e") and value.kind == "dec" and fmpq(27, 10) <= value.value[0] <= fmpq(272, 100)


def _both_signs(node: Node) -> Node:
    marks = [here.value for here in walk(node) if here.kind == "pm"]
    if not marks:
        return node
    # with a \mp the signs depend on each other; four free ones would already be sixteen values
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


def name_like(node: Node) -> bool:
    """Something that is named rather than computed: ``x``, ``f(x)``, ``AB``, ``|AB|``, ``A:B``, ``(x, y)``."""
    kind = node.kind
    if kind in ("sym", "apply") or (kind == "const" and node.value in ("e", "i")):
        return True
    if kind == "mul":
        return (
            all(_segment(arg) for arg in node.args)
            or _derivative(node.args)
            or all(arg.kind == "sym" and arg.value.startswith(("\\vec", "\\overrightarrow")) for arg in node.args)
            or _quotient(node.args)
            or (node.args[0].kind == "apply" and node.args[0].value == "\\complement_")
            or (node.args[0] == Node("sym", "\\Delta") and all(_plain_name(arg) for arg in node.args[1:]))
            or (node.args[0] == Node("sym", "m") and len(node.args) == 2 and "\\angle" in str(node.args[1].value))
            or (
                len(node.args) == 2
                and node.args[0].kind == "sym"
                and (node.args[1].kind == "tuple" or (node.args[1].kind == "sym" and node.args[0].value[:1].isupper()))
            )
        )
    if kind == "call" and node.value in ("abs", "norm", "arg", "re", "im", "max", "min", "gcd", "lcm", "det"):
        return all(name_like(arg) for arg in node.args)
    if kind == "call" and node.value in ("cos", "sin", "tan", "cot", "sec", "csc") and node.args:
        return name_like(node.args[0])
    if kind in ("union", "cap", "setminus"):
        return all(arg.kind == "sym" and arg.value[:1].isupper() for arg in node.args)
    if kind == "degree":  # "S^\\circ", of a standard state
        return node.args[0].kind == "sym"
    if kind == "pow":  # "\\chi^2 = 3.84"; "x^2 = 4" is an equation
        return node.args[1] == number(2) and node.args[0].kind == "sym" and node.args[0].value in _SQUARED_NAMES
    if kind in ("ratio", "tuple"):
        return all(name_like(arg) for arg in node.args)
    return kind == "opaque" and (node.value == "diff" or (node.value in ("lim", "int") and _known_limit(node)))


_SQUARED_NAMES = frozenset(("\\chi", "\\sigma", "R"))


def _inverse(node: Node) -> bool:
    """The name of an inverse or a transpose: ``A^{-1}``, ``A^T``."""
    named = node.kind == "pow" and node.args[0].kind in ("sym", "matrix")
    return named and node.args[1] in (MINUS_ONE, Node("sym", "T"))


def _worked_out(node: Node) -> bool:
    """A derivative of an expression, which is no unknown: ``\\frac{d}{dx}(x^3)``."""
    return node.kind == "opaque" and node.value == "diff" and node.args[0].kind in ("pow", "mul", "add", "call")


def _plain_name(node: Node) -> bool:
    """A name, also with the mark of a standard state (``\\Delta H^\\circ``)."""
    return name_like(node.args[0] if node.kind == "degree" else node)


def _known_limit(node: Node) -> bool:
    """Is a limit or a definite integral a number, of functions that are all known?"""
    return (
        len(node.args) > 2
        and free(node.args[0]) <= free(node.args[1])
        and all(here.kind != "apply" for here in walk(node))
    )


def _derivative(factors: tuple[Node, ...]) -> bool:
    """``dy/dx``, which is read as a quotient."""
    if len(factors) != 2 or factors[1].kind != "pow" or factors[1].args[1] != MINUS_ONE:
        return False
    top, bottom = factors[0], factors[1].args[0]
    return all(part.kind == "sym" and len(part.value) == 2 and part.value[0] == "d" for part in (top, bottom))


def _quotient(factors: tuple[Node, ...]) -> bool:
    """``\\frac{p}{q}``: one letter over another."""
    if len(factors) != 2 or factors[1].kind != "pow" or factors[1].args[1] != MINUS_ONE:
        return False
    return factors[0].kind == factors[1].args[0].kind == "sym"


def _is_change(node: Node, value: Node) -> bool:
    """``S_B - S_A``, of a value without these: a change by its ends, which is asked for as often as a letter."""
    if node.kind != "add" or len(node.args) != 2:
        return False
    end, taken = node.args
    if taken.kind != "mul" or taken.args[0] != MINUS_ONE or len(taken.args) != 2:
        return False
    start = taken.args[1]
    if not {end.kind, start.kind} <= {"sym", "apply"}:
        return False
    names = [str(part.value).partition("_") for part in (end, start)]
    return names[0][:2] == names[1][:2] and "_" in names[0] and not {end, start}.intersection(walk(value))


def _segment(node: Node) -> bool:
    """A point's letter in a segment such as ``AB``, also below the line of ``\\frac{AB}{CD}``."""
    if node.kind == "pow" and node.args[1] == MINUS_ONE:
        return name_like(node.args[0])
    return node.kind == "sym" and bool(node.value[:1].isupper())


def without_name(node: Node) -> Node:
    """``x = 5`` as 5 and ``x \\in S`` as S, where the left side only names the value."""
    if node.kind == "rel" and len(node.value) == 1:
        left, right = node.args
        if node.value[0] == "==" and name_like(left) and right.kind == "residue":
            return right  # "x \\equiv 3 \\pmod 7"
        if node.value[0] == "~=" and left.kind == "sym" and left.value.isupper():
            return right  # "G \\cong S_3"
        if node.value[0] in ("=", "in"):
            points = left.kind == right.kind == "tuple"  # "(n, p) = (1, p)"
            if _is_change(left, right):
                return right
            if name_like(left) and (
                points or left.kind == "apply" or (free(left) & free(right)) <= {_DOTS.value} or _worked_out(left)
            ):
                return right
            if (
                _inverse(left)
                and right.kind in ("matrix", "mul")
                and any(here.kind == "matrix" for here in walk(right))
            ):
                return right
            if node.value[0] == "=" and not free(node) and expressions_equal(left, right).equal:
                return right  # "2 + 3 = 5"
            turned = node.value[0] == "=" and name_like(right) and right.kind != "const" and not name_like(left)
            if turned and not free(left):
                return left
    if node.kind == "list" and all(p.kind == "rel" and p.value == ("=",) for p in node.args):
        return Node("list", node.value, tuple(without_name(part) for part in node.args))
    return node


def without_set_name(node: Node) -> Node:
    """``A = [2, 4]`` as its set, which is no equation of intervals' ends; any other node as it is."""
    if node.kind != "rel" or node.value != ("=",) or node.args[1].kind not in _NAMED_SETS:
        return node
    return node.args[1] if name_like(node.args[0]) else node


_NAMED_SETS = frozenset(("interval", "named", "union", "cap", "setminus", "builder", "tuple"))
