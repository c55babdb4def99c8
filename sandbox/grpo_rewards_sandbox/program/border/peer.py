"""One end of the border: requests in both directions, and what goes along with them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any

from .codec import Codec
from .messages import Closed, Protocol

_PAUSE = 0.02  # seconds after which a thread that waits for another one's reading looks again
_MALFORMED = (LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError)


def _any(message: dict[str, Any]) -> bool:
    return True


def _for_who_asked(message: dict[str, Any]) -> bool:
    return "q" not in message or "n" in message


def _for_who_serves(message: dict[str, Any]) -> bool:
    return "q" in message and "n" not in message


class Peer(Codec):
    """What both sides of the border have in common."""

    trusted = False

    def __init__(self, sock: socket.socket, parity: int) -> None:
        super().__init__(sock, parity)
        self._asking = threading.RLock()  # one thread at a time waits for an answer
        self._mail = threading.Condition()
        self._arrived: list[dict[str, Any]] = []
        self._reading = threading.Lock()
        self._waiting = 0
        self._serving = 0

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
        with self._asking:
            return self._request(what, [self.encode(argument) for argument in arguments])

    def _request(self, what: str, coded: list[Any]) -> Any:
        if self._unheld:
            self._forget_unheld()
        message: dict[str, Any] = {"q": what, "a": coded}
        if self._serving:
            message["n"] = 1  # asked on the way to an answer: for who waits for that one
        self._pack(message)
        while True:
            message = self._take(_any if self.trusted else _for_who_asked)
            if "q" in message:
                self.serve(message)
                continue
            return self._result(message)

    def next_request(self) -> dict[str, Any]:
        """Return the other side's next request, for the thread that does nothing but serve."""
        return self._take(_for_who_serves)

    def _take(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the next message of a kind. Of several threads that wait one reads, and leaves the others theirs."""
        while True:
            if self._arrived:
                with self._mail:
                    for at, message in enumerate(self._arrived):
                        if wanted(message):
                            return self._arrived.pop(at)
            if not self._reading.acquire(blocking=False):
                with self._mail:
                    self._waiting += 1
                    self._mail.wait(_PAUSE)
                    self._waiting -= 1
                continue
            try:
                message = self.receive()
                if wanted(message):
                    return message
                self._arrived.append(message)
            finally:
                self._reading.release()
                if self._waiting:
                    with self._mail:
                        self._mail.notify_all()

    def _result(self, message: dict[str, Any]) -> Any:
        try:
            self.take_extras(message)
            # in the order in which they were encoded: what has changed may hold what the answer brings
            if "e" in message:
                error, result = self.decode_exception(message["e"]), None
            else:
                error, result = None, self.decode(message["r"])
            if len(message) > 1:
                self._apply(message)
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
                arguments = [self.decode(argument) for argument in message["a"]]
                if len(message) > 2:
                    self._apply(message)
                    self._forget_shared(message)
            except _MALFORMED as problem:
                raise self.protocol(f"{type(problem).__name__}: {problem}") from None
            self._serving += 1
            try:
                result = self.perform(message["q"], arguments)
            finally:
                self._serving -= 1
            answer = {"r": self.encode(result)}
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
