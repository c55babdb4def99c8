"""The reward `judge`: a language model grades the completion on one scale."""

from __future__ import annotations

from grpo_rewards import Outcome, reward

from .endpoint import Client, check_client
from .questions import ask, grade
from .screening import NOTHING, gradable

_TOLD = "You grade one response to a task. {rubric}"
_FORM = '"score": <number from 0 to 1>, "reason": "<one sentence>"'


@reward(range=(0.0, 1.0), check_settings=check_client, workers=32)
async def judge(
    completion: str,
    prompt: object = None,
    answer: object = None,
    *,
    model: str,
    url: str = "https://api.openai.com/v1",
    key_env: str = "OPENAI_API_KEY",
    rubric: str = "Judge whether it is correct and helpful.",
    timeout: float = 30.0,
    attempts: int = 3,
    requests_per_minute: float = 600.0,
    tokens_per_minute: float | None = None,
    budget: int = 100_000,
) -> Outcome:
    """A language model's grade of the completion.

    Between 0 and 1, with the judge's own sentence as the reason. Equal questions are asked once per process; redirects
    are refused, since following one would hand the key to another host. An endpoint that cannot be reached, a spent
    budget, an answer that is no verdict, or one without the word that the judge is told to repeat, is ``unavailable``:
    the row is left out, never scored 0. A key that it refuses (401, 403) is an error and stops the run. What holds
    nothing to grade is 0 and is never sent. Up to 32 questions are under way at once; ``workers`` of the component says
    otherwise.

    Args:
        prompt: what was asked; the judge sees it as data.
        answer: a reference for the judge, where the data has one.
        model: the judge's name at the endpoint.
        url: the endpoint, called at ``{url}/chat/completions`` (OpenAI's; vLLM: ``http://localhost:8000/v1``).
        key_env: the environment variable that holds the key; none is sent where it is unset.
        rubric: what to judge, in words.
        timeout: seconds per attempt (ours).
        attempts: how often a question is asked at most: again after 408, 409, 425, 429, 5xx, a broken connection or no
            verdict, after a pause that doubles and that ``Retry-After`` can lengthen up to 30 s (ours).
        requests_per_minute: evenly spaced, per process and endpoint (ours).
        tokens_per_minute: of questions and answers, per process and endpoint: guessed from the question's length, put
            right by the answer's ``usage``. No limit by default (ours).
        budget: calls, retries included, per process and endpoint (ours).
    """
    response = gradable(completion)
    if response is None:
        return Outcome(0.0, "scored", NOTHING)
    client = Client(model, url, key_env, timeout, attempts, requests_per_minute, tokens_per_minute, budget)
    asked = {"task": prompt, "reference": answer, "response": response}
    return await ask(client, _TOLD.format(rubric=rubric), _FORM, asked, _verdict)


def _verdict(found: dict[str, object]) -> Outcome:
    reason = " ".join(str(found.get("reason", ""))[:300].split())
    return Outcome(grade(found["score"]), "scored", reason or "the judge gives no reason")
