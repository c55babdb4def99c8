"""`Finding`: one thing that was looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "note", "problem", "broken"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    `level`: ``ok``; ``note``: something optional is missing or untried; ``problem``: to be mended (exit 1); ``broken``: the
    environment cannot do what is asked of it (exit 3). `action` says what to do, and is empty where nothing is.
    """

    topic: str
    level: Level
    text: str
    action: str = ""
