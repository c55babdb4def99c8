"""What the workers of both backends are: a supervisor at the other end of a stream, asked one thing at a time."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from typing import Any

from .._backend import Worker
from .._errors import SandboxUnavailable
from .._job import Job, Verdict
from ..program import wire
from ..program.clock import longest
from ..program.languages import testlib
from ..program.languages.compiling import SECONDS

START_SECONDS = 60.0
GRACE_SECONDS = 20.0  # without a sign of life
_RUNS = 3  # what is killed from outside is run again by the supervisor


def checkers_header() -> str:
    """Return the text of testlib.h, with which a supervisor compiles checkers.

    Raises:
        SandboxUnavailable: it cannot be read.
    """
    try:
        return testlib.find()
    except OSError as error:
        raise SandboxUnavailable(
            f"testlib.h cannot be read: {error}. What to do: mend or unset ${testlib.VARIABLE}"
        ) from error


class Supervised(Worker):
    """A supervisor, spoken to in frames of JSON by `_write` and `_read`."""

    _clean = True

    def begin(self, config: object) -> None:
        """Have the supervisor set itself up; where it cannot, nothing of it stays.

        Raises:
            SandboxUnavailable: it says why it cannot.
            OSError: as of `ask`.
        """
        try:
            hello = self.ask(config, START_SECONDS)
            if "error" in hello:
                raise SandboxUnavailable(hello["error"])
        except BaseException:
            self.close()
            raise
        self.plan = hello["plan"]

    def run(self, job: Job) -> Verdict:
        """Judge a job: one frame there, one back, and signs of life between them."""
        start = time.monotonic()
        # the program, and what judges it
        compiled = 2 * longest(SECONDS) if job.format in ("stdio", "program", "values") else 0.0
        answer = self.ask(job.to_wire(), GRACE_SECONDS, _RUNS * (longest(job.timeout) + compiled) + GRACE_SECONDS)
        answer.pop("passed")
        self._clean = answer.pop("clean")
        return Verdict(**answer, seconds=time.monotonic() - start)

    def ask(self, message: object, seconds: float, most: float = math.inf) -> dict[str, Any]:
        """Send a message and return the answer.

        Raises:
            OSError: the supervisor ended, or gave no sign of life for so many `seconds`, as one that is stopped, or signs of
                life alone for `most` seconds.
        """
        begun = time.monotonic()
        self._write(wire.pack(message), begun + seconds)
        while "alive" in (answer := self._answer(time.monotonic() + seconds)):
            if time.monotonic() > begun + most:
                raise OSError(f"the supervisor lives, and has had no verdict for {most:g} s")
        return answer

    def is_clean_in(self, seconds: float) -> bool:
        """Wait until nothing is left of a job whose verdict came before that; False where that takes too long."""
        if self._clean:
            return True
        try:
            self._answer(time.monotonic() + seconds)
        except OSError:
            return False
        return True

    def _answer(self, deadline: float) -> dict[str, object]:
        try:
            text, _ = wire.sizes(self._read(wire.HEADER.size, deadline), trusted=False)
        except wire.Disconnected as problem:
            raise OSError(f"the supervisor answered with {problem}") from None
        answer: dict[str, object] = wire.unpack(self._read(text, deadline), text)
        return answer

    @abstractmethod
    def _write(self, data: bytes, deadline: float) -> None: ...

    def _read(self, size: int, deadline: float) -> bytes:
        return self._exactly(size, deadline)

    def _exactly(self, size: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            chunk = self._receive(size - len(data), deadline)
            if not chunk:
                raise OSError("the supervisor ended")
            data += chunk
        return bytes(data)

    @abstractmethod
    def _receive(self, size: int, deadline: float) -> bytes:
        """Return what there is, so much at most; nothing at the end of the stream."""
