"""Scoring on this machine: in this process, or in worker processes that may die without taking rows with them."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import cast

from grpo_rewards._composition import Composite, Statistics
from grpo_rewards._contract import CallLimits
from grpo_rewards._scoring.chunks import Chunk, Sample
from grpo_rewards._scoring.executors.recovery import WINDOW_BYTES, score_in_window
from grpo_rewards._scoring.scored import ScoredChunk, ScoringChunk, score_samples
from grpo_rewards.slots import shared_by, slots
from grpo_rewards.workers import Pool, Task, pickled, unpickled

_log = logging.getLogger(__name__)

# slots of processes apart that one scoring process keeps busy: of the 7 ms that a program takes 0.5 are its own
_FED = 8
_TICK = 0.02  # seconds between looks at whether this process has nothing to do
_BUSY = 0.5  # of a processor, from which on it has something to do


def local(composite: Composite, chunks: Iterable[Chunk], workers: int) -> Iterator[tuple[Chunk, ScoredChunk]]:
    """Score on this machine: with fewer than two workers in this process, otherwise in as many processes as have a slot each.

    Where the work is done in a sandbox's processes, it is as many as have enough slots there to feed, this one if that is one.
    """
    if workers < 2:
        yield from _score_here(composite, chunks)
        return
    if _only_feeds(composite):
        processes = min(workers, max(1, slots() // _FED))
        if processes < workers:
            _log.warning(
                "%d scoring process%s, not %d: the programs run in a sandbox, whose %d slots it keeps busy",
                processes, "es" * (processes > 1), workers, slots(),
            )  # fmt: skip
        if processes == 1:
            yield from _score_here(composite, chunks)
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
            wait=_done,
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


def _done(futures: list[Future[ScoredChunk]]) -> list[Future[ScoredChunk]]:
    found = wait(futures, return_when=FIRST_COMPLETED).done
    return [future for future in futures if future in found]


def _score_here(composite: Composite, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, ScoredChunk]]:
    """Score chunks in this process and yield them in their order.

    Components that wait (for a judge, a sandbox, a worker) are in threads. As long as this process is idle, another chunk is
    begun beside those under way; the other components run here, in the order of the file, as they do where nothing waits.
    """
    if not any(component.waits for component in composite.components):
        for chunk in chunks:
            yield chunk, score_samples(composite, chunk.samples) if chunk.samples else ScoredChunk([], Statistics())
        return
    limits = CallLimits()
    try:
        yield from _in_window(composite, chunks, limits)
    finally:
        limits.stop()


def _in_window(
    composite: Composite, chunks: Iterable[Chunk], limits: CallLimits
) -> Iterator[tuple[Chunk, ScoredChunk]]:
    asked = composite.calls_at_once
    ahead = max(256, 4 * asked, 8 * slots())  # rows begun and not finished
    following = iter(chunks)
    window: deque[tuple[Chunk, ScoringChunk | None]] = deque()
    held = 0
    exhausted = False
    idle = True
    while window or not exhausted:
        head = window[0][1] if window else None
        if window and (head is None or head.wait(0)):
            chunk, scoring = window.popleft()
            held -= chunk.size
            yield chunk, _finished(scoring, len(window) + 1)
            continue
        if not exhausted and (not window or (idle and held < WINDOW_BYTES and _left(window) < ahead)):
            found = next(following, None)
            if found is None:
                exhausted = True
                continue
            window.append((found, ScoringChunk(composite, found.samples, limits) if found.samples else None))
            held += found.size
            idle = _left(window) < asked  # there are calls to spare
            continue
        assert head is not None
        # idle is measured and not counted: rows may wait for a service, or keep this process's own threads busy
        used, since = time.process_time(), time.monotonic()
        head.wait(None if exhausted else _TICK)
        idle = time.process_time() - used < _BUSY * (time.monotonic() - since)


def _left(window: Iterable[tuple[Chunk, ScoringChunk | None]]) -> int:
    return sum(scoring.left() for _, scoring in window if scoring is not None)


def _finished(scoring: ScoringChunk | None, beside: int) -> ScoredChunk:
    """A chunk's output; its time is its share, as `beside` chunks were under way."""
    if scoring is None:
        return ScoredChunk([], Statistics())
    scored = scoring.scored()
    scored.seconds /= beside
    return scored
