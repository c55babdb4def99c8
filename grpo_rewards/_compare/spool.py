"""Rows and numbers that wait on disk, and their sorting there: a comparison takes no more memory for more rows."""

from __future__ import annotations

import heapq
import pickle
import struct
import tempfile
import weakref
from abc import abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count, islice, pairwise
from typing import IO, Generic, TypeVar, cast, overload

_Item = TypeVar("_Item")
_Number = TypeVar("_Number", int, float)
_Record = TypeVar("_Record", bound=tuple[float, ...])

SORTED_AT_ONCE = 1 << 15
"""Records that are sorted in memory; more are merged on disk."""

_BLOCK = 1 << 11  # numbers that are written and read at once
_READ = 1 << 10  # records of a sorted run that are read at once


class Items(Sequence[_Item]):
    """A sequence that finds its items one by one."""

    @abstractmethod
    def item(self, place: int) -> _Item:
        """Return the item at a place."""

    @overload
    def __getitem__(self, place: int) -> _Item: ...
    @overload
    def __getitem__(self, place: slice) -> list[_Item]: ...
    def __getitem__(self, place: int | slice) -> _Item | list[_Item]:
        return [self.item(one) for one in range(len(self))[place]] if isinstance(place, slice) else self.item(place)


class Column(Items[_Number], Generic[_Number]):
    """Numbers of one `kind` (`array`'s: ``d``, ``q``); the latest are in memory, the others in a file that is gone with it."""

    def __init__(self, kind: str, values: Iterable[_Number] = ()) -> None:
        self._kind = kind
        self._file: IO[bytes] | None = None
        self._stored = 0
        self._latest: array[_Number] = array(kind)
        self._read: array[_Number] = self._latest
        self._read_at = -1
        self.extend(values)

    def append(self, value: _Number) -> None:
        """Add a number."""
        self._latest.append(value)
        if len(self._latest) == _BLOCK:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as this is
                weakref.finalize(self, self._file.close)
            self._file.seek(self._stored * self._latest.itemsize)
            self._latest.tofile(self._file)
            self._stored += _BLOCK
            self._latest = array(self._kind)

    def extend(self, values: Iterable[_Number]) -> None:
        """Add numbers."""
        for value in values:
            self.append(value)

    def __len__(self) -> int:
        return self._stored + len(self._latest)

    def __iter__(self) -> Iterator[_Number]:
        return self.between(0, len(self))

    def between(self, first: int, end: int) -> Iterator[_Number]:
        """Return the numbers from one place to before another."""
        blocks = (self._block(number) for number in range(first // _BLOCK, -(-end // _BLOCK)))
        return islice(chain.from_iterable(blocks), first % _BLOCK, first % _BLOCK + max(0, end - first))

    def item(self, place: int) -> _Number:
        if not 0 <= place < len(self):
            raise IndexError(place)
        number = place // _BLOCK
        if place >= self._stored:
            return self._latest[place - self._stored]
        if number != self._read_at:
            self._read, self._read_at = self._block(number), number
        return self._read[place % _BLOCK]

    def _block(self, number: int) -> array[_Number]:
        if self._file is None or number * _BLOCK >= self._stored:
            return self._latest
        found: array[_Number] = array(self._kind)
        self._file.seek(number * _BLOCK * found.itemsize)
        found.fromfile(self._file, _BLOCK)
        return found


def in_order(records: Iterable[_Record], kinds: str) -> Iterator[_Record]:
    """Return records of numbers in order; `kinds` are those of their fields (`struct`'s: ``d``, ``q``)."""
    form = struct.Struct("=" + kinds)
    records = iter(records)
    run = sorted(islice(records, SORTED_AT_ONCE))
    if len(run) < SORTED_AT_ONCE:
        yield from run
        return
    with tempfile.TemporaryFile() as file:
        ends = [0]
        while run:
            for start in range(0, len(run), _READ):
                file.write(b"".join([form.pack(*record) for record in run[start : start + _READ]]))
            ends.append(ends[-1] + len(run))
            run = sorted(islice(records, SORTED_AT_ONCE))

        def of_run(place: int, end: int) -> Iterator[_Record]:
            while place < end:
                file.seek(place * form.size)
                yield from cast("Iterator[_Record]", form.iter_unpack(file.read(min(_READ, end - place) * form.size)))
                place += _READ

        yield from heapq.merge(*(of_run(start, end) for start, end in pairwise(ends)))


class Spool(Items[_Item]):
    """Plain data in a file without a name, which is gone with it."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as this is
        weakref.finalize(self, self._file.close)  # a file that is merely dropped raises a ResourceWarning
        self._at: Column[int] = Column("q")
        self._end = 0

    def append(self, item: _Item) -> None:
        """Add an item."""
        self._file.seek(self._end)
        self._at.append(self._end)
        self._end += self._file.write(pickle.dumps(item, protocol=5))

    def __len__(self) -> int:
        return len(self._at)

    def item(self, place: int) -> _Item:
        self._file.seek(self._at[place])
        return cast(_Item, pickle.load(self._file))  # noqa: S301 - what `append` wrote

    def reorder(self, keys: Iterable[float]) -> None:
        """Put the items in the order of their keys; equal ones stay in theirs."""
        ordered = in_order(zip(keys, count(), self._at, strict=False), "dqq")
        self._at = Column("q", (at for _, _, at in ordered))
