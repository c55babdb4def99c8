"""Waiting for a coroutine where another one is being run: each side has an event loop, and they call each other."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Iterator
from typing import Any


@contextlib.contextmanager
def instead(loop: Any = None) -> Iterator[None]:
    """Within, this loop counts as the one that runs here, or none does; the one that runs is set aside."""
    outer = asyncio._get_running_loop()
    asyncio._set_running_loop(loop)
    try:
        yield
    finally:
        asyncio._set_running_loop(outer)


def nested(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[object, object, object]) -> object:
    """Run a coroutine to its end in `loop`, or in a new one where `loop` is busy, and return its result."""
    own = asyncio.new_event_loop() if loop.is_running() else loop
    with instead():
        try:
            return own.run_until_complete(coroutine)
        finally:
            if own is not loop:
                own.close()


def until_timer(loop: Any) -> float | None:
    """The seconds until the next timer of a loop; None where it has none."""
    timers = [timer.when() for timer in loop._scheduled if not timer.cancelled()]
    return max(0.0, min(timers) - loop.time()) if timers else None
