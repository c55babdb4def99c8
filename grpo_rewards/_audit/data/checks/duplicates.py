"""Rows with one prompt and different references."""

from __future__ import annotations

from collections.abc import Iterator

from grpo_rewards._audit.data.trial import Trial

__all__ = ["contradictory"]


def contradictory(trial: Trial) -> Iterator[str]:
    """A row with the same prompt holds this one's reference to be wrong, or the row's tests contradict each other."""
    if reason := trial.probes.faults.get("contradictory"):
        yield reason
    for number, outcome in trial.against:
        if outcome.value is not None and not trial.passes(outcome):
            yield f"row {number} has the same prompt and another answer: {outcome.reason[:120]}"
            return
