"""How large a reward may be, and how many calls of one may be under way where several batches are scored at once."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

__all__ = ["LARGEST", "CallLimits"]

LARGEST = 1e18
"""The largest size of a reward, also of a sum of them. Trainers compute in float32: beyond 3.4e38 a number is inf there,
which poisons its group or every weight of the model, and a group's deviation takes the sum of its squares."""


class CallLimits:
    """Shared by batches that are evaluated at once: each reward has ``workers`` calls under way over all of them.

    After `stop` no further row is begun.
    """

    def __init__(self) -> None:
        self.stopped = False
        self._threads: dict[object, threading.Semaphore] = {}
        self._tasks: dict[object, asyncio.Semaphore] = {}
        self._lock = threading.Lock()

    def threads(self, reward: object, most: int) -> threading.Semaphore:
        """The `most` permits of a row reward's threads."""
        with self._lock:
            if reward not in self._threads:
                self._threads[reward] = threading.Semaphore(most)
            return self._threads[reward]

    def tasks(self, reward: object, most: int) -> asyncio.Semaphore:
        """The `most` permits of an async reward's calls, all of which run on the one background loop."""
        import asyncio  # half of the core's import time, needed by async rewards alone

        with self._lock:
            if reward not in self._tasks:
                self._tasks[reward] = asyncio.Semaphore(most)
            return self._tasks[reward]

    def stop(self) -> None:
        """Begin no further row; what is under way goes on."""
        self.stopped = True
