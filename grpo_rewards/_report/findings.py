"""What a reader should look at first, in sentences."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from grpo_rewards._report.analysis import Analysis, ComponentSummary
from grpo_rewards._report.links import Rows, between
from grpo_rewards._report.rows import ReportSource, Training

_MANY_FLAT = 0.5
_ALIKE = 0.95  # of two components that correlate so much one decides nothing
_LENGTH_R = 0.5
_LITTLE_SIGNAL = 0.01
_MANY_REJECTED = 0.2


@dataclass(frozen=True, slots=True)
class Remark:
    """One sentence with what it is about and the rows to look at; `level` is ``warning`` or ``note``."""

    level: Literal["warning", "note"]
    about: str
    text: str
    rows: Rows = ()


def findings(source: ReportSource, analysis: Analysis) -> list[Remark]:
    """Return the warnings first, then the notes."""
    found = [*_of_groups(analysis), *_of_length(analysis)]
    for component in analysis.components:
        found += _of_component(component)
    found += _of_pairs(analysis)
    if source.training is not None:
        found += _of_training(source.training, {point.step for point in analysis.steps})
    found += [Remark("note", "source", note) for note in source.notes]
    return sorted(found, key=lambda finding: finding.level != "warning")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.0095 or share == 0 else "under 1 %"


def _of_groups(analysis: Analysis) -> Iterator[Remark]:
    if analysis.rows and not analysis.reward.groups:
        yield Remark(
            "note", "groups",
            "No group has two scored completions, so nothing can be said of advantages; score several completions "
            "per prompt, next to each other or with the same group_id.",
        )  # fmt: skip
    if analysis.reward.flat is not None and analysis.reward.flat > _MANY_FLAT:
        yield Remark(
            "warning", "groups",
            f"{_percent(analysis.reward.flat)} of the groups give no signal: all their completions have one reward, so "
            "their advantages are 0.",
            (("signal", "without"),),
        )  # fmt: skip
    if any(c.signal is None for c in analysis.components) and not analysis.adds_up:
        yield Remark(
            "note", "components",
            "The rewards are not the weighted sum of the recorded values (weights or gates are not in the file, or the "
            "total is clipped), so no component's share of the signal is shown.",
        )  # fmt: skip
    if analysis.left_out:
        share = analysis.left_out / analysis.rows
        text = f"{analysis.left_out:,} rows ({_percent(share)}) were left out: not graded."
        yield Remark("warning", "rows", text, (("left", "1"),))


def _of_length(analysis: Analysis) -> Iterator[Remark]:
    r = analysis.length_within
    if r is not None and abs(r) >= _LENGTH_R:
        kind = "longer" if r > 0 else "shorter"
        text = f"Within groups, {kind} completions earn more (r = {r:+.2f})."
        yield Remark("warning", "length", text, (("signal", "with"), ("sort", "length"), ("down", "1")))


def _of_component(component: ComponentSummary) -> Iterator[Remark]:
    name, summary = component.name, component.summary

    def with_status(status: str) -> Rows:
        return ("component", name), ("status", status)

    known = sum(component.statuses.values())
    if component.statuses["error"]:
        text = f"The plugin failed on {component.statuses['error']:,} rows."
        yield Remark("warning", name, text, with_status("error"))
    if component.statuses["unavailable"]:
        text = f"{component.statuses['unavailable']:,} rows could not be graded: its sandbox or service was away."
        yield Remark("warning", name, text, with_status("unavailable"))
    if known and component.statuses["rejected"] / known > _MANY_REJECTED:
        text = f"{_percent(component.statuses['rejected'] / known)} of the completions were rejected as malformed."
        yield Remark("warning", name, text, with_status("rejected"))
    if component.statuses["timeout"]:
        text = f"{component.statuses['timeout']:,} completions ran out of time."
        yield Remark("note", name, text, with_status("timeout"))
    if component.weight == 0 and not component.weight_varies:
        yield Remark("note", name, "Weight 0: scored and shown, but not part of the reward.")
        return  # what follows is about a part in the reward
    if not summary.n:
        yield Remark("warning", name, "It gave no value on any row.")
    elif summary.n > 1 and summary.low == summary.high:
        text = f"It is {summary.low:g} on every row it applies to: it teaches nothing."
        yield Remark("warning", name, text, (between(f"value.{name}"),))
    elif component.signal is not None and abs(component.signal) < _LITTLE_SIGNAL:
        text = f"It accounts for {_percent(abs(component.signal))} of the reward's variance within groups."
        yield Remark("note", name, text, (between(f"value.{name}"),))
    if component.gated and summary.n and component.gated == summary.n:
        yield Remark("warning", name, "Its gate was shut on every row.", (between(f"value.{name}"),))


def _of_pairs(analysis: Analysis) -> Iterator[Remark]:
    for i in range(1, len(analysis.names)):
        for j in range(1, i):
            r = analysis.pooled[i][j]
            if r is not None and abs(r) >= _ALIKE:
                pair = f"{analysis.names[j]}, {analysis.names[i]}"
                rows = tuple(between(f"value.{analysis.names[k]}") for k in (j, i))
                yield Remark("note", pair, f"They say nearly the same (r = {r:+.2f}); one of them may do.", rows)


def _of_training(training: Training, known: Container[int]) -> Iterator[Remark]:
    for step, text in training.warnings:
        yield Remark("warning", f"step {step}", text, (between("step", step, step),) if step in known else ())
    points = training.points
    # the end of the run: at its beginning groups without signal are usual
    last = points[-max(1, len(points) // 10) :]
    flat = [point.flat_groups for point in last if point.flat_groups is not None]
    if flat and sum(flat) / len(flat) > _MANY_FLAT:
        text = f"Over the last {len(last)} logged steps {_percent(sum(flat) / len(flat))} of the groups gave no signal."
        yield Remark("warning", "training", text)
    # two or three logged steps are no course
    if len(points) >= 4:
        first, final = points[0], points[-1]
        for name, mean in final.means.items():
            before = first.means.get(name)
            rose = (final.reward or 0.0) > (first.reward or 0.0)
            if before is not None and rose and mean < before - 0.1 * max(abs(before), 1e-9) and abs(before) > 1e-9:
                yield Remark("note", name, f"Its mean fell from {before:.3g} to {mean:.3g} while the reward rose.")
    changes = sum(a.weights != b.weights for a, b in pairwise(points) if a.weights and b.weights)
    if changes:
        yield Remark(
            "note", "weights", f"The weights changed {'once' if changes == 1 else f'{changes} times'} during training."
        )
