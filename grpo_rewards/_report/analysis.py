"""From columns to the figures' numbers."""

from __future__ import annotations

import math
import operator
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from grpo_rewards._composition.stats import deviation, group_spread, group_spreads, mean, pearson
from grpo_rewards._report.columns import Columns
from grpo_rewards._report.rows import CODES, TrainingPoint

_BINS = 20
_FEW = 12
_LENGTH_BINS = 12
_REWARD_BINS = 16
_ROUNDING = 0.01  # of the shares' sum; trainers write single precision


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a histogram: from `low` to `high` (equal for a discrete value), and how many."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Summary:
    """Plain figures of one column: of the `n` rows with a value, their extremes, and of the groups with at least two.

    `flat` is the share of groups without spread, None where no group has two values.
    """

    n: int
    mean: float | None
    std: float | None
    low: float | None
    high: float | None
    groups: int
    group_std: float | None
    flat: float | None


@dataclass(frozen=True, slots=True)
class ComponentSummary:
    """One component. `signal` is its share of the reward's variance within groups (may be negative; they add to 1).

    It is None where nothing varies, and where the reward is not the sum of the components' contributions.
    """

    name: str
    weight: float | None
    weight_varies: bool
    summary: Summary
    statuses: dict[str, int]
    gated: int
    bars: tuple[Bar, ...]
    signal: float | None


@dataclass(frozen=True, slots=True)
class LengthBin:
    """The rows whose completions have from `low` up to `high` characters."""

    low: float
    high: float
    n: int
    mean: float
    std: float


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything that the page draws. `pooled` and `within` are correlation matrices in the order of `names`.

    `adds_up` is whether the reward varies as the sum of the contributions does.
    """

    rows: int
    groups: int
    left_out: int
    reward: Summary
    reward_bars: tuple[Bar, ...]
    components: tuple[ComponentSummary, ...]
    spreads: tuple[Bar, ...]
    names: tuple[str, ...]
    pooled: tuple[tuple[float | None, ...], ...]
    within: tuple[tuple[float | None, ...], ...]
    length_bins: tuple[LengthBin, ...]
    length_counts: tuple[tuple[int, ...], ...]
    length_range: tuple[float, float]
    length_correlation: float | None
    length_within: float | None
    steps: tuple[TrainingPoint, ...]
    centred: array[float]
    adds_up: bool


def histogram(values: Sequence[float]) -> tuple[Bar, ...]:
    """Count `values`: one bar per value where they are few (at most 12 different), else 20 equal bins."""
    ends = bins_of(values, bins=_BINS, few=_FEW)
    return tuple(Bar(low, high, n) for (low, high), n in zip(ends, counts_in(ends, values), strict=True))


def bins_of(values: Sequence[float], *, bins: int, few: int) -> list[tuple[float, float]]:
    """Return the ends of the bins to count `values` in: the values themselves, up to `few` different ones, else `bins` equal bins."""
    seen: set[float] = set()
    for value in values:
        seen.add(value)
        if len(seen) > few:  # the others of a hundred thousand need not be looked at
            break
    else:
        return [(value, value) for value in sorted(seen)]
    low, high = min(values), max(values)
    width = (high - low) / bins
    if not (math.isfinite(width) and width > 0):  # ends so far apart, or so near, that no bin has a width
        return [(low, high)]
    return [(low + i * width, low + (i + 1) * width) for i in range(bins)]


def counts_in(ends: Sequence[tuple[float, float]], values: Sequence[float]) -> list[int]:
    """Return how many of `values` lie in each bin of `bins_of` (the highest value in the last one)."""
    if len(ends) < 2:
        return [len(values)] * len(ends)
    low, high = ends[0]
    if low == high:
        found = Counter(values)
        return [found[value] for value, _ in ends]
    counts, width, last = [0] * len(ends), high - low, len(ends) - 1
    for value in values:
        counts[min(int((value - low) / width), last)] += 1
    return counts


def _moments(values: Sequence[float]) -> tuple[float | None, float | None]:
    return mean(values), deviation(values)


def _summary(values: array[float], members: Sequence[Sequence[int]]) -> tuple[Summary, list[float]]:
    optional = [value if value == value else None for value in values]
    present = [value for value in optional if value is not None]
    middle, std = _moments(present)
    spreads = group_spreads(optional, members)
    summary = Summary(
        n=len(present),
        mean=middle,
        std=std,
        low=min(present, default=None),
        high=max(present, default=None),
        groups=len(spreads),
        group_std=mean(spreads),
        flat=spreads.count(0.0) / len(spreads) if spreads else None,
    )
    return summary, spreads


def _centred(values: Sequence[float], members: Sequence[Sequence[int]]) -> array[float]:
    """Return each value less its group's mean; NaN where there is none or the group has no second value."""
    result = array("d", [math.nan]) * len(values)
    for rows in members:
        present = [row for row in rows if values[row] == values[row]]
        if len(present) < 2:
            continue
        group = [values[row] for row in present]
        mean = math.fsum(group) / len(group)
        flat = group_spread(group) == 0.0  # what rounding leaves of equal values is no deviation
        for row in present:
            result[row] = 0.0 if flat else values[row] - mean
    return result


def _correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Pearson's r over the rows where both are there; None where one of them does not vary."""
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a == a and b == b]
    # through two points there is always a line
    if len(pairs) < 3:
        return None
    return pearson([a for a, _ in pairs], [b for _, b in pairs])


def _unit(values: Sequence[float]) -> list[float] | None:
    """Return values less their mean, scaled to length 1; None where one is missing or they do not vary."""
    if any(map(operator.ne, values, values)) or len(values) < 3:
        return None
    mean = math.fsum(values) / len(values)
    less = [value - mean for value in values]
    length = math.sqrt(math.fsum(map(operator.mul, less, less)))
    if not (length > 1e-9 * math.sqrt(len(values)) and math.isfinite(length)):  # rounding is no variation
        return None
    return [value / length for value in less]


def _matrix(columns: Sequence[Sequence[float]]) -> tuple[tuple[float | None, ...], ...]:
    size = len(columns)
    units = [_unit(column) for column in columns]  # scaled once a column, so that a pair is one product of both
    cells: list[list[float | None]] = [[None] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            first, second = units[i], units[j]
            if first is not None and second is not None:
                r: float | None = max(-1.0, min(1.0, math.fsum(map(operator.mul, first, second))))
            else:
                r = _correlation(columns[i], columns[j])
            cells[i][j] = cells[j][i] = r
    return tuple(tuple(row) for row in cells)


def _signals(columns: Columns, centred: array[float], members: Sequence[Sequence[int]]) -> dict[str, float | None]:
    """Return each component's share of the reward's variance within groups: cov(its contribution, reward) / var."""
    total = math.fsum(value * value for value in centred if value == value)
    signals: dict[str, float | None] = {}
    for name, column in columns.components.items():
        # no reward varies, so there is no share to speak of
        if total <= 1e-18:
            signals[name] = None
            continue
        # a component that does not apply adds nothing to the sum
        filled = [0.0 if value != value else value for value in column.contributions]
        own = _centred(filled, members)
        signals[name] = math.fsum(a * b for a, b in zip(own, centred, strict=True) if a == a and b == b) / total
    return signals


def _lengths(columns: Columns) -> tuple[tuple[LengthBin, ...], tuple[tuple[int, ...], ...], tuple[float, float]]:
    """Cut lengths at equal widths up to the 99th percentile (the rest joins the last bin) and rewards at equal widths."""
    pairs = [(n, reward) for n, reward in zip(columns.lengths, columns.rewards, strict=True) if reward == reward]
    if not pairs:
        return (), (), (0.0, 1.0)
    ordered = sorted(n for n, _ in pairs)
    low = ordered[0]
    # one runaway completion would squeeze all others into the first bin
    high = max(ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))], low + 1)
    bottom, top = min(r for _, r in pairs), max(r for _, r in pairs)
    if top - bottom <= 1e-12:  # one reward for all: a scale needs some height
        bottom, top = bottom - 0.5, top + 0.5
    step, height = (high - low) / _LENGTH_BINS, (top - bottom) / _REWARD_BINS
    inside: list[list[float]] = [[] for _ in range(_LENGTH_BINS)]
    counts = [[0] * _REWARD_BINS for _ in range(_LENGTH_BINS)]
    for n, reward in pairs:
        x = min(int((n - low) / step), _LENGTH_BINS - 1)
        inside[x].append(reward)
        counts[x][min(int((reward - bottom) / height), _REWARD_BINS - 1)] += 1
    bins = []
    for i, rewards in enumerate(inside):
        mean, std = _moments(rewards)
        if mean is not None:
            bins.append(LengthBin(low + i * step, low + (i + 1) * step, len(rewards), mean, std or 0.0))
    return tuple(bins), tuple(tuple(row) for row in counts), (bottom, top)


def _steps(columns: Columns) -> tuple[TrainingPoint, ...]:
    by_step: dict[int, list[int]] = {}
    for row, step in enumerate(columns.steps):
        if step >= 0:
            by_step.setdefault(step, []).append(row)
    points = []
    for step in sorted(by_step):
        rows = by_step[step]
        mean, std = _moments([value for row in rows if (value := columns.rewards[row]) == value])
        means = {}
        for name, column in columns.components.items():
            own, _ = _moments([value for row in rows if (value := column.values[row]) == value])
            if own is not None:
                means[name] = own
        if mean is not None:
            points.append(TrainingPoint(step, mean, std or 0.0, None, means))
    return tuple(points)


def analyse(columns: Columns) -> Analysis:
    """Compute every figure's numbers from finished columns."""
    members = columns.members()
    reward, spreads = _summary(columns.rewards, members)
    centred = _centred(columns.rewards, members)
    signals = _signals(columns, centred, members)
    shares = [share for share in signals.values() if share is not None]
    adds_up = not shares or abs(math.fsum(shares) - 1) < _ROUNDING
    components = []
    for name, column in columns.components.items():
        summary, _ = _summary(column.values, members)
        counts = Counter(column.statuses)
        components.append(
            ComponentSummary(
                name=name,
                weight=column.weight,
                weight_varies=column.weight_varies,
                summary=summary,
                statuses={status: counts[code] for code, status in enumerate(CODES)},
                gated=column.gated,
                bars=histogram(list(columns.present(column.values))),
                signal=signals[name] if adds_up else None,
            )
        )
    series = [columns.rewards, *(column.values for column in columns.components.values())]
    lengths = array("d", columns.lengths)
    bins, counts2d, extent = _lengths(columns)
    return Analysis(
        rows=len(columns),
        groups=columns.group_count,
        left_out=columns.left_out,
        reward=reward,
        reward_bars=histogram(list(columns.present(columns.rewards))),
        components=tuple(components),
        spreads=histogram(spreads),
        names=("reward", *columns.components),
        pooled=_matrix(series),
        within=_matrix([centred, *(_centred(column, members) for column in series[1:])]),
        length_bins=bins,
        length_counts=counts2d,
        length_range=extent,
        length_correlation=_correlation(lengths, columns.rewards),
        length_within=_correlation(_centred(lengths, members), centred),
        steps=_steps(columns),
        centred=centred,
        adds_up=adds_up,
    )
