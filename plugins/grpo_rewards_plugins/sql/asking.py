"""The caller's side: questions in chunks to the workers, and what becomes of one that takes its worker with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from grpo_rewards import Outcome
from grpo_rewards.slots import slots
from grpo_rewards_plugins.workers import WorkerEnded, WorkerTimeout, shared_pool

from .databases import Files

__all__ = ["Question", "Settings", "ask"]

Question: TypeAlias = "tuple[Files, str, str]"
"""The files of a database, a gold and a query."""

_FUNCTION = "grpo_rewards_plugins.sql.running:answer"
_MEGABYTES = 1_024
_CHUNK = 128
_STUCK = 60.0  # seconds that a worker may wait for a disk, beyond what its queries may run


@dataclass(frozen=True, slots=True)
class Settings:
    """What a verdict depends on beside the question; see the reward."""

    rule: str
    timeout: float
    gold_timeout: float
    max_rows: int
    max_bytes: int

    @property
    def longest(self) -> float:
        """Seconds after which a worker is stuck: everything that it may run, many times over on a busy machine."""
        return _STUCK + 10 * (self.timeout + 6 * self.gold_timeout)


def ask(questions: Sequence[Question], settings: Settings) -> Iterator[tuple[int, Outcome]]:
    """Judge questions; yield each one's place and outcome, in the order in which they come."""
    numbered = list(enumerate(questions))
    chunks = [numbered[at : at + _CHUNK] for at in range(0, len(numbered), _CHUNK)]
    if len(chunks) < 2 or slots() < 2:
        for chunk in chunks:
            yield from _judged(chunk, settings)
        return
    with ThreadPoolExecutor(slots(), "grpo-rewards-sql") as threads:
        under_way = [threads.submit(_judged_whole, chunk, settings) for chunk in chunks]
        for done in as_completed(under_way):
            yield from done.result()


def _judged_whole(items: Sequence[tuple[int, Question]], settings: Settings) -> list[tuple[int, Outcome]]:
    return list(_judged(items, settings))


def _judged(items: Sequence[tuple[int, Question]], settings: Settings) -> Iterator[tuple[int, Outcome]]:
    """What is left when a worker ends is asked one by one, so that each question answers for itself alone."""
    alone = 0
    while items:
        size = 1 if alone else len(items)
        try:
            verdicts = _sent([question for _, question in items[:size]], settings)
        except WorkerEnded:
            if size > 1:
                alone = size
                continue
            verdicts = [_ended(items[0][1], settings)]
        except (WorkerTimeout, OSError) as problem:
            verdicts = [Outcome(None, "unavailable", f"no worker could say: {problem or 'it was stuck'}")]
        for (number, _), found in zip(items, verdicts, strict=False):
            yield number, found
        items = items[len(verdicts) :]
        alone = max(0, alone - len(verdicts))


def _sent(questions: Sequence[Question], settings: Settings) -> list[Outcome]:
    pool = shared_pool(_FUNCTION, megabytes=_MEGABYTES, rights="read")
    limits = asdict(settings)
    files: dict[Files, int] = {}
    golds: dict[str, int] = {}
    items = [
        (files.setdefault(file, len(files)), golds.setdefault(gold, len(golds)), query)
        for file, gold, query in questions
    ]
    message = [limits.pop("rule"), limits, list(files), list(golds), items]
    replies: list[Any] = pool.ask(message, seconds=settings.longest)
    return [Outcome(value, status, reason) for value, status, reason in replies]


def _ended(question: Question, settings: Settings) -> Outcome:
    """A worker ended over a single question: because of the query, unless the gold alone ends one too."""
    files, gold, query = question
    if query != gold:
        try:
            (alone,) = _sent([(files, gold, gold)], settings)
        except (WorkerEnded, WorkerTimeout, OSError):
            pass
        else:
            if alone.value is None:
                return alone
            return Outcome(0.0, "timeout", f"the query could not be interrupted within {settings.timeout:g} s")
    return Outcome(None, "not_applicable", "the gold cannot be run: it could not be interrupted in time")
