"""What the workers of both backends are: a supervisor at the other end of a stream, asked one thing at a time."""

from __future__ import annotations

import json
import time
from abc import abstractmethod
from typing import Any

from .._backend import Worker
from .._job import Job, Verdict
from ..program import wire

START_SECONDS = 60.0
GRACE_SECONDS = 20.0  # without a sign of life


class Supervised(Worker):
    """A supervisor, spoken to in frames of JSON by `_write` and `_read`."""

    _clean = True

    def run(self, job: Job) -> Verdict:
        """Judge a job: one frame there, one back, and signs of life between them."""
        start = time.monotonic()
        answer = self.ask(job.to_wire(), GRACE_SECONDS)
        answer.pop("passed")
        self._clean = answer.pop("clean")
        return Verdict(**answer, seconds=time.monotonic() - start)

    def ask(self, message: Any, seconds: float) -> dict[str, Any]:
        """Send a message and return the answer.

        Raises:
            OSError: the supervisor ended, or gave no sign of life for so many `seconds`, as one that is stopped.
        """
        self._write(wire.pack(message), time.monotonic() + seconds)
        while "alive" in (answer := self._receive(time.monotonic() + seconds)):
            pass
        return answer

    def is_clean_in(self, seconds: float) -> bool:
        """Wait until nothing is left of a job whose verdict came before that; False where that takes too long."""
        if self._clean:
            return True
        try:
            self._receive(time.monotonic() + seconds)
        except OSError:
            return False
        return True

    def _receive(self, deadline: float) -> dict[str, Any]:
        (size,) = wire.HEADER.unpack(self._read(wire.HEADER.size, deadline))
        if size > wire.MAX_FRAME:
            raise OSError(f"the supervisor answered with {size} bytes")
        answer: dict[str, Any] = json.loads(self._read(size, deadline))
        return answer

    @abstractmethod
    def _write(self, data: bytes, deadline: float) -> None: ...

    @abstractmethod
    def _read(self, size: int, deadline: float) -> bytes: ...
