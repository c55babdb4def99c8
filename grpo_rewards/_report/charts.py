"""The figures: each a picture, what it says, and the same numbers as a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from grpo_rewards._report.analysis import Analysis, Bar, Summary
from grpo_rewards._report.curves import training_figures
from grpo_rewards._report.drawing import (
    Scale,
    circle,
    label,
    level_lines,
    line,
    linked,
    names_below,
    path,
    rect,
    short,
    svg,
    ticks,
)
from grpo_rewards._report.figure import Figure, clipped, hue, percent
from grpo_rewards._report.links import Links, between
from grpo_rewards._report.rows import Training


def figures(analysis: Analysis, training: Training | None, links: Links) -> list[Figure]:
    """Return every figure that the data allows, in the order of the page; its bars and cells lead to their rows."""
    found: list[Figure | None] = [
        _distributions(analysis, links),
        _spread(analysis, links),
        _signal(analysis, links),
        _correlations(analysis, links),
        _length(analysis, links),
        *training_figures(analysis, training, links),
    ]
    return [figure for figure in found if figure is not None]


# ---------------------------------------------------------------------------------------------- distributions

_W, _H = 206.0, 138.0


@dataclass(frozen=True, slots=True)
class _Panel:
    name: str
    key: str
    bars: Sequence[Bar]
    summary: Summary
    style: str


def _distributions(analysis: Analysis, links: Links) -> Figure | None:
    panels = [_Panel("reward", "reward", analysis.reward_bars, analysis.reward, "reward")]
    panels += [_Panel(c.name, f"value.{c.name}", c.bars, c.summary, hue(i)) for i, c in enumerate(analysis.components)]
    panels = [panel for panel in panels if panel.bars]
    if not panels:
        return None
    rows = [
        (panel.name, f"{panel.summary.n:,}", short(panel.summary.low), short(panel.summary.mean),
         short(panel.summary.high), "; ".join(f"{_span(bar)}: {bar.count:,}" for bar in panel.bars))
        for panel in panels
    ]  # fmt: skip
    return Figure(
        key="distributions",
        title="Distribution of each component",
        pictures=tuple(_histogram(panel, links) for panel in panels),
        caption=(
            "Share of the rows that have a value, per value or bin, after clip and gate, before the weight. "
            "The dashed line is the mean. Bars of single values stand apart; bins touch."
        ),
        head=("Component", "Rows", "Lowest", "Mean", "Highest", "Rows per value or bin"),
        rows=tuple(rows),
        layout="panels",
    )


def _span(bar: Bar) -> str:
    return short(bar.low) if bar.low == bar.high else f"{short(bar.low)} to {short(bar.high)}"


def _histogram(panel: _Panel, links: Links) -> Markup:
    left, right, top, bottom = 38.0, 8.0, 26.0, 22.0
    total = sum(bar.count for bar in panel.bars) or 1
    tallest = max(bar.count for bar in panel.bars) / total
    low, high = panel.bars[0].low, panel.bars[-1].high
    discrete = all(bar.low == bar.high for bar in panel.bars)
    floor, width = _H - bottom, _W - left - right
    inset = width / (2 * (len(panel.bars) + 1)) if discrete else 0.0
    x = Scale(low, high, left + inset, _W - right - inset)
    y = Scale(0.0, tallest * 1.08, floor, top)
    parts = [
        label(0, 13, clipped(panel.name, 19), "t name"),
        label(_W - right, 13, f"n = {panel.summary.n:,}", "t e dim"),
    ]
    parts += level_lines(y, 0.0, tallest, left, _W - right, count=3, name=percent)
    gaps = [x(b.low) - x(a.low) for a, b in zip(panel.bars, panel.bars[1:], strict=False)]
    thick = min(22.0, 0.72 * min(gaps, default=22.0))
    for bar in panel.bars:
        share = bar.count / total
        start = x(bar.low) - thick / 2 if discrete else x(bar.low)
        wide = thick if discrete else x(bar.high) - x(bar.low) - 0.6
        tip = f"{_span(bar)}: {bar.count:,} rows ({percent(share)})"
        drawn = rect(start, y(share), max(wide, 1.0), floor - y(share), panel.style, tip)
        if bar.count:  # a low bar is as easy to hit as a high one
            drawn += rect(start, top, max(wide, 1.0), floor - top, "hit", tip)
        parts.append(linked(drawn, links.to([_bin(panel.key, bar, panel.bars)]) if bar.count else ""))
    parts.append(line(left, floor, _W - right, floor, "axis"))
    marks = [bar.low for bar in panel.bars] if discrete and len(panel.bars) <= 6 else ticks(x.low, x.high, 4)
    inside = [mark for mark in marks if left - 1 <= x(mark) <= _W - right + 1]
    parts += names_below([(x(mark), short(mark)) for mark in inside], _H - 7)
    if panel.summary.mean is not None:
        parts.append(line(x(panel.summary.mean), top, x(panel.summary.mean), floor, "mean"))
    return svg(_W, _H, f"Distribution of {panel.name}, mean {short(panel.summary.mean)}", parts)


def _bin(key: str, bar: Bar, bars: Sequence[Bar]) -> tuple[str, str]:
    """Return the filter for a bar; the last bin holds its upper end."""
    return between(key, bar.low, None if bar is bars[-1] and bar.low != bar.high else bar.high)


# ---------------------------------------------------------------------------------------------- groups


def _spread(analysis: Analysis, links: Links) -> Figure | None:
    if not analysis.spreads:
        return None
    picture = _spread_picture(analysis.spreads, analysis.reward, links)
    total = sum(bar.count for bar in analysis.spreads)
    return Figure(
        key="spread",
        title="Spread of the reward within groups",
        pictures=(picture,),
        caption=(
            f"Standard deviation (n − 1) of the reward over each of {total:,} groups with at least two scored "
            f"completions; mean {short(analysis.reward.group_std)}. Hatched: groups without any spread, whose "
            "advantages are all 0."
        ),
        head=("Standard deviation", "Groups", "Share"),
        rows=tuple((_span(bar), f"{bar.count:,}", percent(bar.count / total)) for bar in analysis.spreads),
    )


def _spread_picture(bars: Sequence[Bar], reward: Summary, links: Links) -> Markup:
    width, height, left, right, top, bottom = 520.0, 240.0, 44.0, 12.0, 14.0, 40.0
    flat = round((reward.flat or 0.0) * reward.groups)
    total = sum(bar.count for bar in bars)
    # the flat groups stand in the first bar, which holds 0 if any group is flat
    tallest = max(bar.count for bar in bars) / total
    discrete = all(bar.low == bar.high for bar in bars)
    thick = 18.0
    x = Scale(
        0.0, max(bars[-1].high, 1e-9), left + (thick if discrete else 0), width - right - (thick if discrete else 0)
    )
    y = Scale(0.0, tallest * 1.08, height - bottom, top)
    floor = height - bottom
    parts = level_lines(y, 0.0, tallest, left, width - right, count=4, name=percent)
    for position, bar in enumerate(bars):
        start = x(bar.low) - thick / 2 if discrete else x(bar.low)
        wide = thick if discrete else x(bar.high) - x(bar.low) - 0.8
        quiet = flat if position == 0 and bar.low <= 1e-9 else 0
        live = (bar.count - quiet) / total
        tip = f"{_span(bar)}: {bar.count - quiet:,} groups with signal"
        where = links.to([_bin("spread", bar, bars), ("signal", "with")])
        parts.append(linked(rect(start, y(live), wide, floor - y(live), "reward", tip), where))
        if quiet:
            share = quiet / total
            tip = f"no spread: {quiet:,} groups ({percent(share)})"
            drawn = rect(start, y(live + share), wide, y(live) - y(live + share), "flat", tip)
            parts.append(linked(drawn, links.to([("signal", "without")])))
    parts.append(line(left, floor, width - right, floor, "axis"))
    parts += [
        label(x(tick), floor + 16, short(tick), "t m") for tick in ticks(0.0, x.high, 6) if x(tick) <= width - right
    ]
    parts.append(
        label((left + width - right) / 2, height - 6, "standard deviation of the reward in a group", "t m dim")
    )
    return svg(width, height, "Histogram of the reward's standard deviation within groups", parts)


def _signal(analysis: Analysis, links: Links) -> Figure | None:
    entries: list[tuple[str, Summary, float | None, str]] = [("reward", analysis.reward, None, "reward")]
    entries += [(c.name, c.summary, c.signal, hue(i)) for i, c in enumerate(analysis.components)]
    entries = [entry for entry in entries if entry[1].flat is not None]
    if not entries:
        return None
    width, left, right, step = 520.0, 130.0, 54.0, 26.0
    height = 26 + step * len(entries) + 24
    x = Scale(0.0, 1.0, left, width - right)
    parts: list[Markup] = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts += [line(x(tick), 16, x(tick), height - 30, "grid"), label(x(tick), height - 14, percent(tick), "t m")]
    for i, (name, summary, _, style) in enumerate(entries):
        y, flat, spread = 20 + i * step, summary.flat or 0.0, "spread" if i == 0 else f"spread.{name}"
        tip = f"{name}: {percent(flat)} of {summary.groups:,} groups without spread"
        parts += [
            label(left - 10, y + 14, clipped(name, 18), "t e name"),
            linked(rect(x(0), y, x(flat) - x(0), 18, "flat", tip), links.to([between(spread, 0, 0)])),
            linked(rect(x(flat), y, x(1) - x(flat), 18, style, tip), links.to([between(spread, 1e-12)])),
            label(width - right + 8, y + 14, percent(flat), "t"),
        ]
    rows = [
        (name, f"{s.groups:,}", percent(s.flat or 0.0), short(s.group_std), "–" if signal is None else percent(signal))
        for name, s, signal, _ in entries
    ]
    return Figure(
        key="signal",
        title="Groups without signal",
        pictures=(svg(width, height, "Share of groups without spread, per component", parts),),
        caption=(
            "Hatched: share of the groups in which all completions have the same value. A group whose reward has no "
            "spread gives the policy nothing to learn from."
        ),
        head=("Component", "Groups", "Without spread", "Mean std within", "Share of reward's variance"),
        rows=tuple(rows),
    )


# ---------------------------------------------------------------------------------------------- correlation


def _correlations(analysis: Analysis, links: Links) -> Figure | None:
    size = len(analysis.names)
    if size < 3 or not any(cell is not None for row in analysis.pooled for cell in row):
        return None
    cell = max(26.0, min(52.0, 380.0 / size))
    left, top = 120.0, 90.0
    # as wide as the others at least: the page makes all equally wide, and the letters of a small one large
    width, height = max(520.0, left + size * cell + 40), top + size * cell + 10
    parts: list[Markup] = []
    for i, name in enumerate(analysis.names):
        parts.append(label(left - 8, top + (i + 0.5) * cell + 4, clipped(name, 17), "t e name"))
        parts.append(label(left + (i + 0.5) * cell, top - 8, clipped(name, 14), "t name", turn=-40))
    for i in range(size):
        for j in range(size):
            x, y = left + j * cell, top + i * cell
            if i == j:
                parts.append(rect(x + 1, y + 1, cell - 2, cell - 2, "empty"))
                continue
            value = (analysis.pooled if i > j else analysis.within)[i][j]
            kind = "all rows" if i > j else "within groups"
            tip = f"{analysis.names[i]} and {analysis.names[j]}, {kind}: r = {short(value, 2)}"
            if value is None:
                parts.append(rect(x + 1, y + 1, cell - 2, cell - 2, "empty", tip))
                parts.append(label(x + cell / 2, y + cell / 2 + 4, "–", "t m dim"))
                continue
            strength = abs(value)
            drawn = rect(x + 1, y + 1, cell - 2, cell - 2, "empty")
            drawn += rect(x + 1, y + 1, cell - 2, cell - 2, "plus" if value >= 0 else "minus", tip,
                          opacity=min(0.98, strength))  # fmt: skip
            shade = "t m on" if strength > 0.62 else "t m ink"
            two = f"{value:.2f}"
            drawn += label(x + cell / 2, y + cell / 2 + 4, "0.00" if two == "-0.00" else two.replace("-", "−"), shade)
            both = [between(f"value.{analysis.names[k]}" if k else "reward") for k in (j, i)]
            parts.append(linked(drawn, links.to(both)))
    rows = [
        (analysis.names[j], analysis.names[i], short(analysis.pooled[i][j], 2), short(analysis.within[j][i], 2))
        for i in range(size)
        for j in range(i)
    ]
    return Figure(
        key="correlation",
        title="Correlation of components",
        pictures=(svg(width, height, "Correlation matrix of the reward and its components", parts),),
        caption=(
            "Pearson's r. Below the diagonal over all rows; above it within groups (each value less its group's mean), "
            "which is all that the policy sees. Blue: positive, orange: negative; a dash where one does not vary."
        ),
        head=("First", "Second", "r, all rows", "r, within groups"),
        rows=tuple(rows),
    )


# ---------------------------------------------------------------------------------------------- length


def _length(analysis: Analysis, links: Links) -> Figure | None:
    if len(analysis.length_bins) < 2:
        return None
    width, height, left, right, top, bottom = 520.0, 270.0, 48.0, 12.0, 14.0, 44.0
    low, high = analysis.length_bins[0].low, analysis.length_bins[-1].high
    bins, levels = len(analysis.length_counts), len(analysis.length_counts[0])
    x = Scale(low, high, left, width - right)
    y = Scale(*analysis.length_range, height - bottom, top)
    most = max(max(row) for row in analysis.length_counts)
    wide, tall = (width - right - left) / bins, (height - bottom - top) / levels
    parts: list[Markup] = []
    for i, row in enumerate(analysis.length_counts):
        for j, count in enumerate(row):
            if count:
                share = 0.08 + 0.62 * math.sqrt(count / most)  # by the root, so that cells of few rows are seen too
                drawn = rect(left + i * wide + 0.5, height - bottom - (j + 1) * tall + 0.5, wide - 1, tall - 1,
                             "density", f"{count:,} rows", opacity=share)  # fmt: skip
                columns = between("length", *_cut(low, high, i, bins))
                parts.append(linked(drawn, links.to([columns, between("reward", *_cut(y.low, y.high, j, levels))])))
    parts += level_lines(y, y.low, y.high, left, width - right, count=5, name=short)
    parts += _mean_line(analysis, x, y)
    parts.append(line(left, height - bottom, width - right, height - bottom, "axis"))
    parts += [label(x(tick), height - bottom + 16, f"{tick:,.0f}", "t m") for tick in ticks(low, high, 6)]
    parts.append(label((left + width - right) / 2, height - 8, "length of the completion (characters)", "t m dim"))
    return Figure(
        key="length",
        title="Length against reward",
        pictures=(svg(width, height, "Reward against the length of the completion", parts),),
        caption=(
            "Each cell's shade is its number of rows; the line joins the mean reward per length, whiskers span one "
            "standard error either way. The longest 1 % join the last bin. "
            f"r = {short(analysis.length_correlation, 2)} over all rows, {short(analysis.length_within, 2)} within groups."
        ),
        head=("Characters", "Rows", "Mean reward", "Standard deviation"),
        rows=tuple(
            (f"{b.low:,.0f} to {b.high:,.0f}", f"{b.n:,}", short(b.mean), short(b.std)) for b in analysis.length_bins
        ),
    )


def _cut(low: float, high: float, position: int, parts: int) -> tuple[float, float | None]:
    """Return the ends of one of `parts` equal bins; the last is open, since what lies above joins it."""
    width = (high - low) / parts
    return low + position * width, None if position == parts - 1 else low + (position + 1) * width


def _mean_line(analysis: Analysis, x: Scale, y: Scale) -> Iterable[Markup]:
    spots = []
    for each in analysis.length_bins:
        middle, error = x((each.low + each.high) / 2), each.std / math.sqrt(each.n)
        spots.append((middle, y(each.mean)))
        yield line(middle, y(each.mean - error), middle, y(each.mean + error), "whisker")
    yield path(spots, "halo")
    yield path(spots, "trend")
    for spot, each in zip(spots, analysis.length_bins, strict=True):
        yield circle(*spot, 3.2, "spot", f"mean {short(each.mean)} of {each.n:,} rows")
