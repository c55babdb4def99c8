"""One background event loop for async rewards, so that they run from any thread, inside another loop or without one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import TypeVar

from grpo_rewards.forks import PerProcess

__all__ = ["submit"]

T = TypeVar("T")


def submit(coroutine: Coroutine[object, object, T]) -> Future[T]:
    """Run `coroutine` on the process's background loop and return its future. Safe after a fork."""
    return asyncio.run_coroutine_threadsafe(coroutine, _loop())


def _running_loop() -> asyncio.AbstractEventLoop:
    # a loop of ours: asyncio.run refuses to start within a loop that runs, such as a notebook's
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="grpo-rewards-async", daemon=True).start()
    return loop


_loop = PerProcess(_running_loop)
