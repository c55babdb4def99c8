"""The figures of every row, kept as plain columns: about 16 bytes per row and component, no text."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from grpo_rewards._report.rows import ABSENT, CODES, ReportRow

_CODE = {status: code for code, status in enumerate(CODES)}
_NONE = math.nan  # an array of doubles holds no None


@dataclass(slots=True)
class ComponentColumns:
    """One component over all rows: value × gate, as a trainer takes it, and contribution (NaN for none), status codes, and its newest weight."""

    values: array[float] = field(default_factory=lambda: array("d"))
    contributions: array[float] = field(default_factory=lambda: array("d"))
    statuses: bytearray = field(default_factory=bytearray)
    weight: float | None = None
    weight_varies: bool = False
    gated: int = 0

    def pad(self, size: int) -> None:
        """Fill up to `size` rows that know nothing of this component."""
        missing = size - len(self.values)
        if missing > 0:
            self.values.extend([_NONE] * missing)
            self.contributions.extend([_NONE] * missing)
            self.statuses.extend(bytes([ABSENT]) * missing)


class Columns:
    """What the figures are drawn from. Groups are numbered from 0 in order of appearance."""

    def __init__(self) -> None:
        self.rewards = array("d")
        self.lengths = array("l")
        self.steps = array("l")
        self.groups = array("l")
        self.components: dict[str, ComponentColumns] = {}
        self.left_out_rows = bytearray()
        self._numbers: dict[str | None, int] = {}

    def __len__(self) -> int:
        return len(self.rewards)

    @property
    def left_out(self) -> int:
        """The number of rows that were left out."""
        return sum(self.left_out_rows)

    @property
    def group_count(self) -> int:
        """The number of groups so far."""
        return len(self._numbers)

    def add(self, row: ReportRow, length: int) -> int:
        """Take one row whose completion has `length` characters; return its position."""
        position = len(self.rewards)
        self.rewards.append(_NONE if row.reward is None else row.reward)
        self.lengths.append(length)
        self.steps.append(-1 if row.step is None else row.step)
        self.groups.append(self._numbers.setdefault(row.group, len(self._numbers)))
        self.left_out_rows.append(bool(row.left_out))
        for name, part in row.parts.items():
            column = self.components.setdefault(name, ComponentColumns())
            # a component may turn up in any row; those before know nothing of it
            column.pad(position)
            column.values.append(
                _NONE if part.value is None else part.value * (1.0 if part.gate is None else part.gate)
            )
            column.contributions.append(_NONE if part.contribution is None else part.contribution)
            column.statuses.append(_CODE[part.status])
            column.gated += part.gate == 0.0 and part.value is not None
            if part.weight is not None:
                column.weight_varies |= column.weight is not None and column.weight != part.weight
                column.weight = part.weight
        return position

    def finish(self) -> None:
        """Bring every column to the same length."""
        for column in self.components.values():
            column.pad(len(self))

    def members(self) -> list[list[int]]:
        """Return the rows of each group."""
        found: list[list[int]] = [[] for _ in range(self.group_count)]
        for position, group in enumerate(self.groups):
            found[group].append(position)
        return found

    def present(self, values: array[float]) -> Iterator[float]:
        """Iterate over the values that are there."""
        return (value for value in values if value == value)
