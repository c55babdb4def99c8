"""Workers for the slow path: separate interpreters, limited in memory, killed at the deadline and replaced.

A worker is a process that has sympy and a fork of it that answers. At the deadline only the fork is killed, and the next one is
there within milliseconds.

They are plain child processes with pipes. So they need no signal and no import of the caller's main module, and they work
from any thread, from daemonic and forked processes, from an event loop's executor and from a Ray worker.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from grpo_rewards.slots import slots

__all__ = ["Pool", "SymbolicTimeout", "shared_pool"]

_START = 30.0  # seconds that a worker may take to import sympy on a busy machine
_PROGRAM = (
    "import sys; sys.path[:] = {path!r}; from grpo_rewards_plugins.math.symbolic.worker import main; main({megabytes})"
)


class SymbolicTimeout(Exception):
    """A question ran past its deadline; its worker was killed."""


class _Worker:
    """One child process; `ask` one question at a time."""

    def __init__(self, megabytes: int) -> None:
        program = _PROGRAM.format(path=[entry or os.getcwd() for entry in sys.path], megabytes=megabytes)
        self._child = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C at the terminal is the caller's
        )
        self._buffer = b""
        self._fork: int | None = None  # the process that answers, once it is ready
        self._asked = 0

    def ask(self, gold: list[Any], answer: list[Any], seconds: float) -> list[Any] | None:
        """The reply, or None where the worker died.

        Raises:
            SymbolicTimeout: no reply in time.
        """
        begun = time.monotonic()
        while self._fork is None:
            line = self._line(begun + _START)
            if line is None:
                return None
            if line.startswith(b"ready "):
                self._fork = int(line[6:])
        assert self._child.stdin is not None
        self._asked += 1
        try:
            self._child.stdin.write(json.dumps([self._asked, gold, answer]).encode() + b"\n")
            self._child.stdin.flush()
        except OSError:
            return None
        deadline = time.monotonic() + seconds
        while (line := self._line(deadline)) is not None:
            if line.startswith(b"ready "):  # the fork died over the question
                self._fork = int(line[6:])
                return [None, "the worker ended early (out of memory?)"]
            reply: list[Any] = json.loads(line)
            if reply[0] == self._asked:  # not one that came too late for the question before
                return reply[1:]
        return None

    def renew(self) -> bool:
        """Kill what still works on a question; False where all of the worker has to be replaced."""
        if self._fork is None or not hasattr(os, "fork"):
            return False
        try:
            os.kill(self._fork, signal.SIGKILL)
        except ProcessLookupError:
            return False
        self._fork = None
        return True

    def _line(self, deadline: float) -> bytes | None:
        assert self._child.stdout is not None
        descriptor = self._child.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise SymbolicTimeout
                piece = os.read(descriptor, 65_536)
                if not piece:
                    return None
                self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def kill(self) -> None:
        """End it for good."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended already
                os.killpg(self._child.pid, signal.SIGKILL)
        self._child.kill()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was not written yet has no reader any more
                    pipe.close()
        self._child.wait()


class Pool:
    """At most `size` workers of `megabytes` each, started when first asked."""

    def __init__(self, *, size: int = 2, megabytes: int = 480) -> None:
        self._megabytes = megabytes
        self._idle: list[_Worker] = []
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(size)
        self._process = os.getpid()

    def ask(self, gold: list[Any], answer: list[Any], *, seconds: float) -> tuple[bool | None, str]:
        """Decide two packed trees: equal, not, or None (open), and how.

        Raises:
            SymbolicTimeout: it took longer than `seconds`; waiting for a free worker or for its start is not counted.
        """
        with self._slots:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            if worker is None:
                worker = _Worker(self._megabytes)
            keep = False
            try:
                reply = worker.ask(gold, answer, seconds)
                keep = reply is not None
            except SymbolicTimeout:
                keep = worker.renew()
                raise
            finally:
                if not keep:
                    worker.kill()
                    worker = _Worker(self._megabytes)  # it imports sympy while the caller goes on
                with self._lock:
                    self._idle.append(worker)
        return (reply[0], str(reply[1])) if reply is not None else (None, "the worker ended early (out of memory?)")

    def close(self) -> None:
        """Kill the idle workers."""
        if self._process != os.getpid():  # a forked child must not end its parent's workers
            return
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.kill()


_shared: Pool | None = None
_guard = threading.Lock()


def shared_pool() -> Pool:
    """The pool of this process, with a worker per slot; a forked child gets its own."""
    global _shared
    with _guard:
        if _shared is None:
            _shared = Pool(size=slots())
            atexit.register(_shared.close)
        return _shared


def _forget() -> None:
    global _shared, _guard
    _shared, _guard = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
