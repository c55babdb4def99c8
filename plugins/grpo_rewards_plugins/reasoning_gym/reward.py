"""The reward `reasoning_gym`: the completion's answer, scored as the row's data set of reasoning-gym scores it."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Literal

from grpo_rewards import Outcome, reward
from grpo_rewards.types import SettingValues
from grpo_rewards_plugins.answers import final_text
from grpo_rewards_plugins.blocks import between_tags
from grpo_rewards_plugins.bounds import between, finite, tag_name
from grpo_rewards_plugins.workers import ask_all, shared_pool

_FUNCTION = "grpo_rewards_plugins.reasoning_gym.scoring:answer"
_MEGABYTES = 3_072
_STUCK = 60.0  # seconds beyond many times what an answer may run, on a machine that is busy
_Question = tuple[str, str | None]
"""An entry of a data set as JSON, and the answer to it, where there is one."""


def _check(settings: SettingValues) -> None:
    tag_name(settings)
    finite(settings)
    between(settings, "timeout", 0.01, 600)


def _check_row(
    metadata: object = None, answer: object = None, question: object = None, *, timeout: float = 1.0
) -> str | None:
    entry = _entry(metadata, answer, question)
    if isinstance(entry, Outcome):
        return entry.reason
    if answer is None:  # any answer that solves it is right, and none is given
        return None
    ((_, found),) = ask_all([(entry, str(answer))], partial(_sent, timeout, False), partial(_ended, timeout))
    if found.value is None or found.status != "scored":
        return found.reason
    return None if found.value > 0 else "the scorer gives the reference itself 0"


@reward.batch(
    range=(0.0, 1.0), check_settings=_check, check_row=_check_row, needs=("reasoning_gym",), extra="reasoning-gym"
)
def reasoning_gym(
    completions: list[str],
    metadata: list[object],
    answer: list[object] | None = None,
    question: list[object] | None = None,
    *,
    tag: str = "answer",
    timeout: float = 1.0,
    shares: Literal["own", "mended"] = "own",
) -> Iterator[tuple[int, Outcome]]:
    """The completion's answer is right, as the row's data set of reasoning-gym scores it.

    Between 0 and 1: the value of the package's own scorer (version 0.1.25: most are 1 or 0, some a share, and some give
    0.01 or 0.05 to any answer). What the scorers would evaluate (nine give an answer to `eval` or to sympy's parser) is
    read instead: literals, arithmetic, sympy's functions. They run in worker processes that can neither write, nor read
    more than the interpreter's files, nor open a socket, nor start a process, and that are killed at their time. A scorer
    that raises about an answer gives it 0. Four scorers pay one answer in full whatever is asked: ``0`` for `coin_flip`,
    ``nan`` for `complex_arithmetic`, ``6*4*1*1`` for `puzzle24` and any text for `game_of_life_halting`; it is 0 here unless
    the entry's own answer or numbers are given. Scorers are made with their data set's default configuration, as the package's
    ``get_score_answer_fn`` makes them.

    Args:
        metadata: the entry's metadata, an object or its JSON; ``source_dataset`` names the scorer.
        answer: the entry's answer.
        question: the entry's question.
        tag: the tag whose last pair behind the reasoning holds the answer; without one there is no answer, which is mostly 0.
        timeout: seconds of processor time that scoring an answer may take (ours; the package has no limit).
        shares: ``own``: the scorer's. ``mended``: a share is 0 where it is no more than what the scorer gives to answers that
            know nothing of the entry (``0``, ``1 2 3``, the question, the right answer's form with zeros), but for its number in
            words: ``10`` gets 0.225 of `letter_counting` and an empty board 0.9 of `game_of_life`, which a policy learns first.
    """
    nothing = [None] * len(completions)
    waiting: dict[_Question, list[int]] = {}
    for row, given in enumerate(zip(metadata, answer or nothing, question or nothing, strict=True)):
        entry = _entry(*given)
        if isinstance(entry, Outcome):
            yield row, entry
        else:
            waiting.setdefault((entry, _extracted(completions[row], tag)), []).append(row)
    questions = list(waiting)
    for number, found in ask_all(questions, partial(_sent, timeout, shares == "mended"), partial(_ended, timeout)):
        for row in waiting[questions[number]]:
            yield row, found


def _entry(metadata: object, answer: object, question: object) -> str | Outcome:
    """The entry as JSON, or why it is none."""
    try:
        read = json.loads(metadata) if isinstance(metadata, str) else metadata
        if not isinstance(read, Mapping) or not isinstance(read.get("source_dataset"), str):
            raise ValueError("it must be an object with source_dataset")
        return json.dumps({"question": question or "", "answer": answer, "metadata": read}, default=_plain)
    except (ValueError, TypeError, RecursionError) as problem:
        return Outcome(None, "not_applicable", f"metadata cannot be read: {problem}"[:300])


def _plain(value: object) -> object:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"it holds a {type(value).__name__}")


def _extracted(completion: str, tag: str) -> str | None:
    """The text of the last pair of tags behind the reasoning, as the package's `extract_answer` finds it."""
    pairs = deque(between_tags(final_text(completion, tag), f"<{tag}>", f"</{tag}>"), maxlen=1)
    return pairs[0].strip() if pairs else None


def _sent(timeout: float, mended: bool, questions: list[_Question]) -> list[Outcome]:
    pool = shared_pool(_FUNCTION, megabytes=_MEGABYTES, rights="none")
    items = [[json.loads(entry), given] for entry, given in questions]
    replies: list[Any] = pool.ask([timeout, mended, items], seconds=_STUCK + 20 * timeout)
    return [Outcome(value, status, reason) for value, status, reason in replies]


def _ended(timeout: float, _question: _Question) -> Outcome:
    return Outcome(0.0, "timeout", f"scoring the answer took longer than {timeout:g} s, or all memory")
