"""Statistics of scored batches, gathered in constant memory."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from grpo_rewards._contract import STATUSES

if TYPE_CHECKING:
    from grpo_rewards._composition.table import ScoreTable
    from grpo_rewards._contract.shapes import RowScores

SPREAD_FLOOR = 1e-9
"""A group whose values differ by no more than this has no spread: it gives GRPO no signal."""

_STEPS_PER_DECADE = 20  # the p95 is exact to 12 %


def group_spread(values: Sequence[float]) -> float | None:
    """Return the standard deviation (n - 1) of one group's values, exactly 0.0 for equal ones; None for fewer than two.

    TRL's ``frac_reward_zero_std`` misses constant groups such as eight times 1.2, for rounding in float32.
    """
    if len(values) < 2:
        return None
    return 0.0 if max(values) - min(values) <= SPREAD_FLOOR else deviation(values)


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, None of nothing."""
    return math.fsum(values) / len(values) if values else None


def deviation(values: Sequence[float]) -> float | None:
    """Return the standard deviation (n - 1), None for fewer than two."""
    if len(values) < 2:
        return None
    middle = math.fsum(values) / len(values)
    return math.sqrt(math.fsum([(value - middle) ** 2 for value in values]) / (len(values) - 1))


def pearson(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Return the correlation of two equally long lists, from -1 to 1; None where one of them is constant."""
    if len(x) < 2:
        return None
    mean_x, mean_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
    spread_x, spread_y = math.fsum((a - mean_x) ** 2 for a in x), math.fsum((b - mean_y) ** 2 for b in y)
    product = spread_x * spread_y
    # SPREAD_FLOOR squared, per row: a list that is constant but for rounding
    if min(spread_x, spread_y) <= 1e-18 * len(x) or not math.isfinite(product):
        return None
    # rounding may put it a little outside
    return max(
        -1.0, min(1.0, math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / math.sqrt(product))
    )


def group_spreads(values: Sequence[float | None], groups: Sequence[Sequence[int]]) -> list[float]:
    """Return the spread of each group in which two rows or more have a value."""
    found = (group_spread(_of_group(values, rows)) for rows in groups if len(rows) > 1)
    return [spread for spread in found if spread is not None]


class Spread(NamedTuple):
    """How many values there are, their mean, the mean spread within groups and the share of groups without any."""

    n: int
    mean: float | None
    group_std: float | None
    flat_groups: float | None


def spread_of(values: Sequence[float | None], groups: Sequence[Sequence[int]]) -> Spread:
    """Return how values lie over all and within their groups."""
    present, spreads = [value for value in values if value is not None], group_spreads(values, groups)
    flat = spreads.count(0.0) / len(spreads) if spreads else None
    return Spread(len(present), mean(present), mean(spreads), flat)


def _of_group(values: Sequence[float | None], rows: Sequence[int]) -> list[float]:
    """The values that one group has."""
    if rows[-1] - rows[0] + 1 == len(rows):  # they stand together, as nearly always
        return [value for value in values[rows[0] : rows[-1] + 1] if value is not None]
    return [value for row in rows if (value := values[row]) is not None]


class Summary(TypedDict):
    """The figures of `Statistics` by name."""

    reward: dict[str, float | None]
    components: dict[str, dict[str, float | None]]


@dataclass(slots=True)
class Tally:
    """Running figures of one component (or of the total)."""

    weight: float | None = None
    statuses: Counter[str] = field(default_factory=Counter)
    n: int = 0
    sum: float = 0.0
    groups: int = 0
    spread_sum: float = 0.0
    flat_groups: int = 0
    seconds: Counter[int] = field(default_factory=Counter)

    def add_values(self, values: Sequence[float | None], groups: Sequence[Sequence[int]]) -> None:
        """Count one batch's values."""
        present = [value for value in values if value is not None]
        self.n += len(present)
        self.sum += math.fsum(present)
        spreads = group_spreads(values, groups)
        self.groups += len(spreads)
        self.flat_groups += spreads.count(0.0)
        for spread in spreads:
            self.spread_sum += spread

    def add_seconds(self, seconds: Sequence[float]) -> None:
        """Count the durations of verdicts."""
        ordered, at = sorted(seconds), 0
        while at < len(ordered):
            # one logarithm per step that occurs, not per row; 1e-7 since a clock may give 0
            step = math.ceil(_STEPS_PER_DECADE * math.log10(max(ordered[at], 1e-7)))
            # from at + 1: the step's edge, rounded, may lie below the very value, and the loop must get on
            end = bisect_right(ordered, 10 ** (step / _STEPS_PER_DECADE), at + 1)
            self.seconds[step] += end - at
            at = end

    def percentile(self, share: float) -> float | None:
        """Return the duration in seconds that this share of the verdicts did not exceed."""
        wanted = share * self.seconds.total()
        reached = 0
        for step in sorted(self.seconds):
            reached += self.seconds[step]
            if reached >= wanted:
                return float(10 ** (step / _STEPS_PER_DECADE))
        return None

    def summary(self) -> dict[str, float | None]:
        """Return the figures by name."""
        counts: dict[str, int] = {status: self.statuses[status] for status in STATUSES} if self.statuses else {}
        return {
            **({"weight": self.weight} if self.weight is not None else {}),
            "n": self.n,
            "mean": self.sum / self.n if self.n else None,
            "group_std": self.spread_sum / self.groups if self.groups else None,
            "zero_std_groups": self.flat_groups / self.groups if self.groups else None,
            **counts,
            **({"left_out": self.statuses["left_out"]} if self.statuses else {}),
            **({"p95_seconds": self.percentile(0.95)} if self.seconds else {}),
        }


@dataclass(slots=True)
class Statistics:
    """Figures per component and of the total over any number of batches."""

    rows: int = 0
    total: Tally = field(default_factory=Tally)
    components: dict[str, Tally] = field(default_factory=dict)

    @classmethod
    def of(cls, table: ScoreTable) -> Statistics:
        """Return the figures of a scored batch."""
        found = cls()
        found.rows = len(table.totals)
        found.total.add_values(table.totals, table.groups)
        for name, outcomes in table.components.items():
            tally = found.components[name] = Tally(table.weights[name], Counter(table.statuses(name)))
            tally.add_values(table.values(name), table.groups)
            tally.add_seconds([outcome.seconds for outcome in outcomes if outcome.seconds is not None])
        return found

    def add_recorded(self, records: Sequence[RowScores]) -> None:
        """Count one group's rows by what was written of them; how long they took is not."""
        group = [list(range(len(records)))]
        self.rows += len(records)
        self.total.add_values([record["reward"] for record in records], group)
        for name in records[0]["components"]:
            parts = [record["components"][name] for record in records]
            tally = self.components.setdefault(name, Tally())
            tally.weight = parts[0]["weight"]
            tally.add_values([None if p["value"] is None else p["value"] * p["gate"] for p in parts], group)
            tally.statuses.update("left_out" if "left_out" in p.get("details", {}) else p["status"] for p in parts)

    def merge(self, other: Statistics) -> None:
        """Count what another one has counted (in another process, say)."""
        self.rows += other.rows
        pairs = [(self.total, other.total)]
        pairs += [(self.components.setdefault(name, Tally()), tally) for name, tally in other.components.items()]
        for mine, theirs in pairs:
            mine.weight = theirs.weight if theirs.weight is not None else mine.weight
            # Counter.update takes longer for a few keys
            for status, count in theirs.statuses.items():
                mine.statuses[status] += count
            for step, count in theirs.seconds.items():
                mine.seconds[step] += count
            for name in ("n", "sum", "groups", "spread_sum", "flat_groups"):
                setattr(mine, name, getattr(mine, name) + getattr(theirs, name))

    def summary(self) -> Summary:
        """Return the figures by name, of the total and per component."""
        components = {name: tally.summary() for name, tally in self.components.items()}
        return {"reward": self.total.summary(), "components": components}
