"""Weaker signs of an answer, where no mark stands: bold type, the last line, the last formula, a letter, the last number."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

import re

from .formulas import CHOICE_LEAD, NUMBER, PROSE, WINDOW, carries, segments
from .phrases import VERDICTS, concluded, phrase

__all__ = ["bold", "last_line", "last_number", "last_segment", "letter", "whole"]

_DENIED = re.compile(r"\d|\b(?:not|neither|nor)\b|n't\b", re.IGNORECASE)
_BOLD = re.compile(r"\*\*(?!\s)([^*\n]{1,400}?)\*\*")
_DIGIT = re.compile(r"\d")
_COMMAND = re.compile(r"\\[a-zA-Z]+\{[^{}]*\}")
_LEAD = re.compile(
    r"^(?:(?:so|it|is|we|get|have|as|be|to|thus|hence|therefore|finally|then)\b[\s,:]*)+(?=[-\d$\\]|[a-z](?:_\d)?(?:\([a-z]\))?\s?=)",
    re.IGNORECASE,
)
_KNOWN = frozenset("sin cos tan log exp sqrt and mod min max gcd lcm infinity inf pi".split())
_VERDICT = re.compile(
    r"(?:therefore|thus|hence|so|(?:in )?conclusion|overall)\s*[,:]?\s*(yes|no|true|false)[.!]?", re.IGNORECASE
)
_STATED = re.compile(
    r"\b(?:[Tt]herefore|[Tt]hus|[Hh]ence|[Ss]o|that),?\s(?:the|this)\s(?:given\s)?(?:statement|claim|proposition|assertion|conjecture)\sis\s"
    r"(?:\*\*)?([Tt]rue|[Ff]alse)\b(?:\*\*)?[.!]"
)
_FORMULA_END = re.compile(
    r"(?:=|\b(?:is|are|equals))\s+((?=\S*[a-z^(])(?=\S*\d)[-\w^*/+().{}]+(?:\s+[-+*/]\s+[-\w^*/+().{}]+)*?)\.?$"
)
_TIME = re.compile(r"^[*(]*(\d{1,2}:\d\d)[*).,]*$")
_BOLD_END = re.compile(r"(?:^|\n)[^\d\n*]{4,200}\s\*\*([A-Z]?[a-z]+(?: [A-Za-z]+){0,2})\*\*[.!]?$")
_GLUED = re.compile(r"(?:or|and)[A-Za-z]")


def bold(text: str) -> str | None:
    """The last bold text that carries an answer."""
    window = text[-WINDOW:]
    if "**" not in window:
        return None
    for match in reversed(list(_BOLD.finditer(window))):
        content = match[1].strip(" :")
        hit = phrase(content)
        if hit is not None:
            return hit[1]
        if content.rstrip(".!,").lower() in VERDICTS:
            return content.rstrip(".!,")
        if carries(content) and not match[1].rstrip().endswith(":") and not _heading(content):
            inner = segments(content)
            return inner[-1][2].strip() if inner else content
    said = _BOLD_END.search(window[-300:].rstrip())
    return None if said is None or _DENIED.search(said[0]) else said[1]


def _heading(content: str) -> bool:
    return (
        re.match(r"(?:step|part|case|problem|question|example|option|choice|\d+[.)])", content, re.IGNORECASE)
        is not None
    )


def last_line(text: str) -> str | None:
    """The last line, where it is nothing but an answer."""
    window = text[-WINDOW:].rstrip()
    line = window[window.rfind("\n") + 1 :].strip().strip("*").strip()
    if not line.isascii() and (said := _HAN_LINE.search(line)) is not None:
        return next(group for group in said.groups() if group)
    if lead := _LEAD.match(line):
        line = line[lead.end() :]
    if not line or len(line) > 400:
        return None
    if (verdict := _VERDICT.fullmatch(line)) is not None:
        return verdict[1]
    if (verdict := _STATED.search(line)) is not None:
        return verdict[1]
    if (said := _CONCLUDED.match(line)) is not None:
        return said[1] or said[2] or said[3]
    inner = segments(line)
    if len(inner) == 1 and not line[: inner[0][0]].strip() and not line[inner[0][1] :].strip(" ."):
        return inner[0][2].strip()
    if inner or not _DIGIT.search(line):
        return None
    if not _in_prose(line):
        return line
    formula = _FORMULA_END.search(line)
    return None if formula is None or _in_prose(formula[1]) else formula[1]


_HAN_LINE = re.compile(
    r"[\u4e00-\u9fff]{2,20}[是为有得]\s?:?\s?(-?\d+(?:\.\d+)?(?:/\d+)?%?[\u4e00-\u9fff]{0,6})[。.]?$"
    r"|(?:所以|因此|答)[:：,，]?[^\d$]{1,30}?(-?\d+(?:\.\d+)?(?:/\d+)?%?[\u4e00-\u9fff]{0,6})[。.]?$"
    r"|(?:本题|应|故|所以|答案)选\s?[:：]?\s?([A-F](?:[、,，]?[A-F]){0,5})\s?[。．.]?$"
)


_CONCLUDED = re.compile(  # of a conclusion what it says first: "Thus, the minimum is 10, and it is achieved at x = 2"
    r"(?:[Tt]herefore|[Tt]hus|[Hh]ence|[Ss]o),?\s(?:the|this)\s(?:[a-z' -]{3,60}?\s(?:is|equals)\s\$?(-?\d[\d,]*(?:[./]\d+)?)\$?,?\s"
    r"(?:and it is|and this is|when|attained|achieved|occurring|reached)\b"
    r"|(?:given\s)?(?:equation|system|inequality|congruence)\shas\s((?:no|infinitely many)\s(?:real\s|integer\s)?solutions?)\.?$)"
    r"|(Yes|No|True|False),?\s(?:because|since)\b"
)


def _in_prose(line: str) -> bool:
    """Has a line words that are no functions?"""
    prose = PROSE.finditer(_COMMAND.sub("", line) if "\\" in line else line)
    return any((word := match[0]).lower() not in _KNOWN and not _GLUED.fullmatch(word) for match in prose)


_GIVEN_UP = re.compile(
    r"\b(?:I|[Ww]e)\s(?:(?:could|can|did|do)(?:\snot|n't)|cannot|am\s(?:not\sable|unable)\sto|(?:was|were|are)\s(?:not\sable|unable)\sto|failed\sto)"
    r"\s(?:find|solve|determine|work\sout|know|compute|answer)\b[^.!?\n]{0,60}[.!?]?\s*$"
)


def _given_up(text: str) -> bool:
    """Does a text end in saying that there is no answer?"""
    return _GIVEN_UP.search(text[-200:]) is not None


def last_segment(text: str) -> str | None:
    """The last formula between math delimiters."""
    window = text[-WINDOW:]
    if _given_up(window):
        return None
    found = segments(window)
    if not found or NUMBER.search(window, found[-1][1]):  # a number after it is nearer to the answer
        return None
    return found[-1][2].strip() or None


def letter(text: str) -> str | None:
    """A choice letter: one that leads the text, or the only one that stands alone in its last line."""
    stripped = text[-WINDOW:].strip()
    if not stripped:
        return None
    lead = CHOICE_LEAD.match(stripped)
    if lead and len(stripped) < 400:
        return next(group for group in lead.groups() if group)
    line = stripped[stripped.rfind("\n") + 1 :]
    if _DENIED.search(line):
        return None
    # A and I are words too, and count only where a mark, "or" or the line's end follows
    alone = set(re.findall(r"(?<![\w'])[B-HJ](?![\w'])|(?<![\w'])[AI](?=[.),]|$|\s+(?:or|and)\s)", line))
    return alone.pop() if len(alone) == 1 else None


def last_number(text: str) -> str | None:
    """The last number."""
    if _given_up(text):
        return None
    for word in reversed(text[-WINDOW:].split()):  # no number goes across a space
        if _DIGIT.search(word) is not None and (
            found := _TIME.findall(word) or [one[0] for one in NUMBER.finditer(word)]
        ):
            return str(found[-1])
    return None


def whole(text: str) -> str | None:
    """All of a text that is short and a single line; of a longer one what its last line says that something is."""
    stripped = text.strip()
    if stripped and len(stripped) <= 200 and "\n" not in stripped:
        return stripped
    return concluded(stripped[stripped.rfind("\n") + 1 :])
