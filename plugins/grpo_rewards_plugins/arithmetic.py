"""Reading and computing plain arithmetic exactly; nothing is ever evaluated as code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from grpo_rewards_plugins.numbers import read_number

_LONGEST = 1000  # characters
_DEEPEST = 50  # levels of brackets and signs

_SPACING = re.compile(r"\\(?:left|right|quad|qquad|displaystyle|[,;:! ()\[\]])|[\s$`~]+|\\+(?=\s|$)")
# no `**`: without powers a value has about as many digits as its text; [0-9], since \d knows other scripts' digits
_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)"
    r"|(?P<frac>\\[dt]?frac(?![A-Za-z]))|(?P<times>\\times(?![A-Za-z])|\\cdot(?![A-Za-z])|\*(?!\*)|[×·⋅∙∗xX])"
    r"|(?P<over>\\div(?![A-Za-z])|/(?!/)|[÷∕⁄])|(?P<plus>\+)|(?P<minus>[-−–])"
    r"|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<equals>=)"
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}

Operation = Literal["+", "-", "*", "/"]


class ArithmeticProblem(Exception):
    """A text that is no arithmetic, or has no value; `readable` says whether it is at least an expression."""

    def __init__(self, message: str, *, readable: bool = False) -> None:
        super().__init__(message)
        self.readable = readable


@dataclass(frozen=True, slots=True)
class _BinaryOperation:
    """One operation on the values of two parts."""

    operation: Operation
    left: _Node
    right: _Node


_Node = Fraction | _BinaryOperation


@dataclass(frozen=True, slots=True)
class Expression:
    """What was read: the `numbers` in order of appearance, and what ``=`` at the end claims, if it is there."""

    root: _Node
    numbers: list[Fraction]
    claimed: Fraction | None

    def value(self) -> Fraction:
        """Compute it exactly; raises `ArithmeticProblem` where it divides by zero."""
        return _compute(self.root)


def read_expression(text: str) -> Expression:
    """Read ``(3 + 5) * 2``, ``(3 + 5) * 2 = 16`` or ``16 = (3 + 5) * 2``; raises `ArithmeticProblem` for anything else."""
    text = text.strip()
    if len(text) > _LONGEST:
        raise ArithmeticProblem(f"the expression has {len(text)} characters, more than {_LONGEST}")
    # the full stop of a sentence
    tokens = _tokens(text[:-1] if text.endswith(".") else text)
    if not tokens:
        raise ArithmeticProblem("the answer is empty")
    claimed = None
    if equals := [place for place, (kind, _) in enumerate(tokens) if kind == "equals"]:
        if len(equals) > 1:
            raise ArithmeticProblem("the answer has more than one =; one expression is wanted")
        tokens, behind = tokens[: equals[0]], tokens[equals[0] + 1 :]
        if len(tokens) <= 2 < len(behind):  # a value comes first: 16 = (3 + 5) * 2
            tokens, behind = behind, tokens
        claimed = _claim(behind)
    return _Parser(tokens).read(claimed)


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    place = 0
    while place < len(text):
        if match := _SPACING.match(text, place):
            place = match.end()
        elif (match := _TOKEN.match(text, place)) and match.lastgroup:
            tokens.append((match.lastgroup, match[0]))
            place = match.end()
        else:
            raise ArithmeticProblem(f"{text[place : place + 20]!r} is not arithmetic of + - * / and brackets")
    return tokens


def _claim(tokens: list[tuple[str, str]]) -> Fraction:
    sign = -1 if tokens and tokens[0][0] == "minus" else 1
    rest = tokens[1:] if sign < 0 else tokens
    if len(rest) != 1 or rest[0][0] != "number":
        raise ArithmeticProblem("after = only the target may stand")
    return sign * _fraction(rest[0][1])


def _fraction(text: str) -> Fraction:
    number = read_number(text)
    if number is None:
        raise ArithmeticProblem(f"{text[:40]!r} is too long for a number")
    return number


class _Parser:
    """Recursive descent over tokens, at most `_DEEPEST` levels deep."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._place = 0
        self._depth = 0
        self._numbers: list[Fraction] = []

    def read(self, claimed: Fraction | None) -> Expression:
        root = self._sum()
        if self._place < len(self._tokens):
            raise ArithmeticProblem(f"an operator is missing before {self._tokens[self._place][1]!r:.40}")
        return Expression(root, self._numbers, claimed)

    def _next(self) -> str:
        return self._tokens[self._place][0] if self._place < len(self._tokens) else ""

    def _take(self) -> tuple[str, str]:
        if self._place >= len(self._tokens):
            raise ArithmeticProblem("the expression breaks off")
        self._place += 1
        return self._tokens[self._place - 1]

    def _sum(self) -> _Node:
        node = self._product()
        while (kind := self._next()) in ("plus", "minus"):
            self._place += 1
            node = _BinaryOperation("+" if kind == "plus" else "-", node, self._product())
        return node

    def _product(self) -> _Node:
        node = self._factor()
        while (kind := self._next()) in ("times", "over"):
            self._place += 1
            node = _BinaryOperation("*" if kind == "times" else "/", node, self._factor())
        return node

    def _factor(self) -> _Node:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ArithmeticProblem(f"the expression is nested more than {_DEEPEST} levels deep")
        kind, text = self._take()
        node: _Node
        match kind:
            case "number":
                node = _fraction(text)
                self._numbers.append(node)
            case "plus":
                node = self._factor()
            case "minus":
                node = _BinaryOperation("-", Fraction(0), self._factor())
            case "open":
                node = self._bracket(text)
            case "frac":
                above = self._braced()
                node = _BinaryOperation("/", above, self._braced())
            case _:
                raise ArithmeticProblem(f"a number is missing before {text!r:.40}")
        self._depth -= 1
        return node

    def _bracket(self, opening: str) -> _Node:
        node = self._sum()
        kind, text = self._take()
        if kind != "close":
            raise ArithmeticProblem(f"an operator is missing before {text!r:.40}")
        if text != _CLOSING[opening]:
            raise ArithmeticProblem(f"{opening} is closed by {text}")
        return node

    def _braced(self) -> _Node:
        kind, text = self._take()
        if kind != "open" or text != "{":
            raise ArithmeticProblem("\\frac needs two parts in braces")
        return self._bracket(text)


def _compute(root: _Node) -> Fraction:
    """Compute without recursion: a sum of a thousand terms is as deep as it is long."""
    values: list[Fraction] = []
    pending: list[tuple[_Node, bool]] = [(root, False)]
    while pending:
        node, ready = pending.pop()
        if isinstance(node, Fraction):
            values.append(node)
        elif not ready:
            pending += [(node, True), (node.right, False), (node.left, False)]
        else:
            right, left = values.pop(), values.pop()
            if node.operation == "/" and not right:
                raise ArithmeticProblem("the expression divides by zero", readable=True)
            values.append(
                left + right if node.operation == "+" else left - right if node.operation == "-"
                else left * right if node.operation == "*" else left / right
            )  # fmt: skip
    return values[0]
