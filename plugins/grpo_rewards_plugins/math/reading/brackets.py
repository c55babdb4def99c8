"""Brackets: groups, tuples, intervals, sets and their builders, absolute values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import fmpq

from .tree import MINUS_ONE, Node, ParseError, add, free, number, power, walk

if TYPE_CHECKING:
    from .parser import Parser

_HALF = number(fmpq(1, 2))


def size(node: Node, name: str = "abs") -> Node:
    """What stands between bars: an absolute value, or the length of a vector."""
    if node.kind == "tuple" or (node.kind == "matrix" and node.value[1] == 1):
        return power(add(*(power(part, number(2)) for part in node.args)), _HALF)
    return Node("call", name, (node,))


def group(parser: Parser) -> Node:
    parser.expect("{")
    parser.deeper()
    # within braces a bar and a colon begin anew, whatever they mean outside; so in all brackets below
    bars, colon = parser.bars, parser.no_colon
    parser.bars = parser.no_colon = 0
    node = parser.whole()
    parser.bars, parser.no_colon = bars, colon
    parser.depth -= 1
    if parser.met("}"):
        parser.take()
    elif parser.peek().kind != "end":  # an unclosed group at the very end is forgiven
        parser.expect("}")
    return node


def inside(parser: Parser, *closers: str) -> tuple[Node, ...]:
    parser.deeper()
    bars, colon = parser.bars, parser.no_colon
    parser.bars = parser.no_colon = 0
    node = parser.items()
    parser.bars, parser.no_colon = bars, colon
    parser.expect(*closers)
    parser.depth -= 1
    return node.args if node.kind == "list" else (node,)


def bracket(parser: Parser, text: str) -> Node:
    if text in ("(", "[", "]"):
        return _round_or_square(parser, text)
    if text == "{":
        parser.at -= 1
        return group(parser)
    if text == "\\{":
        return _braces(parser)
    if text in ("|", "|("):
        parser.bars += 1
        parser.deeper()
        node = parser.sets()
        parser.expect("|", "|)")
        parser.depth -= 1
        parser.bars -= 1
        return size(node)
    if text == "\\|":
        node = parser.sum()
        parser.expect("\\|")
        return size(node, "norm")
    parser.at -= 1
    amount = parser.currency()
    if amount is not None:
        return amount
    raise ParseError(f"did not expect {text!r}")


def _round_or_square(parser: Parser, opener: str) -> Node:
    """Brackets: a value, a tuple, an interval; ``]0, 1[`` is the open interval."""
    if parser.met(")", "]"):
        raise ParseError("empty brackets")
    whole = parser.at == 1
    parser.deeper()
    bars, colon = parser.bars, parser.no_colon
    parser.bars = parser.no_colon = 0
    node = parser.items()
    parser.bars, parser.no_colon = bars, colon
    closer = parser.expect(")", "]", "[").text
    parser.depth -= 1
    parts = node.args if node.kind == "list" and node.value in (",", ";") else (node,)
    if opener == "]" or closer == "[":
        if len(parts) != 2:
            raise ParseError("brackets that do not match")
        return Node("interval", (opener == "[", closer == "]"), parts)
    if len(parts) == 1:
        if opener == "[" and closer == "]":
            if whole and parser.peek().kind == "end" and _share_of_whole_numbers(node):
                return Node("call", "floor", (node,))
            return Node("tuple", "[", parts) if node.kind in ("tuple", "interval") else node
        if (opener == "(") != (closer == ")"):
            raise ParseError("brackets that do not match")
        return node
    if len(parts) == 2 and opener == "[" and closer == "]" and _falls(*parts):
        return Node("tuple", "[", parts)  # "[0.5, -1]" is a vector
    if len(parts) == 2 and (opener == "[" or closer == "]"):
        return Node("interval", (opener == "[", closer == "]"), parts)
    if (opener == "(") != (closer == ")"):
        raise ParseError("brackets that do not match")
    return Node("tuple", None if opener == "(" else "[", parts)


def _braces(parser: Parser) -> Node:
    if parser.met("\\}"):
        parser.take()
        return Node("named", "empty")
    parser.deeper()
    bars, colon = parser.bars, parser.no_colon
    parser.bars, parser.no_colon = 0, 1
    first = parser.items()
    if parser.met("|", ":", "\\mid", "\\vert", "\\colon"):
        parser.take()
        parser.no_colon = 0
        condition = parser.items()
        node = Node("builder", None, (first, condition))
    else:
        node = Node("set", None, first.args if first.kind == "list" else (first,))
    parser.bars, parser.no_colon = bars, colon
    parser.expect("\\}")
    parser.depth -= 1
    return node


def _share_of_whole_numbers(node: Node) -> bool:
    """``[\\frac{n^2}{4}]``: brackets around it are those of Gauss, the whole part."""
    divided = any(
        here.kind == "pow" and here.args[0].kind == "num" and here.args[1] == MINUS_ONE for here in walk(node)
    )
    return divided and bool(free(node)) and free(node) <= _COUNTING


_COUNTING = frozenset("kmn")


def _falls(first: Node, last: Node) -> bool:
    """Are two plain numbers in falling order, as no interval has them?"""
    values = [
        node.value if node.kind == "num" else node.value[0] for node in (first, last) if node.kind in ("num", "dec")
    ]
    return len(values) == 2 and bool(values[0] > values[1])
