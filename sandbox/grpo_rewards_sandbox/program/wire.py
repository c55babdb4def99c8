"""Length-prefixed JSON frames over sockets and pipes, with file descriptors where a unix socket carries them."""

from __future__ import annotations

import array
import json
import os
import socket
import struct
from collections.abc import Iterator
from typing import Any

HEADER = struct.Struct("<I")
# json.dumps with separators makes an encoder at each call
_encode = json.JSONEncoder(separators=(",", ":")).encode
# what one frame may take of its reader's memory
MAX_FRAME = 256 << 20
MAX_DESCRIPTORS = 8


class Disconnected(Exception):
    """The other end is gone."""


def pack(message: object) -> bytes:
    """Return one frame: four bytes of length, little endian, then JSON."""
    data = _encode(message).encode()
    return HEADER.pack(len(data)) + data


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


def receive(sock: socket.socket) -> tuple[Any, list[int]]:
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
        (size,) = HEADER.unpack(head)
        if size > MAX_FRAME:
            raise Disconnected(f"a frame of {size} bytes")
        return json.loads(_exactly(sock, size)), descriptors
    except OSError as error:
        raise Disconnected(str(error)) from error


def requests(sock: socket.socket) -> Iterator[tuple[Any, list[int]]]:
    """Return each frame with its descriptors, until the other end is gone."""
    while True:
        try:
            found = receive(sock)
        except Disconnected:
            return
        yield found


def _exactly(sock: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        chunk = sock.recv(min(size - len(parts), 1 << 20))
        if not chunk:
            raise Disconnected("end of stream")
        parts += chunk
    return bytes(parts)


def read_frame(descriptor: int) -> Any:
    """Read one frame from a pipe; None at a clean end."""
    head = _read_exactly(descriptor, HEADER.size)
    if head is None:
        return None
    (size,) = HEADER.unpack(head)
    if size > MAX_FRAME:
        raise Disconnected(f"a frame of {size} bytes")
    body = _read_exactly(descriptor, size)
    return None if body is None else json.loads(body)


def write_frame(descriptor: int, message: object) -> None:
    """Write one frame to a pipe."""
    view = memoryview(pack(message))
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except OSError as error:
            raise Disconnected(str(error)) from error


def _read_exactly(descriptor: int, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        chunk = os.read(descriptor, min(size - len(parts), 1 << 20))
        if not chunk:
            return None
        parts += chunk
    return bytes(parts)
