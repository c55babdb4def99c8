"""The reward `pairwise`: a judge says whether the completion or the reference is better, in both orders."""

from __future__ import annotations

from grpo_rewards import Outcome, reward

from .endpoint import Client, check_client
from .questions import ask
from .screening import NOTHING, gradable

_TOLD = "You compare two responses to one task. {criterion}"
_FORM = '"better": "first", "second" or "equal"'
_WORTH = {"first": 1.0, "equal": 0.5, "second": 0.0}


@reward(range=(0.0, 1.0), check_settings=check_client, workers=32)
async def pairwise(
    completion: str,
    reference: str | None,
    prompt: object = None,
    *,
    model: str,
    url: str = "https://api.openai.com/v1",
    key_env: str = "OPENAI_API_KEY",
    criterion: str = "Judge which is correct and more helpful.",
    timeout: float = 30.0,
    attempts: int = 3,
    requests_per_minute: float = 600.0,
    tokens_per_minute: float | None = None,
    budget: int = 100_000,
) -> Outcome:
    """The completion is better than a reference response, as a language model compares them in both orders.

    1 where it is better in both, 0 where it is worse in both, 0.5 where they are equal or the order decides. Gate it on
    something verifiable where there is something, as below. What holds nothing to grade is 0 and is never sent; a judge
    that cannot be reached or gives no verdict is ``unavailable``, never a grade.

    Args:
        reference: the response to compare with.
        prompt: what was asked; the judge sees it as data.
        model: the judge's name at the endpoint.
        url: the endpoint, as for `judge`; all judges share its pace, its budget and what it has answered.
        key_env: the environment variable that holds the key.
        criterion: what to judge, in words.
        timeout: seconds per attempt (ours).
        attempts: how often a question is asked at most; an answer that is no verdict is shown to the judge (ours).
        requests_per_minute: evenly spaced, per process and endpoint (ours).
        tokens_per_minute: of questions and answers, per process and endpoint (ours: no limit).
        budget: calls, retries included, per process and endpoint (ours).
    """
    if reference is None or not reference.strip():
        return Outcome(None, "not_applicable", "there is no reference to compare with")
    response = gradable(completion)
    if response is None:
        return Outcome(0.0, "scored", NOTHING)
    other = reference.strip()
    if response == other:
        return Outcome(0.5, "scored", "the same as the reference")
    client = Client(model, url, key_env, timeout, attempts, requests_per_minute, tokens_per_minute, budget)
    import asyncio  # here: every command imports this module with the other rewards, and few call it

    told = _TOLD.format(criterion=criterion)
    orders = ({"first": response, "second": other}, {"first": other, "second": response})
    calls = (ask(client, told, _FORM, {"task": prompt, **order}, _better) for order in orders)
    ahead, behind = await asyncio.gather(*calls)
    # the second call has the sides the other way round
    value = (_WORTH[ahead] + 1.0 - _WORTH[behind]) / 2
    return Outcome(value, "scored", f"shown first: {ahead}; shown second: {behind}")


def _better(document: dict[str, object]) -> str:
    found = str(document["better"]).strip().lower()
    if found not in _WORTH:
        raise ValueError("better is first, second or equal")
    return found
