"""The caller's side: what goes to a worker, and what becomes of a query that takes its worker with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from grpo_rewards import Outcome
from grpo_rewards.workers import WorkerLost
from grpo_rewards_plugins.workers import ask_all, shared_pool

from .databases import Files, is_duckdb, is_postgres

__all__ = ["Question", "Settings", "ask"]

Question: TypeAlias = "tuple[Files, str, str]"
"""The files of a database, a gold and a query."""

_POOL = "grpo_rewards_plugins.sql.running:answer", 1_024  # function and megabytes
_POOL_OF_DUCKDB = "grpo_rewards_plugins.sql.duck:answer", 4_096  # it reserves far more than the 256 that it may use
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
    return ask_all(questions, lambda some: _sent(some, settings), lambda question: _ended(question, settings))


def _sent(questions: Sequence[Question], settings: Settings) -> list[Outcome]:
    # a server is reached by a socket, with what the environment says of it; what a query may do there, its role decides
    path = questions[0][0][0][0]
    function, megabytes = _POOL_OF_DUCKDB if is_duckdb(path) else _POOL
    pool = shared_pool(function, megabytes=megabytes, rights="all" if is_postgres(path) else "read")
    limits = asdict(settings)
    files: dict[Files, int] = {}
    golds: dict[str, int] = {}
    items = [
        (files.setdefault(file, len(files)), golds.setdefault(gold, len(golds)), query)
        for file, gold, query in questions
    ]
    message = [limits.pop("rule"), limits, list(files), list(golds), items]
    replies: list[Any] = pool.ask(message, seconds=settings.longest)
    outcomes: dict[tuple[object, ...], Outcome] = {}  # few verdicts have a reason of their own
    found = []
    for reply in map(tuple, replies):
        outcome = outcomes.get(reply)
        if outcome is None:
            outcome = outcomes[reply] = Outcome(*reply)
        found.append(outcome)
    return found


def _ended(question: Question, settings: Settings) -> Outcome:
    """A worker ended over a single question: because of the query, unless the gold alone ends one too."""
    files, gold, query = question
    if query != gold:
        try:
            (alone,) = _sent([(files, gold, gold)], settings)
        except (WorkerLost, OSError):
            pass
        else:
            if alone.value is None:
                return alone
            return Outcome(0.0, "timeout", f"the query could not be interrupted within {settings.timeout:g} s")
    return Outcome(None, "not_applicable", "the gold cannot be run: it could not be interrupted in time")
