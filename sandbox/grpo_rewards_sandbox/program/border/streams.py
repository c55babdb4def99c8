"""A candidate's standard streams while tests drive it: what it prints goes along with its next answer."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, cast

MAX_TEXT = 8 << 20


class Printed(io.RawIOBase):
    """Collects what the candidate prints, up to a bound in bytes; more is counted and thrown away."""

    def __init__(self, descriptor: int) -> None:
        self.parts: list[bytes] = []  # what was printed since `take`
        self._size = 0
        self._descriptor = descriptor

    def stream(self) -> io.TextIOWrapper:
        """Return the stream that leads here."""
        # newline: what is printed crosses as it is
        return io.TextIOWrapper(cast(Any, self), "utf-8", newline="", write_through=True)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, data: Any) -> int:
        raw = bytes(data)
        self._size += len(raw)
        if self._size < MAX_TEXT:
            self.parts.append(raw)
        return len(raw)

    def take(self) -> str:
        """Return what was printed since the last call."""
        data, self.parts = b"".join(self.parts), []
        return data.decode("utf-8", "replace")


class Typed(io.TextIOBase):
    """Standard input: asks the tests' side."""

    def __init__(self, ask: Callable[[str], str]) -> None:
        self._ask = ask

    def readable(self) -> bool:
        return True

    def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
        return self._ask("readline")

    def read(self, size: int | None = -1) -> str:
        return self._ask("read")
