"""A cell, as the supervisor sees it: one confined place in which programs run one after the other."""

from __future__ import annotations

import contextlib
import os
import select
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from .. import wire
from ..clock import LOOK, JobClock, ran_out
from ..formats.report import JobReport, not_set_up
from ..protocol import Started
from .runner import MAX_FILE, regular_size

# what was written just before the limit still counts, but not for as long as somebody writes
_LAST_READS = 3
_TAIL = 4000  # bytes of standard error that are kept
_READ = 1 << 16
_STUCK = 1.0  # seconds for the rest of a message
_KILLED = (-9, -15)
_CPU_SIGNAL = -24


class CellSlot(Protocol):
    """What a cell needs of a supervisor."""

    def start_cell(self, limits: dict[str, int], *, trusted: bool) -> tuple[Started, socket.socket]:
        """Start the first process of a cell, as the tests' user where `trusted`."""

    def end_cell(self, started: Started, late: Callable[[], None]) -> None:
        """End all that runs in a cell and remove its files."""

    def excess(self, started: Started, memory: int, clock: JobClock) -> tuple[str, str]:
        """The limit that what runs in a cell exceeds together, and a sentence; two empty texts for none."""


class JobEnded(Exception):
    """The job's verdict is known: `report` is it. `killed`: by whom but the supervisor its process was ended."""

    def __init__(self, reason: str, status: str = "failed", *, limit: str = "", killed: str = "") -> None:
        self.report, self.killed = JobReport(status=status, limit=limit, reason=reason), killed
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class RunCommand:
    """How a program is started: its words, or Python's text; its environment, limits of the kernel and memory in all.

    `input_file`: the name of a file in its folder that is its standard input, where one in memory will not do.
    """

    words: list[str]
    environment: dict[str, str]
    limits: dict[str, int]
    memory: int
    python: str | None = None
    input_file: str = ""


# of programs that judge or say what is expected; a cell is for many runs, each of which has a limit of its own for its time
TRUSTED_SECONDS = 20.0
TRUSTED_LIMITS = {
    "memory": 1 << 30, "processes": 64, "open_files": 256, "file_bytes": 64 << 20, "output_bytes": 1 << 20,
    "cpu_seconds": 1 << 20,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Output:
    """What a program wrote, the end of its standard error, and its exit status, below 0 for a signal.

    `cpu`: seconds that it ran. `peak`: bytes that it held at most.
    """

    data: bytes
    said: bytes
    status: int
    cpu: float
    peak: int


def sealed(data: bytes) -> int:
    """Return a descriptor of a file in memory that nobody can write to."""
    import fcntl

    descriptor = os.memfd_create("grpo", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    fcntl.fcntl(
        descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    )
    return descriptor


def standard_input(text: bytes) -> int:
    """Return a descriptor for a program's standard input: a file, as judges give one, of which some programs ask the size."""
    held = sealed(text)
    try:
        # opened once more: to read only, and from the beginning
        return os.open(f"/proc/self/fd/{held}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(held)


class Cell:
    """Files are put into it, programs run in it, files are taken from it, all in the time of a clock."""

    def __init__(self, slot: CellSlot, limits: dict[str, int], clock: JobClock, *, trusted: bool = False) -> None:
        self._slot, self.clock, self._memory = slot, clock, limits["memory"]
        self._started, self._socket = slot.start_cell(limits, trusted=trusted)
        try:
            self._answer()
        except BaseException as error:
            self.close()
            if isinstance(error, JobEnded) and error.killed:
                raise JobEnded(not_set_up().reason, "unavailable") from error
            raise

    def close(self, late: Callable[[], None] = lambda: None) -> None:
        """End all that runs here. `late` is called where that takes long."""
        self._socket.close()
        self._slot.end_cell(self._started, late)

    def __enter__(self) -> Cell:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def clear(self) -> None:
        """End what still runs here, and remove every file."""
        self._ask({"do": "clear"}, ())
        self._answer()

    def put(self, name: str, content: bytes | int, mode: int = 0o644) -> None:
        """Write a file; `content` may be the descriptor of a file."""
        descriptor = content if isinstance(content, int) else sealed(content)
        try:
            self._ask({"do": "put", "name": name, "mode": mode}, (descriptor,))
            answer, _ = self._answer()
        finally:
            if not isinstance(content, int):
                os.close(descriptor)
        if "problem" in answer:
            raise JobEnded(f"no place for {name}: {answer['problem']!s}"[:300], "limit", limit="disk")

    def take(self, name: str, bound: int = MAX_FILE) -> bytes | None:
        """Read a file that a program wrote; None where there is none.

        Raises:
            JobEnded: it is longer than `bound`.
        """
        self._ask({"do": "take", "name": name}, ())
        answer, given = self._answer()
        try:
            # hostile: it may be a pipe that never ends, or a file that grows meanwhile
            size = regular_size(given[0]) if given and "problem" not in answer else -1
            if size < 0:
                return None
            if size > bound:
                raise JobEnded(f"more than {bound} bytes in {name}", "limit", limit="output")
            data = bytearray()
            while len(data) < size and (chunk := os.pread(given[0], min(size - len(data), 1 << 20), len(data))):
                data += chunk
            return bytes(data)
        finally:
            for descriptor in given:
                os.close(descriptor)

    def run(self, how: RunCommand, text: bytes, bound: int) -> Output:
        """Run a program with this on its standard input; it may write `bound` bytes.

        Raises:
            JobEnded: it exceeded a limit.
        """
        if how.input_file:
            self.put(how.input_file, text)
        child_in, (out, child_out), (err, child_err) = standard_input(text), os.pipe(), os.pipe()
        for end in (child_out, child_err):
            os.fchmod(end, 0o222)  # programs may open them by name too: /dev/stderr
        self._memory = how.memory
        with contextlib.ExitStack() as open_ends:
            streams = Streams(open_ends, out, err, bound)
            given = (child_in, child_out, child_err)
            try:
                self._ask(
                    {
                        "do": "run",
                        "words": how.words,
                        "environment": how.environment,
                        "limits": how.limits,
                        "python": how.python,
                        "name": how.input_file,
                    },
                    given,
                )
            finally:
                for descriptor in given:
                    os.close(descriptor)
            self._watch(streams)
            answer = streams.answer
        status, cpu, peak = answer.get("status"), answer.get("cpu"), answer.get("peak")
        if type(status) is not int or type(cpu) is not float or type(peak) is not int:
            raise JobEnded("its process ended without an exit status")
        # SIGXCPU comes at the soft limit; a program that ignores it is killed
        if status == _CPU_SIGNAL or (status in _KILLED and cpu >= how.limits["CPU"]):
            raise JobEnded(ran_out(cpu), "timeout")
        if status in _KILLED:
            raise _died(-status)
        return Output(bytes(streams.data), bytes(streams.said), status, cpu, peak)

    def _watch(self, streams: Streams) -> None:
        """Read until the program ended and all that it started closed its output."""
        chances = _LAST_READS
        while not streams.done():
            left = self.clock.left()
            chances -= left <= 0
            self._look()
            ready = streams.exchange(left, *([self._socket.fileno()] if streams.answer is None else []))
            if left <= 0 and not (ready and chances > 0):
                raise JobEnded(self.clock.reason(), "timeout")
            if streams.answer is None and self._socket.fileno() in ready:
                streams.answer, given = self._receive()
                for descriptor in given:
                    os.close(descriptor)

    def _look(self) -> None:
        limit, reason = self._slot.excess(self._started, self._memory, self.clock)
        if limit:
            raise JobEnded(reason, "limit", limit=limit)

    def _ask(self, message: Mapping[str, object], descriptors: tuple[int, ...]) -> None:
        self._socket.settimeout(max(self.clock.left(), _STUCK))
        try:
            wire.send(self._socket, message, descriptors)
        except wire.Disconnected as error:
            raise _died() from error

    def _answer(self) -> tuple[dict[str, object], list[int]]:
        """Wait for the answer."""
        while True:
            left = self.clock.left()
            self._look()
            if select.select([self._socket], [], [], min(max(left, 0.0), LOOK))[0]:
                break
            if left <= 0:
                raise JobEnded(self.clock.reason(), "timeout")
        return self._receive()

    def _receive(self) -> tuple[dict[str, object], list[int]]:
        # the runner is of the candidate's user: it may be killed or stopped in the middle of a message
        self._socket.settimeout(_STUCK)
        try:
            answer, given = wire.receive(self._socket)
        except (wire.Disconnected, ValueError, RecursionError) as error:
            raise _died() from error
        return (answer if type(answer) is dict else {}), given


def _died(number: int = 9) -> JobEnded:
    reason = f"its process was killed (signal {number})"
    return JobEnded(reason, killed=reason)


class Streams:
    """The supervisor's ends of a program's standard streams; -1 for one that is closed."""

    def __init__(self, ends: contextlib.ExitStack, out: int, err: int, bound: int) -> None:
        self.out, self.err = out, err
        self.data, self.said, self._bound = bytearray(), bytearray(), bound
        self.answer: Any = None
        os.set_blocking(err, False)
        ends.callback(self._close)

    def done(self) -> bool:
        """Say whether the program ended and its output too; what is on standard error by then is read."""
        if self.answer is None or self.out >= 0:
            return False
        for _ in range(_LAST_READS):  # what the program left may write on
            if not self.listen():
                break
        return True

    def exchange(self, left: float, *others: int) -> list[int]:
        """Read what can be within a moment; return which descriptors, of the others too, had something to read."""
        readable = [one for one in (self.out, self.err, *others) if one >= 0]
        wait = min(max(left, 0.0), LOOK)
        ready, _, _ = select.select(readable, [], [], wait)
        if self.out in ready:
            self.read()
        if self.err in ready:
            self.listen()
        return ready

    def read(self) -> None:
        """Read what there is of the output."""
        chunk = os.read(self.out, _READ)
        self.data += chunk
        if not chunk:
            os.close(self.out)
            self.out = -1
        elif len(self.data) > self._bound:
            raise JobEnded(f"more than {self._bound} bytes of output", "limit", limit="output")

    def listen(self) -> bool:
        """Read what there is on standard error, and keep its end; say whether there was anything."""
        if self.err < 0:
            return False
        try:
            chunk = os.read(self.err, _READ)
        except BlockingIOError:
            return False
        if not chunk:
            os.close(self.err)
            self.err = -1
        self.said += chunk
        # the beginning says what a compiler found, the end how a program ended
        if len(self.said) > 2 * _TAIL:
            del self.said[_TAIL : len(self.said) - _TAIL]
        return bool(chunk)

    def _close(self) -> None:
        for descriptor in (self.out, self.err):
            if descriptor >= 0:
                os.close(descriptor)
