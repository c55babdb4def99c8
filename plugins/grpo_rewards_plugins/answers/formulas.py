"""Formulas between math delimiters, and what marks a piece of text as an answer: a digit, a formula, a choice letter."""

from __future__ import annotations

import re

_DELIMITER = re.compile(r"\\.|\$\$?", re.DOTALL)
_CLOSERS = {"$$": "$$", "$": "$", "\\[": "\\]", "\\(": "\\)"}
_CARRIES = re.compile(
    r"\d|\\[a-zA-Z]|\$|[=+^√π∞∅×·−≤≥¼-¾⅐-⅞]|(?<![a-zA-Z])(?:[a-z]{1,2}\s?/\s?[a-z]{1,2}(?![a-zA-Z])|(?:sin|cos|tan|ln|log)\s[a-zα-ω]\b)"
)
CHOICE_LEAD = re.compile(
    r"[\s*(\[$_\"'“‘`]*(?:\(?([A-J])\)|\(([K-Z])\)|([A-J])[.:,]|([A-J])(?=\*\*|;|\s—|\s[–-]\s[a-z]{2}|$)|([A-Z])(?=\.?\**$))(?:[\s.:,;]|[*_\"'”’`\]]|$)"
)
NUMBER = re.compile(
    r"(?<![\w.,])[-+−]?(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+(?:,\d{1,2}(?![\d,]))?)(?:\.\d+)?(?:/\d+)?(?:[eE][+-]?\d+)?%?|(?<!\w)[-+]?\.\d+"
)
NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
"""Of 0 to 19, each at its place."""
COUNTS = frozenset((*NUMBER_WORDS, "twenty"))
"""The words for a number that a sentence counts with."""
PROSE = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]{3,}(?![a-zA-Z{])")
WINDOW = 20_000
"""Characters from the end of a completion that anything but a mark is looked for in."""


def any_in(signs: tuple[str, ...], text: str) -> bool:
    """Is any of some signs in a text?  Asked before a pattern that costs more, by a loop, which is faster than ``any``."""
    for sign in signs:  # noqa: SIM110
        if sign in text:
            return True
    return False


def segments(text: str) -> list[tuple[int, int, str]]:
    """Start, end and content of each formula between math delimiters; one pass, whatever is left open."""
    out: list[tuple[int, int, str]] = []
    if "$" not in text and "\\" not in text:
        return out
    marks = [(m.start(), m[0]) for m in _DELIMITER.finditer(text)]
    at, count = 0, len(marks)
    never: set[str] = set()  # closers that do not come any more
    while at < count:
        start, mark = marks[at]
        at += 1
        closer = _CLOSERS.get(mark)
        if closer is None or closer in never:
            continue
        dollar = mark[0] == "$"
        end = next((i for i in range(at, count) if marks[i][1] == closer or (dollar and marks[i][1][0] == "$")), None)
        if end is None:
            never.add(closer)
            continue
        place, found = marks[end]
        if mark == "$$" and found == "$":  # the first of the two dollars is stray
            start, mark = start + 1, "$"
        elif mark == "$" and found == "$$":
            found = "$"
        content = text[start + len(mark) : place]
        if mark == "$" and content[:1].isdigit() and text[place + 1 : place + 2].isdigit() and _WORDS.search(content):
            continue  # two amounts: "$5 and sells it for $8"
        if content:
            out.append((start, place + len(found), content))
            at = end + 1
    return out


_WORDS = re.compile(r"\A[^\\]*?[a-zA-Z]{2,} [^\\]*?[a-z]{2,}[^\\]*\Z")


_BESIDE = re.compile(
    r"[\s*]*(?:,?\s*(?P<or>or\b|或者?)|,?\s*and\b|,?\s?[和与及、]|,|,?\s*\(?(?:(?:which is|that is|or|i\.e\.,?)\s)?(?P<about>about|approximately|roughly|≈)(?=\s))[\s*]*"
)


def joined(text: str, found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Formulas side by side as one each: ``$3$ and $7$``, ``$x=3$ or $x=7$``."""
    out = found[:1]
    for start, end, content in found[1:]:
        first, last, said = out[-1]
        beside = start - last < _CLOSE and not text.startswith(_DISPLAYED, start)
        between = _BESIDE.fullmatch(text, last, start) if beside else None
        if between is None:
            out.append((start, end, content))
        else:
            by = " \\approx " if between["about"] else " \\text{or} " if between["or"] else ", "
            out[-1] = (first, end, said + by + content)
    return out


_DISPLAYED = ("$$", "\\[")
_CLOSE = 24  # characters between two formulas side by side


def carries(text: str) -> bool:
    """Can this be an answer: is there a digit, a formula or a choice letter in it?"""
    return _CARRIES.search(text) is not None or CHOICE_LEAD.match(text) is not None
