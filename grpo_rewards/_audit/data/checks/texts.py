"""What the row's text shows before anything is run, and what the reward refuses to judge."""

from __future__ import annotations

from collections.abc import Iterator

from grpo_rewards._audit.data.trial import Trial

__all__ = ["format", "gold", "row", "vacuous"]


def vacuous(trial: Trial) -> Iterator[str]:
    """No outcome depends on the answer: tests that are skipped, assert nothing or what always holds, or catch what they assert."""
    yield from _fault(trial, "vacuous")


def gold(trial: Trial) -> Iterator[str]:
    """The reference cannot be read: it is missing, empty, or nothing that the reward understands."""
    yield from _fault(trial, "gold")


def format(trial: Trial) -> Iterator[str]:
    """The tests are in no format that is understood, or the sandbox cannot judge them whatever the answer is."""
    if reason := trial.probes.faults.get("format"):
        yield reason
        return
    found = [one for one in (*trial.tried, *trial.stubs) if one.status == "not_applicable"]
    if found and not any(one.value is not None for one in (*trial.tried, *trial.stubs[1:])):
        yield found[0].reason or "the reward does not apply to it"


def row(trial: Trial) -> Iterator[str]:
    """The row itself is broken: no JSON object, no prompt, or nothing in it that a reward could hold an answer against."""
    yield from _fault(trial, "row")
    if not trial.prompt.strip():
        yield "there is no prompt"


def _fault(trial: Trial, name: str) -> Iterator[str]:
    if reason := trial.probes.faults.get(name):
        yield reason
