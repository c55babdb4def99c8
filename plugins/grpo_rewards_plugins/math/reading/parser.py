"""A recursive-descent parser from tokens to the tree; operators here, what an operand may be in ``operands``.

Levels, loosest first: list (``,`` ``;`` or, and) - relation - union, difference - ratio - sum - product - power - operand.
Depth and length are capped, so that hostile text costs a bounded time and stack.
"""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

import re

from . import operands, suffixes
from .parts import CONDITIONS
from .tokens import Token, grouped, tokenize
from .tree import Kind, Node, ParseError, add, divide, free, mul, negate, number, of_sets
from .unit_expressions import begins_unit, labelled_unit, mixed_amount, read_unit, with_unit
from .units import CURRENCY, CURRENCY_CODES, PERCENT_WORDS, SCALES, named_unit

MAX_DEPTH = 40
_DEEPEST = 120  # levels of a tree; each takes up to three frames of the stack
_END = Token("end", "", False)
_TIMES = frozenset(("*", "\\cdot", "\\times", "\\ast", "\\star"))
_DIVIDED = frozenset(("/", "\\div"))
_SETS: dict[str, Kind] = {
    "\\cup": "union",
    "\\cap": "cap",
    "\\setminus": "setminus",
    "\\backslash": "setminus",
    "\\bigcup": "union",
}
_QUANTIFIERS = frozenset(("\\forall", "\\exists", "\\nexists"))
_OPENERS = frozenset("( [ { \\{ |(".split())
_NOT_OPERANDS = frozenset(
    "\\cdot \\times \\ast \\star \\div \\cup \\cap \\setminus \\backslash \\mid \\vert \\rvert \\rangle \\rfloor \\rceil "
    "\\bmod \\mod \\pmod \\pm \\mp \\rbrace \\rVert \\rbrack \\circ \\prime \\degree \\\\ \\ldots \\colon \\textdegree \\lor \\land \\vee \\wedge \\over \\choose \\atop \\forall \\exists \\nexists".split()
)
_HEDGES = frozenset(
    "or least most than not except but minus plus divided wrong incorrect false never isn't impossible "
    "subtracting adding dividing multiplying doubling halving terms half hundred".split()
)


_WORD = re.compile(r"[a-z']+")


class Parser:
    """One pass over one token list."""

    def __init__(
        self, tokens: list[Token], depth: int = 0, *, loose: bool = False, glued: bool = False, units: bool = True
    ) -> None:
        self.tokens = tokens
        self.units = units  # may words that do not stand upright be units?
        self.loose, self.glued = loose, glued  # letters behind a number may be units; also without a space
        self.at = 0
        self.depth = depth
        self.bars = 0  # open |...|
        self.no_colon = 0  # inside a set builder's head, where ":" separates

    # -- small steps
    def peek(self, ahead: int = 0) -> Token:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else _END

    def take(self) -> Token:
        token = self.peek()
        self.at += 1
        return token

    def met(self, *texts: str) -> bool:
        token = self.peek()
        return token.kind in ("op", "cmd") and token.text in texts

    def expect(self, *texts: str) -> Token:
        if not self.met(*texts):
            raise ParseError(f"expected {' or '.join(texts)}, met {self.peek().text or 'the end'!r}")
        return self.take()

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ParseError(f"nested deeper than {MAX_DEPTH}")

    def argument(self, *, digit: bool = False) -> Node:
        """A LaTeX argument: a group, or one token."""
        return operands.argument(self, digit=digit)

    def operand(self) -> Node:
        """One operand, without its powers."""
        return operands.operand(self)

    def subscript(self, name: str) -> Node:
        """A name with the index that follows it."""
        return operands.subscript(self, name)

    def fraction(self) -> Node:
        """Two halves of a fraction."""
        return operands.fraction(self)

    # -- list: groups by ";" (or a repeated "or"), then by ","
    def answer(self) -> Node:
        node = self.whole()
        if self.peek() is not _END:
            raise ParseError(f"did not expect {self.peek().text!r}")
        return node

    def whole(self) -> Node:
        """A list, or two halves with ``\\over`` or ``\\choose`` between them."""
        node = self.items()
        if self.met("\\over", "\\choose", "\\atop"):
            mark = self.take().text
            below = self.items()
            if "list" in (node.kind, below.kind) or mark == "\\atop":
                raise ParseError(f"did not expect {mark}")
            return divide(node, below) if mark == "\\over" else Node("call", "binom", (node, below))
        return node

    def items(self) -> Node:
        self.deeper()
        parts = [self.relation()]
        marks: list[str] = []
        while True:
            mark = self._separator()
            if not mark:
                break
            if self._at_list_end():
                break
            marks.append(mark)
            parts.append(self.relation())
        self.depth -= 1
        if not marks:
            return parts[0]
        if "\\lor" in marks or "\\land" in marks:
            if all(map(_is_claim, parts)):
                return _claims(parts, marks)
            marks = [{"\\lor": "or", "\\land": "and"}.get(mark, mark) for mark in marks]
        for outer in (";", "or", "and"):
            if outer in marks and "," in marks and (outer == ";" or all(p.kind == "rel" for p in parts)):
                groups: list[list[Node]] = [[parts[0]]]
                for mark, part in zip(marks, parts[1:], strict=True):
                    if mark == outer:
                        groups.append([])
                    groups[-1].append(part)
                # "1, 2; 3, 4" is two pairs; groups of unequal length are one list
                if len({len(group) for group in groups}) == 1 and len(groups[0]) > 1:
                    return Node("list", outer, tuple(Node("tuple", None, tuple(group)) for group in groups))
        name = "or" if "or" in marks else "and" if "and" in marks else marks[0]
        return Node("list", name, tuple(parts))

    def _separator(self) -> str:
        mark = ""
        while True:
            token = self.peek()
            if token.kind == "sep":
                mark = token.text
            elif token.kind == "op" and token.text in (",", ";"):
                mark = mark or token.text
            elif token.kind == "cmd" and token.text in ("\\vee", "\\lor"):
                mark = "\\lor"
            elif token.kind == "cmd" and token.text in ("\\wedge", "\\land"):
                mark = "\\land"
            else:
                return mark
            self.at += 1

    def _at_list_end(self) -> bool:
        token = self.peek()
        return token is _END or (token.kind == "op" and token.text in (")", "]", "}", "\\}"))

    # -- relation
    def relation(self) -> Node:
        first = self.peek()
        ops: list[str] = []
        if first.text in _QUANTIFIERS:
            return self._quantified()
        if first.kind == "rel":
            self.take()
            if first.text in ("=", "~", "~=", "sim"):
                return self.relation()
            args = [Node("sym", "?")]
            ops.append(first.text)
            args.append(self.sets())
        else:
            args = [suffixes.function_head(self) or self.sets()]
        while self.peek().kind == "rel":
            ops.append(self.take().text)
            if self.peek().kind in ("end", "sep") or self.met(",", ";"):
                raise ParseError("a relation without its right side")
            args.append(suffixes.function_head(self) or self.sets())
        if not ops:
            return args[0]
        if (joined := _joined(ops, args)) is not None:
            return joined
        if ops[-1] == "==" and args[-1][:2] == ("call", "mod"):  # "n \\equiv 1 \\bmod 4"
            args[-1] = suffixes.with_modulus(*args[-1].args)
        return Node("rel", tuple(ops), tuple(args))

    def _quantified(self) -> Node:
        """``\\forall x \\in S, p(x)``: what is said reaches to the end of the list."""
        self.deeper()
        mark = self.take().text
        if self.met("!"):
            mark += self.take().text
        outside, self.no_colon = self.no_colon, 1
        parts = [self.relation()]
        self.no_colon = outside
        if self._separator() or self.met(":"):
            self.at += self.met(":")
        if not self._at_list_end():
            parts.append(self.items())
        self.depth -= 1
        return Node("quantified", mark, tuple(parts))

    # -- sets and ratios
    def sets(self) -> Node:
        node = self.ratio()
        while True:
            token = self.peek()
            if token.kind == "cmd" and token.text in _SETS:
                self.take()
                node = of_sets(_SETS[token.text], node, self.ratio())
            elif token.kind == "id" and token.text in "Uu" and _is_set(node) and self.peek(1).text in _OPENERS:
                self.take()
                node = Node("union", None, (node, self.ratio()))
            elif token.kind == "op" and token.text in ("-", "\\\\") and _is_set(node) and self.peek(1).text == "\\{":
                self.take()
                node = Node("setminus", None, (node, self.ratio()))
            else:
                return node

    def ratio(self) -> Node:
        node = self.sum()
        if self.met(":") and not self.no_colon:
            parts = [node]
            minutes = self.peek(1).text
            while self.met(":"):
                self.take()
                parts.append(self.sum())
            if node.kind == "num" and len(parts) == len(minutes) == 2 and minutes[0] == "0":
                return Node("sym", f"{node.value}:{minutes}")  # "5:03" is a time
            return Node("ratio", None, tuple(parts))
        return node

    # -- sum
    def sum(self) -> Node:
        self.deeper()
        terms = [self._signed()]
        while True:
            token = self.peek()
            if token.kind not in ("op", "cmd"):
                break
            if token.text == "+":
                self.take()
                terms.append(self._signed())
            elif token.text == "-":
                if self.peek(1).text == "\\{" and _is_set(terms[0]):
                    break
                self.take()
                terms.append(negate(self._signed()))
            elif token.text in ("\\pm", "\\mp"):
                self.take()
                terms.append(Node("pm", "+" if token.text == "\\pm" else "-", (self.product(),)))
            elif token.text == "\\ldots":
                self.take()
                terms.append(Node("sym", "\\ldots"))
            else:
                break
        self.depth -= 1
        return add(*terms)

    def _signed(self) -> Node:
        sign = 1
        while self.met("+", "-"):
            sign *= -1 if self.take().text == "-" else 1
        if self.met("\\pm", "\\mp"):
            mark = "+" if self.take().text == "\\pm" else "-"
            return Node("pm", mark, (self.product(),))
        node = self.product()
        return negate(node) if sign < 0 else node

    # -- product
    def product(self) -> Node:
        factors = [self.power()]
        while True:
            token = self.peek()
            kind, text = token.kind, token.text
            if (kind in ("unit", "word") or text in ("/", "\\mu") or self.loose) and begins_unit(self, mul(*factors)):
                factors = [with_unit(mul(*factors), read_unit(self))]
                continue
            if factors[-1].kind == "unit" and (mixed := mixed_amount(self, factors[-1])) is not factors[-1]:
                factors[-1] = mixed
                continue
            if kind in ("op", "cmd"):
                if text in _TIMES:
                    self.take()
                    factors.append(self._factor())
                    if text == "\\times" and all(map(_is_vector, factors[-2:])):
                        factors[-2:] = _cross_product(*factors[-2:])
                    continue
                if text == "\\oplus" and _is_set(factors[-1]):
                    self.take()
                    factors.append(self._factor())
                    continue
                if text in _DIVIDED:
                    self.take()
                    factors = [divide(mul(*factors), self._factor())]
                    continue
                if text in ("\\bmod", "\\mod"):
                    self.take()
                    factors = [Node("call", "mod", (mul(*factors), self._factor()))]
                    continue
                if text == "\\pmod" or (text == "(" and self.peek(1).text in ("\\bmod", "\\mod")):
                    return suffixes.residue(self, mul(*factors))
            if not self._continues(factors):
                return mul(*factors)
            if kind == "text" and text.lower().strip(" ,.:") in CONDITIONS:
                return mul(*factors)
            if (
                kind in ("text", "word")
                and (scale := SCALES.get(text.lower().rstrip("s").partition(" ")[0])) is not None
            ):
                factors.append(number(10**scale))
                rest = text.partition(" ")[2]
                self.tokens[self.at : self.at + 1] = (
                    [token._replace(kind="unit" if named_unit(rest) else "text", text=rest)] if rest else []
                )
                continue
            if kind == "text" or (kind == "word" and (_is_label(text) or _counts(factors, token))):
                label = suffixes.label(self)
                if _HEDGES.intersection(_WORD.findall(label.lower())):
                    raise ParseError(f"the words {label[:40]!r}")
                node = mul(*factors)
                if label.lower() in PERCENT_WORDS:
                    return Node("percent", None, (node,))
                return with_unit(node, labelled_unit(label))
            factors.append(self.power())

    def _factor(self) -> Node:
        sign = 1
        while self.met("+", "-"):
            sign *= -1 if self.take().text == "-" else 1
        node = self.power()
        return negate(node) if sign < 0 else node

    def _continues(self, factors: list[Node]) -> bool:
        """Does the next token multiply without a sign?"""
        token = self.peek()
        kind, text = token.kind, token.text
        if kind == "id" and text in "Uu" and _is_set(factors[-1]) and self.peek(1).text in _OPENERS:
            return False  # a union
        if kind in ("id", "func", "const", "text", "word"):
            return True
        if kind == "num":
            # "2 3" is no product; "x 3" and ") 3" are rare, "\sqrt{2} 3" is not written
            last = self.tokens[self.at - 1]
            if last.kind == "num":
                raise ParseError(f"two numbers side by side at {text!r}")
            if factors[-1].kind == "unit":  # "3 hours 4 minutes late"
                raise ParseError(f"a number behind an amount at {text!r}")
            return True
        if kind == "cmd":
            return text not in _NOT_OPERANDS
        if kind == "env":
            return text.startswith("begin")
        if kind == "op":
            if text in ("(", "{", "|("):
                return True
            if text == "[":
                return not _is_set(factors[-1]) and not self._closes()
            if text == "\\{":
                return False
            if text == "|":
                return self.bars == 0 and not self.no_colon
            if text == "\\|":
                return False
        return False

    def _closes(self) -> bool:
        """Is the ``[`` here the end of an open interval, as in ``]0, 1[``?"""
        after = self.peek(1)
        return (
            after is _END or after.kind in ("sep", "rel") or after.text in (")", "}", "\\}", ",", ";", "\\cup", "\\cap")
        )

    # -- power and what follows an operand
    def power(self) -> Node:
        return self.postfix(self.operand())

    def postfix(self, node: Node) -> Node:
        """What may follow an operand: powers, ``!``, ``%``, degrees, primes, a currency."""
        return suffixes.postfix(self, node)

    def currency(self) -> Node | None:
        """An amount with the sign in front, if one stands here."""
        token = self.peek()
        if token.kind in ("op", "cmd") and token.text in CURRENCY:
            self.take()
            return Node("unit", named_unit(CURRENCY[token.text]), (self.power(),))
        return None


def _joined(ops: list[str], args: list[Node]) -> Node | None:
    """``x \\le -1 \\cup x \\ge 1``: two relations with a sign between them that belongs to sets."""
    for at, arg in enumerate(args[1:-1], 1):
        if arg.kind in ("union", "cap") and not (_is_set(arg.args[0]) or _is_set(arg.args[1])):
            left = Node("rel", tuple(ops[:at]), (*args[:at], arg.args[0]))
            rest_ops, rest = ops[at:], [arg.args[1], *args[at + 1 :]]
            right = _joined(rest_ops, rest) or Node("rel", tuple(rest_ops), tuple(rest))
            name = "or" if arg.kind == "union" else "and"
            parts = right.args if right.kind == "list" and right.value == name else (right,)
            return Node("list", name, (left, *parts))
    return None


def _is_claim(node: Node) -> bool:
    """A letter for a claim, also denied, or claims with a connective between them."""
    if node.kind == "mul":
        return node.args[0] == Node("sym", "\\neg") and all(map(_is_claim, node.args))
    return node.kind == "sym" or (node.kind == "apply" and node.value in ("\\lor", "\\land"))


def _claims(parts: list[Node], marks: list[str]) -> Node:
    """Claims with connectives between them; "and" binds before any other."""
    groups = [[parts[0]]]
    for mark, part in zip(marks, parts[1:], strict=True):
        if mark != "\\land":
            groups.append([])
        groups[-1].append(part)
    met = [_connected("\\land", group) for group in groups]
    return _connected("\\lor", met)


def _connected(mark: str, parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Node("apply", mark, tuple(sorted(parts, key=repr)))


def _is_vector(node: Node) -> bool:
    """A letter with an arrow."""
    return (node.kind == "sym" and node.value.startswith("\\vec ")) or (node.kind == "apply" and node.value == "\\vec")


def _cross_product(one: Node, other: Node) -> list[Node]:
    """The factors that stand for it: no product of numbers, and turned round its negative."""
    if str(one) <= str(other):
        return [Node("apply", "\\times", (one, other))]
    return [number(-1), Node("apply", "\\times", (other, one))]


def _is_label(word: str) -> bool:
    return word in CURRENCY_CODES or word.lower() in PERCENT_WORDS


def _counts(factors: list[Node], token: Token) -> bool:
    """``27 apples``: a word after a number says what was counted."""
    if any(factor.kind not in ("num", "dec", "percent", "pow") or free(factor) for factor in factors):
        return False
    word = token.text
    return len(word) > 4 or (token.spaced and len(word) > 2 and any(c in "aeiou" for c in word))


def _is_set(node: Node) -> bool:
    return node.kind in ("interval", "set", "named", "union", "cap", "setminus", "builder") or (
        node.kind == "tuple" and len(node.args) == 2
    )


def parse(text: str, *, loose: bool = False, glued: bool = False, units: bool = True, groups: bool = True) -> Node:
    """The tree of a cleaned answer; with `loose` letters behind a number are units, with `glued` even without a space; without
    `units` none that are not upright. Without `groups` a comma between three digits is that of a list.

    Raises :class:`ParseError`, and nothing else, on text that is not mathematics of a kind known here.
    """
    tokens = grouped(tokenize(text)) if groups else tokenize(text)
    if not tokens:
        raise ParseError("nothing to read")
    try:
        node = Parser(tokens, loose=loose, glued=glued, units=units).answer()
    except RecursionError as error:  # a caller's own deep stack; our depth is capped
        raise ParseError("nested too deep") from error
    if len(tokens) > _DEEPEST and _deeper_than(node, _DEEPEST):
        raise ParseError(f"a tree of more than {_DEEPEST} levels")
    return node


def _deeper_than(node: Node, levels: int) -> bool:
    """Signs that follow one another nest from the left, so that a long row of them is a deep tree."""
    level = [node]
    for _ in range(levels):
        level = [arg for here in level for arg in here.args]
        if not level:
            return False
    return True
