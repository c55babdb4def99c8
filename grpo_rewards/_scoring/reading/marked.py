"""Rows with the marks of ``grpo-rewards audit DATA``: which of them are left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from grpo_rewards._scoring.reading.rows import Row, Source
from grpo_rewards.errors import ConfigError, InputError, nearest

MARK = "audit"
"""The column with a row's marks."""
FIT, UNKNOWN = "fit", "unknown"
"""The mark of a row in which nothing was found, and of one on which a sandbox or service was down."""
MARKS = ("nop", "oracle", "weak", "flaky", "slow", "vacuous", "contradictory", "leak", "gold", "format", "row")
"""The names of the audit's checks."""
ANY = "any"
"""Stands for every mark but ``fit``."""


def checked_marks(names: Iterable[str]) -> frozenset[str]:
    """Return names of marks as a set.

    Raises:
        ConfigError: one is no mark; the text names the nearest.
    """
    known = (*MARKS, UNKNOWN, ANY)
    for name in names:
        if name not in known:
            raise ConfigError(f"the audit has no mark {name!r}{nearest(name, known)}; it has {', '.join(known)}")
    return frozenset(names)


def is_left_out(row: Mapping[str, object], marks: frozenset[str], *, where: str) -> bool:
    """Whether a row has one of `marks`.

    Raises:
        InputError: it has no marks at all, so that nothing is known of it.
    """
    given = row.get(MARK)
    if not isinstance(given, str):
        raise InputError(
            f"there is no column {MARK!r} to leave rows out by; make it with grpo-rewards audit DATA -o marked.jsonl",
            source=where,
        )
    return given != FIT if ANY in marks else not marks.isdisjoint(given.split(","))


class LeavingOut:
    """A source without the rows that have one of `marks`; `left_out` counts them."""

    def __init__(self, source: Source, marks: frozenset[str]) -> None:
        self._source, self._marks = source, marks
        self.name, self.kind, self.cells = source.name, source.kind, source.cells
        self.columns, self.size = source.columns, source.size
        self.left_out = 0

    @property
    def position(self) -> int:
        return self._source.position

    def rows(self, *, after: int = 0) -> Iterator[Row]:
        for row in self._source.rows(after=after):
            if row.data is not None and is_left_out(row.data, self._marks, where=f"{self.name}:{row.number}"):
                self.left_out += 1
            else:
                yield row
