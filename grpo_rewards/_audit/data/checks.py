"""The checks of ``audit DATA``: each is a function of a `Trial` that yields what is wrong, in words; `leaks` has the longest.

`CHECKS` is the table: names are marks. The documentation's table is made from the functions' docstrings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from grpo_rewards._audit.data.leaks import leak
from grpo_rewards._audit.data.placeholders import damage, garbled, is_cut, is_placeholder, is_question
from grpo_rewards._audit.data.prompts import cell_of_prompt
from grpo_rewards._audit.data.trial import Trial
from grpo_rewards._contract import Outcome

Check = Callable[[Trial], Iterator[str]]

_PAID = 0.5
_SHOWN = 60
_ENOUGH = 0.5
_PASSED = 3
_PICTURE = re.compile(r"!\[[^\]\n]*\]\([^)\s]+\)|<img\b[^>]*>|<image>")
_PICTURES = ("image", "images", "image_path", "picture")


def nop(trial: Trial) -> Iterator[str]:
    """A completion that does nothing is paid: empty, or a stub that answers with a constant, with its argument, or (where elements are compared) with nothing: an empty list, or an array without elements that fits every shape."""
    for text, outcome in zip(trial.probes.stubs, trial.stubs, strict=False):
        if (share := trial.share(outcome)) >= _PAID:
            yield f"{_shown(text)} gets {share:.0%} of the reward"
            return


def oracle(trial: Trial) -> Iterator[str]:
    """None of the row's own references passes: the reference is wrong, or what it is held against is."""
    judged = [one for one in (*trial.tried, *trial.again) if one.status in ("scored", "rejected")]
    if not judged or any(map(trial.passes, judged)) or any(one.status == "timeout" for one in trial.tried):
        return
    yield f"the reference fails: {judged[0].reason or f'it gets {trial.share(judged[0]):.0%} of the reward'}"


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return "an empty completion" if not text else f"the completion {text[:_SHOWN]!r}"


def weak(trial: Trial) -> Iterator[str]:
    """Wrong answers pass: a reference with its result changed, or more than half of those with a changed operator or constant."""
    changed = trial.mutants[: trial.probes.telling]
    if passed := sum(map(trial.passes, changed)):
        yield f"the reference with another result passes ({passed} of {len(changed)} such changes)"
        return
    judged = [outcome for outcome in trial.mutants if outcome.value is not None]
    strength = trial.strength
    passed = sum(map(trial.passes, judged))
    # a change or two may make an equivalent program, which no test can tell
    if strength is not None and strength < _ENOUGH and (passed >= _PASSED or strength == 0.0):
        yield f"{passed} of {len(judged)} small changes of the reference pass"


def flaky(trial: Trial) -> Iterator[str]:
    """The reference gets another verdict when it is scored again."""
    found = [one for one in (*trial.tried[:1], *trial.again) if one.status in ("scored", "rejected")]
    passed = sum(map(trial.passes, found))
    if 0 < passed < len(found):
        failed = next(one for one in found if not trial.passes(one))
        yield f"the reference passes {passed} of {len(found)} times; else {failed.reason[:120]}"


def slow(trial: Trial) -> Iterator[str]:
    """The reference takes more than half of the time limit, or runs into it: load makes a right answer fail."""
    if any(one.status == "timeout" for one in trial.tried) and trial.reference is None:
        yield "the reference runs into the time limit"
    elif trial.seems_slow and (not trial.probes.half_settings or any(one.status == "timeout" for one in trial.hurried)):
        yield f"the reference takes more than half of its {trial.probes.seconds:.3g} s"


def contradictory(trial: Trial) -> Iterator[str]:
    """A row with the same prompt holds this one's reference to be wrong, or the row's tests contradict each other."""
    yield from _fault(trial, "contradictory")
    for number, outcome in trial.against:
        if outcome.value is not None and not trial.passes(outcome):
            yield f"row {number} has the same prompt and another answer: {outcome.reason[:120]}"
            return


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


CHECKS: Mapping[str, Check] = {
    "nop": nop,
    "oracle": oracle,
    "weak": weak,
    "flaky": flaky,
    "slow": slow,
    "vacuous": vacuous,
    "contradictory": contradictory,
    "leak": leak,
    "gold": gold,
    "format": format,
    "row": row,
}
"""Every check by its name, which is also the mark of a row that it finds something in."""
