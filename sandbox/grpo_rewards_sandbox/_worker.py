"""What every backend's worker is: a supervisor at the other end of a stream, asked one thing at a time."""

from __future__ import annotations

import json
import time
from typing import Any, Protocol

from .program import wire

START_SECONDS = 60.0


class Worker:
    """A supervisor: `ask` it, `interrupt` it from any thread, `close` it when it is no longer wanted."""

    plan: dict[str, Any]

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

    def _write(self, data: bytes, deadline: float) -> None:
        raise NotImplementedError

    def _read(self, size: int, deadline: float) -> bytes:
        raise NotImplementedError

    def interrupt(self) -> None:
        """End the supervisor now, in the middle of a job too; for any thread."""
        raise NotImplementedError

    def close(self) -> None:
        """End the supervisor and all below it."""
        raise NotImplementedError

    def abandon(self) -> None:
        """Close this process's ends only: what a forked child does with its parent's supervisors."""
        raise NotImplementedError


class Backend(Protocol):
    """Where workers come from."""

    name: str
    spares: int
    fresh: bool

    def start(self) -> Worker:
        """Start a worker; `SandboxUnavailable` where that cannot be."""

    def after_fork(self) -> None:
        """In a forked child: let go of what belongs to the parent."""

    def close(self) -> None:
        """Every worker was closed: leave nothing behind."""
