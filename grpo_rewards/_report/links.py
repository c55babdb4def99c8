"""Addresses within the page: which rows its browser of completions shows, as the part of the address after ``#``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

Rows = tuple[tuple[str, str], ...]
"""A choice of rows: pairs of a filter and its value, such as ``("status", "error")``. Empty: no rows in particular."""


def between(what: str, low: float | None = None, high: float | None = None) -> tuple[str, str]:
    """Return the filter for rows whose `what` is at least `low` and below `high` (equal: exactly that); None is open.

    `what` is ``reward``, ``length``, ``step`` or ``value.NAME`` of a component; ``spread`` and ``spread.NAME`` are the
    standard deviation of the reward, or of a component, in the row's group.
    """
    return "in", f"{what}:{_number(low)}:{_number(high)}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"


@dataclass(frozen=True, slots=True)
class Links:
    """Writes addresses; `run` is the number of the run (from 1) that they keep to, None on a page about one run."""

    run: int | None = None

    def to(self, rows: Sequence[tuple[str, str]]) -> str:
        """Return the address that shows `rows`; empty for no rows in particular."""
        if not rows:
            return ""
        pairs = rows if self.run is None else (("run", str(self.run)), *rows)
        # a name may hold half of a surrogate pair, which has no address: it is replaced
        return "#" + "&".join(f"{name}={quote(value, safe='', errors='replace')}" for name, value in pairs)
