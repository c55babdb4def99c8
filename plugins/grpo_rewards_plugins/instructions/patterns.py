"""Searching for what a row names. The originals put it into a pattern unescaped, so a keyword may be a pattern that explodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from regex import Pattern

_SECONDS = 0.2  # for one search of one text by a pattern of a row
_META = re.compile(r"[.^$*+?{}\[\]\\|()]")


class TooSlow(Exception):
    """A row's pattern takes too long on a text."""


class _Hit(Protocol):
    def span(self, group: int = 0, /) -> tuple[int, int]: ...


@lru_cache(maxsize=4096)
def _plain(pattern: str, ignore_case: bool) -> re.Pattern[str] | None:
    """The pattern where it is linear: words and the marks that the checks themselves put around them."""
    bare = pattern.removeprefix(r"\b").removesuffix(r"\b").removeprefix(r"\s?").removesuffix(r"\s?\d+\s?")
    return None if _META.search(bare) else re.compile(pattern, re.IGNORECASE if ignore_case else 0)


@lru_cache(maxsize=4096)
def _timed(pattern: str, ignore_case: bool) -> Pattern[str]:
    """The pattern in an engine that can be stopped; one that is broken is taken as the text that it is."""
    import regex as engine

    flags = engine.IGNORECASE if ignore_case else 0
    try:
        return engine.compile(pattern, flags)
    except engine.error:
        return engine.compile(engine.escape(pattern), flags)


def found(pattern: str, text: str, *, ignore_case: bool = True) -> bool:
    """Return whether a pattern is found; TooSlow where that takes too long."""
    if (plain := _plain(pattern, ignore_case)) is not None:
        return plain.search(text) is not None
    try:
        return _timed(pattern, ignore_case).search(text, timeout=_SECONDS) is not None
    except TimeoutError:
        raise TooSlow(pattern) from None


def spans(pattern: str, text: str, *, ignore_case: bool = True) -> Iterator[_Hit]:
    """Yield the matches that do not overlap; TooSlow where that takes too long."""
    if (plain := _plain(pattern, ignore_case)) is not None:
        yield from plain.finditer(text)
        return
    try:
        yield from _timed(pattern, ignore_case).finditer(text, timeout=_SECONDS)
    except TimeoutError:
        raise TooSlow(pattern) from None


def count_of(pattern: str, text: str, *, ignore_case: bool = True) -> int:
    """Return how often a pattern is found, without overlaps."""
    return sum(1 for _ in spans(pattern, text, ignore_case=ignore_case))


def pieces(pattern: str, text: str) -> int:
    """Return into how many pieces a pattern cuts a text, case kept; groups of the pattern are pieces too, as in re.split."""
    plain = _plain(pattern, False)
    groups = plain.groups if plain is not None else _timed(pattern, False).groups
    return 1 + count_of(pattern, text, ignore_case=False) * (1 + groups)
