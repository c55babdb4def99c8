"""Scoring on this machine: in this process, or in worker processes that may die without taking rows with them."""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, wait
from typing import TYPE_CHECKING

from grpo_rewards._composition import Composite
from grpo_rewards._scoring.chunks import Chunk, Sample
from grpo_rewards._scoring.executors.recovery import Died, score_in_window
from grpo_rewards._scoring.executors.window import score_here
from grpo_rewards._scoring.scored import ScoredChunk, score_samples
from grpo_rewards._tier import pickled
from grpo_rewards.errors import ConfigError
from grpo_rewards.slots import shared_by, slots

if TYPE_CHECKING:
    from multiprocessing.synchronize import Semaphore

    from pebble import ProcessFuture, ProcessPool

__all__ = ["local"]

_log = logging.getLogger(__name__)

_PR_SET_PDEATHSIG = 1
_SPAWN = multiprocessing.get_context("spawn")  # a fork would copy locks that other threads hold
_START = 10.0  # seconds that a worker process may take to start


def local(composite: Composite, chunks: Iterable[Chunk], workers: int) -> Iterator[tuple[Chunk, ScoredChunk]]:
    """Score on this machine: with fewer than two workers in this process, otherwise in as many processes as have a slot each."""
    if workers < 2:
        yield from score_here(composite, chunks)
        return
    processes = max(2, min(workers, slots()))  # two at least: a row that ends its process is not to end this one
    if processes < workers:
        _log.warning("%d worker processes, not %d: there are processors for no more", processes, workers)
    with _Workers(composite, processes) as pool:
        yield from pool.score(chunks)


# ------------------------------------------------------------------------------------------------ in the worker

_composite: Composite | None = None
_start_error = "it was not started"


def _start_worker(composite: bytes, parent: int, environment: dict[str, str], started: Semaphore) -> None:
    """Make a process ready to score; it ends with its parent and leaves Ctrl-C to it. `started` is released at once."""
    global _composite, _start_error
    started.release()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the line above, which then never fires
            os._exit(1)
    logging.getLogger("grpo_rewards._registry").setLevel(logging.ERROR)  # the parent has said it
    try:
        _composite = pickle.loads(composite)  # noqa: S301 - our own bytes, from our own parent
    except Exception as error:  # noqa: BLE001 - told to the parent by the first chunk: a worker that dies is replaced
        _start_error = f"{type(error).__name__}: {error}"


def _score_in_worker(samples: list[Sample]) -> ScoredChunk:
    if _composite is None:
        raise ConfigError(f"the rewards cannot be loaded in a worker process: {_start_error}; try --workers 1")
    return score_samples(_composite, samples)


# ------------------------------------------------------------------------------------------------ in the parent


class _Workers:
    """Worker processes, a bounded window of chunks in flight, and what to do when one dies."""

    def __init__(self, composite: Composite, workers: int) -> None:
        self._composite = composite
        self._workers = workers
        self._pickled, _ = pickled(composite, "or score with --workers 1")
        self._pool: ProcessPool | None = None
        self._started = _SPAWN.Semaphore(0)

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        if kind is not None and issubclass(kind, ConfigError):  # one that starts meanwhile would say why it could not
            for _ in range(self._workers):
                self._started.acquire(timeout=_START)
        self._stop()

    def _stop(self) -> None:
        if self._pool is not None:
            self._pool.stop()  # type: ignore[no-untyped-call]
            self._pool.join()
            self._pool = None

    def _submit(self, samples: list[Sample]) -> ProcessFuture[ScoredChunk]:
        if self._pool is not None and not self._pool.active:
            _log.warning("the worker processes have to be started afresh")
            self._stop()
        if self._pool is None:
            from pebble import ProcessPool

            self._pool = ProcessPool(
                max_workers=self._workers,
                context=_SPAWN,
                initializer=_start_worker,
                initargs=(self._pickled, os.getpid(), shared_by(self._workers), self._started),
            )
        return self._pool.schedule(_score_in_worker, args=(samples,))

    def score(self, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, ScoredChunk]]:
        return score_in_window(
            self._composite,
            chunks,
            workers=self._workers,
            submit=self._submit,
            result=self._result,
            wait=_finished,
        )

    def _result(self, future: ProcessFuture[ScoredChunk], _samples: list[Sample]) -> ScoredChunk:
        from pebble import ProcessExpired

        try:
            return future.result()
        except ProcessExpired as error:
            raise Died(_how(error.exitcode)) from None
        except CancelledError:
            raise Died("the worker processes stopped") from None


def _finished(futures: list[ProcessFuture[ScoredChunk]]) -> list[ProcessFuture[ScoredChunk]]:
    done = wait(futures, return_when=FIRST_COMPLETED).done
    return [future for future in futures if future in done]


def _how(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        try:
            name = signal.Signals(-exitcode).name
        except ValueError:
            name = f"signal {-exitcode}"
        hint = " (out of memory?)" if name == "SIGKILL" else ""
        return f"the worker process was ended by {name}{hint}"
    return f"the worker process ended with exit status {exitcode}"
