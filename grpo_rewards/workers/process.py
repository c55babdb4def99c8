"""A worker as its caller sees it: a separate interpreter that answers one message at a time, limited in memory, killed at a deadline.

It is a plain child process with a socket for its standard input. So it needs no signal and no import of the caller's main
module, and works from any thread, from daemonic and forked processes, from an event loop's executor and from a Ray worker.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from grpo_rewards.errors import InfrastructureError

HEADER = struct.Struct("<cIQ")
"""Before each body, both ways: kind, number of the question, length.

Kinds: ``?`` a question, ``+`` ready (the body: the process id), ``=`` a reply, ``x`` the last one of a worker that leaves,
``!`` an exception, pickled.
"""

START_SECONDS = 120.0
"""That a worker may take to import its function on a busy machine."""

_PROGRAM = "import sys; sys.path[:] = {path!r}; from grpo_rewards.workers.program import main; main(**{arguments!r})"
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV")
_TICK = 0.02  # seconds, about what the clock of processor time counts in
_LONGEST, _PIECE = 1 << 36, 1 << 20  # bytes of a message, and that are read at once
_LEAVES = 5.0  # seconds that a worker may take to end by itself
_ENDED = "the worker ended early (out of memory?)"


class WorkerLost(InfrastructureError):
    """The process that had a job is gone; the text says how it ended."""


class WorkerTimeout(WorkerLost):
    """The job ran past its deadline, and the process that had it was killed."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker does, and what it may.

    `function` (``module:name``) takes a question and returns the reply: as plain JSON with the `wire` ``json``, where it must
    not raise; as any objects with ``pickle``, where what it raises is raised in the caller; or as bytes. With an `argument`
    it is called with that first, and returns the function that answers.

    `forks`: the function is imported once, and a fork of the worker answers, so that after a kill the next one is there within
    milliseconds; for functions that start no thread when they are imported. `confine` (``module:name``) is called in the
    process that answers before its first question; it then gets nothing of the caller's `environment` but what an interpreter
    needs. `quiet`: what it prints is dropped.
    """

    function: str
    wire: Literal["json", "pickle", "bytes"] = "pickle"
    argument: bytes | None = None
    forks: bool = False
    megabytes: int | None = None
    confine: str = ""
    environment: Mapping[str, str] | None = None
    folder: str | None = None
    quiet: bool = False

    def start(self, line: socket.socket) -> subprocess.Popen[bytes]:
        """Start a process with this end of a socket."""
        arguments = {
            "function": self.function, "wire": self.wire, "argument": self.argument is not None, "forks": self.forks,
            "megabytes": self.megabytes, "confine": self.confine,
        }  # fmt: skip
        # an empty entry is the folder of the caller, and the worker may be in another one
        program = _PROGRAM.format(path=[os.path.abspath(entry) for entry in sys.path], arguments=arguments)
        # the keys and tokens of the caller's environment are no business of a process that gives up its rights
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ} if self.confine else os.environ
        output = subprocess.DEVNULL if self.quiet else None
        return subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=line.fileno(), stdout=output, stderr=output, cwd=self.folder, env={**kept, **(self.environment or {})},
            start_new_session=True,  # a Ctrl-C at the terminal is the caller's
        )  # fmt: skip


class WorkerProcess:
    """One child process: `ask` one question at a time.

    `line` is this end of its socket, `process` the child, and `answering` the process id of what answers, once it is ready.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._argument = task.argument  # until it is sent
        self.answering: int | None = None
        self._asked = 0
        self.line, theirs = socket.socketpair()
        with theirs:
            self.process = task.start(theirs)

    def ask(self, question: Any, seconds: float | None = None, patience: float = 1.0) -> Any:
        """Return the reply, within `seconds` of the worker's own time and `patience` times as many on the clock.

        Raises:
            WorkerTimeout: no reply in time.
            WorkerLost: the process, or the fork that had the question, is gone.
        """
        wire = self._task.wire
        body = (
            json.dumps(question).encode()
            if wire == "json"
            else pickle.dumps(question)
            if wire == "pickle"
            else question
        )
        if self.answering is None:
            self._start()
        answering = self.answering or 0
        self._asked += 1
        asked = time.monotonic()
        deadline = None if seconds is None else asked + seconds
        used = _processor_seconds(answering) if patience > 1 else 0.0
        self._send(self._asked, body, deadline)
        while True:
            try:
                kind, number, reply = self._receive(deadline)
            except WorkerTimeout:
                now, left = time.monotonic(), 0.0
                if patience > 1 and seconds is not None:
                    left = min(seconds - _processor_seconds(answering) + used, asked + patience * seconds - now)
                if left < _TICK:
                    raise WorkerTimeout(f"it did not answer within {seconds:g} s") from None
                deadline = now + left
                continue
            if kind == b"+":  # the fork died over the question
                self.answering = int(reply)
                raise WorkerLost(_ENDED)
            if number != self._asked:  # one that came too late for the question before
                continue
            if wire == "json":
                return json.loads(reply)
            if kind == b"!":
                raise pickle.loads(reply)  # noqa: S301 - from our own child
            return pickle.loads(reply) if wire == "pickle" else bytes(reply)  # noqa: S301 - from our own child

    def _start(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        if self._argument is not None:
            argument, self._argument = self._argument, None
            self._send(0, argument, deadline)
        while True:
            kind, _, body = self._receive(deadline)
            if kind == b"!" and self._task.wire != "json":
                raise pickle.loads(body)  # noqa: S301 - from our own child
            if kind == b"+":
                self.answering = int(body)
                return

    def _send(self, number: int, body: bytes, deadline: float | None) -> None:
        try:
            self.line.settimeout(_left(deadline))
            self.line.sendall(HEADER.pack(b"?", number, len(body)) + body)
        except TimeoutError:
            raise WorkerTimeout("it did not accept its question in time") from None
        except OSError:
            raise self._gone() from None

    def _receive(self, deadline: float | None) -> tuple[bytes, int, bytearray]:
        kind, number, length = HEADER.unpack(self._read(HEADER.size, deadline))
        if kind not in b"+=x!" or number > self._asked or length > _LONGEST:  # hostile code found the descriptor
            raise self._gone()
        try:
            return kind, number, self._read(length, deadline and time.monotonic() + _LEAVES)
        except WorkerTimeout:  # half a message: nothing that follows could be understood
            raise self._gone() from None

    def _read(self, size: int, deadline: float | None) -> bytearray:
        data = bytearray()  # grows by what comes: a hostile header may speak of gigabytes
        while len(data) < size:
            try:
                self.line.settimeout(_left(deadline))
                part = self.line.recv(min(size - len(data), _PIECE))
            except TimeoutError:
                raise WorkerTimeout("it did not answer in time") from None
            except OSError:
                part = b""
            if not part:
                raise self._gone()
            data += part
        return data

    def _gone(self) -> WorkerLost:
        self.stop()
        return WorkerLost(_ENDED if self._task.forks else how_it_ended(self.process.returncode))

    def renew(self) -> bool:
        """Kill what still works on a question; False where all of the worker has to be replaced."""
        if self.answering is None or not self._task.forks or not hasattr(os, "fork"):
            return False
        try:
            os.kill(self.answering, signal.SIGKILL)
        except ProcessLookupError:
            return False
        self.answering = None
        return True

    @property
    def alive(self) -> bool:
        """Whether there is a process to ask."""
        return self.process.poll() is None

    def hang_up(self) -> None:
        """Make it end, from any thread: at once in the middle of a job, else in an orderly way."""
        with contextlib.suppress(OSError):
            self.line.shutdown(socket.SHUT_RDWR)

    def stop(self) -> None:
        """Hang up, wait until the process has ended, and kill it if it does not; at once where it has nothing to close."""
        self.hang_up()
        if self._task.forks:
            self.kill()
            return
        self.line.close()
        try:
            self.process.wait(_LEAVES)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it for good, with what it has started in its session."""
        with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended already
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.line.close()
        self.process.wait()


def how_it_ended(status: int) -> str:
    """Say how a worker process ended that should have gone on."""
    if status >= 0:
        return f"the worker process ended with status {status}"
    try:
        name = f", {signal.Signals(-status).name}"
    except ValueError:
        name = ""
    hint = " (out of memory?)" if -status == signal.SIGKILL else ""
    return f"the worker process was ended by signal {-status}{name}{hint}"


def _left(deadline: float | None) -> float | None:
    # a timeout of 0 would mean not to wait at all, also for what is there
    return None if deadline is None else max(1e-6, deadline - time.monotonic())


def _processor_seconds(process: int) -> float:
    """The processor time that a process has used; infinity where the system does not say."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return float("inf")
