"""Frames over sockets and pipes, with file descriptors where a unix socket carries them.

A frame is two lengths, a message as JSON, and the bytes of that message as they are, one after the other: where they stand in it
JSON has their number. Bytes come from above only, so from who is trusted; what comes from below is JSON alone.
"""

from __future__ import annotations

import array
import gc
import json
import os
import socket
import struct
from collections.abc import Iterator
from typing import Any

HEADER = struct.Struct("<II")
# what one frame may take of its reader's memory
MAX_FRAME = 256 << 20
MAX_DESCRIPTORS = 8
_BYTES = "\0bytes"  # what JSON has in the place of bytes: no message has such a key


class Disconnected(Exception):
    """The other end is gone."""


def pack(message: object) -> bytes:
    """Return one frame. A message holds what JSON can hold, and bytes, of which there is at least one wherever there are any."""
    raw: list[bytes] = []

    def place(value: object) -> dict[str, int]:
        if type(value) is not bytes or not value:
            raise TypeError(f"{value!r:.60} is no part of a message")
        raw.append(value)
        return {_BYTES: len(value)}

    text = json.JSONEncoder(separators=(",", ":"), default=place).encode(message).encode()
    return b"".join((HEADER.pack(len(text), sum(map(len, raw))), text, *raw))


def sizes(head: bytes | bytearray, *, trusted: bool) -> tuple[int, int]:
    """How many bytes of JSON, and of raw bytes, follow a frame's head.

    Raises:
        Disconnected: they are too many, or there are raw ones from who is not `trusted`.
    """
    text, raw = HEADER.unpack(head)
    if text + raw > MAX_FRAME or (raw and not trusted):
        raise Disconnected(f"a frame of {text} and {raw} bytes")
    return text, raw


def unpack(data: bytes | bytearray, text: int) -> Any:
    """Return the message of a frame whose first `text` bytes are JSON."""
    if len(data) == text:
        return json.loads(data)
    at, view = text, memoryview(data)

    def placed(part: dict[str, Any]) -> object:
        nonlocal at
        if _BYTES not in part:
            return part
        at += part[_BYTES]
        return bytes(view[at - part[_BYTES] : at])

    return json.loads(data[:text], object_hook=placed)


def send(sock: socket.socket, message: object, descriptors: tuple[int, ...] = ()) -> None:
    """Send one frame; the descriptors travel with its first byte."""
    data = pack(message)
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    try:
        sent = sock.sendmsg([data], ancillary)
        if sent < len(data):
            sock.sendall(data[sent:])
    except OSError as error:
        raise Disconnected(str(error)) from error


def receive(sock: socket.socket, *, trusted: bool = False) -> tuple[Any, list[int]]:
    """Return one frame and the descriptors that came with it; raise `Disconnected` at the end of the stream."""
    try:
        head, ancillary, _, _ = sock.recvmsg(HEADER.size, socket.CMSG_SPACE(4 * MAX_DESCRIPTORS))
        descriptors: list[int] = []
        for _, _, data in ancillary:
            numbers = array.array("i")
            # ancillary data that was cut may end within a number
            numbers.frombytes(data[: len(data) - len(data) % 4])
            descriptors += numbers
        head += _exactly(sock, HEADER.size - len(head)) if head else b""
        if not head:
            raise Disconnected("end of stream")
        text, raw = sizes(head, trusted=trusted)
        return unpack(_exactly(sock, text + raw), text), descriptors
    except OSError as error:
        raise Disconnected(str(error)) from error


def requests(sock: socket.socket, role: str) -> Iterator[tuple[Any, list[int]]]:
    """Say that this process is ready; yield each frame from above with its descriptors, and exit when the other end is gone."""
    gc.collect()
    gc.freeze()  # of what is there now no collection, here or in a fork, writes to the pages
    send(sock, {"ready": role})
    while True:
        try:
            found = receive(sock, trusted=True)
        except Disconnected:
            os._exit(0)
        yield found


def _exactly(sock: socket.socket, size: int) -> bytearray:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        count = sock.recv_into(view)
        if not count:
            raise Disconnected("end of stream")
        view = view[count:]
    return data


def read_frame(descriptor: int) -> Any:
    """Read one frame from above from a pipe; None at a clean end."""
    head = _read_exactly(descriptor, HEADER.size)
    if head is None:
        return None
    text, raw = sizes(head, trusted=True)
    body = _read_exactly(descriptor, text + raw)
    return None if body is None else unpack(body, text)


def write_frame(descriptor: int, message: object) -> None:
    """Write one frame to a pipe."""
    view = memoryview(pack(message))
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except OSError as error:
            raise Disconnected(str(error)) from error


def _read_exactly(descriptor: int, size: int) -> bytearray | None:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        count = os.readv(descriptor, [view])
        if not count:
            return None
        view = view[count:]
    return data
