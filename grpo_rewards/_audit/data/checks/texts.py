"""What the row's text shows before anything is run, and what the reward refuses to judge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from grpo_rewards._audit.data.placeholders import damage, garbled, is_cut, is_placeholder, is_question
from grpo_rewards._audit.data.prompts import cell_of_prompt
from grpo_rewards._audit.data.trial import Trial
from grpo_rewards._contract import Outcome

__all__ = ["format", "gold", "row", "vacuous"]

_PICTURE = re.compile(r"!\[[^\]\n]*\]\([^)\s]+\)|<img\b[^>]*>|<image>")
_PICTURES = ("image", "images", "image_path", "picture")


def vacuous(trial: Trial) -> Iterator[str]:
    """No outcome depends on the answer: tests that are skipped, assert nothing or what always holds, or catch what they assert."""
    yield from _fault(trial, "vacuous")


def gold(trial: Trial) -> Iterator[str]:
    """The reference cannot be read: it is missing, empty, a placeholder, a question, damaged, or nothing that the reward understands."""
    yield from _fault(trial, "gold")
    for text in trial.probes.golds:
        if is_placeholder(text, trial.prompt):
            yield f"the reference {text[:60]!r} stands where an answer is missing"
        elif problem := damage(text):
            yield f"the reference {text[:60]!r} is damaged: {problem}"
    if trial.probes.golds and all(is_question(text, trial.prompt) for text in trial.probes.golds):
        yield f"the reference {trial.probes.golds[0][:60]!r} is a question"
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
    """The row itself is broken: no JSON object, no prompt, one that is cut off, in a wrong encoding or shows a picture that is not there, or nothing in it that a reward could hold an answer against."""
    yield from _fault(trial, "row")
    if not any(letter.isprintable() and not letter.isspace() for letter in trial.prompt):
        yield "there is no prompt"
    elif is_placeholder(trial.prompt):
        yield f"the prompt is a placeholder: {trial.prompt.strip()[:60]!r}"
    elif _nobody_asks(cell_of_prompt(trial.data)):
        yield "no message of the prompt is a user's"
    elif wrong := garbled(trial.prompt):
        yield f"the prompt was read in the wrong encoding: {wrong!r}"
    elif is_cut(trial.prompt):
        yield f"the prompt is cut off: {trial.prompt[-40:]!r}"
    # tasks with tests can mostly be solved without, and show many
    elif trial.probes.golds and _PICTURE.search(trial.prompt) and not any(map(trial.data.get, _PICTURES)):
        yield "the prompt shows a picture that is not in the row"


def _fault(trial: Trial, name: str) -> Iterator[str]:
    if reason := trial.probes.faults.get(name):
        yield reason


def _nobody_asks(prompt: object) -> bool:
    """Whether a prompt of messages has none that a model would answer."""
    messages = prompt if isinstance(prompt, list) else []
    roles = [one.get("role") for one in messages if isinstance(one, Mapping)]
    return bool(roles) and all(role in ("system", "assistant", "developer") for role in roles)
