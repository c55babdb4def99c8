"""HTTP/1.1 as far as the service needs it: llhttp reads the requests, which are answered in order and bounded in size and time."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Mapping
from email.utils import formatdate
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

import httptools

from grpo_rewards.rows import dump_json
from grpo_rewards_adapters.server.workers import Answer, Job

if TYPE_CHECKING:
    from grpo_rewards_adapters.server.application import Service

__all__ = ["JSON", "Connection", "Refused", "Request"]

_log = logging.getLogger(__name__)

JSON = "application/json"
_LONGEST_HEAD = 64 << 10  # bytes of a request before its body
_IDLE = 75.0  # seconds after which a connection is closed that asks for nothing
# seconds that a refused client is read from: a connection closed on data unread takes the answer with it
_LINGERS = 1.0
_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n" for status in HTTPStatus}


class Refused(Exception):
    """A request that is not scored: its status, why, and headers."""

    def __init__(self, status: int, text: str, **headers: str) -> None:
        super().__init__(text)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class Request(Job):
    """A request, from its first byte until it is answered; `answer` is sent once those before it on its connection have theirs.

    `size` are the bytes of its body so far; `admitted`, whether the service counts it among those that wait.
    """

    __slots__ = ("admitted", "answer", "connection", "headers", "keeps", "method", "parts", "path", "size", "target")

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self.connection = connection
        self.target = self.method = b""
        self.path = ""
        self.headers: dict[bytes, bytes] = {}
        self.parts: list[bytes] = []
        self.size = 0
        self.admitted = False
        self.keeps = False
        self.answer: bytes | None = None

    def answered(self, answer: Answer) -> None:
        """Take the workers' answer."""
        self.connection.service.scored(self, answer)

    def respond(self, status: int, body: bytes, kind: str = JSON, headers: Mapping[str, str] | None = None) -> None:
        """Answer."""
        connection = self.connection
        head = f"{_LINES[status]}{connection.service.date}content-length: {len(body)}\r\ncontent-type: {kind}\r\n"
        for name, value in (headers or {}).items():
            head += f"{name.lower()}: {value}\r\n"
        self.keeps = self.keeps and not connection.leaving
        head += "\r\n" if self.keeps else "connection: close\r\n\r\n"
        self.answer = head.encode() + (b"" if self.method == b"HEAD" else body)
        connection.flush()

    def refuse(self, refused: Refused) -> None:
        """Answer with an error, and take nothing more: what is left of a body is no request."""
        self.keeps = False
        self.connection.hear_no_more()
        self.respond(refused.status, dump_json({"error": str(refused)}), JSON, refused.headers)


class Connection(asyncio.Protocol):
    """One client's connection."""

    transport: asyncio.Transport

    def __init__(self, service: Service) -> None:
        self.service = service
        self.leaving = False  # once the service is to stop
        self._parser = httptools.HttpRequestParser(self)
        self._loop = asyncio.get_running_loop()
        self._active = 0.0
        self._requests: deque[Request] = deque()  # those that have not been answered
        self._coming: Request | None = None  # the one that is not whole yet
        self._since = 0.0  # it has come
        self._head = 0  # bytes that its head has been read in, while it is not whole
        self._deaf = False

    # ------------------------------------------------------------------------------------------ asyncio's calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._active = self._loop.time()
        self.service.connections.add(self)

    def connection_lost(self, _error: Exception | None) -> None:
        self.hear_no_more()
        self.service.connections.discard(self)
        for request in self._requests:
            self.service.dropped(request)
        self._requests.clear()

    def pause_writing(self) -> None:
        self.transport.pause_reading()  # who does not read answers may not ask for more

    def resume_writing(self) -> None:
        self.transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        self._active = self._loop.time()
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:  # to a protocol that is not spoken here
            self.hear_no_more()
        except httptools.HttpParserCallbackError:
            _log.exception("a request failed")
            self._refuse(500, "the service failed; its log says how")
        except httptools.HttpParserError as error:
            if not self._deaf:  # else it is what follows the last request that counts
                self._refuse(400, f"the request is no HTTP: {error}")
        if (coming := self._coming) is not None and not coming.method:
            self._head += len(data)
            if self._head > _LONGEST_HEAD:
                self._refuse(431, f"the request's head has more than {_LONGEST_HEAD} bytes")

    # ------------------------------------------------------------------------------------------ the parser's calls

    def on_message_begin(self) -> None:
        self._coming = Request(self)
        self._requests.append(self._coming)
        self._since = self._active
        self._head = 0

    def on_url(self, part: bytes) -> None:
        assert self._coming is not None
        self._coming.target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        assert self._coming is not None
        self._coming.headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        request = self._coming
        if request is None or self._deaf:
            return
        request.method = self._parser.get_method()
        request.keeps = self._parser.should_keep_alive()
        target = request.target
        if not target.startswith(b"/"):  # a proxy's, with scheme and host
            target = httptools.parse_url(target).path or b""
        request.path = target.partition(b"?")[0].decode("latin-1")
        try:
            self.service.admit(request)
        except Refused as refused:
            request.refuse(refused)
        else:
            if request.headers.get(b"expect", b"").lower() == b"100-continue":
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, part: bytes) -> None:
        request = self._coming
        if request is None or self._deaf:
            return
        try:
            self.service.hold(request, part)
        except Refused as refused:
            request.refuse(refused)

    def on_message_complete(self) -> None:
        request = self._coming
        if request is None or self._deaf:
            return
        self._coming = None
        if not request.keeps:
            self.hear_no_more()
        self.service.arrived(request)

    # ------------------------------------------------------------------------------------------ what becomes of it

    def flush(self) -> None:
        """Send the answers whose turn it is."""
        while self._requests and (answer := self._requests[0].answer) is not None:
            last = not self._requests.popleft().keeps
            self.transport.write(answer)
            if last:
                self._close()
                return

    def hear_no_more(self) -> None:
        """Take what still comes for nothing."""
        self._deaf = True
        self._coming = None

    def leave(self) -> None:
        """Close the connection once what has come in is answered: the service is to stop."""
        self.leaving = True
        if not self._requests:
            self.transport.close()

    def look(self, now: float) -> None:
        """Refuse a request that takes too long to come; close a connection that has asked for nothing for long."""
        if self._coming is not None:
            limit = self.service.settings.body_timeout
            if now - self._since > limit:
                self._refuse(408, f"the request did not arrive within {limit:g} s")
        elif not self._requests and now - self._active > _IDLE:
            self.transport.close()

    def _refuse(self, status: int, text: str) -> None:
        request = self._coming
        if request is None:
            request = Request(self)
            self._requests.append(request)
        self.service.dropped(request, status)
        request.refuse(Refused(status, text))

    def _close(self) -> None:
        self.hear_no_more()
        if self.transport.is_closing():
            return
        self.transport.write_eof()
        self._loop.call_later(_LINGERS, self.transport.close)


def date_header() -> str:
    """The header that says when an answer was made."""
    return f"date: {formatdate(usegmt=True)}\r\n"
