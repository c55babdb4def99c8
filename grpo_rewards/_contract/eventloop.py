"""One background event loop for async rewards, so that they run from any thread, inside another loop or without one."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

__all__ = ["submit"]

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_owner = 0


def submit(coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    """Run `coroutine` on the process's background loop and return its future. Safe after a fork."""
    return asyncio.run_coroutine_threadsafe(coroutine, _running_loop())


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop, _owner
    with _lock:
        if _loop is None or _owner != os.getpid():
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="grpo-rewards-async", daemon=True).start()
            _loop, _owner = loop, os.getpid()
        return _loop


os.register_at_fork(after_in_child=lambda: globals().update(_loop=None, _lock=threading.Lock()))
