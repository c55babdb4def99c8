"""Waiting for a coroutine where another one is being run: each side has an event loop, and they call each other."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


def nested(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end in `loop`, or in a new one where `loop` is busy, and return its result."""
    outer = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    own = asyncio.new_event_loop() if loop.is_running() else loop
    try:
        return own.run_until_complete(coroutine)
    finally:
        if own is not loop:
            own.close()
        asyncio._set_running_loop(outer)
