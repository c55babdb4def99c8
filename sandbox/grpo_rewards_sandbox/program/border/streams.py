"""A candidate's standard streams while tests drive it: what it prints goes along with its next answer."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

MAX_TEXT = 8 << 20


class Printed(io.TextIOBase):
    """Collects what the candidate prints, up to a bound; more is counted and thrown away."""

    def __init__(self, descriptor: int) -> None:
        self.parts: list[str] = []  # what was printed since `take`
        self._size = 0
        self._descriptor = descriptor
        self.buffer = _Bytes(self)

    encoding = "utf-8"
    errors = "strict"

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        text = str.__str__(text)
        self._size += len(text)
        if self._size < MAX_TEXT:
            self.parts.append(text)
        return len(text)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def take(self) -> str:
        """Return what was printed since the last call."""
        text = "".join(self.parts)
        self.parts = []
        return text


class _Bytes(io.RawIOBase):
    def __init__(self, text: Printed) -> None:
        self._text = text

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        raw = bytes(data)
        self._text.write(raw.decode("utf-8", "replace"))
        return len(raw)


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

    def __next__(self) -> str:  # type: ignore[override]
        line = self.readline()
        if not line:
            raise StopIteration
        return line
