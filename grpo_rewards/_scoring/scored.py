"""Scoring a chunk, and the rows that come of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from grpo_rewards._composition import Composite, ScoreTable, Statistics
from grpo_rewards._composition.evaluation import Evaluated
from grpo_rewards._contract import Batch, CallLimits, Outcome
from grpo_rewards._contract.shapes import SCORES, RowScores
from grpo_rewards._scoring.chunks import Sample, batch_of
from grpo_rewards._scoring.reading.rows import dump_json

_FIRST_KEY = b'"%b":' % SCORES.encode()
_NEXT_KEY = b"," + _FIRST_KEY


@dataclass(slots=True)
class ScoredChunk:
    """A chunk's output: one JSON line per sample, the figures, and how long it took.

    `statistics` holds one per call of the composite; `gaps` names components and columns that were asked for and that
    no row of the chunk has; `failures` holds the first reasons why rows were left out;
    `configuration` is what a component found wrong with its configuration when it was called; `refused` counts rows whose tests or
    reference a reward cannot judge by, and `refusals` holds the first of them: row, component and what is wrong.
    """

    lines: list[bytes]
    statistics: Statistics
    left_out: int = 0
    broken: int = 0
    seconds: float = 0.0
    gaps: tuple[tuple[str, str], ...] = ()
    failures: tuple[str, ...] = ()
    configuration: str = ""
    refused: int = 0
    refusals: tuple[str, ...] = ()

    def add(self, other: ScoredChunk) -> None:
        """Append the output of the samples that come after."""
        self.lines += other.lines
        self.statistics.merge(other.statistics)
        self.left_out += other.left_out
        self.broken += other.broken
        self.seconds += other.seconds
        self.gaps += other.gaps
        self.failures = (self.failures + other.failures)[:3]
        self.configuration = self.configuration or other.configuration
        self.refused += other.refused
        self.refusals = (self.refusals + other.refusals)[:3]


def score_samples(composite: Composite, samples: Sequence[Sample]) -> ScoredChunk:
    """Score the samples of whole groups; columns that none of them has are None."""
    return ScoringChunk(composite, samples).scored()


class ScoringChunk:
    """The samples of whole groups, being scored; other chunks that share the `limits` may be under way beside it."""

    def __init__(self, composite: Composite, samples: Sequence[Sample], limits: CallLimits | None = None) -> None:
        self._composite, self._samples = composite, samples
        self._started = time.perf_counter()
        self._batch = batch_of(samples, composite.required_columns)
        self._under_way = composite.begin(self._batch, limits=limits)
        self.wait, self.left = self._under_way.wait, self._under_way.left

    def scored(self) -> ScoredChunk:
        """Wait for the scores."""
        composite, samples = self._composite, self._samples
        table = composite.table(self._batch.groups, self._under_way.evaluated())
        if len(table.groups) > 1 and _names_no_row(table):
            parts = [score_samples(composite, [samples[row] for row in rows]) for rows in table.groups]
            for part in parts[1:]:
                parts[0].add(part)
            return parts[0]
        scored = ScoredChunk([], Statistics.of(table), gaps=_gaps(composite, self._batch, samples))
        for position, sample in enumerate(samples):
            scored.lines.append(scored_line(sample, table.row(position)))
            if position in table.left_out:
                scored.left_out += 1
                scored.failures = (*scored.failures, f"row {sample.row}: {table.left_out[position]}")[:3]
        scored.broken = sum(  # a row on which a plugin broke is always left out
            any(outcomes[position].status == "error" for outcomes in table.components.values())
            for position in table.left_out
        )
        for name, outcomes in table.components.items():
            wrong = (one.reason for one in outcomes if one.status == "error" and one.details.get("configuration"))
            scored.configuration = scored.configuration or next((f"rewards.{name}: {reason}" for reason in wrong), "")
        _note_refusals(scored, composite, samples, table)
        scored.seconds = time.perf_counter() - self._started
        return scored


def _note_refusals(scored: ScoredChunk, composite: Composite, samples: Sequence[Sample], table: ScoreTable) -> None:
    """Count the rows that a component was to score and whose data it refuses, in the words of ``grpo-rewards validate``.

    Rows in which all that it reads is null are none of its own.
    """
    rows: dict[int, None] = {}
    problems: dict[tuple[str, bytes], str | None] = {}
    for component in composite.components:
        reward = component.reward
        if reward.check_row is None:
            continue
        reads = sorted(
            {*reward.required_columns, *reward.optional_columns} - {"prompt", "completion", "completion_ids"}
        )
        for position, outcome in enumerate(table.components[component.name]):
            if outcome.status != "not_applicable":
                continue
            data = samples[position].data
            if not component.applies_to(data):
                continue
            cells = {name: data[name] for name in reads if data.get(name) is not None}
            if not cells or any(name not in cells for name in reward.required_columns if name in reads):
                continue
            # the completions of one prompt have one reference: it is asked of once
            key = component.name, dump_json(cells)
            if key not in problems:
                try:
                    problems[key] = reward.row_problem(data)
                except Exception as error:  # noqa: BLE001 - the boundary around a plugin's code
                    problems[key] = f"its check of a row raised {type(error).__name__}: {error}"
            if (problem := problems[key]) is not None:
                rows[position] = None
                scored.refusals = (*scored.refusals, f"{samples[position].row}: {component.name}: {problem}")[:3]
    scored.refused = len(rows)


def mark_broken(composite: Composite, samples: Sequence[Sample], reason: str) -> ScoredChunk:
    """Return rows that could not be scored because scoring them ended the process: an error in every component."""
    size = len(samples)
    broken = {component.name: [Outcome(None, "error", reason)] * size for component in composite.components}
    table = composite.table([[row] for row in range(size)], Evaluated(broken, {}, {}))
    lines = [scored_line(sample, table.row(row)) for row, sample in enumerate(samples)]
    failures = tuple(f"row {sample.row}: {reason}" for sample in samples[:3])
    return ScoredChunk(lines, Statistics.of(table), left_out=size, broken=size, failures=failures)


def scores_of(sample: Sample, row: RowScores) -> RowScores:
    """Return what the key ``grpo_rewards`` holds: where the sample is from, its reward, and every component."""
    if sample.index is None:
        return {"row": sample.row, "group": sample.group, **row}
    return {"row": sample.row, "index": sample.index, "group": sample.group, **row}


def scored_line(sample: Sample, row: RowScores) -> bytes:
    """Return the line of a scored file: the sample's own text and its scores."""
    # the scores go in before the last brace, so that the row's own text stays byte for byte and is not written anew
    body = sample.raw.rstrip()[:-1]
    key = _FIRST_KEY if body.rstrip().endswith(b"{") else _NEXT_KEY
    return b"%b%b%b}\n" % (body, key, dump_json(scores_of(sample, row)))


def _names_no_row(table: ScoreTable) -> bool:
    """Whether a plugin failed on a whole call, so that only smaller calls can tell which rows are to blame."""
    return any(
        outcome.status == "error" and outcome.details.get("whole_batch")
        for outcomes in table.components.values()
        for outcome in outcomes
    )


def _gaps(composite: Composite, batch: Batch, samples: Sequence[Sample]) -> tuple[tuple[str, str], ...]:
    # only a column without any value may be missing: a batch has None for what some rows lack, so the rows are asked
    if all(any(value is not None for value in batch.column(column) or ()) for column in composite.required_columns):
        return ()
    present: set[str] = set()
    for sample in samples:
        present.update(sample.data)
    return tuple(
        (component.name, column)
        for component in composite.components
        if any(column not in present for column in component.columns) and component.rows(batch)
        for column in component.columns
        if column not in present
    )
