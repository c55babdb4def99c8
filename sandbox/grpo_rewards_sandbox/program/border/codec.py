"""What stands for a value in a message: plain data by value, containers that both sides hold, handles for objects."""

from __future__ import annotations

import ctypes
import marshal
import operator
import sys
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import libraries
from .libraries import BY_CONTENTS, FRAMES, HAVE_MEMORY, OVERLAP, library_of
from .messages import WITHOUT_REFERENCES, Along, Channel, Ends
from .values import (
    CONTAINER_NAMES,
    CONTAINERS,
    NAME_OF,
    NAMED,
    SCALARS,
    VALUE_NAMES,
    VALUES,
    all_scalars,
    large,
    none_large,
    seen_through,
)

_TOO_DEEP = "containers nested this deep (about 200) do not cross between tests and candidate; use fidelity: shared"
_LONG = 64  # elements from which on the look at memory is worth it
_POINTER = ctypes.sizeof(ctypes.c_void_p)
_dumps = marshal.dumps
_memcmp = ctypes.PyDLL(None).memcmp  # with the interpreter's lock
_memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_UNREFERENCED = 3  # the table, the loop variable and getrefcount's own argument


@dataclass(slots=True, eq=False)
class Ref:
    """An object of the other side, by its number."""

    number: int


@dataclass(slots=True, eq=False)
class Shared:
    """A container that both sides hold."""

    value: object
    contents: object  # when last seen equal; None while it is being filled
    kind: str
    overlaps: bool = False  # on the candidate's side it lies in one memory with another


def _alike(one: Any, other: Any) -> bool:
    """Nobody could tell them apart: equal values of two types are not alike, nor are 0.0 and -0.0, nor two equal lists."""
    kind = type(one)
    if kind is not type(other) or kind is tuple:
        return kind is type(other) and _all_alike(one, other)
    if kind is bytes:
        return bool(one == other)
    # the values of a column of pandas' own are made anew each time; an object is asked nothing, whose text its class makes
    plain = kind in SCALARS or kind in VALUE_NAMES or (library_of(kind) == "pandas" and not hasattr(kind, "shape"))
    return one is other or (plain and repr(one) == repr(other))


def _all_alike(parts: Any, others: Any) -> bool:
    if all_scalars(parts) and all_scalars(others):
        return _dumps(parts, WITHOUT_REFERENCES) == _dumps(others, WITHOUT_REFERENCES)
    return len(parts) == len(others) and all(map(_alike, parts, others))


def _same(kind: str, contents: Any, before: Any) -> bool:
    if kind in BY_CONTENTS:
        return _all_alike(contents, before)
    count = len(contents)
    if count != len(before) or count < _LONG:
        return count == len(before) and all(map(operator.is_, contents, before))
    # the same objects, of which none is asked: where they lie is compared, which takes a fiftieth of the time
    return not _memcmp(_elements(contents), _elements(before), count * _POINTER)


def _elements(own: list[Any]) -> int | None:
    """Where a list that nobody else has keeps its pointers; behind that place in its head it has one more number, to its end."""
    return ctypes.c_void_p.from_address(id(own) + list.__basicsize__ - 2 * _POINTER).value


class Codec(Channel):
    """Encodes and decodes values, and keeps count of what both sides hold.

    What the trusted side numbers is even, what the candidate's does is odd.
    """

    # what each side does in its own way; the first gives None for a value that stands for no object of the other side
    number_of_theirs: Callable[[object], int | None]
    encode_object: Callable[[object], object]  # one that stays on this side
    decode_object: Callable[[str, object], object]  # what stands for one of the other side, by its tag
    encode_exception: Callable[[BaseException], object]  # one that leaves this side
    decode_exception: Callable[[object], BaseException]  # the one to raise here
    python_scalars = False  # of numpy's scalars Python's own come here, where it has such
    container_class: Callable[[object, type], type]  # of a number: the class, which derives from a container's type

    def __init__(self, ends: Ends) -> None:
        super().__init__(ends)
        self._last = int(not self.trusted)
        self.mine: dict[int, object] = {}
        self.mine_by_id: dict[int, int] = {}
        self.shared: dict[int, Shared] = {}
        self.shared_by_id: dict[int, int] = {}
        self.theirs: dict[int, Any] = {}
        self._released: set[int] = set()
        self._bound: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()  # methods, by their hash
        # with several threads messages cross each other: of a handle in which message it was sent last, and containers that this side gave up
        # until the other side has heard so
        self.several = False
        self.sent, self.received = 0, 0
        self._sent_in: dict[int, int] = {}
        self._given_up: dict[int, tuple[object, int]] = {}

    def is_theirs(self, number: object) -> bool:
        """The other side gave this number: of an object, a container or a thread of its own."""
        return type(number) is int and (number & 1) == self.trusted

    def builtin(self, name: str) -> object:
        """Return what a builtin's name stands for here."""
        return NAMED[name]

    def number(self) -> int:
        """Return a number that this side has not given yet."""
        self._last += 2
        return self._last

    def encode_all(self, contents: Any) -> object:
        """Encode elements; a run of scalars goes as it is."""
        if all_scalars(contents) and (self.trusted or none_large(contents)):
            return contents
        try:
            return [self.encode(part) for part in contents]
        except RecursionError:
            raise RecursionError(_TOO_DEEP) from None

    def decode_all(self, body: Any) -> Any:
        """The reverse."""
        try:
            return body if all_scalars(body) else [self.decode(part) for part in body]
        except RecursionError:
            raise RecursionError(_TOO_DEEP) from None

    def encode(self, value: Any) -> object:
        """Return what stands for a value in a message."""
        kind = type(value)
        if kind in SCALARS:
            # marshal, which the tests' side writes, carries integers as they are
            return {"i": hex(value)} if kind is int and not self.trusted and large(value) else value
        if kind is Ref:
            return {"P": value.number}
        container = CONTAINER_NAMES.get(kind)
        if container is not None:
            return self.encode_container(value, container)
        if kind is tuple:
            return {"T": self.encode_all(value)}
        if kind is frozenset:
            return {"F": [self.encode(part) for part in value]}
        if kind is bytes:
            return {"b": value if self.trusted else value.decode("latin1")}
        name = VALUE_NAMES.get(kind)
        if name is not None:
            whole = seen_through(value)
            if whole is None or (self.trusted and id(whole) not in self.shared_by_id):
                whole = VALUES[name].plain(value)
            return {"X": [name, self.encode(whole)]}
        builtin = NAME_OF.get(id(value))
        if builtin is not None:
            return {"N": builtin}
        if (shared := self.shared_by_id.get(id(value))) is not None:
            return {"R": shared}
        number_of_other = self.number_of_theirs(value)
        if number_of_other is not None:
            return {"P": number_of_other}
        library = library_of(value if kind is type else kind)
        if library and (coded := libraries.encode(self, value, library)) is not None:
            return coded
        # handed to `__exit__`: its frames lead to all that the tests hold
        if kind is types.TracebackType:
            return None
        return self.encode_object(value)

    def encode_container(self, value: object, name: str, cls: int | None = None) -> object:
        """Encode a container: whole the first time, by number from then on. `cls`: the class derived from its type."""
        if (shared := self.shared_by_id.get(id(value))) is not None:
            return {"R": shared}
        number = self.shared_by_id[id(value)] = self.number()
        entry = self.shared[number] = Shared(value, None, name)
        container = CONTAINERS[name]
        if cls is not None:
            self.mine[number] = value  # its methods may be asked for as long as the job lasts
        contents = entry.contents = container.contents(value)
        coded = [number, self.encode_all(contents), self.encode(container.extra(value)), cls]
        if not self.trusted and name in OVERLAP and (overlapping := self._overlapping(number)):
            if name in FRAMES:  # what the tests write to one may be its alone, a new column say
                self.mine[number] = value  # what the candidate writes to the array it shows
            else:
                overlapping.append(number)
            coded.append([one for one in overlapping if not self.shared[one].overlaps])  # what is not said yet
            self.share_memory(overlapping)
        return {name: coded}

    def _overlapping(self, number: int) -> list[int]:
        held = {other: entry.value for other, entry in self.shared.items() if entry.kind in HAVE_MEMORY}
        return libraries.overlapping(held.pop(number, self.shared[number].value), held)

    def decode(self, coded: Any) -> Any:
        """Return the value that a part of a message stands for."""
        kind = type(coded)
        if kind in SCALARS:
            return coded
        if kind is not dict or len(coded) != 1:
            raise self.protocol("not a value")
        ((tag, body),) = coded.items()
        if tag == "P":
            return self.held(body)
        if tag in CONTAINERS:
            return self._decode_container(tag, *body)
        if tag == "T":
            return tuple(self.decode_all(body))
        if tag == "i":
            return int(body, 16)
        if tag == "R":
            return self.container(body)
        if tag == "F":
            return frozenset([self.decode(part) for part in body])
        if tag == "b":
            return body if type(body) is bytes else body.encode("latin1")
        if tag == "X":
            value = VALUES[body[0]].made(self.decode(body[1]))
            self.demand(value.__class__ is VALUES[body[0]].type, "not the value it says it is")
            return value
        if tag == "Y":
            return libraries.decode(self, body[0], self.decode(body[1]))
        if tag == "N":
            return self.builtin(body)
        return self.decode_object(tag, body)

    def _decode_container(
        self, tag: str, number: Any, coded: object, extra: object, cls: object, overlapping: Any = ()
    ) -> object:
        self.demand(self.is_theirs(number) and number not in self.shared, "a container's number")
        container = CONTAINERS[tag]
        derived = container.type if cls is None else self.container_class(cls, container.type)
        value = container.empty(derived, self.decode(extra))
        self.number_container(value, number)
        entry = self.shared[number] = Shared(value, None, tag)
        self.shared_by_id[id(value)] = number
        contents = self.decode_all(coded)
        self.check_contents(tag, contents)
        container.fill(value, contents)
        entry.contents = container.contents(value)
        if overlapping:
            self.share_memory(overlapping)
        return value

    def share_memory(self, numbers: list[int]) -> None:
        """Remember that these lie in one memory of the candidate's, and are copies on the tests' side."""
        for number in numbers:
            self.shared[number].overlaps = True

    def container(self, number: int) -> object:
        """Return the container that both sides hold by this number."""
        entry = self.shared.get(number)
        return self._given_up[number][0] if entry is None else entry.value

    def check_contents(self, tag: str, contents: list[object]) -> None:
        """Raise TypeError where this side does not take a container with such contents."""

    def writes_to_overlapping(self) -> None:
        """A container changed on this side that lies in one memory with another."""

    def number_container(self, value: object, number: int) -> None:
        """Let a container of a class of the other side's know its number."""

    def held(self, number: int) -> object:
        """Return the object of this side, or the container of both, that has this number."""
        return self.mine[number] if number in self.mine else self.container(number)

    def own(self, value: object) -> int:
        """Return this side's number of an object, giving it one."""
        number = self.mine_by_id.get(id(value))
        if number is None or self.mine.get(number) is not value:
            number = self.number()
            self.mine[number] = value
            self.mine_by_id[id(value)] = number
        self._sent_in[number] = self.sent + 1
        return number

    def one_method(self, value: Any) -> Any:
        """A method is bound anew at each use, and equal to what it was: one of them crosses. Anything else is returned as it is."""
        if isinstance(value, (types.MethodType, types.BuiltinMethodType)):
            known = self._bound.get(hash(value))
            value = self._bound[hash(value)] = known if known == value else value
        return value

    # ---- shared containers

    def _changes(self) -> tuple[list[object], list[int]]:
        changed: list[object] = []
        dropped: list[int] = []
        seen: set[int] = set()
        more = True
        while more:  # encoding a change may share further containers
            more = False
            for number, entry in list(self.shared.items()):
                if number in seen:
                    continue
                seen.add(number)
                value = entry.value
                # a key that is an object of the other side is asked for its hash
                if entry.contents is None:
                    continue
                contents = CONTAINERS[entry.kind].contents(value)
                if not _same(entry.kind, contents, entry.contents):
                    if entry.overlaps:
                        self.writes_to_overlapping()
                    entry.contents = contents
                    changed.append([number, self.encode_all(contents)])
                    more = True
                mine = self.trusted if entry.overlaps else (number & 1) != self.trusted
                if mine and sys.getrefcount(value) <= _UNREFERENCED:
                    dropped.append(number)  # nobody here can change it any more, or see what becomes of it
        for number in dropped:
            value = self.shared.pop(number).value
            self.shared_by_id.pop(id(value), None)
            if self.several:
                self._given_up[number] = value, self.sent + 1
        return changed, dropped

    def _apply(self, along: Along) -> None:
        for number, body in along.get("changed", ()):
            entry = self.shared.get(number)
            if entry is None:
                continue
            container = CONTAINERS[entry.kind]
            contents = self.decode_all(body)
            self.check_contents(entry.kind, contents)
            entry.contents = None
            container.fill(entry.value, contents)
            entry.contents = container.contents(entry.value)
        for number in along.get("dropped", ()):
            entry = self.shared.pop(number, None)
            if entry is not None:
                self.shared_by_id.pop(id(entry.value), None)
        seen = along.get("seen", self.sent)
        for number in along.get("released", ()):
            if self._sent_in.get(number, 0) <= seen:  # else it is on its way there again
                self._sent_in.pop(number, None)
                self.mine_by_id.pop(id(self.mine.pop(number, None)), None)
        for number, (_, message) in [*self._given_up.items()]:
            if message <= seen:
                del self._given_up[number]

    def got(self, number: int) -> object:
        """Return what stands here for an object of the other side; None where nothing does any more, or did not yet."""
        self._released.discard(number)
        known = self.theirs.get(number)
        return None if known is None else known()

    def release(self, number: int, value: object) -> None:
        """`value`, which stands for an object of the other side, goes: that one need not be kept for this side."""
        known = self.theirs.get(number)
        # another one of the same number may have come in its place meanwhile
        if known is None or (here := known()) is None or here is value:
            self.theirs.pop(number, None)
            self._released.add(number)
