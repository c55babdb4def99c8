"""Cells as data sets write them, for every reward: arrays as lists, what counts as empty, JSON in text."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["RowProblem", "collector_paused", "from_json", "is_blank", "plain"]

_LARGE = 50_000  # characters


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
