"""Scoring in processes that may die: chunks in a bounded window, and what to do when rows end the process they are in."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from grpo_rewards._composition import Composite, Statistics
from grpo_rewards._scoring.chunks import Chunk, Sample
from grpo_rewards._scoring.scored import ScoredChunk, mark_broken
from grpo_rewards.workers import WorkerLost

_log = logging.getLogger(__name__)

WINDOW_BYTES = 64 * 1024 * 1024
"""Of rows that are read and not yet written: how far a slow row lets those behind it get ahead."""

Handle = TypeVar("Handle")

Attempt = Callable[[list[Sample]], ScoredChunk]
"""Scores samples in a process of their own; raises `WorkerLost` when that process ends."""


def score_in_window(
    composite: Composite,
    chunks: Iterable[Chunk],
    *,
    workers: int,
    submit: Callable[[list[Sample]], Handle],
    result: Callable[[Handle, list[Sample]], ScoredChunk],
    wait: Callable[[list[Handle]], Sequence[Handle]],
) -> Iterator[tuple[Chunk, ScoredChunk]]:
    """Score chunks with at most two per worker under way, in their order; rows whose process died are tried again.

    A slow chunk keeps no worker from those behind it, as long as what is read and not yet written is below `WINDOW_BYTES`.
    `submit` sends samples to be scored, `result` waits for them and raises `WorkerLost` when their process ended, and `wait`
    returns those of several that are finished, once there is one.
    """

    def attempt(samples: list[Sample]) -> ScoredChunk:
        return result(submit(samples), samples)

    def oldest() -> tuple[Chunk, ScoredChunk]:
        chunk, handle = window.popleft()
        if handle is None:  # a chunk of malformed rows
            return chunk, ScoredChunk([], Statistics())
        try:
            return chunk, result(handle, chunk.samples)
        except WorkerLost as lost:
            _log.warning(
                "%s while rows %d to %d were scored; they are tried again", lost, chunk.samples[0].row, chunk.last
            )
            return chunk, _score_again(attempt, composite, chunk.samples)

    window: deque[tuple[Chunk, Handle | None]] = deque()
    under_way: list[Handle] = []
    held = 0
    for chunk in chunks:
        handle = submit(chunk.samples) if chunk.samples else None
        window.append((chunk, handle))
        under_way += [] if handle is None else [handle]
        held += chunk.size
        # two for each worker, so that the next chunk lies ready when one is done
        while len(under_way) > 2 * workers or held > WINDOW_BYTES:
            finished = wait(under_way)
            under_way = [handle for handle in under_way if handle not in finished]
            while window and window[0][1] not in under_way:
                held -= window[0][0].size
                yield oldest()
    while window:
        yield oldest()


def _score_again(attempt: Attempt, composite: Composite, samples: list[Sample]) -> ScoredChunk:
    """Score samples whose process died: all together once more, then group by group, then row by row.

    The rows that end a process alone are marked as broken.
    """
    try:
        return attempt(samples)
    except WorkerLost as lost:
        groups: dict[int, list[Sample]] = {}
        for sample in samples:
            groups.setdefault(sample.group, []).append(sample)
        if len(groups) > 1:
            return _joined([_score_again(attempt, composite, group) for group in groups.values()])
        return _rows(attempt, composite, samples, str(lost))


def _rows(attempt: Attempt, composite: Composite, samples: list[Sample], how: str) -> ScoredChunk:
    """Find the rows of one group that end the process, mark them, and score the rest of the group without them."""
    fatal: dict[int, str] = {}
    if len(samples) > 1:  # one alone has just been tried
        for position, sample in enumerate(samples):
            try:
                attempt([sample])
            except WorkerLost as lost:
                fatal[position] = str(lost)
    rest = [sample for position, sample in enumerate(samples) if position not in fatal]
    healthy: ScoredChunk | None = None
    if fatal and rest:
        try:
            healthy = attempt(rest)
        except WorkerLost as lost:
            how = str(lost)
    if healthy is None:  # no row does it alone
        fatal = {position: fatal.get(position, how) for position in range(len(samples))}
        healthy = ScoredChunk([], Statistics())
    marked = [mark_broken(composite, [samples[p]], f"{why} while this row was scored") for p, why in fatal.items()]
    lines = iter(healthy.lines)
    broken = dict(zip(fatal, (part.lines[0] for part in marked), strict=True))
    joined = _joined([healthy, *marked])
    joined.lines = [broken[p] if p in broken else next(lines) for p in range(len(samples))]
    return joined


def _joined(parts: list[ScoredChunk]) -> ScoredChunk:
    for part in parts[1:]:
        parts[0].add(part)
    return parts[0]
