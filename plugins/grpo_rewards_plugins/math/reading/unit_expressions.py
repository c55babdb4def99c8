"""Expressions of units: ``kg m/s^2``, ``\\frac{\\mathrm{J}}{\\mathrm{mol\\cdot K}}``, ``square centimetres``, ``miles per hour``.

Two steps: upright text that is nothing but units is cut into pieces for the tokenizer; the parser then reads the pieces, or bare
words behind a number, into one `Unit`. What stands behind a slash up to the next one is below the line (``W/m^2K^4``), but for
what has a negative exponent of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flint import fmpq

from .chemistry import is_formula
from .tree import Node, ParseError, add, free, mul, number
from .units import (
    COUNTED,
    DEGREE,
    METER,
    NO_UNIT,
    PERCENT,
    SECOND,
    SPELLED_POWERS,
    Unit,
    counted,
    is_unit_word,
    named_unit,
)

if TYPE_CHECKING:
    from .parser import Parser
    from .tokens import Token

_LONGEST = 120
_MOST_FACTORS = 16
# no unit of the table has more than the fourth power of another; a scale's digits grow with it
_LARGEST_EXPONENT = 12
_FONT = re.compile(
    r"\\(?:text(?:rm|normal|up)?|math(?:rm|sf)|mbox|hbox|rm|operatorname)(?![a-zA-Z])\s*|[{}~]|\\[,;:!. ]|\\"
)
_SIGNS = (
    ("\\mu", "μ"),
    ("\\Omega", "Ω"),
    ("\\ohm", "Ω"),
    ("\\AA", "Å"),
    ("\\cdot", "*"),
    ("\\times", "*"),
    ("\\%", "%"),
    ("\\per", "/"),
)
_DEGREES = re.compile(r"\^?\s*\{?\s*\\(?:circ|degree)\s*\}?\s*\{?(?:\\(?:text|math)(?:rm)?\s*\{)?\s*([CF])\b")
_SPELLED = (
    (re.compile(r"\bdegrees?[\s-]+(?:(celsius|centigrade|C)|fahrenheit|F)\b", re.I), lambda m: "degC" if m[1] else "degF"),
    (re.compile(r"\belectron[\s-]?volts?\b", re.I), lambda m: "eV"),
    (re.compile(r"\bnautical[\s-]miles?\b", re.I), lambda m: "nmi"),
    (re.compile(r"\batomic[\s-]mass[\s-]units?\b", re.I), lambda m: "u"),
    (re.compile(r"\bmm[\s-]Hg\b"), lambda m: "mmHg"),
    (re.compile(r"\bastronomical[\s-]units?\b", re.I), lambda m: "AU"),
    (re.compile(r"\blight[\s-]years?\b", re.I), lambda m: "ly"),
    (re.compile(r"\bfl(?:\.|uid)?[\s-]*(?:oz\b\.?|ounces?\b)", re.I), lambda m: "floz"),
    (re.compile(r"(?<=[a-zA-Z])-(?=[a-zA-Z])"), lambda m: " "),
)  # fmt: skip
_MICRO = re.compile(r"μ\s+")
_PIECE = re.compile(
    r"(?P<space>\s+)|(?P<word>[A-Za-zÅåμµΩ$€£¥¢]+\.?)|(?P<num>\d{1,3})|(?P<op>\*\*|[-/*^().])|(?P<other>.)", re.DOTALL
)
_TAIL = re.compile(
    r"(?:\s+of(?:\s|$)|\s+(?:long|tall|high|wide|deep|old|away|away from|apart|each|total|in total|per person)\b).*",
    re.DOTALL | re.I,
)


def unit_pieces(content: str, *, counting: bool = False) -> list[tuple[str, str]] | None:
    """The pieces of an upright text that is an expression of units: kinds ``unit``, ``num`` and ``op``; None for any other text.

    In a rate, and everywhere with `counting`, other words count as well: ``photons/s``.
    """
    if len(content) > _LONGEST:
        return None
    text = _DEGREES.sub(r" deg\1", content) if "\\" in content else content
    for command, sign in _SIGNS:
        if command in text:
            text = text.replace(command, sign)
    text = _FONT.sub(" " if "~" in text or "\\" in text else "", text)
    text = _MICRO.sub("μ", text) if "μ " in text else text
    for pattern, spelled in _SPELLED:
        text = pattern.sub(spelled, text)
    text = _TAIL.sub("", text.strip())
    out: list[tuple[str, str]] = []
    named, glued = counting and ("/" in text or " per " in text), -1
    counting = counting or _RATE.search(text) is not None
    for match in _PIECE.finditer(text):
        kind, piece = match.lastgroup, match[0]
        if kind == "space":
            continue
        if kind == "word":
            plain = piece if piece in ("$",) else piece.rstrip(".").replace("µ", "μ")
            if plain.lower() == "per":
                out.append(("op", "/"))
            elif plain.lower() in SPELLED_POWERS:
                out.append(("unit", plain.lower()))
            elif named_unit(plain) is not None:
                out.append(("unit", plain))
                named, glued = True, match.end()
            elif (split := _glued(plain)) is not None:
                out.extend(("unit", part) for part in split)
                named = True
            elif named and is_formula(plain):  # "g NaCl": what the grams are of
                break
            elif counting and _COUNTABLE.fullmatch(plain):
                out.append(("unit", COUNTED + plain))
            else:
                return None
        elif kind == "num":
            if piece == "1" and not out:  # "1/s"
                continue
            if not out:
                return None
            if match.start() == glued:  # "m2", "s-1"
                out.append(("op", "^"))
            out.append(("num", piece))
        elif kind == "op":
            if piece == "-" and match.start() == glued:
                out.append(("op", "^"))
            out.append(("op", "^" if piece == "**" else "*" if piece == "." else piece))
        else:
            return None
    while out and out[-1] == ("op", "*"):
        out.pop()
    return out if named else None


_RATE = re.compile(r"[a-z]{4,}\s*/\s*[a-z]|[a-z]{4,}\s+per\s|[a-z]{4,}[\s*.]+[a-zA-Z]{1,3}\s*\^\s*-")
_COUNTABLE = re.compile(r"[a-z]{4,}")


def labelled_unit(label: str) -> Unit:
    """The unit of words behind a number that are no unit: what was counted, and over what (``photon* s^-1``, ``per apple``)."""
    if label.startswith("per "):
        return NO_UNIT.times(named_unit(label[4:]) or counted(label[4:]), -1)
    pieces = unit_pieces(label, counting=_COMPOUND.search(label) is not None)
    if pieces is None:
        return named_unit(label) or counted(label)
    from .parser import Parser
    from .tokens import Token

    parser = Parser([Token(kind, piece, False) for kind, piece in pieces])
    try:
        unit = read_unit(parser)
    except ParseError:
        return counted(label)
    return unit if parser.peek().kind == "end" else counted(label)


_COMPOUND = re.compile(r"[*/^]|\sper\s")


def _glued(word: str) -> tuple[str, str] | None:
    """``Nm`` and ``VA``: two signs of one letter each."""
    if len(word) == 2 and word.isalpha() and word[0].isupper() and named_unit(word[0]) and named_unit(word[1]):
        return word[0], word[1]
    return None


def begins_unit(parser: Parser, value: Node) -> bool:
    """Does an expression of units begin here, behind a value?  ``h/kT`` is a quotient of letters."""
    token = parser.peek()
    if token.kind == "unit":
        return True
    if token.kind == "word":
        if not parser.units:
            return False
        low = token.text.lower()
        if low in SPELLED_POWERS:
            return parser.peek(1).kind in ("word", "unit") and _unit_of(parser, 1) is not None
        if parser.loose and _begins_loosely(parser):
            return True
        return is_unit_word(token.text) and (len(token.text) > 2 or not (_raised(parser) or _goes_on(parser)))
    if token.text == "/" and token.kind == "op":
        after = parser.peek(2 if parser.peek(1).text == "(" else 1)  # "/(m^3 s)"
        return (
            after.kind == "unit"
            or (after.kind == "word" and parser.units and is_unit_word(after.text) and not free(value))
            or (parser.loose and _begins_loosely(parser))
        )
    if token.text == "\\mu" and parser.peek(1).kind == "unit":
        return named_unit("μ" + parser.peek(1).text) is not None
    return parser.loose and _begins_loosely(parser)


def _begins_loosely(parser: Parser) -> bool:
    """Can letters be units that stand behind a number, up to the end of the part?"""
    token, before = parser.peek(), parser.tokens[parser.at - 1] if parser.at else parser.peek()
    if before.kind not in ("num", "const") and before.text not in ("}", ")"):
        return False
    if not (token.kind in ("id", "word", "cmd") or token.text == "/") or not (
        token.spaced or parser.glued or token.text in _GLUED_LETTERS
    ):
        return False
    after = _behind_unit(parser)
    return after is not None and (after.kind in ("end", "sep") or after.text in (",", ";", ")", "]", "\\}"))


def _raised(parser: Parser) -> bool:
    """Two letters to a power that nobody raises a unit to: ``\\frac{1}{2}kA^2`` is no amount in square kiloamperes."""
    unit = named_unit(parser.peek().text)
    if parser.peek(1).text != "^" or unit is None or unit.bases in _RAISED:
        return False
    return "-" not in (parser.peek(2).text, parser.peek(3).text)


_RAISED = ((("m", 1),), (("s", 1),), (("kg", 1),))


def _goes_on(parser: Parser) -> bool:
    """Do letters that are no units follow?  ``2GM/R`` is no amount in gigamolars."""
    after = _behind_unit(parser)
    return after is None or after.kind in ("id", "func", "const") or after.text == "/"


def _behind_unit(parser: Parser) -> Token | None:
    """What follows the expression of units that begins here; None where none does."""
    start = parser.at
    try:
        read_unit(parser)
        return parser.peek()
    except ParseError:
        return None
    finally:
        parser.at = start


_GLUED_LETTERS = frozenset("mgL")  # behind a number without a space they are a unit more often than a variable


def _unit_of(parser: Parser, ahead: int) -> Unit | None:
    """The unit that one token is, in a place where only units are looked for."""
    token = parser.peek(ahead)
    if token.kind == "const" or token.kind not in ("unit", "word", "id", "text", "func"):
        return None
    text = {"\\Omega": "Ω", "\\mu": "μ"}.get(token.text, token.text)
    return named_unit(text) if text != "μ" else None


def read_unit(parser: Parser, *, bracketed: bool = False) -> Unit:
    """One expression of units, from its first token on, perhaps within brackets; what follows it is left."""
    unit, below, factors = NO_UNIT, False, 0
    while True:
        if factors and not below and not bracketed and _letters_meet(parser):
            break
        found = _factor(parser, below)
        if found is None:
            break
        unit = unit.times(found[0], found[1])
        factors += 1
        if factors > _MOST_FACTORS:
            raise ParseError(f"more than {_MOST_FACTORS} units")
        below = found[2]
    if not factors:
        raise ParseError(f"expected a unit, met {parser.peek().text or 'the end'!r}")
    return unit.reduced()


def _letters_meet(parser: Parser) -> bool:
    """Does a letter follow another that nobody multiplies such a unit by?  ``2 m g h`` is no amount."""
    letter = parser.peek()
    if letter.kind != "id" or "-" in (parser.peek(2).text, parser.peek(3).text):
        return False
    before = parser.tokens[parser.at - 1]
    if before.kind not in ("id", "word"):
        return False
    return letter.text not in "ms" and not before.text.endswith(_MULTIPLIED.get(letter.text, ()))


_MULTIPLIED = {"h": ("A", "W"), "A": ("V",), "K": ("m",), "W": ("m",), "N": ("m",)}
"""A unit's letter and the ends of what it is written behind without a sign: ``kW h``."""


def _factor(parser: Parser, below: bool) -> tuple[Unit, int, bool] | None:
    """The next unit, its exponent, and whether what follows stands below the line; None where the expression ends."""
    start, slash = parser.at, False
    token = parser.peek()
    if token.text == "/" or (token.kind == "word" and token.text == "per"):
        parser.take()
        below = slash = True
    elif token.text in ("*", "\\cdot", "\\times", "\\,", ".") and token.kind in ("op", "cmd"):
        parser.take()
    sign = -1 if below else 1
    if parser.met("(", "{") and _unit_of(parser, 1) is not None and (slash or parser.peek(1).kind == "unit"):
        closer = ")" if parser.take().text == "(" else "}"
        inner = read_unit(parser, bracketed=True)
        parser.expect(closer)
        power = _exponent(parser)
        return inner, sign * (1 if power is None else power), below
    if parser.loose and parser.peek().text in ("\\frac", "\\dfrac") and parser.peek(1).text == "{":
        parser.at += 2
        above = read_unit(parser)
        parser.expect("}")
        parser.expect("{")
        rate = above.times(read_unit(parser), -1)
        parser.expect("}")
        return rate, sign, below
    spelled = 1
    while parser.peek().text.lower() in SPELLED_POWERS and parser.peek().kind in ("unit", "word"):
        spelled *= SPELLED_POWERS[parser.take().text.lower()]
        if parser.met("."):
            parser.take()
    unit: Unit | None = _unit_of(parser, 0)
    here = parser.peek()
    if here.text in ("\\mu", "k", "M", "m") and parser.peek(1).text == "\\Omega" and not parser.peek(1).spaced:
        unit = named_unit({"\\mu": "μ"}.get(here.text, here.text) + "Ω")
        parser.take()
    elif here.text == "\\mu":
        unit = named_unit("μ" + parser.peek(1).text)
        parser.take()
    if unit is None and parser.loose and here.kind == "word" and (split := _glued(here.text)) is not None:
        parser.tokens[parser.at : parser.at + 1] = [here._replace(kind="id", text=letter) for letter in split]
        here, unit = parser.peek(), _unit_of(parser, 0)  # "JK^{-1}"
    if unit is None:
        parser.at = start
        return None
    parser.take()
    if here.text.lower().startswith("degree") and parser.peek().text.lower() in ("celsius", "fahrenheit", "c", "f"):
        unit = named_unit("deg" + parser.take().text[0].upper())
        assert unit is not None
    power = _exponent(parser)
    if parser.peek().text.lower() in ("squared", "cubed"):
        power = SPELLED_POWERS[parser.take().text.lower()]
    if power is None:
        return unit, sign * spelled, below
    if here.text == "ms" and power in (-1, -2):  # "ms^{-1}" is a speed: nobody counts by the millisecond
        return METER.times(SECOND, power), 1, below
    return unit, power if power < 0 else sign * power * spelled, below


def _exponent(parser: Parser) -> int | None:
    """``^2``, ``^{-1}``, and the bare ``2`` of ``cm2``."""
    start = parser.at
    token = parser.peek()
    if token.text == "^":
        parser.take()
        braces = parser.met("{", "(") and bool(parser.take())
        sign = -1 if parser.met("-") and parser.take() else 1
        digits = parser.take()
        if (
            digits.kind == "num"
            and digits.text.isdigit()
            and len(digits.text) <= 2
            and (not braces or parser.take().text in "})")
        ):
            return _bounded(sign * int(digits.text))
        parser.at = start
        return None
    if (
        parser.tokens[parser.at - 1].kind == "word"
        and not token.spaced
        and token.kind == "num"
        and token.text in ("2", "3")
    ):
        parser.take()  # "cm2"
        return int(token.text)
    return None


def _bounded(power: int) -> int:
    if abs(power) > _LARGEST_EXPONENT:
        raise ParseError(f"a unit to a power above {_LARGEST_EXPONENT}")
    return power


def with_unit(node: Node, unit: Unit) -> Node:
    """A number with its unit."""
    if unit == PERCENT:
        return Node("percent", None, (node,))
    if unit == DEGREE:
        return Node("degree", None, (node,))
    if not unit.bases:
        return node if unit.scale == 1 else mul(node, number(fmpq(unit.scale.numerator, unit.scale.denominator)))
    return Node("unit", unit, (node,))


def mixed_amount(parser: Parser, node: Node) -> Node:
    """``3 hours 20 minutes``: amounts of smaller and smaller units of one kind are one quantity."""
    while node.kind in ("unit", "add"):
        last = node if node.kind == "unit" else node.args[-1]
        start = parser.at
        if parser.peek().kind == "sep" or parser.met(","):
            parser.take()
        if parser.peek().kind == "sep":
            parser.take()
        token = parser.peek()
        if token.kind != "num" or last.kind != "unit":
            parser.at = start
            return node
        size = parser.power()
        if (
            parser.peek().kind in ("unit", "word", "id")
            and _unit_of(parser, 0) is not None
            and size.kind in ("num", "dec")
        ):
            size = with_unit(size, read_unit(parser))
        small = size.kind == "unit" and size.value.bases == last.value.bases and size.value.scale < last.value.scale
        if not small or _value(size) * size.value.scale.numerator * last.value.scale.denominator >= (
            last.value.scale.numerator * size.value.scale.denominator
        ):
            parser.at = start
            return node
        node = add(node, size)
    return node


def _value(node: Node) -> float:
    inner = node.args[0]
    return inner.value if inner.kind == "num" else inner.value[0] if inner.kind == "dec" else 10**9
