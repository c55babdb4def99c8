"""What an operand may be: numbers, names, brackets, fractions, roots, functions, matrices, sums; and what may follow one."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import fmpq, fmpz

from .parts import calculus, environment, function, series
from .tokens import Token
from .tree import MINUS_ONE, ONE, Node, ParseError, add, divide, mul, negate, number, power
from .units import PERCENT_WORDS

if TYPE_CHECKING:
    from .parser import Parser

__all__ = ["argument", "degrees", "exponent", "function_head", "literal", "modulus", "operand", "prime", "unit_words"]

_HALF = number(fmpq(1, 2))
_NAMED_SETS = {"R": "R", "Z": "Z", "Q": "Q", "N": "N", "C": "C"}
_SINGLE_CALLS = {"\\norm": "norm", "\\abs": "abs"}
_ACCENTS = frozenset(
    "\\vec \\hat \\bar \\overline \\tilde \\widehat \\widetilde \\dot \\ddot \\overrightarrow \\mathcal \\mathscr \\mathfrak "
    "\\overleftrightarrow \\overset \\underset \\stackrel \\acute \\breve \\overarc \\wideparen \\overparen".split()
)
_FRACTIONS = frozenset("\\frac \\dfrac \\tfrac \\cfrac \\nicefrac \\sfrac".split())
_ACCENT_NAMES = {"\\overline": "\\bar", "\\widehat": "\\hat", "\\widetilde": "\\tilde", "\\overrightarrow": "\\vec"}
_LIMIT_POWER = 100_000  # digits that a literal's "e" exponent may ask for
_INVERSE = frozenset("sin cos tan cot sec csc sinh cosh tanh".split())


def literal(text: str) -> Node:
    """A number as written; a decimal keeps its count of digits."""
    mantissa, mark, tail = text.lower().partition("e")
    head, point, fraction = mantissa.partition(".")
    top = fmpz(head + fraction or "0")
    if mark:
        shift = int(tail) - len(fraction)
        if abs(shift) > _LIMIT_POWER:
            return mul(Node("num", fmpq(top)), power(number(10), number(shift)))
        scale = fmpz(10) ** abs(shift)
        return Node("dec", (fmpq(top * scale) if shift >= 0 else fmpq(top, scale), -shift))
    if not point:
        return Node("num", fmpq(top))
    return Node("dec", (fmpq(top, fmpz(10) ** len(fraction)), len(fraction)))


def _split_digit(parser: Parser) -> Node:
    """The next single digit of a number: ``\\frac12``."""
    token = parser.peek()
    if len(token.text) == 1 or not token.text.isdigit():
        parser.take()
        return literal(token.text)
    parser.tokens[parser.at] = Token("num", token.text[1:], False)
    return literal(token.text[0])


def argument(parser: Parser, *, digit: bool = False) -> Node:
    """A LaTeX argument: a group, or one token."""
    token = parser.peek()
    if token.kind == "op" and token.text == "{":
        return _group(parser)
    if digit and token.kind == "num":
        return _split_digit(parser)
    if token.kind == "op" and token.text == "-":  # "\frac-12", "x^-1"
        parser.take()
        return negate(argument(parser, digit=digit))
    if token.kind == "word" and not digit:
        parser.take()
        return mul(*(Node("sym", c) for c in token.text))
    if token.kind == "word":
        parser.tokens[parser.at] = Token("word" if len(token.text) > 2 else "id", token.text[1:], False)
        return _name(token.text[0])
    return operand(parser)


def _group(parser: Parser) -> Node:
    parser.expect("{")
    parser.deeper()
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


def _name(letter: str) -> Node:
    if letter in ("e", "i"):
        return Node("const", letter)
    return Node("sym", letter)


def operand(parser: Parser) -> Node:
    """One operand, without its powers."""
    token = parser.take()
    kind, text = token.kind, token.text
    if kind == "num":
        return _number(parser, token)
    if kind == "id":
        if text == "\\Gamma" and parser.met("("):
            parser.take()
            return Node("call", "gamma", _inside(parser, ")"))
        return _identifier(parser, text)
    if kind == "const":
        return Node("const", text)
    if kind == "func":
        return function(parser, text)
    if kind == "op":
        return _bracket(parser, text)
    if kind == "cmd":
        return _command(parser, text)
    if kind == "env" and text.startswith("begin"):
        return environment(parser, text[6:])
    if kind == "word":
        return _letters(parser, text)
    if kind == "text":
        return _leading_text(parser, text)
    raise ParseError(f"expected a value, met {text or 'the end'!r}")


def _number(parser: Parser, token: Token) -> Node:
    text = token.text
    if parser.met("_"):
        parser.take()
        base = argument(parser)
        return Node("based", (text, _base_name(base)))
    node = literal(text)
    if not text.isdigit():
        return node
    after = parser.peek()
    if after.kind == "cmd" and after.text in _FRACTIONS:
        start = parser.at
        kept = parser.tokens[start : start + 4]  # "\\frac72" splits its token
        parser.take()
        part = _fraction(parser)
        if part.kind == "num" and 0 < part.value < 1:  # a mixed number
            return Node("num", node.value + part.value)
        parser.at = start
        parser.tokens[start : start + 4] = kept
        return node
    if after.kind == "num" and after.spaced and after.text.isdigit() and parser.peek(1).text == "/":
        bottom = parser.peek(2)
        if bottom.kind == "num" and bottom.text.isdigit() and 0 < int(after.text[:9]) < int(bottom.text[:9]):
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


def _subscript(parser: Parser, name: str) -> Node:
    """``x_1`` is a name; ``a_n`` and ``F_{n-1}`` are terms of a sequence."""
    parser.take()
    if parser.peek().kind == "text":
        return Node("sym", f"{name}_{parser.take().text}")
    index = argument(parser, digit=False)
    if index.kind == "num":
        return Node("sym", f"{name}_{index.value}")
    return Node("apply", f"{name}_", (index,))


def _identifier(parser: Parser, text: str) -> Node:
    node = _name(text)
    if parser.met("_"):
        node = _subscript(parser, text)
    while parser.met("'"):
        parser.take()
        node = prime(node)
    after = parser.peek()
    if text in "fghFGH" and after.text == "(" and after.kind == "op" and node.kind == "sym":
        parser.take()
        return Node("apply", node.value, _inside(parser, ")"))
    return node


def prime(node: Node) -> Node:
    """A derivative's or a variant's mark on a name."""
    if node.kind == "const" and node.value in ("e", "i"):
        return Node("sym", node.value + "'")
    if node.kind in ("sym", "apply"):
        return Node(node.kind, node.value + "'", node.args)
    if node.kind == "degree":  # feet, minutes: handled where degrees are read
        return node
    raise ParseError("a prime on what is no name")


def _letters(parser: Parser, text: str) -> Node:
    """A run of letters: a segment's name or a product of variables; a long one is a word."""
    if text.lower() in PERCENT_WORDS or (len(text) > 4 and not (text.isupper() and len(text) <= 8)):
        raise ParseError(f"the word {text!r}")
    if len(text) == 2 and text[0] == "d" and text[1] in "xytruvz":
        return Node("sym", text)
    out = [_name(c) for c in text[:-1]]
    out.append(parser.postfix(_identifier(parser, text[-1])))  # "xy^2" is x times the square of y
    return mul(*out)


def _leading_text(parser: Parser, text: str) -> Node:
    """Words in front: the name of what is computed, or "The answer is"."""
    after = parser.peek()
    if after.kind == "rel" or (after.kind == "op" and after.text == "_"):
        if after.kind == "op":
            return _subscript(parser, text)
        return Node("sym", text)
    low = text.lower().rstrip()
    if low.endswith((" is", ":", " are", "answer", "=", " equals")) and after.kind != "end" and " not" not in low:
        if after.kind == "op" and after.text == ":":
            parser.take()
        return parser.product()
    raise ParseError(f"the words {text[:40]!r}")


def _inside(parser: Parser, *closers: str) -> tuple[Node, ...]:
    parser.deeper()
    bars, colon = parser.bars, parser.no_colon
    parser.bars = parser.no_colon = 0
    node = parser.items()
    parser.bars, parser.no_colon = bars, colon
    parser.expect(*closers)
    parser.depth -= 1
    return node.args if node.kind == "list" else (node,)


def _bracket(parser: Parser, text: str) -> Node:
    if text in ("(", "[", "]"):
        return _round_or_square(parser, text)
    if text == "{":
        parser.at -= 1
        return _group(parser)
    if text == "\\{":
        return _braces(parser)
    if text in ("|", "|("):
        parser.bars += 1
        parser.deeper()
        node = parser.sets()
        parser.expect("|", "|)")
        parser.depth -= 1
        parser.bars -= 1
        return Node("call", "abs", (node,))
    if text == "\\|":
        node = parser.sum()
        parser.expect("\\|")
        return Node("call", "norm", (node,))
    parser.at -= 1
    amount = parser.currency()
    if amount is not None:
        return amount
    raise ParseError(f"did not expect {text!r}")


def _round_or_square(parser: Parser, opener: str) -> Node:
    """Brackets: a value, a tuple, an interval; ``]0, 1[`` is the open interval."""
    if parser.met(")", "]"):
        raise ParseError("empty brackets")
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
            return Node("tuple", "[", parts) if node.kind in ("tuple", "interval") else node
        if (opener == "(") != (closer == ")"):
            raise ParseError("brackets that do not match")
        return node
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


def _fraction(parser: Parser) -> Node:
    top = argument(parser, digit=True)
    if top.kind == "sym" and top.value == "d" and parser.peek().text == "{":
        bottom = argument(parser, digit=True)
        if bottom.kind == "sym" and bottom.value[:1] == "d" and len(bottom.value) == 2:
            return Node("opaque", "diff", (parser.product(), Node("sym", bottom.value[1:])))
        return divide(top, bottom)
    return divide(top, argument(parser, digit=True))


def _command(parser: Parser, text: str) -> Node:
    if text in _FRACTIONS:
        return _fraction(parser)
    if text == "\\sqrt":
        return _root(parser)
    if text in ("\\binom", "\\dbinom", "\\tbinom"):
        return Node("call", "binom", (argument(parser, digit=True), argument(parser, digit=True)))
    if text in ("\\lfloor", "\\lceil"):
        node = parser.sum()
        parser.expect("\\rfloor" if text == "\\lfloor" else "\\rceil")
        return Node("call", "floor" if text == "\\lfloor" else "ceil", (node,))
    if text in ("\\lvert", "\\lVert", "\\vert"):
        node = parser.sum()
        parser.expect("\\rvert", "\\rVert", "\\vert")
        return Node("call", "abs" if text != "\\lVert" else "norm", (node,))
    if text == "\\langle":
        return Node("tuple", None, _inside(parser, "\\rangle"))
    if text in ("\\mathbb", "\\Bbb"):
        node = argument(parser)
        name = node.value if node.kind == "sym" else ""
        if name in _NAMED_SETS:
            return _named_set(parser, name)
        return Node("sym", f"bb {name}")
    if text in ("\\R", "\\Z", "\\Q", "\\N", "\\C", "\\reals"):
        return _named_set(parser, text[1].upper())
    if text in ("\\emptyset", "\\varnothing"):
        return Node("named", "empty")
    if text in _ACCENTS:
        text = _ACCENT_NAMES.get(text, text)
        inner = argument(parser)
        return Node("sym", f"{text} {inner.value}") if inner.kind == "sym" else Node("apply", text, (inner,))
    if text in ("\\sum", "\\prod"):
        return series(parser, text[1:])
    if text in ("\\int", "\\lim", "\\oint", "\\iint"):
        return calculus(parser, text[1:])
    if text in ("\\angle", "\\triangle", "\\Delta", "\\measuredangle"):
        return Node("apply", text, (parser.power(),))
    if text in ("\\bigcup", "\\bigcap"):
        raise ParseError("a union over an index")
    if text == "\\imath":
        return Node("const", "i")
    if text == "\\ldots":
        return Node("sym", "\\ldots")
    if text in ("\\pm", "\\mp"):
        return Node("pm", "+" if text == "\\pm" else "-", (parser.product(),))
    if text in (
        "\\boxed",
        "\\not",
        "\\rangle",
        "\\rfloor",
        "\\rceil",
        "\\circ",
        "\\mid",
        "\\prime",
        "\\forall",
        "\\exists",
    ):
        raise ParseError(f"did not expect {text}")
    return _identifier(parser, text)


def _named_set(parser: Parser, name: str) -> Node:
    while parser.met("^", "_"):
        parser.take()
        token = parser.peek()
        if token.text == "{":
            depth = parser.at
            while parser.peek().text != "}" and parser.peek().kind != "end":
                parser.take()
            name += "".join(t.text for t in parser.tokens[depth + 1 : parser.at])
            parser.expect("}")
        else:
            name += parser.take().text
    return Node("named", name)


def _root(parser: Parser) -> Node:
    degree: Node | None = None
    if parser.met("["):
        parser.take()
        degree = parser.sum()
        parser.expect("]")
    inner = parser.power() if parser.peek().text in ("\\sqrt", "\\frac") else argument(parser)
    return power(inner, _HALF if degree is None else divide(ONE, degree))


def exponent(parser: Parser, base: Node) -> Node:
    """What follows ``^``: a power, degrees, a prime, a transpose."""
    token = parser.peek()
    if token.text == "{" and parser.peek(1).text in ("\\circ", "\\prime", "'") and parser.peek(2).text == "}":
        parser.at += 3
        return degrees(parser, base) if parser.tokens[parser.at - 2].text == "\\circ" else prime(base)
    if token.text in ("\\circ", "\\degree"):
        parser.take()
        return degrees(parser, base)
    if token.text in ("\\prime", "'"):
        parser.take()
        return prime(base)
    if token.kind == "id" and token.text == "o" and base.kind in ("num", "dec"):
        parser.take()
        return degrees(parser, base)
    if token.text in ("*", "\\dagger", "\\top", "\\intercal"):
        parser.take()
        return Node("apply", f"^{token.text}", (base,))
    sign = 1
    while parser.met("-", "+"):
        sign *= -1 if parser.take().text == "-" else 1
    parser.deeper()
    if parser.peek().text == "{":
        top = _group(parser)
        while parser.met("^"):  # 2^{3}^{4} is no LaTeX, but people write it
            parser.take()
            top = exponent(parser, top)
    else:
        top = operand(parser)
        while parser.met("^"):
            parser.take()
            top = exponent(parser, top)
        if parser.met("!") and top.kind == "num":
            parser.take()
            top = Node("call", "factorial", (top,))
    parser.depth -= 1
    if top.kind in ("list", "tuple", "set", "rel"):
        raise ParseError("an exponent that is no number")
    if base.kind == "apply" and base.value in ("f", "g", "h"):
        pass
    if base.kind == "sym" and base.value in ("f", "g", "h", "F", "G", "H") and top == MINUS_ONE and parser.met("("):
        parser.take()
        return Node("apply", f"{base.value}^-1", _inside(parser, ")"))
    return power(base, negate(top) if sign < 0 else top)


def degrees(parser: Parser, node: Node) -> Node:
    """Degrees, with minutes and seconds where they follow; ``°C`` and ``°F`` are units."""
    after = parser.peek()
    if after.kind in ("id", "text") and after.text in ("C", "F", "c", "f"):
        parser.take()
        return Node("unit", "deg" + after.text.upper(), (node,))
    for size, mark in ((60, ("'", "\\prime")), (3600, ("'", '"', "\\prime"))):
        after = parser.peek()
        if after.kind != "num":
            break
        here = parser.at + 1
        if parser.peek(1).text == "^":
            here += 1
        if here < len(parser.tokens) and parser.tokens[here].text == "{":
            here += 1
        if here >= len(parser.tokens) or parser.tokens[here].text not in mark:
            break
        node = add(node, divide(literal(after.text), number(size)))
        parser.at = here + 1
        while parser.met("'", '"', "}", "\\prime"):
            parser.take()
    if node.kind == "add" and all(t.kind in ("num", "dec") for t in node.args):
        node = Node("num", sum((t.value if t.kind == "num" else t.value[0] for t in node.args), fmpq(0)))
    return Node("degree", None, (node,))


def unit_words(parser: Parser) -> str:
    """The words, powers and slashes of a unit, up to the end of the part."""
    out: list[str] = []
    while True:
        token = parser.peek()
        if token.kind in ("text", "word", "id"):
            out.append(" " + token.text)
        elif (token.kind == "op" and token.text in ("/", "^", "{", "}", "-", "*", "'", ".")) or token.kind == "num":
            if token.text == "}" and out.count("{") <= out.count("}"):
                break
            out.append(token.text)
        elif token.kind == "cmd" and token.text in ("\\cdot", "\\times"):
            out.append("*")
        else:
            break
        parser.take()
    return "".join(out).replace("{", "").replace("}", "").strip()


def modulus(parser: Parser, args: list[Node]) -> None:
    """``\\pmod{m}`` after a congruence: kept with its last part."""
    token = parser.take()
    if token.text == "(":
        parser.take()
        node = parser.sum()
        parser.expect(")")
    else:
        node = argument(parser)
    args[-1] = Node("apply", "mod", (args[-1], node))


def function_head(parser: Parser) -> Node | None:
    """``Q(t) = ...``: a letter before brackets and ``=`` is a function, whatever the letter."""
    first = parser.peek()
    if first.kind != "id" or first.text in "fghFGH" or parser.peek(1).text != "(":
        return None
    here, depth = parser.at + 1, 0
    tokens, count = parser.tokens, len(parser.tokens)
    while here < count:
        text = tokens[here].text
        depth += (text == "(") - (text == ")")
        here += 1
        if depth == 0:
            break
    if here < count and tokens[here].kind == "rel" and tokens[here].text in ("=", "~"):
        parser.at += 2
        return Node("apply", first.text, _inside(parser, ")"))
    return None
