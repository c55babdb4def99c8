"""The reward `ranking`: a judge sees a group's completions side by side, in two orders."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from grpo_rewards import Outcome, reward
from grpo_rewards.http import NoAnswer

from .endpoint import Client, check_client
from .questions import ask, grade
from .screening import NOTHING, gradable

_MOST = 64
_TOLD = "You compare several responses to one task. {criterion} Equal responses get equal scores."
_FORM = '"scores": an object with a number from 0 (worst) to 1 (best) for each name in "responses"'


@reward.group(range=(0.0, 1.0), check_settings=check_client)
async def ranking(
    completions: list[str],
    prompts: list[object] | None = None,
    answer: list[object] | None = None,
    *,
    model: str,
    url: str = "https://api.openai.com/v1",
    key_env: str = "OPENAI_API_KEY",
    criterion: str = "Judge which are correct and most helpful.",
    seed: int = 0,
    timeout: float = 60.0,
    attempts: int = 3,
    requests_per_minute: float = 600.0,
    tokens_per_minute: float | None = None,
    budget: int = 100_000,
) -> list[Outcome]:
    """The completion is better than the others of its group, as a language model sees them side by side.

    Between 0 and 1: the mean of two calls per group, the second in the opposite order (after ART's RULER, which asks once).
    The order comes from the texts and `seed` alone, so a group that is shuffled gets the same scores; equal texts are sent
    once. Gate it on something verifiable where there is something, as below. What holds nothing to grade is 0 and is
    never sent; a call that fails leaves the group out, and is never a grade.

    Args:
        prompts: what was asked; the judge sees it as data.
        answer: a reference for the judge, where the data has one.
        model: the judge's name at the endpoint.
        url: the endpoint, as for `judge`; all judges share its pace, its budget and what it has answered.
        key_env: the environment variable that holds the key.
        criterion: what to judge, in words.
        seed: of the order in which the responses are shown.
        timeout: seconds per attempt (ours).
        attempts: how often a question is asked at most; an answer that is no verdict is shown to the judge (ours).
        requests_per_minute: evenly spaced, per process and endpoint (ours).
        tokens_per_minute: of questions and answers, per process and endpoint (ours: no limit).
        budget: calls, retries included, per process and endpoint (ours).
    """
    shown = [gradable(text) for text in completions]
    # by hash: neither the group's order nor the alphabet may decide who is shown first
    texts = sorted({text for text in shown if text is not None}, key=lambda text: _place(text, seed))
    if len(texts) > _MOST:
        why = f"the group has {len(texts)} different completions, more than {_MOST}"
        return [Outcome(None, "not_applicable", why)] * len(completions)
    if not texts:
        return [Outcome(0.0, "scored", NOTHING)] * len(completions)
    client = Client(model, url, key_env, timeout, attempts, requests_per_minute, tokens_per_minute, budget)
    import asyncio  # here: every command imports this module with the other rewards, and few call it

    told = _TOLD.format(criterion=criterion)
    # a group has one prompt
    task = {"task": prompts[0] if prompts else None, "reference": answer[0] if answer else None}
    calls = (_scores(client, told, task, order) for order in (texts, texts[::-1]))
    try:
        first, second = await asyncio.gather(*calls)
    except NoAnswer as problem:
        down = Outcome(None, "unavailable", str(problem))
        return [down if text is not None else Outcome(0.0, "scored", NOTHING) for text in shown]
    return [
        Outcome(0.0, "scored", NOTHING) if text is None else _mean(first[text], second[text], len(texts))
        for text in shown
    ]


def _place(text: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\0{text}".encode("utf-8", "replace")).digest()


async def _scores(client: Client, told: str, task: Mapping[str, object], order: list[str]) -> dict[str, float]:
    """The score of each text, shown in this order."""
    names = [f"response {number}" for number in range(1, len(order) + 1)]
    asked = {**task, "responses": dict(zip(names, order, strict=True))}

    def read(document: dict[str, object]) -> dict[str, float]:
        given = document["scores"]
        if not isinstance(given, dict) or set(given) != set(names):
            raise ValueError("one score per response")
        return {text: grade(given[name]) for name, text in zip(names, order, strict=True)}

    return await ask(client, told, _FORM, asked, read)


def _mean(one: float, other: float, size: int) -> Outcome:
    return Outcome((one + other) / 2, "scored", f"{one:g} and {other:g} in two orders of {size} completions")
