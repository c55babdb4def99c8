"""Runs side by side: what each says in figures, the distributions over one another, and the rows whose reward changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from grpo_rewards._report.analysis import Analysis, Summary, bins_of, counts_in
from grpo_rewards._report.bodies import RunRows
from grpo_rewards._report.drawing import Scale, label, level_lines, line, linked, names_below, rect, short, svg
from grpo_rewards._report.figure import Figure, clipped, hue, percent
from grpo_rewards._report.findings import Remark
from grpo_rewards._report.links import Links, between
from grpo_rewards._report.rows import ReportSource

_BINS = 12
_FEW = 8  # more different values than these are drawn in bins
_SAME = 1e-9  # sums of weighted values in another order differ by less


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """One source and what was worked out of it."""

    name: str
    source: ReportSource
    analysis: Analysis
    findings: list[Remark]
    rows: RunRows


@dataclass(frozen=True, slots=True)
class Change:
    """How a run's rewards differ from the first run's on the rows (same prompt and completion) that both scored.

    `number` is the run's place, from 1; `mean` the mean difference over the `same` rows, None where there are none.
    """

    number: int
    name: str
    same: int
    up: int
    down: int
    mean: float | None


def changes(runs: Sequence[ReportedRun], twins: Sequence[int]) -> Iterator[Change]:
    """Compare each later run's shown rows with those of the first that `twins` names, -1 for none."""
    first = runs[0].rows.columns.rewards
    start = runs[0].rows.shown
    for number, run in enumerate(runs[1:], 2):
        differences = [
            mine - first[twin]
            # rewards of all rows, twins of those shown
            for mine, twin in zip(run.rows.columns.rewards, twins[start : start + run.rows.shown], strict=False)
            if twin >= 0 and mine == mine and first[twin] == first[twin]
        ]
        start += run.rows.shown
        up, down = sum(d > _SAME for d in differences), sum(d < -_SAME for d in differences)
        mean = sum(differences) / len(differences) if differences else None
        yield Change(number, run.name, len(differences), up, down, mean)


_Histogram = tuple[Sequence[int], Summary]
"""One column of one run: its values counted in the shared bins, and its figures."""


def side_by_side(runs: Sequence[ReportedRun]) -> Figure:
    """Return the distributions of the reward and of each component, with a bar for each run."""
    names = list(dict.fromkeys(c.name for run in runs for c in run.analysis.components))
    pictures, rows = [], []
    for name in (None, *names):
        key, title = ("reward", "reward") if name is None else (f"value.{name}", name)
        values = [_values(run, name) for run in runs]
        if not any(values):
            continue
        bins = bins_of([value for column in values for value in column], bins=_BINS, few=_FEW)
        series = [
            None if summary is None else (counts_in(bins, column), summary)
            for column, summary in zip(values, (_summary(run, name) for run in runs), strict=True)
        ]
        pictures.append(_panel(key, title, bins, series))
        for run, one in zip(runs, series, strict=True):
            if one is not None:
                _, s = one
                rows.append((title, run.name, f"{s.n:,}", short(s.mean), short(s.std), short(s.group_std),
                             "–" if s.flat is None else percent(s.flat)))  # fmt: skip
    return Figure(
        key="runs",
        title="Distributions, run by run",
        pictures=tuple(pictures),
        caption="Share of each run's rows per value or bin, after clip and gate, before the weight.",
        head=("Component", "Run", "Rows", "Mean", "Std", "Std within groups", "Groups without spread"),
        rows=tuple(rows),
        layout="panels",
        legend=tuple((hue(i), f"{i + 1} {run.name}") for i, run in enumerate(runs)),
    )


def _values(run: ReportedRun, name: str | None) -> list[float]:
    columns = run.rows.columns
    if name is None:
        return list(columns.present(columns.rewards))
    column = columns.components.get(name)
    return [] if column is None else list(columns.present(column.values))


def _summary(run: ReportedRun, name: str | None) -> Summary | None:
    if name is None:
        return run.analysis.reward
    return next((c.summary for c in run.analysis.components if c.name == name), None)


_W, _H, _LEFT, _RIGHT, _TOP, _BOTTOM = 206.0, 138.0, 38.0, 6.0, 26.0, 22.0


def _panel(key: str, title: str, bins: Sequence[tuple[float, float]], series: Sequence[_Histogram | None]) -> Markup:
    shares = [[n / max(1, one[1].n) for n in one[0]] if one else [0.0] * len(bins) for one in series]
    tallest = max(max(column) for column in shares) or 1.0
    floor, wide = _H - _BOTTOM, (_W - _LEFT - _RIGHT) / len(bins)
    y = Scale(0.0, tallest * 1.08, floor, _TOP)
    parts = [label(0, 13, clipped(title, 26), "t name")]
    parts += level_lines(y, 0.0, tallest, _LEFT, _W - _RIGHT, count=3, name=percent)
    thick = min(14.0, 0.84 * wide / len(series))
    for i, (low, high) in enumerate(bins):
        middle = _LEFT + (i + 0.5) * wide
        for run, (one, share) in enumerate(zip(series, shares, strict=True)):
            if one is None or not one[0][i]:
                continue
            ends = short(low) if low == high else f"{short(low)} to {short(high)}"
            tip = f"run {run + 1}, {ends}: {one[0][i]:,} rows ({percent(share[i])})"
            start = middle + (run - len(series) / 2) * thick
            bar = rect(start, y(share[i]), thick - 0.6, floor - y(share[i]), hue(run), tip)
            # the last bin is open: it holds the highest value too
            rows = between(key, low, None if i == len(bins) - 1 and low != high else high)
            parts.append(linked(bar, Links(run + 1).to([rows])))
    parts.append(line(_LEFT, floor, _W - _RIGHT, floor, "axis"))
    step = max(1, -(-len(bins) // 5))
    # a bin begins where its lower end stands; a single value stands in the middle
    marks = [(_LEFT + (i + 0.5 * (low == high)) * wide, short(low)) for i, (low, high) in enumerate(bins)]
    parts += names_below(marks[::step], _H - 7)
    means = ", ".join(short(one[1].mean) for one in series if one)
    return svg(_W, _H, f"Distribution of {title} in each run; means {means}", parts)
