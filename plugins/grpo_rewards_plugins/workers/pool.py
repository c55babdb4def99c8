"""Workers: separate interpreters, limited in memory, killed at the deadline and replaced.

A worker is a process that has imported one function, and a fork of it that answers. At the deadline only the fork is killed,
and the next one is there within milliseconds.

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
from dataclasses import dataclass
from typing import Any

from grpo_rewards.forks import PerProcess
from grpo_rewards.slots import slots

__all__ = ["Pool", "WorkerEnded", "WorkerTimeout", "shared_pool"]

_START = 60.0  # seconds that a worker may take to import its function on a busy machine
_PROGRAM = "import sys; sys.path[:] = {path!r}; from grpo_rewards_plugins.workers.serving import main; main(**{task!r})"
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV")


class WorkerTimeout(Exception):
    """A question ran past its deadline; its worker was killed."""


class WorkerEnded(Exception):
    """A worker ended over a question, of too little memory or by a signal; the text says what is known."""


@dataclass(frozen=True, slots=True)
class _Task:
    """What a worker is for: its function as ``module:name``, its memory in megabytes, and the rights that it keeps."""

    function: str
    megabytes: int
    rights: str

    def start(self) -> subprocess.Popen[bytes]:
        task = {"function": self.function, "megabytes": self.megabytes, "rights": self.rights}
        program = _PROGRAM.format(path=[entry or os.getcwd() for entry in sys.path], task=task)
        # the keys and tokens of the caller's environment are no business of a process that has given up its rights
        environment = None if self.rights == "all" else {name: os.environ[name] for name in _KEPT if name in os.environ}
        return subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,  # a Ctrl-C at the terminal is the caller's
        )


class _Worker:
    """One child process; `ask` one question at a time."""

    def __init__(self, task: _Task) -> None:
        self._child = task.start()
        self._buffer = b""
        self._fork: int | None = None  # the process that answers, once it is ready
        self._asked = 0

    def ask(self, question: Any, seconds: float, patience: float) -> Any:
        """The reply, within `seconds` of the worker's own time and `patience` times as many on the clock.

        Raises:
            WorkerTimeout: no reply in time.
            WorkerEnded: the process, or the fork that had the question, is gone.
        """
        begun = time.monotonic()
        while self._fork is None:
            line = self._line(begun + _START)
            if line.startswith(b"ready "):
                self._fork = int(line[6:])
        assert self._child.stdin is not None
        self._asked += 1
        try:
            self._child.stdin.write(json.dumps([self._asked, question]).encode() + b"\n")
            self._child.stdin.flush()
        except OSError:
            raise WorkerEnded(_ENDED) from None
        asked, used = time.monotonic(), _processor_seconds(self._fork)
        deadline = asked + seconds
        while True:
            try:
                line = self._line(deadline)
            except WorkerTimeout:
                left = min(
                    seconds - _processor_seconds(self._fork) + used, asked + patience * seconds - time.monotonic()
                )
                if left < _TICK or patience == 1:
                    raise
                deadline = time.monotonic() + left
                continue
            if line.startswith(b"ready "):  # the fork died over the question
                self._fork = int(line[6:])
                raise WorkerEnded(_ENDED)
            number, reply = json.loads(line)
            if number == self._asked:  # not one that came too late for the question before
                return reply

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

    @property
    def alive(self) -> bool:
        """Whether there is a process to ask."""
        return self._child.poll() is None

    def _line(self, deadline: float) -> bytes:
        assert self._child.stdout is not None
        descriptor = self._child.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise WorkerTimeout
                piece = os.read(descriptor, 65_536)
                if not piece:
                    self.kill()
                    raise WorkerEnded(_ENDED)
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


def _processor_seconds(process: int) -> float:
    """The processor time that a process has used; infinity where the system does not say."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return float("inf")


_TICK = 0.02  # seconds, about what the clock of processor time counts in
_ENDED = "the worker ended early (out of memory?)"


class Pool:
    """At most `size` workers of `megabytes` each that answer by `function`, a ``module:name``; started when first asked.

    The function takes one question and returns its reply, both plain JSON; it must not raise. `rights` are what its process
    keeps once it is imported: ``all``; ``read``, where it can neither write a file, nor open a socket, nor start a process;
    or ``none``, where it can read what the interpreter needs and nothing else (Linux; elsewhere the limits of memory alone).
    """

    def __init__(self, function: str, *, size: int = 2, megabytes: int = 480, rights: str = "all") -> None:
        self._task = _Task(function, megabytes, rights)
        self._idle: list[_Worker] = []
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(size)
        self._process = os.getpid()

    def ask(self, question: Any, *, seconds: float, patience: float = 1.0) -> Any:
        """Return the function's reply to a question.

        With a `patience` above 1 `seconds` are the worker's own processor time where the system tells it (Linux), so that a busy
        machine changes no reply, and `patience` times as many seconds on the clock are the most.

        Raises:
            WorkerTimeout: it took longer than `seconds`; waiting for a free worker or for its start is not counted.
            WorkerEnded: the worker ended over it.
        """
        with self._slots:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            if worker is None:
                worker = _Worker(self._task)
            keep = False
            try:
                reply = worker.ask(question, seconds, patience)
                keep = True
            except WorkerTimeout:
                keep = worker.renew()
                raise
            except WorkerEnded:
                keep = worker.alive
                raise
            finally:
                if not keep:
                    worker.kill()
                    worker = _Worker(self._task)  # it imports its function while the caller goes on
                with self._lock:
                    self._idle.append(worker)
        return reply

    def close(self) -> None:
        """Kill the idle workers."""
        if self._process != os.getpid():  # a forked child must not end its parent's workers
            return
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.kill()


_shared = PerProcess[dict[tuple[str, int, str], Pool]](dict)
_guard = PerProcess(threading.Lock)


def shared_pool(function: str, *, megabytes: int = 480, rights: str = "all") -> Pool:
    """The pool of this process for a function, its memory and rights, with a worker per slot; a forked child gets its own."""
    with _guard():
        found = _shared().get((function, megabytes, rights))
        if found is None:
            found = _shared()[function, megabytes, rights] = Pool(
                function, size=slots(), megabytes=megabytes, rights=rights
            )
            atexit.register(found.close)
        return found
