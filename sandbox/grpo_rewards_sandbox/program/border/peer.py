"""One end of the border: requests in both directions, and what goes along with them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any, NoReturn

from .codec import Codec
from .messages import RAISED, RESULT, Along, Closed, Message, Protocol
from .values import SCALARS

_PAUSE = 0.02  # seconds after which a thread that waits for another one's reading looks again
_MALFORMED = (LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError)


def _for_who_serves(message: Message) -> bool:
    return type(message.kind) is str and "nested" not in message.along


class Peer(Codec):
    """What both sides of the border have in common."""

    add_extras: Callable[[Along], None]  # puts what piled up on this side with an outgoing message
    take_extras: Callable[[Along], None]  # takes what came along with a message
    raised: Callable[[BaseException], None]  # hears of what an answer of which all is here raises
    perform: Callable[[str, list[object]], object]  # does one thing that the other side asks for

    def __init__(self, sock: socket.socket, parity: int) -> None:
        super().__init__(sock, parity)
        # reentrant, since who serves on the way to an answer may ask again
        self._asking = threading.RLock()  # one thread at a time waits for an answer
        self._mail = threading.Condition()
        self._arrived: list[Message] = []
        self._reading = threading.Lock()
        self._waiting = 0
        self._serving = 0

    def _along(self) -> Along:
        along: Along = {}
        if self.shared:
            changed, dropped = self._changes()
            if changed:
                along["changed"] = changed
            if dropped:
                along["dropped"] = dropped
        if self._released:
            along["released"], self._released = [*self._released], set()
        self.add_extras(along)
        return along

    def request(self, what: str, *arguments: object) -> Any:
        """Ask the other side to do something; return its result or raise its exception."""
        with self._asking:
            return self._request(what, [self.encode(argument) for argument in arguments])

    def _request(self, what: str, coded: list[object]) -> object:
        along = self._along()
        if self._serving:
            along["nested"] = 1
        self.send(what, coded, along)
        while True:
            message = self._take(lambda message: self.trusted or not _for_who_serves(message))
            if type(message.kind) is not str:
                return self._result(message)
            self.serve(message)

    def serve_all(self) -> NoReturn:
        """Serve whatever is asked for, until the other side is gone."""
        while True:
            self.serve(self.next_request())

    def next_request(self) -> Message:
        """Return the other side's next request, for the thread that does nothing but serve."""
        return self._take(_for_who_serves)

    def _take(self, wanted: Callable[[Message], bool]) -> Message:
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

    def _result(self, message: Message) -> object:
        kind, body, along = message
        if kind == RESULT and not along and type(body) in SCALARS:
            return body
        try:
            self.take_extras(along)
            # in the order in which they were encoded: what has changed may hold what the answer brings
            error = self.decode_exception(body) if kind == RAISED else None
            result = self.decode(body) if kind == RESULT else None
            if along:
                self._apply(along)
        except _MALFORMED as problem:
            raise self.protocol(f"{type(problem).__name__}: {problem}") from None
        if error is not None:
            self.raised(error)
            raise error
        return result

    def serve(self, message: Message) -> None:
        """Do what the other side asks for, and answer."""
        kind = RESULT
        try:
            try:
                self.take_extras(message.along)
                arguments = self.arguments(message.kind, message.body)
                if message.along:
                    self._apply(message.along)
            except _MALFORMED as problem:
                raise self.protocol(f"{type(problem).__name__}: {problem}") from None
            self._serving += 1
            try:
                result = self.perform(message.kind, arguments)
            finally:
                self._serving -= 1
            coded = self.encode(result)
        except (Closed, Protocol):
            raise
        except BaseException as error:  # noqa: BLE001  whatever it is, it belongs to the side that asked
            kind, coded = RAISED, self.encode_exception(error)
        try:
            self.send(kind, coded, self._along())
        except (OverflowError, RecursionError, ValueError, TypeError, MemoryError) as error:
            self.send(RAISED, self.encode_exception(type(error)(f"the value cannot cross: {error}"[:500])))

    def arguments(self, what: str, coded: Any) -> list[object]:
        """Decode the arguments of a request."""
        return [self.decode(argument) for argument in coded]
