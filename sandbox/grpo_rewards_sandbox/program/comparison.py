"""How outputs and results are held against what is expected, by name. Trusted: whatever was printed or returned is data here.

A comparison is written as names joined by ``+``:

exact
    texts line by line without trailing white space; values with ``==``.
tokens
    texts word by word: blanks and blank lines do not count, case and order do. Where a number with a point or an exponent is
    expected, a number within 1e-6 (absolute or relative) is right; integers and all other words are right exactly, so that
    no long integer goes through a float and digits with leading zeros stay text. NaN and infinity are never right.
lines
    the same, with the words of each line in that line; blank lines at the end do not count.
floats, floats:1e-9
    the tolerance of `tokens`, `lines` and of values (1e-6 where none is written). Values without it are compared with ``==``.
unordered
    lines, or the items of a list, in any order, as often as they are expected.
ignore_case
    upper and lower case are one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeVar

DISTANCE = "grpo distance "
"""What a text begins with that the tests' program of `values` writes before a number which a result may be so far from."""
TOLERANCE = 1e-6
# ASCII: digits of other scripts are words
_FLOAT = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d{1,4})?|[-+]?\d+[eE][-+]?\d{1,4}", re.ASCII)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,4})?", re.ASCII)
_NAMES = ("exact", "tokens", "lines", "floats", "unordered", "ignore_case")
_LONGEST = 400  # characters of a word that may still be a number: no float has more digits that count


@dataclass(frozen=True, slots=True)
class OutputComparison:
    """A comparison as it was written; `tolerance` is 0 where floats have to be equal."""

    exact: bool = False
    lines: bool = False
    tolerance: float = TOLERANCE
    unordered: bool = False
    ignore_case: bool = False


@lru_cache(maxsize=64)
def comparison(text: str) -> OutputComparison:
    """Read the name of a comparison; ValueError where a part of it is not known."""
    names: dict[str, str] = {}
    for part in text.split("+"):
        name, colon, number = part.partition(":")
        if name not in _NAMES or (colon and name != "floats"):
            raise ValueError(f"the comparison {part!r} is none of {', '.join(_NAMES)} (floats:1e-9)")
        names[name] = number
    if len(names.keys() & {"exact", "tokens", "lines"}) > 1:
        raise ValueError(f"{text!r} names more than one of exact, tokens and lines")
    tolerance = float(names.get("floats") or TOLERANCE)
    if not 0 <= tolerance < 1:
        raise ValueError(f"the tolerance {tolerance} of {text!r} is not between 0 and 1")
    exact = "exact" in names
    return OutputComparison(
        exact=exact and "unordered" not in names,
        lines="lines" in names or "unordered" in names,
        tolerance=0.0 if exact else tolerance,
        unordered="unordered" in names,
        ignore_case="ignore_case" in names,
    )


# ------------------------------------------------------------------------------------------------ texts


_Item = TypeVar("_Item")


def same_output(output: bytes, expected: str, compare: str) -> bool:
    """Whether what a program wrote is what is expected of it."""
    how = comparison(compare)
    try:
        text = output.decode("utf-8")
    except UnicodeDecodeError:
        return False
    if how.ignore_case:
        text, expected = text.casefold(), expected.casefold()
    if how.exact:
        return _lines(text) == _lines(expected)
    if not how.lines:
        return _same_words(text.split(), expected.split(), how.tolerance)
    got, wanted = ([line.split() for line in _lines(part)] for part in (text, expected))
    if how.unordered:
        return _same_lines([line for line in got if line], [line for line in wanted if line], how.tolerance)
    return len(got) == len(wanted) and all(map(_same_words, got, wanted, [how.tolerance] * len(got)))


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().split("\n")]


def _same_lines(got: list[list[str]], wanted: list[list[str]], tolerance: float) -> bool:
    """Whether the lines are the same in some order; lines of equal words first, so that few are left to be tried."""
    if len(got) != len(wanted):
        return False
    left: dict[tuple[str, ...], int] = {}
    for line in wanted:
        left[tuple(line)] = left.get(tuple(line), 0) + 1
    others = []
    for line in got:
        if left.get(key := tuple(line), 0):
            left[key] -= 1
        else:
            others.append(line)
    rest = [list(line) for line, count in left.items() for _ in range(count)]
    return _matched(others, rest, lambda one, other: _same_words(one, other, tolerance))


def _same_words(got: Sequence[str], wanted: Sequence[str], tolerance: float) -> bool:
    if len(got) != len(wanted):
        return False
    # most right outputs are the same words: that is one comparison of lists
    return got == wanted or all(
        one == other or _near(one, other, tolerance) for one, other in zip(got, wanted, strict=True)
    )


def _near(got: str, wanted: str, tolerance: float) -> bool:
    if len(got) > _LONGEST or len(wanted) > _LONGEST or not (_FLOAT.fullmatch(wanted) and _NUMBER.fullmatch(got)):
        return False
    return _close(float(got), float(wanted), tolerance)


def _close(got: float, wanted: float, tolerance: float) -> bool:
    if not (math.isfinite(got) and math.isfinite(wanted)):
        return False
    return abs(got - wanted) <= tolerance * max(1.0, abs(wanted))


def _matched(got: Sequence[_Item], wanted: Sequence[_Item], same: Callable[[_Item, _Item], bool]) -> bool:
    """Whether each of `got` has one of `wanted` to itself; both are as many."""
    rest = list(wanted)
    for one in got:
        place = next((index for index, other in enumerate(rest) if same(one, other)), None)
        if place is None:
            return False
        del rest[place]
    return not rest


# ------------------------------------------------------------------------------------------------ values


def same_value(got: object, wanted: object, compare: str) -> bool:
    """Whether a result is the value that is expected: both are plain data.

    Tuples count as lists, 2 as 2.0; the keys of an object, which JSON has as text, as those texts or as the numbers that
    they are. With a tolerance a float is right within it; a float that is not finite never is.
    """
    how = comparison(compare)
    if how.unordered and isinstance(got, list | tuple) and isinstance(wanted, list | tuple):
        return len(got) == len(wanted) and _matched(list(got), list(wanted), lambda a, b: _same(a, b, how))
    return _same(got, wanted, how)


def _same(got: Any, wanted: Any, how: OutputComparison) -> bool:
    kind = type(wanted)
    if kind is list or kind is tuple:
        if type(got) not in (list, tuple) or len(got) != len(wanted):
            return False
        return all(_same(one, other, how) for one, other in zip(got, wanted, strict=True))
    if kind is dict:
        return type(got) is dict and _same_items(got, wanted, how)
    if kind is float or type(got) is float:
        return _same_number(got, wanted, how)
    if kind is str and how.ignore_case:
        return type(got) is str and got.casefold() == wanted.casefold()
    return bool(got == wanted)


def _same_number(got: Any, wanted: Any, how: OutputComparison) -> bool:
    if type(got) not in (int, float, bool, Fraction) or type(wanted) not in (int, float, bool):
        return False
    if got == wanted and type(wanted) is not float:
        return True
    try:
        near = type(wanted) is float and _close(float(got), wanted, how.tolerance)
    except OverflowError:
        return False
    return near or (got == wanted and math.isfinite(wanted))


_JSON_WORDS: dict[object, str] = {True: "true", False: "false", None: "null"}


def _as_json(key: object) -> object:
    """How JSON writes a key that is no text and no whole number."""
    return repr(key) if type(key) is float else _JSON_WORDS[key]


def _same_items(got: dict[object, object], wanted: dict[object, object], how: OutputComparison) -> bool:
    if len(got) != len(wanted):
        return False
    written: dict[object, object] = {_as_json(key): key for key in got if type(key) in (bool, float, type(None))}
    for key, value in wanted.items():
        here = key if key in got else written.get(key, key)
        # fewer digits than Python refuses to read (4,300)
        if here not in got and type(key) is str and re.fullmatch(r"-?\d{1,4000}", key, re.ASCII):
            here = int(key)
        if here not in got or not _same(got[here], value, how):
            return False
    return True
