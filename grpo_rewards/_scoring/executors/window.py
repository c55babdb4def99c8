"""Scoring in this process: a window of rows under way, so that none waits for the slowest row of those before it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator

from grpo_rewards._composition import Composite, Statistics
from grpo_rewards._contract import CallLimits
from grpo_rewards._scoring.chunks import Chunk
from grpo_rewards._scoring.scored import ScoredChunk, ScoringChunk, score_samples
from grpo_rewards.slots import slots

__all__ = ["WINDOW_BYTES", "score_here", "size_of"]

WINDOW_BYTES = 64 * 1024 * 1024
"""Of rows that are read and not yet written: how far a slow row lets those behind it get ahead."""

_TICK = 0.02  # seconds between looks at whether this process has nothing to do
_BUSY = 0.5  # of a processor, from which on it has something to do


def score_here(composite: Composite, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, ScoredChunk]]:
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
    asked = sum(component.reward.workers for component in composite.components if component.asks_beside)
    ahead = max(256, 4 * asked, 8 * slots())  # rows begun and not finished
    following = iter(chunks)
    window: deque[tuple[Chunk, ScoringChunk | None, int]] = deque()
    held = 0
    exhausted = False
    idle = True
    while window or not exhausted:
        head = window[0][1] if window else None
        if window and (head is None or head.wait(0)):
            chunk, scoring, size = window.popleft()
            held -= size
            yield chunk, _finished(scoring, len(window) + 1)
            continue
        if not exhausted and (not window or (idle and held < WINDOW_BYTES and _left(window) < ahead)):
            found = next(following, None)
            if found is None:
                exhausted = True
                continue
            size = size_of(found)
            window.append((found, ScoringChunk(composite, found.samples, limits) if found.samples else None, size))
            held += size
            idle = _left(window) < asked  # there are calls to spare
            continue
        assert head is not None
        # idle is measured and not counted: rows may wait for a service, or keep this process's own threads busy
        used, since = time.process_time(), time.monotonic()
        head.wait(None if exhausted else _TICK)
        idle = time.process_time() - used < _BUSY * (time.monotonic() - since)


def size_of(chunk: Chunk) -> int:
    """The bytes of a chunk's rows."""
    return sum(len(sample.raw) for sample in chunk.samples)


def _left(window: Iterable[tuple[Chunk, ScoringChunk | None, int]]) -> int:
    return sum(scoring.left() for _, scoring, _ in window if scoring is not None)


def _finished(scoring: ScoringChunk | None, beside: int) -> ScoredChunk:
    """A chunk's output; its time is its share, as `beside` chunks were under way."""
    if scoring is None:
        return ScoredChunk([], Statistics())
    scored = scoring.scored()
    scored.seconds /= beside
    return scored
