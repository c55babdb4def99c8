"""Scoring on this machine: in this process, or in worker processes that may die without taking rows with them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import cast

from grpo_rewards._composition import Composite
from grpo_rewards._scoring.chunks import Chunk, Sample
from grpo_rewards._scoring.executors.recovery import score_in_window
from grpo_rewards._scoring.executors.window import score_here
from grpo_rewards._scoring.scored import ScoredChunk, score_samples
from grpo_rewards.slots import shared_by, slots
from grpo_rewards.workers import Pool, Task, pickled, unpickled

__all__ = ["local"]

_log = logging.getLogger(__name__)

_FED = (
    8  # slots of processes apart that one scoring process keeps busy: of the 7 ms that a program takes 0.5 are its own
)


def local(composite: Composite, chunks: Iterable[Chunk], workers: int) -> Iterator[tuple[Chunk, ScoredChunk]]:
    """Score on this machine: with fewer than two workers in this process, otherwise in as many processes as have a slot each.

    Where the work is done in a sandbox's processes, it is as many as have enough slots there to feed, this one if that is one.
    """
    if workers < 2:
        yield from score_here(composite, chunks)
        return
    if _only_feeds(composite):
        processes = min(workers, max(1, slots() // _FED))
        if processes < workers:
            _log.warning(
                "%d scoring process%s, not %d: the programs run in a sandbox, whose %d slots it keeps busy",
                processes, "es" * (processes > 1), workers, slots(),
            )  # fmt: skip
        if processes == 1:
            yield from score_here(composite, chunks)
            return
    else:
        processes = max(2, min(workers, slots()))  # two at least: a row that ends its process is not to end this one
        if processes < workers:
            _log.warning("%d worker processes, not %d: there are processors for no more", processes, workers)
    argument, _ = pickled(composite, "score with --workers 1")
    pool = Pool(Task(f"{__name__}:scorer", argument=argument, environment=shared_by(processes)), processes)
    threads = ThreadPoolExecutor(processes, "grpo-rewards-workers")
    try:
        yield from score_in_window(
            composite,
            chunks,
            workers=processes,
            submit=lambda samples: threads.submit(pool.ask, samples),
            result=lambda future, _samples: future.result(),
            wait=_finished,
        )
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        pool.close()
        threads.shutdown()


def _only_feeds(composite: Composite) -> bool:
    """Whether what costs most is done in processes apart, and nothing else could end the process that scores."""
    rewards = [component.reward for component in composite.components]
    return any(reward.apart for reward in rewards) and all(r.apart or r.source == "grpo-rewards" for r in rewards)


def scorer(composite: bytes) -> Callable[[list[Sample]], ScoredChunk]:
    """Return what a worker does with samples."""
    return partial(score_samples, cast(Composite, unpickled(composite, otherwise="try --workers 1")))


def _finished(futures: list[Future[ScoredChunk]]) -> list[Future[ScoredChunk]]:
    done = wait(futures, return_when=FIRST_COMPLETED).done
    return [future for future in futures if future in done]
