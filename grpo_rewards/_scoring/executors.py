"""Where chunks are scored: in this process, or in worker processes that may die without taking rows with them.

An executor is a function from a composite and chunks to pairs of chunk and output, in the order of the chunks. It
asks for the next chunk only when there is room for it, so that memory stays flat.
"""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import os
import pickle
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING

from grpo_rewards._composition import Composite, Statistics
from grpo_rewards._scoring.chunks import Chunk, Sample
from grpo_rewards._scoring.scored import Scored, mark_broken, score_samples
from grpo_rewards.errors import ConfigError, nearest

if TYPE_CHECKING:
    from pebble import ProcessFuture, ProcessPool

__all__ = ["EXECUTORS", "Executor", "find_executor"]

Executor = Callable[[Composite, Iterable[Chunk], int], Iterator[tuple[Chunk, Scored]]]
"""Called with the composite, the chunks and the number of workers."""

_log = logging.getLogger(__name__)

_PR_SET_PDEATHSIG = 1


def local(composite: Composite, chunks: Iterable[Chunk], workers: int) -> Iterator[tuple[Chunk, Scored]]:
    """Score on this machine: with fewer than two workers in this process, otherwise in as many processes."""
    if workers < 2:
        for chunk in chunks:
            yield chunk, score_samples(composite, chunk.samples) if chunk.samples else Scored([], Statistics())
        return
    with _Workers(composite, workers) as pool:
        yield from pool.score(chunks)


EXECUTORS: dict[str, Executor] = {"local": local}


def find_executor(name: str) -> Executor:
    """Return the executor of that name.

    Raises:
        ConfigError: there is none.
    """
    if name not in EXECUTORS:
        raise ConfigError(f"there is no executor {name!r}{nearest(name, EXECUTORS)} (known: {', '.join(EXECUTORS)})")
    return EXECUTORS[name]


# ------------------------------------------------------------------------------------------------ in the worker

_composite: Composite | None = None
_start_error = "it was not started"


def _start_worker(pickled: bytes, parent: int) -> None:
    """Make a process ready to score; it ends with its parent and leaves Ctrl-C to it."""
    global _composite, _start_error
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
    logging.getLogger("grpo_rewards._registry").setLevel(logging.ERROR)  # the parent has said it
    try:
        _composite = pickle.loads(pickled)  # noqa: S301 - our own bytes, from our own parent
    except Exception as error:  # noqa: BLE001 - told to the parent by the first chunk: a worker that dies is replaced
        _start_error = f"{type(error).__name__}: {error}"


def _score_in_worker(samples: list[Sample]) -> Scored:
    if _composite is None:
        raise ConfigError(f"the rewards cannot be loaded in a worker process: {_start_error}; try --workers 1")
    return score_samples(_composite, samples)


# ------------------------------------------------------------------------------------------------ in the parent


class _Died(Exception):
    """A worker ended while it scored; the text says how."""


class _Workers:
    """Worker processes, a bounded window of chunks in flight, and what to do when one dies."""

    def __init__(self, composite: Composite, workers: int) -> None:
        self._composite = composite
        self._workers = workers
        try:
            self._pickled = pickle.dumps(composite)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise ConfigError(f"{error}; or score with --workers 1") from None
        self._pool: ProcessPool | None = None

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._pool is not None:
            self._pool.stop()  # type: ignore[no-untyped-call]
            self._pool.join()
            self._pool = None

    def _submit(self, samples: list[Sample]) -> ProcessFuture[Scored]:
        from pebble import ProcessPool

        if self._pool is not None and not self._pool.active:
            _log.warning("the worker processes have to be started afresh")
            self._stop()
        if self._pool is None:
            self._pool = ProcessPool(
                max_workers=self._workers,
                context=multiprocessing.get_context("spawn"),
                initializer=_start_worker,
                initargs=(self._pickled, os.getpid()),
            )
        return self._pool.schedule(_score_in_worker, args=(samples,))

    def score(self, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, Scored]]:
        window: deque[tuple[Chunk, ProcessFuture[Scored] | None]] = deque()
        for chunk in chunks:
            window.append((chunk, self._submit(chunk.samples) if chunk.samples else None))
            if len(window) > 2 * self._workers:
                yield self._oldest(window)
        while window:
            yield self._oldest(window)

    def _oldest(self, window: deque[tuple[Chunk, ProcessFuture[Scored] | None]]) -> tuple[Chunk, Scored]:
        chunk, future = window.popleft()
        if future is None:
            return chunk, Scored([], Statistics())
        try:
            return chunk, self._result(future)
        except _Died as died:
            _log.warning(
                "%s while rows %d to %d were scored; they are tried again", died, chunk.samples[0].row, chunk.last
            )
            return chunk, self._again(chunk.samples)

    def _result(self, future: ProcessFuture[Scored]) -> Scored:
        from pebble import ProcessExpired

        try:
            return future.result()
        except ProcessExpired as error:
            raise _Died(_how(error.exitcode)) from None
        except CancelledError:
            raise _Died("the worker processes stopped") from None

    def _try(self, samples: list[Sample]) -> Scored:
        return self._result(self._submit(samples))

    def _again(self, samples: list[Sample]) -> Scored:
        """Score samples whose worker died: all together once more, then group by group, then row by row."""
        try:
            return self._try(samples)
        except _Died as died:
            groups: dict[int, list[Sample]] = {}
            for sample in samples:
                groups.setdefault(sample.group, []).append(sample)
            if len(groups) > 1:
                return _joined([self._group(group) for group in groups.values()])
            return self._rows(samples, str(died))

    def _group(self, samples: list[Sample]) -> Scored:
        try:
            return self._try(samples)
        except _Died as died:
            return self._rows(samples, str(died))

    def _rows(self, samples: list[Sample], how: str) -> Scored:
        """Find the rows of one group that end the process, mark them, and score the rest of the group without them."""
        fatal: dict[int, str] = {}
        if len(samples) > 1:
            for position, sample in enumerate(samples):
                try:
                    self._try([sample])
                except _Died as died:
                    fatal[position] = str(died)
        rest = [sample for position, sample in enumerate(samples) if position not in fatal]
        healthy: Scored | None = None
        if fatal and rest:
            try:
                healthy = self._try(rest)
            except _Died as died:
                how = str(died)
        if healthy is None:  # no row does it alone
            fatal = {position: fatal.get(position, how) for position in range(len(samples))}
            healthy = Scored([], Statistics())
        marked = [
            mark_broken(self._composite, [samples[p]], f"{why} while this row was scored") for p, why in fatal.items()
        ]
        lines = iter(healthy.lines)
        broken = dict(zip(fatal, (part.lines[0] for part in marked), strict=True))
        joined = _joined([healthy, *marked])
        joined.lines = [broken[p] if p in broken else next(lines) for p in range(len(samples))]
        return joined


def _joined(parts: list[Scored]) -> Scored:
    for part in parts[1:]:
        parts[0].add(part)
    return parts[0]


def _how(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        try:
            name = signal.Signals(-exitcode).name
        except ValueError:
            name = f"signal {-exitcode}"
        hint = " (out of memory?)" if name == "SIGKILL" else ""
        return f"the worker process was ended by {name}{hint}"
    return f"the worker process ended with exit status {exitcode}"
