"""Evaluating the components of a batch: which rows each sees, side by side, within a deadline."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grpo_rewards._composition.config import GateConfig, WhenConfig
from grpo_rewards._contract import Batch, Outcome, Reward, evaluate

__all__ = ["Component", "evaluate_components"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Component:
    """A reward in its place in a composition."""

    name: str
    reward: Reward
    weight: float
    when: WhenConfig | None
    gate: GateConfig | None
    clip: tuple[float, float] | None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the data must have for it."""
        wanted = (self.when.column,) if self.when is not None else ()
        return tuple(dict.fromkeys((*wanted, *self.reward.required_columns)))

    def rows(self, batch: Batch) -> list[int]:
        """The rows that it applies to."""
        if self.when is None:
            return list(range(len(batch)))
        values = batch.column(self.when.column)
        return [] if values is None else [row for row, value in enumerate(values) if self.when.holds(value)]


class _Evaluation:
    """One component's outcomes for one batch, filled row by row."""

    def __init__(self, component: Component, batch: Batch) -> None:
        self.component = component
        self.rows = component.rows(batch)
        self.batch = batch if len(self.rows) == len(batch) else batch.select(self.rows)
        self.slots: list[Outcome | None] = [None] * len(self.rows)
        self.failure: BaseException | None = None

    def run(self, deadline: float | None) -> None:
        evaluate(self.component.reward, self.batch, deadline=deadline, into=self.slots)

    def run_in_thread(self, deadline: float) -> threading.Thread:
        def guarded() -> None:
            try:
                self.run(deadline)
            except BaseException as error:  # noqa: BLE001 - handed to the thread that waits, which raises it
                self.failure = error

        thread = threading.Thread(target=guarded, name=f"grpo-rewards-{self.component.name}", daemon=True)
        thread.start()
        return thread

    def outcomes(self, size: int, unfinished: Outcome) -> list[Outcome]:
        """Spread over all rows of the batch: ``not_applicable`` where the component does not apply."""
        if self.failure is not None:
            raise self.failure
        if len(self.rows) == size:
            return [outcome if outcome is not None else unfinished for outcome in self.slots]
        when = self.component.when
        spread = [Outcome(None, "not_applicable", f"column {when.column!r} is another" if when else "")] * size
        for row, outcome in zip(self.rows, list(self.slots), strict=True):
            spread[row] = outcome if outcome is not None else unfinished
        return spread


def evaluate_components(
    components: Iterable[Component], batch: Batch, *, timeout: float | None
) -> dict[str, Sequence[Outcome]]:
    """Return every component's outcome for every row.

    With a `timeout` (seconds, wall clock, for the whole batch) the components run side by side, each in a thread of
    its own, and rows unfinished at the end of it are ``unavailable``: a reward that hangs is left behind. Without one
    they run one after another in the calling thread.
    """
    size = len(batch)
    evaluations = [_Evaluation(component, batch) for component in components]
    if timeout is None:
        for evaluation in evaluations:
            evaluation.run(None)
        late = Outcome(None, "unavailable", "not evaluated")
    else:
        batch.texts  # noqa: B018 - computed once here, not by each thread
        deadline = time.monotonic() + timeout
        threads = [evaluation.run_in_thread(deadline) for evaluation in evaluations]
        for evaluation, thread in zip(evaluations, threads, strict=True):
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                _log.warning(
                    "component %r did not finish %d rows within errors.batch_timeout = %g s; unfinished rows are left out",
                    evaluation.component.name, len(evaluation.rows), timeout,
                )  # fmt: skip
        late = Outcome(None, "unavailable", f"not finished within errors.batch_timeout = {timeout:g} s")
    return {evaluation.component.name: evaluation.outcomes(size, late) for evaluation in evaluations}
