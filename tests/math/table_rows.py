"""The rows of the tables in ``tables/``; its README says what they hold."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

__all__ = ["ANSWER_TABLES", "COMPLETION_TABLES", "Row", "rows"]

FOLDER = Path(__file__).parent / "tables"
COMPLETION_TABLES = tuple(sorted(path.stem for path in FOLDER.glob("completions_*.txt")))
ANSWER_TABLES = tuple(sorted(path.stem for path in FOLDER.glob("*.txt") if path.stem not in COMPLETION_TABLES))


class Row(NamedTuple):
    """One row: where it comes from, whether both are the same, the gold, and what stands in the box or the completion."""

    origin: str
    same: bool
    gold: str
    answer: str


def rows(name: str) -> list[Row]:
    """The rows of a table; those behind a ``#``, which are known not to hold, are left out."""
    out: list[Row] = []
    origin = ""
    for line in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            if " | " not in line:
                origin = line[2:].partition(":")[0]
            continue
        label, gold, answer = line.split(" | ", 2)
        assert label in ("T", "F"), line
        out.append(
            Row(origin, label == "T", gold, answer.replace("\\n", "\n") if name in COMPLETION_TABLES else answer)
        )
    return out
