"""The service's HTTP: what raw sockets may send, in which order answers come, and when a connection stays."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

TOKEN = b"Authorization: Bearer correct-horse\r\n"


def request(*completions: str, more: bytes = b"") -> bytes:
    body = json.dumps({"rows": [{"completion": text, "answer": "4"} for text in completions]}).encode()
    return b"POST /score HTTP/1.1\r\nHost: x\r\n%b%bContent-Length: %d\r\n\r\n%b" % (TOKEN, more, len(body), body)


@contextlib.contextmanager
def line(server: Any) -> Iterator[Callable[..., tuple[int, bytes]]]:
    """A connection: called, it sends bytes and reads an answer's status and body, b"" where the connection was closed."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as opened:

        def say(*parts: bytes, head: bool = False) -> tuple[int, bytes]:
            for part in parts:
                opened.sendall(part)
                time.sleep(0.05)
            answer = http.client.HTTPResponse(opened, method="HEAD" if head else "POST")
            answer.fp = answer.fp.detach()  # type: ignore[assignment] # no byte of the next answer is taken
            answer.begin()
            return answer.status, answer.read()

        yield say


def test_requests_sent_at_once_are_answered_in_order_and_the_connection_stays(server: Any) -> None:
    with line(server) as say:
        found = [say(request("sleep:0.3"), request("4"), b"GET /health HTTP/1.1\r\n\r\n"), say(), say()]
        assert [status for status, _ in found] == [200, 200, 200]
        assert [json.loads(found[place][1])["components"]["acts"] for place in (0, 1)] == [[0.0], [1.0]]
        assert json.loads(found[2][1])["status"] == "ok"
        assert say(request("4"))[0] == 200


def test_a_request_comes_in_whatever_parts(server: Any) -> None:
    whole = request("4", "5")
    with line(server) as say:
        assert say(whole[:3], whole[3:60], whole[60:-5], whole[-5:])[0] == 200
        chunked = b"POST /score?x=1 HTTP/1.1\r\n" + TOKEN + b"Transfer-Encoding: chunked\r\n\r\n"
        body = whole.partition(b"\r\n\r\n")[2]
        status, answer = say(
            chunked, b"%x\r\n%b\r\n" % (9, body[:9]), b"%x\r\n%b\r\n0\r\n\r\n" % (len(body) - 9, body[9:])
        )
        assert (status, json.loads(answer)["components"]["acts"]) == (200, [1.0, 0.0])
        head, _, body = request("4", more=b"Expect: 100-continue\r\n").partition(b"\r\n\r\n")
        assert say(head + b"\r\n\r\n", body)[0] == 200  # after 100, which http.client passes over
        assert say(b"HEAD /health HTTP/1.1\r\n\r\n", head=True) == (200, b"")
        assert say(request("4", more=b"Connection: close\r\n"))[0] == 200
        with pytest.raises(http.client.HTTPException):
            say()


@pytest.mark.parametrize(
    ("sent", "status", "told"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, b"no HTTP"),
        (b"POST /score HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400, b"no HTTP"),
        (b"POST /score HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, b"no HTTP"),
        (b"GET /health HTTP/1.1\r\nX: " + b"x" * 100_000, 431, b"head"),
        (b"GET /health HTTP/1.1\r\nX: ", 408, b"did not arrive"),
        (b"POST /health HTTP/1.1\r\nContent-Length: 900000\r\n\r\n" + b"x" * 300_000, 413, b"fewer rows"),
    ],
)
def test_what_is_no_request_is_refused_and_the_connection_closed(
    server: Any, sent: bytes, status: int, told: bytes
) -> None:
    with line(server) as say:
        found = say(sent)
        assert found[0] == status
        assert told in found[1]
        with pytest.raises(http.client.HTTPException):
            say()
    assert server.score("4")[0] == 200


def test_a_request_whose_client_has_gone_is_not_scored(start: Callable[..., Any]) -> None:
    server = start()
    mark = server.log.parent / "mark"
    with line(server) as waiting, socket.create_connection(("127.0.0.1", server.port), timeout=20) as first:
        first.sendall(request("sleep:0.5"))
        time.sleep(0.1)
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as gone:
            gone.sendall(request(f"kill once:{mark}"))
            time.sleep(0.1)
        assert waiting(request("4"))[0] == 200
    assert not mark.exists()


def test_a_port_that_is_taken_is_told(server: Any, start: Callable[..., Any]) -> None:
    with pytest.raises(AssertionError, match=rf"cannot listen on 127\.0\.0\.1:{server.port}: Address already in use"):
        start("--port", server.port)
