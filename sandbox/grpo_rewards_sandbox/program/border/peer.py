"""One end of the border: requests in both directions, and what goes along with them."""

from __future__ import annotations

import socket
import threading
from typing import Any

from .codec import Codec
from .messages import Closed, Protocol

_MALFORMED = (LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError)


class Peer(Codec):
    """What both sides of the border have in common."""

    trusted = False

    def __init__(self, sock: socket.socket, parity: int) -> None:
        super().__init__(sock, parity)
        self._lock = threading.RLock()
        self.requests = 0

    def _pack(self, message: dict[str, Any]) -> None:
        if self.shared:
            changed, dropped = self._changes()
            if changed:
                message["u"] = changed
            if dropped:
                message["d"] = dropped
        if self._released:
            message["x"], self._released = self._released, []
        self.add_extras(message)
        self.send(message)

    def add_extras(self, message: dict[str, Any]) -> None:
        """Put what piled up on this side into an outgoing message."""

    def take_extras(self, message: dict[str, Any]) -> None:
        """Take what came along with a message."""

    def request(self, what: str, *arguments: Any) -> Any:
        """Ask the other side to do something; return its result or raise its exception."""
        with self._lock:
            self.requests += 1
            if self._unheld:
                self._forget_unheld()
            self._pack({"q": what, "a": [self.encode(argument) for argument in arguments]})
            while True:
                message = self.receive()
                if "q" in message:
                    self.serve(message)
                    continue
                return self._result(message)

    def _result(self, message: dict[str, Any]) -> Any:
        try:
            self.take_extras(message)
            self._apply(message)
            if "e" in message:
                error, result = self.decode_exception(message["e"]), None
            else:
                error, result = None, self.decode(message["r"])
            self._forget_shared(message)
        except _MALFORMED as problem:
            raise self.protocol(f"{type(problem).__name__}: {problem}") from None
        if error is not None:
            raise error
        return result

    def serve(self, message: dict[str, Any]) -> None:
        """Do what the other side asks for, and answer."""
        answer: dict[str, Any]
        try:
            try:
                self.take_extras(message)
                self._apply(message)
                arguments = [self.decode(argument) for argument in message["a"]]
                self._forget_shared(message)
            except _MALFORMED as problem:
                raise self.protocol(f"{type(problem).__name__}: {problem}") from None
            answer = {"r": self.encode(self.perform(message["q"], arguments))}
        except (Closed, Protocol):
            raise
        except BaseException as error:  # noqa: BLE001  whatever it is, it belongs to the side that asked
            answer = {"e": self.encode_exception(error)}
        try:
            self._pack(answer)
        except (OverflowError, RecursionError, ValueError, TypeError, MemoryError) as error:
            self.send({"e": self.encode_exception(type(error)(f"the value cannot cross: {error}"[:500]))})

    def perform(self, what: str, arguments: list[Any]) -> Any:
        """Do one thing that the other side asks for."""
        raise NotImplementedError
