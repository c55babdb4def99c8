"""Times of day and dates: structures that are compared part by part."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

import re
from typing import NamedTuple

from .number_words import number_in_words

_TEXT = re.compile(
    r"\\(?:text(?:bf|it|rm|normal|sf|tt)?|math(?:rm|bf|it|sf|tt)|mbox|operatorname|emph|hbox|rm|bf)\b\s*"
)
_SPACING = re.compile(r"\\(?:quad|qquad|[,;:! ])|[~${}]|\\$")
_SPACE = re.compile(r"\s+")
_CLOCK = re.compile(
    r"(\d{1,2})\s?:\s?(\d{2})(?:\s?:\s?(\d{2}))?\s*(?:([ap])\.?\s?m\b\.?|(noon|midnight)|o'clock|([ap])\.?)?(?:\s*o'clock)?",
    re.IGNORECASE,
)
_HOUR = re.compile(r"(\d{1,2})\s*(?:o'clock)?\s*(?:([ap])\.?\s*m\b\.?|(noon|midnight))", re.IGNORECASE)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_NAMED = (
    (re.compile(rf"{_MONTH} ?(?:the )?{_DAY}(?:,? (?:in )?(\d{{4}}))?", re.IGNORECASE), (2, 0, 1)),
    (re.compile(rf"(?:the )?{_DAY}(?: of)? {_MONTH}(?:,? (\d{{4}}))?", re.IGNORECASE), (2, 1, 0)),
)
_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
# \2: one divider, since 1/2-2020 is no date
_LOCAL = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})")
_NAMED_HOURS = {"noon": (12, 0, 0, 2), "midday": (12, 0, 0, 2), "midnight": (12, 0, 0, 1)}
_LONGEST = 80


class Date(NamedTuple):
    """A date: as (year or 0, month, day), and every reading that its digits allow."""

    written: tuple[int, int, int]
    readings: frozenset[tuple[int, int, int]]


def _plain(text: str) -> str:
    return _SPACE.sub(" ", _SPACING.sub(" ", _TEXT.sub("", text))).strip(" ,")


_IN_THE = re.compile(r"\s?in the (morning|afternoon|evening)$")


def clock(text: str) -> tuple[int, ...] | None:
    """A time of day as hour, minute, second and half of the day (0 unknown, 1 am, 2 pm)."""
    if len(text) > _LONGEST:
        return None
    if not any(c.isdigit() for c in text[:12]):
        said = _plain(text).strip(".").lower()
        return _NAMED_HOURS.get(said) or _in_words(said)
    plain = _IN_THE.sub(lambda m: " am" if m[1] == "morning" else " pm", _plain(text))
    match = _CLOCK.fullmatch(plain)
    if match is not None and int(match[2]) < 60 and int(match[1]) <= 24 and int(match[3] or 0) < 60:
        half = _half(match[4] or match[6], match[5], int(match[1]))
        return int(match[1]), int(match[2]), int(match[3] or 0), half
    hour = _HOUR.fullmatch(plain)
    if hour is None or not 1 <= int(hour[1]) <= 12:
        return None
    return int(hour[1]), 0, 0, _half(hour[2], hour[3], int(hour[1]))


def _in_words(said: str) -> tuple[int, ...] | None:
    """``quarter past three``, ``half past 4``, ``ten to six in the evening``."""
    match = _PAST.fullmatch(said)
    if match is None:
        return None
    minutes, hour = _PARTS_OF_AN_HOUR.get(match[1]) or number_in_words(match[1]), number_in_words(match[3])
    if minutes is None or hour is None or not (0 < minutes < 60 and 1 <= hour <= 12):
        return None
    half = 0 if match[4] is None else 1 if match[4] == "morning" else 2
    if match[2] == "past":
        return int(hour), int(minutes), 0, half
    return int(hour) - 1 or 12, 60 - int(minutes), 0, half if hour != 1 and hour != 12 else 0


_PAST = re.compile(
    r"(?:an? )?(quarter|half|[a-z]+(?:-[a-z]+)?)(?: minutes?)? (past|to) ([a-z]+)(?: o'clock)?(?: (?:in the (morning|afternoon|evening)))?"
)
_PARTS_OF_AN_HOUR = {"quarter": 15, "half": 30}


def _half(letter: str | None, word: str | None, hour: int) -> int:
    if word:
        return 2 if word.lower() == "noon" else 1
    if letter:
        return 1 if letter.lower() == "a" else 2
    return 2 if 12 < hour < 24 else 1 if hour in (0, 24) else 0


def same_time(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Are two times of day one?  An unknown half of the day agrees with either; 16:30 is 4:30 p.m."""
    if one[3] and other[3] and one[3] != other[3]:
        return False
    if not (one[3] and other[3]) and max(one[0], other[0]) > 12:
        return one[:3] == other[:3]  # 4:30 alone is not 16:30: it may be a ratio
    return (one[0] % 12, *one[1:3]) == (other[0] % 12, *other[1:3])


def date(text: str) -> Date | None:
    """The date that a text is: with the month's name, year first, or year last (whose order is not known)."""
    if len(text) > _LONGEST or not any(c.isdigit() for c in text):
        return None
    plain = _plain(text)
    for pattern, places in _NAMED:
        match = pattern.fullmatch(plain)
        if match is not None:
            parts = match.groups()
            month = _MONTHS.index(parts[places[1]][:3].lower()) + 1
            found = int(parts[places[0]] or 0), month, int(parts[places[2]])
            return Date(found, frozenset((found,))) if 1 <= found[2] <= 31 else None
    match = _ISO.fullmatch(plain)
    if match is not None:
        found = int(match[1]), int(match[2]), int(match[3])
        return Date(found, frozenset((found,)))
    match = _LOCAL.fullmatch(plain)
    if match is None:
        return None
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    orders = frozenset((year, m, d) for m, d in ((first, second), (second, first)) if 1 <= m <= 12 and 1 <= d <= 31)
    return Date((year, first, second), orders)


def same_date(one: Date, other: Date) -> bool:
    """Are two dates one?  Digits whose order is not known agree with a named month, or with the same digits."""
    if one.written == other.written:
        return True
    return (len(one.readings) == 1 or len(other.readings) == 1) and bool(one.readings & other.readings)
