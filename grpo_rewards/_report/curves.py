"""The figures over training steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from grpo_rewards._report.analysis import Analysis
from grpo_rewards._report.drawing import (
    Scale,
    circle,
    label,
    level_lines,
    line,
    linked,
    path,
    polygon,
    short,
    svg,
    ticks,
)
from grpo_rewards._report.figure import Figure, clipped, hue
from grpo_rewards._report.links import Links, between
from grpo_rewards._report.rows import Training, TrainingPoint

_MOST_POINTS = 400  # one for two or three pixels of the picture
_MOST_ROWS = 200
_TOTAL = "composite"


def _thinned(steps: Sequence[TrainingPoint], most: int) -> list[TrainingPoint]:
    if len(steps) <= most:
        return list(steps)
    return [steps[round(i * (len(steps) - 1) / (most - 1))] for i in range(most)]


@dataclass(frozen=True, slots=True)
class _Event:
    """What the run warned of at one step, and the address of the step's completions, if the page has some."""

    step: int
    texts: tuple[str, ...]
    where: str


def _events(analysis: Analysis, training: Training | None, links: Links) -> list[_Event]:
    known = {point.step for point in analysis.steps}
    texts: dict[int, list[str]] = {}
    for step, text in training.warnings if training is not None else ():
        texts.setdefault(step, []).append(text)
    return [
        _Event(step, tuple(texts[step]), links.to([between("step", step, step)]) if step in known else "")
        for step in sorted(texts)
    ]


def training_figures(analysis: Analysis, training: Training | None, links: Links) -> list[Figure]:
    """Return reward, component means and weights over steps; nothing for fewer than two steps."""
    logged = training.points if training is not None else ()
    steps = logged or analysis.steps
    if len(steps) < 2:
        return []
    events = _events(analysis, training, links)
    # colours go by place: a component has the same one in every figure
    order = [component.name for component in analysis.components]
    names = order + [n for n in dict.fromkeys(n for s in steps for n in s.means) if n not in order]
    if any(step.weights for step in steps):  # a composite's total is logged like a component, and is the reward itself
        names = [name for name in names if name != _TOTAL or any(name in step.weights for step in steps)]
    drawn = _thinned(steps, _MOST_POINTS)
    pictures = [_reward_picture(drawn, events), _lines_picture(drawn, names, "means", "Mean of each component", events)]
    weighted = any(step.weights for step in steps)
    if weighted:
        pictures.append(_lines_picture(drawn, names, "weights", "Weight of each component", events))
    source = "as the trainer logged them" if logged else "computed from the completions at each step"
    caption = (
        f"Reward (mean, band of one standard deviation over the batch) and component means over {len(steps):,} steps, "
        f"{source}."
    )
    if weighted:
        caption += " Last: the weights in force."
    if events:
        caption += " Marks ▼: steps with a health event; point at one to read it."
    if len(drawn) < len(steps):
        caption += f" Drawn at {len(drawn)} of them."
    seen = [name for name in names if any(name in step.means or name in step.weights for step in steps)]
    head = ["Step", "Reward", "Std", "Groups without signal", *(f"{name}: mean" for name in seen)]
    texts = {event.step: "; ".join(event.texts) for event in events}
    if weighted:
        head += [f"{name}: weight" for name in seen]
    if events:
        head.append("Health events")
    rows = []
    listed = {step.step: step for step in _thinned(steps, _MOST_ROWS)}
    # a step with an event is listed, thinned or not
    listed.update({step.step: step for step in steps if step.step in texts})
    for _, step in sorted(listed.items()):
        row = [str(step.step), short(step.reward), short(step.reward_std), short(step.flat_groups)]
        row += [short(step.means.get(name)) for name in seen]
        if weighted:
            row += [short(step.weights.get(name)) for name in seen]
        if events:
            row.append(texts.get(step.step, ""))
        rows.append(tuple(row))
    return [
        Figure(
            key="training",
            title="Reward over training",
            pictures=tuple(pictures),
            caption=caption,
            head=tuple(head),
            rows=tuple(rows),
            layout="stack",
            legend=tuple((hue(names.index(name)), name) for name in seen),
        )
    ]


_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 1040.0, 56.0, 14.0, 28.0, 30.0


def _frame(steps: Sequence[TrainingPoint], low: float, high: float, height: float, title: str, events: Sequence[_Event]) -> tuple[
    Scale, Scale, list[Markup]
]:  # fmt: skip
    pad = 0.06 * (high - low)
    x = Scale(steps[0].step, steps[-1].step, _LEFT, _WIDTH - _RIGHT)
    y = Scale(low - pad, high + pad, height - _BOTTOM, _TOP)
    parts = [label(0, 14, title, "t name")]
    parts += level_lines(y, y.low, y.high, _LEFT, _WIDTH - _RIGHT, count=4, name=short)
    for event in events:
        if steps[0].step <= event.step <= steps[-1].step:
            at, tip = x(event.step), f"step {event.step}: {'; '.join(event.texts)}"
            drawn = line(at, _TOP, at, height - _BOTTOM, "warned")
            drawn += polygon([(at - 6, _TOP - 10), (at + 6, _TOP - 10), (at, _TOP)], "event", tip)
            parts.append(linked(drawn, event.where))
    parts.append(line(_LEFT, height - _BOTTOM, _WIDTH - _RIGHT, height - _BOTTOM, "axis"))
    for tick in ticks(steps[0].step, steps[-1].step, 8):
        # there is no half of a step
        if tick == round(tick):
            parts.append(label(x(tick), height - 12, f"{tick:,.0f}", "t m"))
    return x, y, parts


def _reward_picture(steps: Sequence[TrainingPoint], events: Sequence[_Event]) -> Markup:
    height = 230.0
    known = [(step.step, step.reward, step.reward_std or 0.0) for step in steps if step.reward is not None]
    if not known:
        return Markup("")
    low = min(reward - std for _, reward, std in known)
    high = max(reward + std for _, reward, std in known)
    x, y, parts = _frame(steps, low, high, height, "Reward", events)
    upper = [(x(step), y(reward + std)) for step, reward, std in known]
    lower = [(x(step), y(reward - std)) for step, reward, std in reversed(known)]
    parts.append(polygon(upper + lower, "band"))
    spots = [(x(step), y(reward)) for step, reward, _ in known]
    parts.append(path(spots, "trend"))
    # more dots run into each other, and each is an element with a text of its own
    if len(known) <= 60:
        tips = [f"step {step}: {short(reward)} ± {short(std)}" for step, reward, std in known]
        parts += [circle(*spot, 2.6, "spot", tip) for spot, tip in zip(spots, tips, strict=True)]
    return svg(_WIDTH, height, f"Reward over steps {steps[0].step} to {steps[-1].step}", parts)


def _lines_picture(
    steps: Sequence[TrainingPoint], names: Sequence[str], what: str, title: str, events: Sequence[_Event]
) -> Markup:
    height = 200.0
    curves: dict[str, list[tuple[int, float]]] = {}
    for step in steps:
        found = step.means if what == "means" else step.weights
        for name, value in found.items():
            if name in names:
                curves.setdefault(name, []).append((step.step, value))
    values = [value for curve in curves.values() for _, value in curve]
    if not values:
        return Markup("")
    x, y, parts = _frame(steps, min(values), max(values), height, title, events)
    for name, curve in curves.items():
        style = hue(names.index(name))
        points = [(x(step), y(value)) for step, value in curve]
        if what == "weights":  # a weight holds until the next change
            points = [
                spot for a, b in zip(points, [*points[1:], points[-1]], strict=True) for spot in (a, (b[0], a[1]))
            ]
        parts.append(path(points, f"curve {style}"))
        parts.append(circle(*points[-1], 3, style, f"{clipped(name, 40)}: {short(curve[-1][1])}"))
    return svg(_WIDTH, height, title, parts)
