"""Spellings that the tokenizer does not know, brought to ones that it does. Linear in the length of the text."""

from __future__ import annotations

import re

from .spoken import spoken_number
from .units import UNIT_WORDS
from .wording import repeating, words

__all__ = ["named_set", "rewritten", "with_bare_unit"]

_NAMED = {
    "all real numbers": "\\mathbb{R}", "all reals": "\\mathbb{R}", "real numbers": "\\mathbb{R}",
    "set of all real numbers": "\\mathbb{R}", "set of real numbers": "\\mathbb{R}", "any real number": "\\mathbb{R}",
    "every real number": "\\mathbb{R}", "all integers": "\\mathbb{Z}", "set of all integers": "\\mathbb{Z}",
    "set of integers": "\\mathbb{Z}", "all positive integers": "\\mathbb{Z}^+", "positive integers": "\\mathbb{Z}^+",
    "all natural numbers": "\\mathbb{N}", "natural numbers": "\\mathbb{N}", "empty set": "\\emptyset",
    "null set": "\\emptyset", "no solution": "\\emptyset", "no solutions": "\\emptyset",
    "no real solution": "\\emptyset", "no real solutions": "\\emptyset", "infinity": "\\infty",
    "all positive real numbers": "(0,\\infty)", "positive real numbers": "(0,\\infty)", "all positive reals": "(0,\\infty)",
    "all negative real numbers": "(-\\infty,0)", "negative real numbers": "(-\\infty,0)",
    "all nonnegative real numbers": "[0,\\infty)", "all non-negative real numbers": "[0,\\infty)",
    "nonnegative real numbers": "[0,\\infty)", "non-negative real numbers": "[0,\\infty)",
    "positive infinity": "\\infty", "negative infinity": "-\\infty", "minus infinity": "-\\infty",
}  # fmt: skip
_LONGEST_NAME = 60
_LONGEST_SENTENCE = 600
_TEXT = r"\\(?:text|mathrm|textrm|mbox|textsuperscript|rm)"
_ORDINAL = re.compile(
    rf"(?<=\d)\s*(?:\^\s*)?(?:\{{\s*{_TEXT}\s*\{{\s*(?:st|nd|rd|th)\s*\}}\s*\}}|{_TEXT}\s*\{{\s*(?:st|nd|rd|th)\s*\}}"
    r"|(?<=\^)\{(?:st|nd|rd|th)\})"
)
_BARE_ORDINAL = re.compile(r"(\d{0,8}(?:1st|2nd|3rd|[04-9]th|1[1-3]th))")  # "2st" is a product
_WHOLE_AFTER = re.compile(
    rf"[,;]?\s*(?:{_TEXT}\s*\{{\s*,?)?\s*(?:where|for|with)?\s*(?:any|all|every|each|some)?\s*integers?\s*\}}?"
    r"(?:\s|\\[ ,;])*([a-zA-Z])\s*\}?\s*$"
)
_WHOLE_BEFORE = re.compile(
    rf"[,;]?\s*(?:{_TEXT}\s*\{{\s*,?)?\s*(?:where|for|with)?\s*\}}?\s*(?<![a-zA-Z])([a-zA-Z])\s*(?:{_TEXT}\s*\{{)?"
    r"\s*(?:is|are)?\s*(?:an|any)?\s*integers?\s*\}?\s*$"
)
_WHERE = re.compile(
    rf"[,;]?\s*(?:\\q?quad)*\s*{_TEXT}\s*\{{\s*,?\s*(?:where|for|with)(?:\s+(?:all|any|every|some))?\s*\}}\s*(?=[a-zA-Z]\s*\\in)"
)
_IN_BRACKETS = re.compile(
    r"(?:\s|\\[ ,;]|\\q?quad(?![a-z]))*\(\s*([a-zA-Z]\s*\\in\s*\\(?:mathbb\s*\{?|Bbb\s*)?[ZN]\}?)\s*\)$"
)
_PIECES = re.compile(r"\\left\s*\\\{\s*\\begin\{(?:array|aligned|matrix)\}(?:\s*\{[^{}]{0,20}\})?")
_PIECES_END = re.compile(r"\\end\{(?:array|aligned|matrix)\}\s*\\right\s*\.?")
_LOST_BREAK = re.compile(r"(?<!\\)\\(?=\s?-?\d)")
_ROWS = ("matrix}", "{array", "cases}")
_BRACED_UNIT = re.compile(r"(?<=[\d}])\s*\{\s*(?:\\rm\s*)?([a-zA-Z]{2,12})\s*\}")
_DOT_GROUPS = re.compile(r"(?<![\d.,])(\d{1,3}(?:\.\d{3}){2,})(?![\d.])(,\d+)?")
_EXCEPT = re.compile(
    rf"(?:{_TEXT}\s*\{{)?\s*all (?:real numbers|reals)(?: \$?x\$?)? (?:except|excluding|but)(?: for)?\s*\}}?\s*(?:x\s*=\s*)?([^{{}}]+|.*\\frac.*)\}}?",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"^(?:\\(?:text|mathrm|mbox)\s*\{\s*)?(?:approximately|approx\.?|about|roughly|around|nearly|exactly)(?:\s*:)?"
    r"(?:\s+equal to)?[\s~]*(\})?\s*(?=[-+\d.$€£\\(])",
    re.IGNORECASE,
)
_CURRENCY = re.compile(r"^(?:US\s?\\?\$|(USD|EUR|GBP|INR|Rs\.?|CNY|RMB|JPY))\s*(?=\d)")
_CURRENCY_SIGN = {"EUR": "€", "GBP": "£", "INR": "₹", "Rs": "₹", "Rs.": "₹", "CNY": "¥", "RMB": "¥", "JPY": "¥"}
_TIMES = re.compile(r"(?<=\d)\s*[xX]\s*(?=10\s*(?:\^|\*\*))|(?<=\d)\s+x\s+(?=\d)")
_GROUPS = re.compile(r"(?<![\d'])(\d{1,3}(?:'\d{3})+)(?![\d'])")
_SLANTED = re.compile(r"\^\{?(\d{1,9})\}?\s*/\s*_\{?(\d{1,9})\}?")
_N = r"\{?\s*(\d{1,4}|[a-z])\s*\}?"
_CHOOSE = re.compile(rf"(?<![\w}})\]])(?:\{{\s*\}}\s*)?[_^]{_N}\s*(?:\\(?:mathrm|text)\{{)?([CP])\}}?\s*_{_N}")
_CHOOSE_UPPER = re.compile(r"(?<![\w\\])([CA])_\{?\s*(\d{1,4})\s*\}?\s*\^\s*\{?\s*(\d{1,4})\s*\}?")
_CHOOSE_FLAT = re.compile(r"(?<![\w\\.])(\d{1,4})\s?([CP])\s?_?(\d{1,4})(?![\w.])")
_ANGLES = re.compile(r"<([^<>=]{1,400},[^<>=]{1,400})>")
_RATE = re.compile(
    r"\\[dt]?frac\s*\{\s*\\(?:text|mathrm)\s*\{([^{}]*)\}\s*\}\s*\{\s*\\(?:text|mathrm)\s*\{([^{}]*)\}(\^\{?\d\}?)?\s*\}"
)
_FULL_UNIT = re.compile(
    r"(?P<number>.*?\d\)?\}?)(?:\s|\\[ ,;]|~)+(?P<unit>\\d?frac\{[a-z]{1,3}\}\{[a-z]{1,3}(?:\^\{?\d\}?)?\}"
    r"|[a-zA-Z]{1,3}(?:\^\{?\d\}?)?\s?/\s?[a-z]{1,3}(?:\^\{?\d\}?)?)",
    re.DOTALL,
)
_BARE_UNIT = re.compile(
    r"([-+]?[\d.,]*\d|[-+]?\\[dt]?frac\{\d+\}\{\d+\})(?:\s|\\[ ,;]|~)+([msghLNJWVAK](?:\^\{?[23]\}?)?)"
)
_PLAIN_RATE = re.compile(r"\\d?frac\{([a-z]{1,3})\}\{([a-z]{1,3}(?:\^\{?\d\}?)?)\}")
_RATED = frozenset(
    ("m", "km", "cm", "mm", "mi", "ft", "in", "g", "kg", "mg", "L", "mL", "J", "N", "mol", "rad", "rev", "W")
)
_PER = frozenset(("s", "h", "hr", "min", "m", "cm", "kg", "L", "mol", "K", "g", "ft", "sec"))


def named_set(text: str) -> str | None:
    """The LaTeX of a set or an infinity that is named in words."""
    return _NAMED.get(words(text)) if len(text) <= _LONGEST_NAME else None


def rewritten(text: str) -> str:
    """The text with rarer notations in the common ones.

    Numbers of permutations and combinations (``{}_6C_2``, ``C_6^2``, ``6C2``), ``3 x 10^8``, ``1'000``, ``+/-``,
    ``<1, 2>``, ``^3/_4``, currencies by code, rates such as ``m/s^2`` without ``\\text``, named sets in words, words
    that only say "about", and repeating decimals.
    """
    if (found := named_set(text)) is not None:
        return found
    if text[:1].isalpha() or text[:5] == "\\text":
        if (number := spoken_number(words(text))) is not None:
            return str(number)
        if len(text) <= _LONGEST_NAME and (match := _EXCEPT.fullmatch(text)) is not None:
            return f"\\mathbb{{R}}\\setminus\\{{{match[1]}\\}}"
    if "\\begin" in text:
        text = _rows(text)
    head = text[:1]
    if head.isalpha() or head == "\\":
        text = _ABOUT.sub(lambda m: "" if m[1] or m[0][0] != "\\" else "\\text{", text, count=1)
        text = _CURRENCY.sub(lambda m: _CURRENCY_SIGN.get(m[1], "\\$"), text, count=1)
    elif head == "<" and (match := _ANGLES.fullmatch(text)) is not None:
        return f"\\langle {match[1]} \\rangle"
    if "'" in text:
        text = _GROUPS.sub(lambda m: m[1].replace("'", ""), text)
    if "x" in text or "X" in text:
        text = _TIMES.sub(r"\\times ", text)
    if "{:}" in text:
        text = text.replace("{:}", ":")
    if "/" in text:
        text = text.replace("+/-", "\\pm ")
        if "^" in text and "_" in text:
            text = _SLANTED.sub(r"\\frac{\1}{\2}", text)
    if "." in text:
        text = _DOT_GROUPS.sub(lambda m: m[1].replace(".", "") + (m[2] or "").replace(",", "."), text)
    if "th" in text or "st" in text or "nd" in text or "rd" in text:
        text = text[:-2] if _BARE_ORDINAL.fullmatch(text) else _ORDINAL.sub("", text)
    if len(text) <= _LONGEST_SENTENCE and ("integer" in text or "\\in" in text):
        text = _whole_number(text)
    if "{" in text:
        text = _BRACED_UNIT.sub(lambda m: f"\\text{{ {m[1]}}}" if m[1] in UNIT_WORDS else m[0], text)
    if "C" in text or "P" in text or "A" in text:
        text = _combinations(text)
    if "frac" in text and ("\\text" in text or "\\mathrm" in text):
        text = _RATE.sub(lambda m: f"\\text{{{m[1]}/{m[2]}{m[3] or ''}}}", text)
    if "/" in text or "frac" in text:
        text = _with_rate(text)
    return repeating(text)


def _rows(text: str) -> str:
    """Cases that are written as an array beside a brace; rows whose ``\\\\`` lost a stroke on its way through an escape."""
    if "\\right" in text and len(found := _PIECES.split(text)) > 1 and len(_PIECES_END.split(text)) == len(found):
        text = _PIECES_END.sub(lambda m: "\\end{cases}", _PIECES.sub(lambda m: "\\begin{cases}", text))
    if any(mark in text for mark in _ROWS):
        text = _LOST_BREAK.sub(lambda m: "\\\\", text)
    return text


def _whole_number(text: str) -> str:
    """``n\\pi`` for any integer n, where k is an integer, ``(k \\in \\mathbb{Z})``: all as a relation after a comma."""
    if "integer" in text:
        for pattern in (_WHOLE_AFTER, _WHOLE_BEFORE):
            match = pattern.search(text)
            if match is not None and match.start():
                return f"{text[: match.start()]}, {match[1]} \\in \\mathbb{{Z}}"
        return text
    return _IN_BRACKETS.sub(r", \1", _WHERE.sub(", ", text))


def _combinations(text: str) -> str:
    text = _CHOOSE.sub(lambda m: _count(m[2], m[1], m[3]), text)
    text = _CHOOSE_UPPER.sub(lambda m: _count(m[1], m[2], m[3]) if int(m[3]) <= int(m[2]) > 2 else m[0], text)
    return _CHOOSE_FLAT.sub(lambda m: _count(m[2], m[1], m[3]), text)


def _count(letter: str, top: str, bottom: str) -> str:
    if letter == "C":
        return f"\\binom{{{top}}}{{{bottom}}}"
    return f"\\frac{{({top})!}}{{({top}-{bottom})!}}"


def with_bare_unit(text: str) -> str | None:
    """``15 m`` with its unit as text; None where no single letter of a unit stands, after a space, behind a number."""
    match = _BARE_UNIT.fullmatch(text) if len(text) <= _LONGEST_NAME else None
    return None if match is None else f"{match[1]} \\text{{ {match[2]}}}"


def _with_rate(text: str) -> str:
    """``9.8 m/s^2``: the unit becomes text, where both sides of the slash are units and a space stands before it."""
    if len(text) > 400:
        return text
    match = _FULL_UNIT.fullmatch(text)
    if match is None:
        return text
    unit = _PLAIN_RATE.sub(r"\1/\2", match["unit"]).replace(" ", "")
    above, _, below = unit.partition("/")
    if above.partition("^")[0] in _RATED and below.partition("^")[0] in _PER:
        return f"{match['number']} \\text{{{unit}}}"
    return text
