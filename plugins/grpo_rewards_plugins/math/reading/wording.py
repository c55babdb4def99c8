"""Answers that are words, choice letters, times, dates or digits in a base: recognised and brought to one spelling."""

from __future__ import annotations

import re

__all__ = ["based_digits", "choice", "clock", "date_like", "is_words", "repeating", "words"]

_TEXT = re.compile(
    r"\\(?:text(?:bf|it|rm|normal|sf|tt)?|math(?:rm|bf|it|sf|tt)|mbox|operatorname|emph|hbox|boldsymbol|bf|rm)\s*(?=\{)"
)
_SPACING = re.compile(r"\\(?:left|right|quad|qquad|[,;:! ])|~|[$*{}]|\\$")
_EDGE = " .,;:!?\"'`()[]"
_ARTICLES = re.compile(r"\b(?:the|an?)\s+")
_SPACE = re.compile(r"\s+")
_LETTERS = re.compile(
    r"[^\W\d_]{3,}(?:[\s'-]+[^\W\d_]+)*|(?i:no|yes|am|pm|on|up|it|he|we|so|if)|[^\W\d_]+(?:[\s'-]+[^\W\d_]{2,})+"
)
_CHOICE = re.compile(r"\(?\s*([A-Za-z])\s*(?:\)|(?=[.:)]|$))[.:)]?\s*$")
_CHOICE_LEAD = re.compile(r"\(?([A-Z])(?:\)|[.:])\s+\S")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([ap])?\.?\s*(?:m\.?)?(?:\s*o'clock)?", re.IGNORECASE)
_HOUR = re.compile(r"(\d{1,2})\s*([ap])\.?\s*m\.?", re.IGNORECASE)
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[/.]\d{1,2}[/.]\d{4}|\d{1,2}-\d{1,2}-\d{4}")
_BASED = re.compile(r"\(?\s*([0-9A-Za-z ]{1,200}?)\s*\)?\s*_\s*\{?\s*([0-9]{1,2}|[a-z]+)\s*\}?")
_BASES = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12,
          "sixteen": 16}  # fmt: skip
_BAR = re.compile(
    r"(\d{0,60})\.(\d{0,60})(?:\\overline\s*\{(\d{1,60})\}|\\(?:dot|bar)\s*\{(\d)\}(?:(\d{0,60})\\(?:dot|bar)\s*\{(\d)\})?)(?:\\ldots|\\dots|\.\.\.)?"
)
_PARENTHESES = re.compile(r"(?<![\w.])(\d{1,60})\.(\d{0,60})\((\d{1,60})\)(?![\w(])")
_DOTS = re.compile(r"(?<![\d.])(\d{0,40})\.(\d{1,60})\s*(?:\\ldots|\\dots|\\cdots|\.\.\.)")


def words(text: str) -> str:
    """One spelling of an answer in words: without typesetting, case, edge punctuation and articles."""
    plain = _SPACING.sub(" ", _TEXT.sub("", text))
    plain = _SPACE.sub(" ", plain).strip(_EDGE).casefold()
    return _ARTICLES.sub("", plain)


def is_words(text: str) -> bool:
    """Is it letters alone, of a length at which they are a word rather than a product of variables?"""
    plain = _SPACING.sub(" ", _TEXT.sub("", text)).strip(_EDGE)
    return len(plain) <= 400 and _LETTERS.fullmatch(plain) is not None


def choice(text: str, *, lead: bool = False) -> str | None:
    """The choice letter that a text is (with `lead`: or begins with), in upper case."""
    if len(text) > 200:
        return None
    plain = _SPACING.sub(" ", _TEXT.sub("", text)).strip()
    match = _CHOICE.fullmatch(plain) or (_CHOICE_LEAD.match(plain) if lead else None)
    return match[1].upper() if match else None


def clock(text: str) -> tuple[int, ...] | None:
    """A time of day as hour, minute, second and half of the day (0 unknown, 1 am, 2 pm)."""
    if len(text) > 60 or not text[:1].isdigit():
        return None
    plain = _SPACE.sub(" ", _SPACING.sub(" ", _TEXT.sub("", text))).strip()
    match = _CLOCK.fullmatch(plain)
    if match is not None and int(match[2]) < 60 and int(match[1]) <= 24:
        half = {"a": 1, "p": 2}.get((match[4] or "").lower(), 0)
        return int(match[1]), int(match[2]), int(match[3] or 0), half
    hour = _HOUR.fullmatch(plain)
    return (int(hour[1]), 0, 0, 1 if hour[2].lower() == "a" else 2) if hour else None


def date_like(text: str) -> bool:
    """Is it a date in digits?  It is compared as text, not subtracted."""
    return len(text) <= 12 and _DATE.fullmatch(text) is not None


def based_digits(text: str) -> tuple[str, int] | None:
    """Digits and base of ``204_5``, ``(1010)_2``, ``\\text{AB}_{16}``; None for anything else, a name with an index too."""
    if "_" not in text or len(text) > 300:
        return None
    plain = _TEXT.sub("", text.replace("\\left", "").replace("\\right", ""))
    if "{" in plain and not plain.startswith("{"):
        head, _, tail = plain.partition("_")
        plain = head.replace("{", "").replace("}", "") + "_" + tail
    match = _BASED.fullmatch(
        plain.replace("{" + plain[1 : plain.find("}")] + "}_", plain[1 : plain.find("}")] + "_", 1)
        if plain.startswith("{")
        else plain
    )
    if match is None:
        return None
    digits = match[1].replace(" ", "").upper()
    base = _BASES.get(match[2], 0) if match[2].isalpha() else int(match[2])
    if base < 2 or not digits or (digits.isalpha() and (base < 11 or match[1].islower())):
        return None
    if any(int(c, 36) >= base for c in digits):
        return None
    return digits.lstrip("0") or "0", base


def repeating(text: str) -> str:
    """The text with repeating decimals (``0.\\overline{3}``, ``0.(3)``, ``0.333...``) as exact fractions."""
    if "\\overline" in text or "\\dot" in text or "\\bar" in text:
        text = _BAR.sub(_bar, text)
    if "(" in text and "." in text:
        text = _PARENTHESES.sub(lambda m: _fraction(m[1], m[2], m[3]), text)
    if "..." in text or "dots" in text:
        text = _DOTS.sub(_dots, text)
    return text


def _bar(match: re.Match[str]) -> str:
    if match[3]:
        return _fraction(match[1], match[2], match[3])
    return _fraction(match[1], match[2], match[4] + (match[5] or "") + (match[6] or "") if match[6] else match[4])


def _fraction(whole: str, fixed: str, period: str) -> str:
    below = (10 ** len(period) - 1) * 10 ** len(fixed)
    above = int((whole or "0") + fixed + period) - int((whole or "0") + fixed)
    return f"\\frac{{{above}}}{{{below}}}"


def _dots(match: re.Match[str]) -> str:
    """``0.333...``: the shortest period that the digits show at least twice (three times where it is one digit)."""
    digits = match[2]
    for size in range(1, len(digits) // 2 + 1):
        period = digits[-size:]
        times = 0
        while digits[: len(digits) - times * size].endswith(period):
            times += 1
        if times >= (3 if size == 1 else 2):
            return _fraction(match[1], digits[: len(digits) - times * size], period)
    return match[0]
