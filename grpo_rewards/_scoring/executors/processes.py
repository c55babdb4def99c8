"""Processes that score and may be killed: each loads the composite when it starts, and is replaced when it ends."""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import os
import pickle
import signal
import sys
from typing import TYPE_CHECKING

from grpo_rewards._composition import Composite
from grpo_rewards.errors import ConfigError
from grpo_rewards.slots import shared_by

if TYPE_CHECKING:
    from multiprocessing.synchronize import Semaphore

    from pebble import ProcessPool

__all__ = ["SPAWN", "loaded_composite", "process_pool"]

SPAWN = multiprocessing.get_context("spawn")

_PR_SET_PDEATHSIG = 1


def process_pool(workers: int, composite: bytes, started: Semaphore) -> ProcessPool:
    """Return a pool whose functions score with `loaded_composite`; each process releases `started` once it runs our code."""
    from pebble import ProcessPool

    return ProcessPool(
        max_workers=workers,
        context=SPAWN,
        initializer=_start,
        initargs=(composite, os.getpid(), shared_by(workers), started),
    )


# ------------------------------------------------------------------------------------------------ in the process

_composite: Composite | None = None
_start_error = "it was not started"


def _start(composite: bytes, parent: int, environment: dict[str, str], started: Semaphore) -> None:
    """Make a process ready to score; it ends with its parent and leaves Ctrl-C to it."""
    global _composite, _start_error
    started.release()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
    logging.getLogger("grpo_rewards._registry").setLevel(logging.ERROR)  # the parent has said it
    try:
        _composite = pickle.loads(composite)  # noqa: S301 - our own bytes, from our own parent
    except Exception as error:  # noqa: BLE001 - told to the parent by the first call: a worker that dies is replaced
        _start_error = f"{type(error).__name__}: {error}"


def loaded_composite() -> Composite:
    """Return this process's composite.

    Raises:
        ConfigError: its rewards cannot be imported here.
    """
    if _composite is None:
        raise ConfigError(f"the rewards cannot be loaded in a worker process: {_start_error}; try --workers 1")
    return _composite
