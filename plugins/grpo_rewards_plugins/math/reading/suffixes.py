"""What may follow an operand: powers, degrees, primes, units, a modulus; and a function's name in front of an equation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flint import fmpq

from .brackets import group, inside
from .tree import MINUS_ONE, Node, ParseError, add, divide, literal, negate, number, power
from .units import CURRENCY, named_unit

if TYPE_CHECKING:
    from .parser import Parser


def prime(node: Node) -> Node:
    """A derivative's or a variant's mark on a name."""
    if node.kind == "const" and node.value in ("e", "i"):
        return Node("sym", node.value + "'")
    if node.kind in ("sym", "apply"):
        return Node(node.kind, node.value + "'", node.args)
    if node.kind == "degree":  # feet, minutes: handled where degrees are read
        return node
    raise ParseError("a prime on what is no name")


def _primes(parser: Parser) -> int:
    """How many primes a group holds that holds nothing else; it is then read."""
    here = 1
    while parser.peek(here).text in ("\\prime", "'") and here < 8:
        here += 1
    if here == 1 or parser.peek(here).text != "}":
        return 0
    parser.at += here + 1
    return here - 1


def _degrees_follow(parser: Parser) -> bool:
    """Is the ``^`` here that of degrees, as behind ``10^{-3}``?"""
    after = parser.peek(2) if parser.peek(1).text == "{" else parser.peek(1)
    return after.text in ("\\circ", "\\degree")


def exponent(parser: Parser, base: Node) -> Node:
    """What follows ``^``: a power, degrees, a prime, a transpose."""
    token = parser.peek()
    if token.text == "{" and parser.peek(1).text in ("\\circ", "\\prime", "'") and parser.peek(2).text == "}":
        parser.at += 3
        return degrees(parser, base) if parser.tokens[parser.at - 2].text == "\\circ" else prime(base)
    if token.text == "{" and (count := _primes(parser)):
        if base.kind in ("num", "dec") and count <= 2:
            return Node("unit", named_unit("ft" if count == 1 else "in"), (base,))
        for _ in range(count):
            base = prime(base)
        return base
    if token.text in ("\\circ", "\\degree"):
        parser.take()
        return degrees(parser, base)
    if token.text in ("\\prime", "'"):
        parser.take()
        return prime(base)
    # 90^o: an o for the ring
    if token.kind == "id" and token.text == "o" and base.kind in ("num", "dec"):
        parser.take()
        return degrees(parser, base)
    if token.text in ("*", "\\dagger"):
        parser.take()
        return Node("apply", f"^{token.text}", (base,))
    if base.kind in ("sym", "apply") and (order := _order(parser, base)) is not None:
        return order
    sign = 1
    while parser.met("-", "+"):
        sign *= -1 if parser.take().text == "-" else 1
    parser.deeper()
    if parser.peek().text == "{":
        top = group(parser)
        if base.kind == "sym" and parser.met("_"):
            base = parser.subscript(base.value)
        while parser.met("^") and not _degrees_follow(parser):  # 2^{3}^{4} is no LaTeX, but people write it
            parser.take()
            top = exponent(parser, top)
    elif token.kind == "num" and base.kind == "sym" and parser.peek(1).text == "_":  # "v^2_0" is "v_0^2"
        top = literal(parser.take().text)
        base = parser.subscript(base.value)
    else:
        top = parser.operand()
        while parser.met("^") and not _degrees_follow(parser):
            parser.take()
            top = exponent(parser, top)
        if parser.met("!") and top.kind == "num":
            parser.take()
            top = Node("call", "factorial", (top,))
    parser.depth -= 1
    if top.kind in ("list", "tuple", "set", "rel"):
        raise ParseError("an exponent that is no number")
    # an inverse's value: f^{-1}(x) is no quotient
    if base.kind == "sym" and base.value in ("f", "g", "h", "F", "G", "H") and top == MINUS_ONE and parser.met("("):
        parser.take()
        return Node("apply", f"{base.value}^-1", inside(parser, ")"))
    return power(base, negate(top) if sign < 0 else top)


def _order(parser: Parser, base: Node) -> Node | None:
    """``E^{(1)}``, ``B_\\phi^{(I)}``: no power but part of the name; None for ``x^{(2)}``, which people write for ``x^2``."""
    inner = parser.peek(2)
    if not (
        parser.peek().text == "{"
        and parser.peek(1).text == "("
        and inner.kind in ("num", "id", "word")
        and parser.peek(3).text == ")"
        and parser.peek(4).text == "}"
    ):
        return None
    named = base.kind == "apply" or "_" in base.value or parser.peek(5).text == "_" or base.value[-1].isupper()
    if not named and base.value not in ("\\psi", "\\phi", "\\chi"):
        return None
    parser.at += 5
    if base.kind == "sym" and parser.met("_"):
        base = parser.subscript(base.value)
    return Node(base.kind, f"{base.value}^({inner.text})", base.args)


def degrees(parser: Parser, node: Node) -> Node:
    """Degrees, with minutes and seconds where they follow; ``°C`` and ``°F`` are units."""
    after = parser.peek()
    if after.kind in ("id", "text", "unit") and after.text in ("C", "F", "c", "f"):
        parser.take()
        return Node("unit", named_unit("deg" + after.text.upper()), (node,))
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


def postfix(parser: Parser, node: Node) -> Node:
    """What may follow an operand: powers, ``!``, ``%``, degrees, primes, a currency."""
    while True:
        token = parser.peek()
        if token.kind not in ("op", "cmd"):
            return node
        if token.text == "(" and node.kind == "sym" and node.value.endswith("'"):  # "y'(0)" is no product
            parser.take()
            return Node("apply", node.value, inside(parser, ")"))
        text = token.text
        if text == "^":
            parser.take()
            node = exponent(parser, node)
        elif text == "!":
            parser.take()
            if parser.met("!"):
                parser.take()
                node = Node("call", "factorial2", (node,))
            else:
                node = Node("call", "factorial", (node,))
        elif text == "%":
            parser.take()
            node = Node("percent", None, (node,))
        elif text in ("\\circ", "\\degree", "\\textdegree"):
            parser.take()
            node = degrees(parser, node)
        elif text == "'" or text == '"':
            parser.take()
            if node.kind in ("num", "dec"):
                inches = text == '"' or parser.met("'")
                if inches and text == "'":
                    parser.take()
                node = Node("unit", named_unit("in" if inches else "ft"), (node,))
            else:
                node = prime(node)
        elif text in CURRENCY and node.kind in ("num", "dec"):
            parser.take()
            node = Node("unit", named_unit(CURRENCY[text]), (node,))
        else:
            return node


def label(parser: Parser) -> str:
    """Words that say what was counted, with powers and slashes, up to the end of the part."""
    out: list[str] = []
    while True:
        token = parser.peek()
        if token.kind in ("text", "unit", "word", "id"):
            if token.text.endswith(",") and parser.peek(1).kind == "num":
                raise ParseError(f"a number behind the words {token.text[:40]!r}")
            said = token.text.lower().split()
            if said[0] in _CONDITIONS:
                raise ParseError(f"the word {token.text[:40]!r} begins a condition")
            said_so = token.text.lower() if " " in token.text else f"{token.text.lower()} {parser.peek(1).text}"
            if _TOO.match(said_so) is not None:
                raise ParseError(f"the words {token.text[:40]!r} speak about the number")  # "90 is too large"
            if (
                (not out and said[0] in _SCALING)
                or _SCALED.intersection(said)
                or (said[0] == "of" and said[-1] in PARTS)
            ):
                raise ParseError(f"the words {token.text[:40]!r} say another number")
            if _SECOND_NUMBER.search(token.text) is not None:
                raise ParseError(f"a number in the words {token.text[:40]!r}")  # "12 for each of 3"
            if token.kind == "id" and out and parser.peek(1).kind == "rel":
                raise ParseError(f"an equation behind the words {''.join(out)[:40]!r}")  # "y = 1 at x = 2"
            out.append(" " + token.text)
        elif (token.kind == "op" and token.text in ("/", "^", "{", "}", "-", "*", "'", ".")) or token.kind == "num":
            if token.text == "}" and out.count("{") <= out.count("}"):
                break
            if token.kind == "num" and out and _separate(parser, out[-1]):
                raise ParseError(f"a number behind the words {''.join(out)[:40]!r}")
            if token.text in ("-", "*", "/") and parser.peek(1).kind == "num" and out[-1:] not in (["^"], ["{"]):
                raise ParseError(f"a sum or a product behind the words {''.join(out)[:40]!r}")  # "5 apples - 1"
            out.append(token.text)
        elif token.kind == "cmd" and token.text in ("\\cdot", "\\times") and parser.peek(1).kind != "num":
            out.append("*")
        else:
            break
        parser.take()
    return "".join(out).replace("{", "").replace("}", "").strip()


def _separate(parser: Parser, before: str) -> bool:
    """Is the number here one of its own, behind words: ``0.7 out of 10``, ``5 apples 6 pears``, and not the 2 of ``cm2``?"""
    spaced = parser.peek().spaced or parser.tokens[parser.at - 1].kind == "text"
    return spaced or before.rsplit(" ", 1)[-1] in ("of", "in", "over", "by")


_SECOND_NUMBER = re.compile(r"(?:^|\s)(?:of|in|over|by|per|from|to|out of|every|for|times|than)\s\d")
_TOO = re.compile(
    r"(?:is|are|was|were|would|could|might|may|must|should|cannot|seems?|remains|needs|has|have|had|does|did)\s(?!(?:the|a|an|correct|right)\b)"
)
_SCALING = frozenset(
    (
        "twice",
        "doubled",
        "tripled",
        "halved",
        "squared",
        "cubed",
        "halves",
        "thirds",
        "fourths",
        "fifths",
        "sixths",
        "eighths",
        "tenths",
    )
)
_SCALED = frozenset(("twice", "doubled", "tripled", "halved"))
PARTS = frozenset(("half", "third", "quarter", "fourth", "fifth", "sixth", "tenth"))
"""What an amount may be of, so that it is less (``1/4 of a third``)."""
_CONDITIONS = frozenset(("when", "where", "whenever", "if", "unless", "while"))  # "1 when t = 2" counts no whens


def residue(parser: Parser, value: Node) -> Node:
    """``\\pmod 7`` or ``(\\text{mod } 7)`` behind a number."""
    if parser.take().text != "(":
        return with_modulus(value, parser.argument())
    parser.take()
    modulus = parser.sum()
    parser.expect(")")
    return with_modulus(value, modulus)


def with_modulus(value: Node, modulus: Node) -> Node:
    """A residue is kept with a number or a letter, or the whole of ``2n``."""
    return Node("residue", modulus.value if modulus.kind in ("num", "sym") else modulus, (value,))


def function_head(parser: Parser) -> Node | None:
    """``Q(t) = ...``: a name before brackets and ``=`` is a function, whatever the letter."""
    name, width = _head(parser)
    if not width or parser.peek(width).text != "(":
        return None
    start = here = parser.at + width
    depth, bars = 0, []
    tokens, count = parser.tokens, len(parser.tokens)
    while here < count:
        text = tokens[here].text
        depth += (text == "(") - (text == ")")
        if text in ("|", "\\mid", "\\vert"):
            bars.append(here)
        here += 1
        if depth == 0:
            break
    if not (here < count and tokens[here].kind == "rel" and tokens[here].text in ("=", "~")):
        return None
    if any(token.kind == "text" for token in tokens[start:here]):  # "P(\\text{both are red})"
        parser.at = here
        said = "-".join(" ".join(token.text for token in tokens[start + 1 : here - 1]).split())
        return Node("apply", name, (Node("sym", said.lower()),))
    if len(bars) == 1:  # "P(A | B)" is not P(B | A): what stands before the bar is part of the name
        name += "|" + "".join(token.text for token in tokens[start + 1 : bars[0]] if token.text not in "{}")
        tokens[bars[0]] = tokens[bars[0]]._replace(kind="op", text=";")
    parser.at += width + 1
    return Node("apply", name, inside(parser, ")"))


def _index(parser: Parser, ahead: int) -> tuple[str, int]:
    """An index or its like behind a name, ``_1``, ``_{\\max}``, ``_\\phi^{(1)}``, and its tokens."""
    text, width = "", 0
    while (mark := parser.peek(ahead + width)).text in ("_", "^") and mark.kind == "op":
        inner = parser.peek(ahead + width + 1)
        if inner.text == "{":
            end = next((at for at in range(2, 8) if parser.peek(ahead + width + at).text == "}"), 0)
            said = "".join(parser.peek(ahead + width + at).text for at in range(2, end))
        else:
            end, said = 1, inner.text if inner.kind in ("num", "id") else ""
        if not said or (mark.text == "^" and said[0] != "("):
            return "", 0
        text, width = f"{text}{mark.text}{said}", width + end + 1
    return text, width


def _head(parser: Parser) -> tuple[str, int]:
    """A function's name and its tokens: ``Q``, ``\\vec{r}``, ``(f \\circ g)``; no tokens where there is none."""
    first = parser.peek()
    if first.kind == "id":
        index, width = _index(parser, 1)
        return first.text + index, 0 if first.text in "fghFGH" and not index else 1 + width
    if first.text == "\\vec":
        braced = parser.peek(1).text == "{"
        letter = parser.peek(1 + braced)
        closed = not braced or parser.peek(3).text == "}"
        return f"\\vec {letter.text}", (2 + 2 * braced) if letter.kind == "id" and closed else 0
    if first.text == "(" and parser.peek(2).text in ("\\circ", "+", "-", "\\cdot", "/") and parser.peek(4).text == ")":
        one, other = parser.peek(1), parser.peek(3)
        return f"{one.text}{parser.peek(2).text}{other.text}", 5 if one.kind == other.kind == "id" else 0
    return "", 0
