"""The protocol: what the two ends of the border say to each other, and the stream that carries it.

A message is a request (what is asked for, its coded arguments), or the answer to one (a coded result, or the exception that was
raised instead), with what goes along. The tests' side reads nothing but JSON, which holds plain data whatever was sent. It
writes marshal, which is quicker and which only who is trusted may be read in.
"""

from __future__ import annotations

import json
import marshal
import math
import os
import select
import struct
from collections.abc import Callable, Iterable
from json import encoder
from typing import Any, NamedTuple, TypedDict, cast

# what one message may take of its reader's memory
MAX_MESSAGE = 32 << 20
RESULT, RAISED = 0, 1
_HEADER = struct.Struct("<I")
WITHOUT_REFERENCES = 2  # marshal's version; to look for them takes time
_CHUNK, _PIECE = 65536, 1 << 20  # bytes that are read at once, and of a message that is longer


Note = object  # an annotation, coded: a class, or a text


class OfSomeClasses(TypedDict, total=False):
    """What only some classes have; of each no more than the candidate says."""

    doc: str
    abstract: list[str]  # names of abstract methods
    notes: dict[str, Note]
    named: list[str]  # the fields of a named tuple
    fields: dict[str, tuple[Note, list[object]]]  # of a dataclass: annotation, and the coded default where it is plain
    protocol: list[str]  # of a protocol: what its objects have
    kind: str  # of property and the like: which it is
    bound: list[str]  # names that the program has it by, beside its own
    hides: list[str]  # methods of the builtin that it derives from, in whose places it has something else
    ends: bool  # it has a `__del__`
    collection: bool  # its class makes it a collection: of an Enum's members, say


class DescribedClass(NamedTuple):
    """A class of the candidate's, by the number of its handle. Nothing of it need be so, nor of these types."""

    number: int
    name: str
    qualname: str
    module: str
    bases: list[object]  # by name, or coded
    special: list[str]  # names of special methods; "!hash" where it has no hash
    methods: list[str]  # names of plain ones
    more: OfSomeClasses


class DescribedFunction(NamedTuple):
    """A function of the candidate's, by the number of its handle. Nothing of it need be so, nor of these types."""

    number: int
    kind: str  # what calling it gives: see `signatures.kind_of`
    name: str
    doc: str | None
    qualname: str
    module: str


class AskedCalls(TypedDict):
    """What of a program the format `calls` calls, and how; as JSON, with the request `load_calls`."""

    entry: str  # a function, or a method of a class
    owners: list[str]  # classes whose method that is, the first that there is
    parameters: list[str]  # the shapes of nodes that they are given as; empty for plain data
    returns: str  # the same of the result


class Along(TypedDict, total=False):
    """What goes along with a message, on both sides but where it is said."""

    changed: list[Any]  # shared containers: their numbers and coded contents
    dropped: list[int]  # shared containers that nobody can change here any more
    released: list[int]  # handles that are held no more
    pair: int  # the number of the thread that it is from, and of the one that it is for; of the first ones none
    thread: str  # with a number for the first time: the name of the thread that it is from
    ended: list[int]  # threads of such numbers that are no more
    seen: int  # where there are several: how many messages had been read
    threads: int  # whoever sends this has more than one thread
    loop: int  # of the tests: asked from within their event loop; of the candidate: its loop has something to do
    classes: list[DescribedClass]  # of the candidate: those that it speaks of for the first time, described
    printed: list[str]  # of a thread of the candidate's own: what was printed before, on both streams
    differs: list[str]  # of the candidate: what is otherwise than in plain Python


class Message(NamedTuple):
    """`kind`: what is asked for, or RESULT, or RAISED; `body`: the arguments, the result or the exception, coded."""

    kind: Any
    body: object
    along: Along


NOTHING: Along = {}


# no Exception, nor is the next one: an `except Exception` of the tests must not take it for the candidate's doing
class Closed(BaseException):
    """The other side is gone."""


class Protocol(BaseException):
    """The other side sent something that no honest peer sends."""


def _no_value(value: object) -> object:
    raise TypeError(f"a {type(value).__name__} is no part of a message")


def json_encoder(within: dict[int, object] | None) -> Callable[[object, int], Iterable[str]]:
    """What `JSONEncoder.encode` makes anew at each call, which takes longer than the call.

    `within`: where it keeps what it is within, to find what holds itself; None not to look for that.
    """
    make: Any = vars(encoder)["c_make_encoder"]
    return make(within, _no_value, encoder.encode_basestring_ascii, None, ":", ",", False, False, True)  # type: ignore[no-any-return]


# bound here: tests may replace what the modules hold
# there is one NaN in [math.nan] == [math.nan]
_CONSTANTS: dict[str, object] = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_encode, _decode = json_encoder(None), json.JSONDecoder(parse_constant=_CONSTANTS.__getitem__).raw_decode
_dumps, _loads = marshal.dumps, marshal.loads
_read_pipe, _write_pipe = os.read, os.write


def _write_json(parts: object) -> bytes:
    return "".join(_encode(parts, 0)).encode()


def _read_json(data: bytes | bytearray) -> object:
    text = data.decode()
    value, end = _decode(text)
    if end != len(text):
        raise ValueError("more than one value")
    return value


def _write_marshal(parts: Any) -> bytes:
    return _dumps(parts, WITHOUT_REFERENCES)


class Ends(NamedTuple):
    """The pipes of one side of the border: two take half of the time that a pair of sockets does."""

    reader: int
    writer: int

    def close(self) -> None:
        """Close both."""
        for descriptor in self:
            os.close(descriptor)


NOBODY = Ends(-1, -1)  # there is no other side yet


def pipes() -> tuple[Ends, Ends]:
    """Make a border: what one side writes the other one reads."""
    there, back = os.pipe(), os.pipe()
    return Ends(back[0], there[1]), Ends(there[0], back[1])


class Channel:
    """Sends and receives messages; `broken` says how the other side ended or broke the rules."""

    trusted = False

    def __init__(self, ends: Ends) -> None:
        self.ends = ends
        self._buffer: bytes | bytearray = b""
        self.broken = ""
        self.has_handlers = False  # of signals, on this side
        self._write: Callable[[object], bytes] = _write_marshal if self.trusted else _write_json
        self._read: Callable[[bytes | bytearray], Any] = _read_json if self.trusted else _loads

    def packed(self, kind: str | int, body: object, along: Along = NOTHING) -> bytes:
        """Return a message's bytes; OverflowError where it is too large."""
        data = self._write((kind, body, along) if along else (kind, body))
        if len(data) > MAX_MESSAGE:
            raise OverflowError(f"a value of {len(data) >> 20} MiB is too large to cross (at most {MAX_MESSAGE >> 20})")
        return _HEADER.pack(len(data)) + data

    def send(self, message: bytes) -> None:
        """Send one message."""
        try:
            sent = _write_pipe(self.ends.writer, message)
            while sent < len(message):  # a signal came between
                sent += _write_pipe(self.ends.writer, message[sent:])
        except BrokenPipeError as error:
            raise self._ended() from error

    def _bytes(self, size: int) -> bytes:
        if self.has_handlers:
            # one that runs where what was read is not kept yet would not find it, or lose it if it raises: it has all the time of this
            select.select([self.ends.reader], [], [])
        chunk = _read_pipe(self.ends.reader, size)  # raises nothing itself: a signal's handler may, a TimeoutError say
        if not chunk:
            raise self._ended()
        return chunk

    def _ended(self) -> Closed:
        self.broken = "the candidate's process ended"
        return Closed(self.broken)

    def _frame(self) -> bytes | bytearray:
        """Return the bytes of the next message."""
        missing = _CHUNK  # read ahead: most messages come whole with one call
        while True:
            buffer = self._buffer
            if len(buffer) >= _HEADER.size:
                end = _HEADER.unpack_from(buffer)[0] + _HEADER.size
                if len(buffer) >= end:
                    self._buffer = buffer[end:]
                    return buffer[_HEADER.size : end]
                if end > MAX_MESSAGE + _HEADER.size:
                    raise self.protocol("a message too large")
                missing = min(max(end - len(buffer), _CHUNK), _PIECE)
            chunk = self._bytes(missing)
            # as it is by now: while this waited a signal's handler may have read on
            if not self._buffer:
                self._buffer = chunk
            else:
                if type(self._buffer) is bytes:
                    self._buffer = bytearray(self._buffer)  # grows in place
                self._buffer += chunk

    def receive(self) -> Message:
        """Return the next message."""
        try:
            parts = self._read(self._frame())
        except (ValueError, RecursionError) as error:  # the latter: lists nested deeper than Python goes
            raise self.protocol(f"not JSON: {error}") from None
        if type(parts) not in (list, tuple) or not 2 <= len(parts) <= 3:
            raise self.protocol("not a message")
        kind, body, along = parts if len(parts) == 3 else (*parts, NOTHING)
        if not (type(kind) is str or (type(kind) is int and kind in (RESULT, RAISED))) or type(along) is not dict:
            raise self.protocol("not a message")
        return Message(kind, body, cast(Along, along))

    def protocol(self, what: str) -> Protocol:
        """Note that the other side broke the rules; nothing passes after that."""
        self.broken = f"the candidate broke the protocol: {what}"
        return Protocol(self.broken)

    def demand(self, holds: bool, what: str) -> None:
        """Raise that where this does not hold of what the other side sent."""
        if not holds:
            raise self.protocol(what)
