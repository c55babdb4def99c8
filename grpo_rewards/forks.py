"""`PerProcess`: what a process makes for itself, since threads, locks and open connections do not survive a fork."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["PerProcess"]

T = TypeVar("T")


class PerProcess(Generic[T]):
    """Called, it returns what `make` returns; `make` is called once in each process, so a forked child gets its own.

    Keep one at the top of a module (``_threads = PerProcess(...)``, then ``_threads()``); threads may share it.
    """

    __slots__ = ("_lock", "_made", "_make")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self.forget()
        _known.append(self.forget)

    def forget(self) -> None:
        """Have the next call make a new one; the present one is left to whoever uses it."""
        self._lock = threading.RLock()
        self._made: tuple[T] | None = None  # in a tuple, as what is made may be None or false

    def __call__(self) -> T:
        """Return this process's own, made by the first call."""
        made = self._made  # without the lock, as it is there nearly always
        if made is None:
            with self._lock:
                made = self._made = self._made or (self._make(),)
        return made[0]


_known: list[Callable[[], None]] = []


def _after_fork() -> None:
    for forget in _known:
        forget()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_after_fork)
