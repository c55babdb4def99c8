"""The reward `rubric`: weighted criteria, each answered by a judge with a quote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from grpo_rewards import Outcome, reward
from grpo_rewards.errors import printable
from grpo_rewards_plugins.cells import from_json, plain

from .endpoint import Client, check_client
from .questions import ask
from .screening import NOTHING, gradable

_MOST = 100
_HEAVIEST = 1e9
_WORTH = {"yes": 1.0, "partly": 0.5, "no": 0.0}
_TOLD = "You check a response to a task against criteria, each by itself."
_FORM = (
    '"answers": a list with one object per criterion, in order: {"met": "yes", "partly" or "no", "quote": "the words of the '
    'response that show it, exactly as they stand there, or an empty string"}'
)


@dataclass(frozen=True, slots=True)
class _Criterion:
    text: str
    weight: float


def _criteria(given: object) -> list[_Criterion]:
    """Read criteria, a list or JSON: texts, or objects with ``text`` (``criterion``, ``description``) and ``weight`` (``points``).

    Raises:
        ValueError: they are something else, or none of them has a positive weight.
    """
    given = from_json(plain(given))
    if not isinstance(given, Sequence) or isinstance(given, str | bytes) or not 1 <= len(given) <= _MOST:
        raise ValueError(f"criteria must be a list of 1 to {_MOST}")
    found = [_criterion(one) for one in given]
    if not any(one.weight > 0 for one in found):
        raise ValueError("at least one criterion needs a weight above 0")
    return found


def _criterion(given: object) -> _Criterion:
    read = {"text": given} if isinstance(given, str) else given if isinstance(given, Mapping) else {}
    text = next((read[name] for name in ("text", "criterion", "description") if isinstance(read.get(name), str)), "")
    weight = next((read[name] for name in ("weight", "points") if read.get(name) is not None), 1.0)
    if (
        not text.strip()
        or isinstance(weight, bool)
        or not isinstance(weight, int | float)
        or not abs(weight) <= _HEAVIEST
    ):
        raise ValueError(f"a criterion needs a text and a finite weight, not {str(given)[:80]!r}")
    return _Criterion(text.strip(), float(weight))


def _check(settings: Mapping[str, object]) -> None:
    check_client(settings)
    if settings["criteria"]:
        _criteria(settings["criteria"])


def _check_row(rubric: object = None) -> str | None:
    try:
        if rubric is not None:
            _criteria(rubric)
    except ValueError as problem:
        return str(problem)
    return None


@reward(range=(0.0, 1.0), check_settings=_check, check_row=_check_row, workers=32)
async def rubric(
    completion: str,
    prompt: object = None,
    answer: object = None,
    rubric: object = None,
    *,
    model: str,
    url: str = "https://api.openai.com/v1",
    key_env: str = "OPENAI_API_KEY",
    criteria: list[object] = [],  # noqa: B006 - a setting's default, never changed
    quotes: Literal["needed", "asked"] = "needed",
    timeout: float = 30.0,
    attempts: int = 3,
    requests_per_minute: float = 600.0,
    tokens_per_minute: float | None = None,
    budget: int = 100_000,
) -> Outcome:
    """The completion meets weighted criteria, each checked by a language model with a quote.

    Between 0 and 1: the weights of the criteria that are met (half of them where partly), less those of negative criteria
    that are, as a share of the positive weights. Gate it on something verifiable where there is something, as below: a
    judge can be talked round. What holds nothing to grade is 0 and is never sent, and openers such as ``Thought process:``
    are left out of what is. A judge that cannot be reached or gives no verdict is ``unavailable``, never a grade.

    Args:
        prompt: what was asked; the judge sees it as data.
        answer: a reference for the judge, where the data has one.
        rubric: the row's criteria, which win over `criteria`: texts, or objects with ``text`` (``criterion``,
            ``description``) and ``weight`` (``points``), which may be negative; a list or JSON.
        model: the judge's name at the endpoint.
        url: the endpoint, as for `judge`; all judges share its pace, its budget and what it has answered.
        key_env: the environment variable that holds the key.
        criteria: the criteria of rows that have none of their own.
        quotes: whether a positive criterion counts only with words that do stand in the response (``needed``, ours).
        timeout: seconds per attempt (ours).
        attempts: how often a question is asked at most; an answer that is no verdict is shown to the judge (ours).
        requests_per_minute: evenly spaced, per process and endpoint (ours).
        tokens_per_minute: of questions and answers, per process and endpoint (ours: no limit).
        budget: calls, retries included, per process and endpoint (ours).
    """
    try:
        wanted = _criteria(rubric if rubric is not None else criteria)
    except ValueError as problem:
        return Outcome(None, "not_applicable", f"there is no rubric: {problem}")
    response = gradable(completion)
    if response is None:
        return Outcome(0.0, "scored", NOTHING)
    client = Client(model, url, key_env, timeout, attempts, requests_per_minute, tokens_per_minute, budget)
    texts = [one.text for one in wanted]
    asked = {"task": prompt, "reference": answer, "criteria": texts, "response": response}
    found = await ask(client, _TOLD, _FORM, asked, lambda document: _answers(document, len(wanted)))
    return _scored(wanted, found, response, quotes)


def _answers(document: dict[str, object], count: int) -> list[tuple[str, str]]:
    given = document["answers"]
    if not isinstance(given, list) or len(given) != count:
        raise ValueError("one answer per criterion")
    found = [(str(one["met"]).strip().lower(), str(one.get("quote") or "")) for one in given]
    if not all(met in _WORTH for met, _ in found):
        raise ValueError("met is yes, partly or no")
    return found


def _scored(wanted: list[_Criterion], answers: list[tuple[str, str]], response: str, quotes: str) -> Outcome:
    # judges quote with line breaks of their own
    text = " ".join(response.split())
    total, notes = 0.0, []
    for one, (met, quote) in zip(wanted, answers, strict=True):
        shown = " ".join(quote.split())
        if met != "no" and one.weight > 0 and quotes == "needed" and not (shown and shown in text):
            met = "no"
            notes.append(f"{one.text[:60]!r}: its quote is not in the response")
        elif (met == "no") is (one.weight > 0) or met == "partly":
            notes.append(f"{one.text[:60]!r}: {met}")
        total += one.weight * _WORTH[met]
    # negative weights may take more than there is, hence the bounds below
    best = sum(one.weight for one in wanted if one.weight > 0)
    details = {"met": [met for met, _ in answers]}
    return Outcome(
        min(1.0, max(0.0, total / best)),
        "scored",
        printable("; ".join(notes)[:300] or "every criterion is met"),
        details,
    )
