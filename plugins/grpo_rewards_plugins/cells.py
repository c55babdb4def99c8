"""Cells as data sets write them, for every reward: arrays as lists, what counts as empty, JSON in text."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_LARGE = 50_000  # characters
_MOST_PARTS = 1000
_SCALARS = frozenset((str, int, float, bool, type(None)))


class RowProblem(ValueError):
    """A row's columns cannot be read; the text says why."""


def plain(value: object) -> Any:
    """Return an array of a columnar file as a list; anything else as it is."""
    return value.tolist() if hasattr(value, "tolist") else value


def is_blank(value: object) -> bool:
    """Whether a cell says nothing: None, NaN, False, or an empty text, list or mapping (0 says something)."""
    value = plain(value)
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, float):
        return value != value
    return value is None or value is False or (isinstance(value, list | tuple | dict) and not value)


def from_json(value: object) -> object:
    """Return what a text holds as JSON list or object; anything else as it is.

    Python that begins with a bracket stays text.
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    with collector_paused(len(value)):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value


class Cells:
    """A row's cells, to be looked up by what they hold: equal ones hold the same values of the same types."""

    __slots__ = ("_key", "cells")

    def __init__(self, cells: Mapping[str, object], key: tuple[object, ...]) -> None:
        self.cells, self._key = cells, key

    @classmethod
    def of(cls, cells: Mapping[str, object]) -> Cells | None:
        """Return them; None where they have many parts, or others than JSON has, such as arrays."""
        key: list[object] = []
        waiting: list[Any] = [dict(cells)]
        while waiting and len(key) < _MOST_PARTS:
            part = waiting.pop()
            kind = type(part)
            if kind in _SCALARS:
                key += (kind, repr(part) if kind is float else part)
            elif kind is dict and all(type(name) is str for name in part):
                key += (kind, *part)
                waiting += part.values()
            elif kind is list or kind is tuple:
                key += (kind, len(part))
                waiting += part
            else:
                return None
        return None if waiting else cls(cells, tuple(key))

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cells) and self._key == other._key


@contextmanager
def collector_paused(characters: int) -> Iterator[None]:
    """Keep the collector from looking through what is read from so much text, if that is much.

    A large cell is a hundred thousand new lists, none of them garbage, that it would look through many times.
    """
    pause = characters > _LARGE and gc.isenabled()
    if pause:
        gc.disable()
    try:
        yield
    finally:
        if pause:
            gc.enable()
