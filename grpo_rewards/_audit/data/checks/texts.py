"""What the row's text shows before anything is run, and what the reward refuses to judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from grpo_rewards._audit.data.placeholders import damage, is_placeholder
from grpo_rewards._audit.data.trial import Trial
from grpo_rewards._contract import Outcome

__all__ = ["format", "gold", "row", "vacuous"]


def vacuous(trial: Trial) -> Iterator[str]:
    """No outcome depends on the answer: tests that are skipped, assert nothing or what always holds, or catch what they assert."""
    yield from _fault(trial, "vacuous")


def gold(trial: Trial) -> Iterator[str]:
    """The reference cannot be read: it is missing, empty, a placeholder, or nothing that the reward understands."""
    yield from _fault(trial, "gold")
    for text in trial.probes.golds:
        if is_placeholder(text, trial.prompt):
            yield f"the reference {text[:60]!r} stands where an answer is missing"
        elif problem := damage(text):
            yield f"the reference {text[:60]!r} is damaged: {problem}"
    if trial.probes.golds and (refused := _refused(trial)):
        yield refused.reason or "the reward does not apply to it"


def format(trial: Trial) -> Iterator[str]:
    """The tests are in no format that is understood, or the sandbox cannot judge them whatever the answer is."""
    if reason := trial.probes.faults.get("format"):
        yield reason
    elif not trial.probes.golds and (refused := _refused(trial)):
        yield refused.reason or "the reward does not apply to it"


def _refused(trial: Trial) -> Outcome | None:
    """What the reward says of the row where it applies to nothing that was tried."""
    found = [one for one in (*trial.tried, *trial.stubs) if one.status == "not_applicable"]
    return found[0] if found and not any(one.value is not None for one in (*trial.tried, *trial.stubs[1:])) else None


def row(trial: Trial) -> Iterator[str]:
    """The row itself is broken: no JSON object, no prompt, or nothing in it that a reward could hold an answer against."""
    yield from _fault(trial, "row")
    if not any(letter.isprintable() and not letter.isspace() for letter in trial.prompt):
        yield "there is no prompt"
    elif is_placeholder(trial.prompt):
        yield f"the prompt is a placeholder: {trial.prompt.strip()[:60]!r}"
    elif _nobody_asks(trial.data.get("prompt")):
        yield "no message of the prompt is a user's"


def _fault(trial: Trial, name: str) -> Iterator[str]:
    if reason := trial.probes.faults.get(name):
        yield reason


def _nobody_asks(prompt: object) -> bool:
    """Whether a prompt of messages has none that a model would answer."""
    messages = prompt if isinstance(prompt, list) else []
    roles = [one.get("role") for one in messages if isinstance(one, Mapping)]
    return bool(roles) and all(role in ("system", "assistant", "developer") for role in roles)
