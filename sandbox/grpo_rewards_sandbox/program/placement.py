"""On which processor the processes of a job run.

They take turns: one asks, the other answers. Woken on another processor, each turn begins with a cold cache and, on a
virtual machine, with a dear interrupt. So a job's processes begin together where the supervisor was woken, which the kernel
chose because nothing else ran there; those that wait for it after a while are spread over all processors.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable
from functools import partial

from . import proc
from .isolation import confine
from .isolation.syscalls import libc

_WALK = 0.05  # seconds for a look at all processes of a job


class Placement:
    """The processors that this process may use, and the one where a job's processes are together."""

    def __init__(self) -> None:
        self._all = os.sched_getaffinity(0)
        self._gathered: tuple[int, ...] = ()
        self.together: int | None = None

    def gather(self, pids: Iterable[int]) -> None:
        """Put this process and those where this one runs; what they fork begins there too."""
        if len(self._all) > 1:
            self.together, self._gathered = libc.sched_getcpu(), (0, *pids)
            for pid in self._gathered:
                put(pid, {self.together})

    def free(self, pid: int) -> None:
        """Let a process use every processor until those of a job are gathered again."""
        put(pid, self._all)

    def leave(self) -> None:
        """Let the kernel choose again where this process is woken."""
        self.free(0)

    def spread(self, running: Iterable[tuple[int, int]]) -> None:
        """Let these processes (pid, user), all below them and those gathered use every processor, once in a job."""
        if self.together is not None:
            self.together = None
            for pid in self._gathered:
                put(pid, self._all)
            for pid, user in running:
                if user:
                    confine.as_user(user, partial(self._spread, pid))
                else:
                    self._spread(pid)

    def _spread(self, pid: int) -> bool:
        for one in proc.tree(pid, time.monotonic() + _WALK):
            for thread in proc.threads(one):
                put(thread, self._all)
        return True


def put(pid: int, processors: set[int]) -> None:
    """Let a process (0: this one) run on these, where the kernel permits it: nothing but speed depends on it."""
    with contextlib.suppress(OSError):
        os.sched_setaffinity(pid, processors)
