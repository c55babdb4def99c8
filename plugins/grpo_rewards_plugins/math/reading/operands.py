"""What an operand may be: numbers, names, brackets, fractions, roots, functions, matrices, sums."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import fmpq, fmpz

from .brackets import bracket, group, inside, size
from .parts import calculus, environment, function, series
from .suffixes import prime
from .tokens import Token
from .tree import ONE, Node, ParseError, divide, free, literal, mul, negate, number, power, walk
from .units import PERCENT_WORDS

if TYPE_CHECKING:
    from .parser import Parser

FRACTIONS = frozenset("\\frac \\dfrac \\tfrac \\cfrac \\nicefrac \\sfrac".split())


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


_HALF = number(fmpq(1, 2))
_NO_VALUES = frozenset(
    "\\boxed \\not \\rangle \\rfloor \\rceil \\circ \\mid \\prime \\forall \\exists \\nexists".split()
)
_NAMED_SETS = {"R": "R", "Z": "Z", "Q": "Q", "N": "N", "C": "C"}
_COMPLEX = frozenset("zw")  # names that are complex numbers, so that a bar over them is no real matter
_ACCENTS = frozenset(
    "\\vec \\hat \\bar \\overline \\tilde \\widehat \\widetilde \\dot \\ddot \\overrightarrow \\mathcal \\mathscr \\mathfrak "
    "\\overleftrightarrow \\overset \\underset \\stackrel \\acute \\breve \\overarc \\wideparen \\overparen".split()
)
_ACCENT_NAMES = {"\\overline": "\\bar", "\\widehat": "\\hat", "\\widetilde": "\\tilde", "\\overrightarrow": "\\vec"}


def argument(parser: Parser, *, digit: bool = False) -> Node:
    """A LaTeX argument: a group, or one token."""
    token = parser.peek()
    if token.kind == "op" and token.text == "{":
        return group(parser)
    if digit and token.kind == "num":
        return split_digit(parser)
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


def _name(letter: str) -> Node:
    if letter in ("e", "i"):
        return Node("const", letter)
    return Node("sym", letter)


def operand(parser: Parser) -> Node:
    """One operand, without its powers."""
    token = parser.take()
    kind, text = token.kind, token.text
    if kind == "num":
        return number_at(parser, token)
    if kind == "id":
        if text == "\\Gamma" and parser.met("("):
            parser.take()
            return Node("call", "gamma", inside(parser, ")"))
        if text == "\\zeta" and parser.met("(") and parser.peek(1).kind == "num" and parser.peek(2).text == ")":
            parser.take()
            return Node("call", "zeta", inside(parser, ")"))
        return _identifier(parser, text)
    if kind == "const":
        return Node("const", text)
    if kind == "func":
        return function(parser, text)
    if kind == "op":
        return bracket(parser, text)
    if kind == "cmd":
        return _command(parser, text)
    if kind == "env" and text.startswith("begin"):
        return environment(parser, text[6:])
    if kind == "word":
        return _letters(parser, text)
    if kind == "text":
        return _leading_text(parser, text)
    raise ParseError(f"expected a value, met {text or 'the end'!r}")


def subscript(parser: Parser, name: str) -> Node:
    """``x_1`` is a name; ``a_n`` and ``F_{n-1}`` are terms of a sequence."""
    parser.take()
    if parser.peek().kind == "text":
        return Node("sym", f"{name}_{parser.take().text}")
    if (sign := _signed(parser)) is not None:
        return Node("sym", f"{name}_{sign}")
    if (words := _worded(parser)) is not None:
        if _INDICES.issuperset(words):  # "a_{ij}" is an entry, and none of the transpose's
            return Node("apply", f"{name}_", tuple(map(_name, words)))
        return Node("sym", f"{name}_{words}")
    # in "p_Dv_D" the letter before the next index is a name of its own
    if parser.peek().kind == "id":  # what follows belongs to all of "s_z(0)"
        return Node("apply", f"{name}_", (_name(parser.take().text),))
    index = argument(parser, digit=parser.peek().kind == "word" and parser.peek(1).text == "_")
    if index.kind == "num":
        return Node("sym", f"{name}_{index.value}")
    return Node("apply", f"{name}_", (index,))


def _signed(parser: Parser) -> str | None:
    """``{\\pm}``, ``+`` below a name: part of it."""
    braced = parser.met("{")
    sign = parser.peek(1 if braced else 0).text
    if sign not in ("+", "-", "\\pm", "\\mp", "\\perp", "\\parallel", "perp", "parallel") or (
        braced and parser.peek(2).text != "}"
    ):
        return None
    if not braced and parser.peek(1).kind in ("num", "id"):
        return None  # "x_-1" is a slip of "x_{-1}"
    parser.at += 3 if braced else 1
    return sign


def _worded(parser: Parser) -> str | None:
    """``{\\text{red}}``, ``{red}`` and ``{\\max}`` below a name: part of it. The order of two variables says nothing (``f_{xy}``)."""
    braced = parser.met("{")
    inner = parser.peek(braced)
    if braced and parser.peek(2).text != "}":
        return None
    if not braced and parser.peek(1).text == "_":
        return None
    if (inner.kind in ("text", "func") and braced) or (inner.kind == "word" and not _VARIABLES.issuperset(inner.text)):
        parser.at += 1 + 2 * braced
        return inner.text
    return None


_STATES = frozenset(("\\psi", "\\phi", "\\chi", "\\Psi", "\\Phi"))
_INDICES = frozenset("ijklmn")
_VARIABLES = frozenset("xyzt")


def _identifier(parser: Parser, text: str) -> Node:
    node = _name(text)
    if parser.met("_"):
        node = subscript(parser, text)
    while parser.met("'"):
        parser.take()
        node = prime(node)
    after = parser.peek()
    if after.text == "_" and node.kind == "sym" and node.value.endswith("'"):  # "v'_r" is "v_r'"
        primes = len(node.value) - len(text)
        node = subscript(parser, text)
        for _ in range(primes):
            node = prime(node)
        after = parser.peek()
    if text == "\\Delta" and node == Node("sym", text) and after.kind == "id":  # a change of what follows, no product
        changed = _identifier(parser, parser.take().text)
        return Node("sym", f"{text} {changed.value}") if changed.kind == "sym" else Node("apply", text, (changed,))
    at_zero = after.text == "(" and parser.peek(1).text == "0" and parser.peek(2).text == ")"  # "x(0)" is no product
    if not (after.text == "(" and after.kind == "op"):
        return node
    # a state of a particle, "\\psi_1(2)"
    at_zero = at_zero or (text in _STATES and parser.peek(1).kind == "num" and parser.peek(2).text == ")")
    if (text in "fghFGH" or at_zero) and node.kind == "sym":
        parser.take()
        return Node("apply", node.value, inside(parser, ")"))
    if at_zero and node.kind == "apply":  # "s_z(0)", "\\phi_{N1}(2)"
        parser.take()
        index = "".join(str(here.value) for here in walk(node)[1:] if here.kind in ("sym", "num"))
        return Node("apply", f"{node.value}{index}", inside(parser, ")"))
    return node


def _letters(parser: Parser, text: str) -> Node:
    """A run of letters: a segment's name or a product of variables; a long one is a word."""
    # up to four letters are a product, up to eight capitals the corners of a figure
    if text.lower() in PERCENT_WORDS or (len(text) > 4 and not (text.isupper() and len(text) <= 8)):
        raise ParseError(f"the word {text!r}")
    # a differential is one name
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
            return subscript(parser, text)
        if text.lower().strip() in ("not", "no"):
            raise ParseError(f"the words {text!r}")
        return Node("sym", text)
    low = text.lower().rstrip()
    if low == "span" and after.text in ("\\{", "("):
        return Node("apply", "span", (parser.operand(),))
    if low.endswith((" is", ":", " are", "answer", "=", " equals")) and after.kind != "end" and " not" not in low:
        name = low.rstrip(" :")
        if low.endswith(":") and name.isalpha() and name not in ("answer", "solution", "result"):
            return Node("rel", ("=",), (Node("sym", name), parser.product()))  # "vertex: (1, 2)" is no focus
        if len(text.rstrip()) == 4 and text[0].isupper() and low.endswith(" is"):
            return Node("rel", ("=",), (Node("sym", text[0]), parser.product()))  # "A is 3"
        return parser.product()
    raise ParseError(f"the words {text[:40]!r}")


def fraction(parser: Parser) -> Node:
    top = argument(parser, digit=True)
    if top.kind == "sym" and top.value == "d" and parser.peek().text == "{":
        bottom = argument(parser, digit=True)
        if bottom.kind == "sym" and bottom.value[:1] == "d" and len(bottom.value) == 2:
            return Node("opaque", "diff", (parser.product(), Node("sym", bottom.value[1:])))
        return divide(top, bottom)
    return divide(top, argument(parser, digit=True))


def _command(parser: Parser, text: str) -> Node:
    if text in FRACTIONS:
        return fraction(parser)
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
        return size(node, "abs" if text != "\\lVert" else "norm")
    if text == "\\langle":
        return Node("tuple", None, inside(parser, "\\rangle"))
    if text in ("\\mathbb", "\\Bbb"):
        node = argument(parser)
        name = node.value if node.kind == "sym" else ""
        if name in _NAMED_SETS:
            return _named_set(parser, name)
        return subscript(parser, f"bb {name}") if parser.met("_") else Node("sym", f"bb {name}")
    if text in ("\\R", "\\Z", "\\Q", "\\N", "\\C", "\\reals"):
        return _named_set(parser, text[1].upper())
    if text in ("\\emptyset", "\\varnothing"):
        return Node("named", "empty")
    if text in _ACCENTS:
        return _accented(parser, _ACCENT_NAMES.get(text, text))
    if text in ("\\sum", "\\prod"):
        return series(parser, text[1:])
    if text in ("\\int", "\\lim", "\\oint", "\\iint", "\\iiint"):
        return calculus(parser, text[1:])
    if text in ("\\angle", "\\triangle", "\\Delta", "\\measuredangle"):
        inner = parser.power()
        if "angle" in text and text != "\\triangle" and (named := _angle(inner)) is not inner:
            return named
        return Node("apply", text, (inner,))
    if text == "\\mid":
        node = parser.sum()
        parser.expect("\\mid")
        return size(node)
    if text in ("\\pounds", "\\euro", "\\yen", "\\texteuro", "\\textsterling", "\\textdollar"):
        parser.at -= 1
        return parser.currency() or _identifier(parser, text)
    if text in ("\\bigcup", "\\bigcap"):
        raise ParseError("a union over an index")
    if text == "\\imath":
        return Node("const", "i")
    if text == "\\ldots":
        return Node("sym", "\\ldots")
    if text in _NO_VALUES:
        raise ParseError(f"did not expect {text}")
    return _identifier(parser, text)


def _accented(parser: Parser, accent: str) -> Node:
    """A letter or letters under an accent: a name, a segment, a vector; under a bar a complex number's conjugate."""
    inner = argument(parser)
    if inner.kind == "sym":
        node = Node("sym", f"{accent} {inner.value}")
        if parser.met("_"):
            node = subscript(parser, node.value)
        while parser.met("'"):
            parser.take()
            node = prime(node)
        return node
    letters = _points(inner)
    if letters:
        if accent == "\\bar" and len(letters) == 2 and letters.isupper():
            return inner  # the segment AB
        return Node("sym", f"{accent} {letters}")
    if accent == "\\bar" and any(here == Node("const", "i") for here in walk(inner)) and not free(inner) & _COMPLEX:
        return Node("call", "conj", (inner,))
    return Node("apply", accent, (inner,))


def _points(node: Node) -> str:
    """The letters of a product of nothing but letters, in their order."""
    if node.kind != "mul" or any(arg.kind != "sym" or len(arg.value) != 1 for arg in node.args):
        return ""
    return "".join(arg.value for arg in node.args)


def _angle(node: Node) -> Node:
    """``\\angle ABC`` is ``\\angle CBA``: the corner stands in the middle."""
    letters = _points(node)
    return Node("sym", f"\\angle {min(letters, letters[::-1])}") if len(letters) == 3 else node


def _named_set(parser: Parser, name: str) -> Node:
    while parser.met("^", "_"):
        mark = parser.take().text
        if mark == "^" and parser.peek(parser.peek().text == "{").kind in ("num", "id"):
            name += mark  # Z^2 is not Z_2
        token = parser.peek()
        if token.text == "{":
            depth = parser.at
            while parser.peek().text != "}" and parser.peek().kind != "end":
                parser.take()
            name += "".join(t.text for t in parser.tokens[depth + 1 : parser.at])
            parser.expect("}")
        else:
            name += parser.take().text
    if parser.met("["):  # a ring with what is adjoined
        parser.take()
        return Node("apply", f"{name}[", inside(parser, "]"))
    if name == "Q" and parser.met("("):  # a field with what is adjoined, in any order
        parser.take()
        return Node("apply", "Q(", tuple(sorted(inside(parser, ")"), key=repr)))
    return Node("named", name)


def _root(parser: Parser) -> Node:
    degree: Node | None = None
    if parser.met("["):
        parser.take()
        degree = parser.sum()
        parser.expect("]")
    inner = parser.power() if parser.peek().text in ("\\sqrt", "\\frac") else argument(parser)
    return power(inner, _HALF if degree is None else divide(ONE, degree))
