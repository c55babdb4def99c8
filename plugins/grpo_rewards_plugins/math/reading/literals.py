"""Numbers as written: decimals with their count of digits, mixed numbers, digits with a base."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import fmpq, fmpz

from .tokens import Token
from .tree import Node, ParseError, mul, number, power

if TYPE_CHECKING:
    from .parser import Parser

__all__ = ["FRACTIONS", "literal", "number_at", "split_digit"]

FRACTIONS = frozenset("\\frac \\dfrac \\tfrac \\cfrac \\nicefrac \\sfrac".split())
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


def split_digit(parser: Parser) -> Node:
    """The next single digit of a number: ``\\frac12``."""
    token = parser.peek()
    if len(token.text) == 1 or not token.text.isdigit():
        parser.take()
        return literal(token.text)
    parser.tokens[parser.at] = Token("num", token.text[1:], False)
    return literal(token.text[0])


def number_at(parser: Parser, token: Token) -> Node:
    text = token.text
    if parser.met("_"):
        parser.take()
        base = parser.argument()
        return Node("based", (text, _base_name(base)))
    node = literal(text)
    if not text.isdigit():
        return node
    after = parser.peek()
    if after.kind == "cmd" and after.text in FRACTIONS:
        start = parser.at
        kept = parser.tokens[start : start + 4]  # "\\frac72" splits its token
        parser.take()
        part = parser.fraction()
        if part.kind == "num" and 0 < part.value < 1:  # a mixed number
            return Node("num", node.value + part.value)
        if part.kind == "num":
            raise ParseError("a mixed number whose fraction is not below one")
        parser.at = start
        parser.tokens[start : start + 4] = kept  # put back as it was: reading a fraction may split its tokens
        return node
    if after.kind == "num" and after.spaced and after.text.isdigit() and parser.peek(1).text == "/":
        bottom = parser.peek(2)
        if bottom.kind == "num" and bottom.text.isdigit() and 0 < fmpz(after.text) < fmpz(bottom.text):
            parser.at += 3
            return Node("num", node.value + fmpq(fmpz(after.text), fmpz(bottom.text)))
    return node


def _base_name(base: Node) -> str:
    words = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
    if base.kind == "num":
        return str(base.value)
    if base.kind == "sym" and base.value in words:
        return str(words[base.value])
    raise ParseError("a subscript on a number that is no base")
