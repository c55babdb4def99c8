"""Many questions in few messages: what is left when a worker ends is asked one by one, so that each answers for itself alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

from grpo_rewards import Outcome
from grpo_rewards.slots import slots

from .pool import WorkerEnded, WorkerTimeout

__all__ = ["ask_all"]

_Question = TypeVar("_Question")
_CHUNK = 128


def ask_all(
    questions: Sequence[_Question],
    send: Callable[[list[_Question]], list[Outcome]],
    ended: Callable[[_Question], Outcome],
) -> Iterator[tuple[int, Outcome]]:
    """Yield each question's place and outcome, in the order in which they come.

    `send` asks a worker some questions, and returns outcomes for the first of them, one at least; `ended` says what becomes of
    one that ended the worker when it was asked alone.
    """
    numbered = list(enumerate(questions))
    chunks = [numbered[at : at + _CHUNK] for at in range(0, len(numbered), _CHUNK)]
    if len(chunks) < 2 or slots() < 2:
        for chunk in chunks:
            yield from _answered(chunk, send, ended)
        return
    with ThreadPoolExecutor(slots(), "grpo-rewards-workers") as threads:
        under_way = [threads.submit(lambda *given: list(_answered(*given)), chunk, send, ended) for chunk in chunks]
        for done in as_completed(under_way):
            yield from done.result()


def _answered(
    items: Sequence[tuple[int, _Question]],
    send: Callable[[list[_Question]], list[Outcome]],
    ended: Callable[[_Question], Outcome],
) -> Iterator[tuple[int, Outcome]]:
    alone = 0
    while items:
        asked = items[:1] if alone else items
        try:
            outcomes = send([question for _, question in asked])
        except WorkerEnded:
            if len(asked) > 1:
                alone = len(asked)
                continue
            outcomes = [ended(asked[0][1])]
        except (WorkerTimeout, OSError) as problem:
            outcomes = [Outcome(None, "unavailable", f"no worker could say: {problem or 'it was stuck'}")]
        for (number, _), outcome in zip(asked, outcomes, strict=False):
            yield number, outcome
        items = items[len(outcomes) :]
        alone = max(0, alone - len(outcomes))
