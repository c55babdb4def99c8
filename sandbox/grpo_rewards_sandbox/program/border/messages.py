"""One end of a stream of messages: JSON with its length before it."""

from __future__ import annotations

import socket
import struct
from json import JSONDecoder, JSONEncoder
from typing import Any

MAX_MESSAGE = 32 << 20
_HEADER = struct.Struct("<I")
# bound here: tests may replace what the module holds
_encode, _decode = JSONEncoder(separators=(",", ":")).encode, JSONDecoder().decode


class Closed(BaseException):
    """The other side is gone."""


class Protocol(BaseException):
    """The other side sent something that no honest peer sends."""


class Channel:
    """Sends and receives messages; `broken` says how the other side ended or broke the rules."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self._buffer = b""
        self.broken = ""

    def send(self, message: dict[str, Any]) -> None:
        """Send one message; OverflowError where it is too large."""
        data = _encode(message).encode()
        if len(data) > MAX_MESSAGE:
            raise OverflowError(f"a value of {len(data) >> 20} MiB is too large to cross (at most {MAX_MESSAGE >> 20})")
        try:
            self.socket.sendall(_HEADER.pack(len(data)) + data)
        except OSError as error:
            self.broken = "the candidate's process ended"
            raise Closed from error

    def _read(self, size: int) -> bytes:
        buffer = self._buffer
        if len(buffer) < size:
            parts, have = [buffer], len(buffer)
            while have < size:
                try:
                    chunk = self.socket.recv(max(65536, min(size - have, 1 << 20)))
                except OSError:
                    chunk = b""
                if not chunk:
                    self.broken = "the candidate's process ended"
                    raise Closed
                parts.append(chunk)
                have += len(chunk)
            buffer = b"".join(parts)
        self._buffer = buffer[size:]
        return buffer[:size]

    def receive(self) -> dict[str, Any]:
        """Return the next message."""
        (size,) = _HEADER.unpack(self._read(4))
        if size > MAX_MESSAGE:
            raise self.protocol("a message too large")
        try:
            message = _decode(self._read(size).decode())
        except (ValueError, RecursionError) as error:
            raise self.protocol(f"not JSON: {error}") from None
        if type(message) is not dict:
            raise self.protocol("not a message")
        return message

    def protocol(self, what: str) -> Protocol:
        """Note that the other side broke the rules; nothing passes after that."""
        self.broken = f"the candidate broke the protocol: {what}"
        return Protocol(what)
