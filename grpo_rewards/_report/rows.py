"""The rows of a report, whatever file they come from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grpo_rewards._contract import STATUSES

CODES: tuple[str, ...] = (*STATUSES, "left_out")
"""The statuses by the code that the page uses for them; `ABSENT` where a row knows nothing of a component."""
ABSENT = len(CODES)


def number(value: object) -> float | None:
    """Return `value` as a finite float; None for anything else (NaN is how a trainer writes "does not apply")."""
    if type(value) is float:  # nearly always
        return value if math.isfinite(value) else None
    # a plain function may give True, which is 1 to a trainer
    if isinstance(value, bool | int | float):
        try:
            found = float(value)
        except OverflowError:  # a whole number beyond any float
            return None
        return found if math.isfinite(found) else None
    return None


@dataclass(frozen=True, slots=True)
class ComponentResult:
    """One component's share of one row. `contribution` is value × gate × weight; None where there is no value."""

    value: float | None
    weight: float | None
    gate: float | None
    contribution: float | None
    status: str
    reason: str = ""
    details: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One scored completion. `line` is 1-based in its file; `group` is None where the file names none (`with_groups`)."""

    line: int
    prompt: object
    completion: object
    reward: float | None
    parts: Mapping[str, ComponentResult]
    index: int | None = None
    group: str | None = None
    step: int | None = None
    advantage: float | None = None
    left_out: str = ""
    columns: Mapping[str, object] = field(default_factory=dict)


def with_groups(rows: Iterable[ReportRow]) -> Iterator[ReportRow]:
    """Name the groups that have no name: rows of one prompt that follow one another within a step, as a trainer writes them.

    A row without a prompt is a group by itself.
    """
    name, before = "", None
    for number, row in enumerate(rows, 1):
        key = None if row.prompt is None or row.group is not None else (row.prompt, row.step)
        if row.group is None:
            # rows of one prompt before and after a named group are two groups
            if key is None or key != before:
                name = f"line {number}"
            row = replace(row, group=name)
        before = key
        yield row


@dataclass(frozen=True, slots=True)
class TrainingPoint:
    """One training step, as the trainer logged it or as its rows say; `means` and `weights` are per component."""

    step: int
    reward: float | None
    reward_std: float | None
    flat_groups: float | None
    means: Mapping[str, float]
    weights: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Training:
    """A training run: its log in order of steps, and the (step, text) of the warnings it recorded."""

    points: tuple[TrainingPoint, ...]
    warnings: tuple[tuple[int, str], ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)

    def weights_at(self, step: int | None) -> Mapping[str, float]:
        """Return the weights last logged at or before `step`, else those saved with the newest state."""
        best: Mapping[str, float] = {}
        for point in self.points:
            if step is not None and point.step > step:
                break
            best = point.weights or best
        return best or self.weights


@dataclass(frozen=True, slots=True)
class ReportSource:
    """Where the rows come from: a title for the page, the rows (read once), and the training log, if any.

    `notes` may grow until the rows are read.
    """

    title: str
    kind: str
    rows: Iterator[ReportRow]
    training: Training | None = None
    notes: Sequence[str] = ()
