"""Rows that wait on disk to be compared: in memory each takes the bytes by which it is found."""

from __future__ import annotations

import pickle
import tempfile
import weakref
from array import array
from collections.abc import Sequence
from typing import Generic, TypeVar, overload

__all__ = ["Spool"]

_Item = TypeVar("_Item")


class Spool(Sequence[_Item], Generic[_Item]):
    """Plain data in a file without a name, which is gone with it."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as this is
        weakref.finalize(self, self._file.close)  # a file that is merely dropped raises a ResourceWarning
        self._at = array("q")
        self._end = 0

    def append(self, item: _Item) -> None:
        """Add an item."""
        self._file.seek(self._end)
        self._at.append(self._end)
        self._end += self._file.write(pickle.dumps(item, protocol=5))

    def __len__(self) -> int:
        return len(self._at)

    @overload
    def __getitem__(self, place: int) -> _Item: ...
    @overload
    def __getitem__(self, place: slice) -> list[_Item]: ...
    def __getitem__(self, place: int | slice) -> object:
        if isinstance(place, slice):
            return [self[one] for one in range(len(self))[place]]
        self._file.seek(self._at[place])
        return pickle.load(self._file)  # noqa: S301 - what `append` wrote

    def reorder(self, order: Sequence[int]) -> None:
        """Let the item at ``order[0]`` be the first, and so on."""
        self._at = array("q", (self._at[place] for place in order))
