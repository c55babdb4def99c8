"""Grades, and those of earlier calls: kept up to a number of bytes, the ones not asked for longest given up first."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from typing import Literal, NamedTuple

Status = Literal["decided", "open", "timeout", "unreadable_gold"]
Key = tuple[str, str, float, float, bool]
# bytes of an entry besides its texts: the key, the grade, their numbers and the node of the table; measured
_ENTRY = 700


class Grade(NamedTuple):
    """Whether the answer is the gold, and the rule that decided.

    `status` is ``open`` where no rung could tell (then `equal` is False), ``timeout`` where the last one ran too long, and
    ``unreadable_gold`` where there is nothing to compare with.
    """

    equal: bool
    rule: str
    status: Status = "decided"


class GradeCache:
    """Grades by gold, answer and settings, of at most `limit` bytes together; safe in threads."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.bytes = 0
        self._kept: OrderedDict[Key, Grade] = OrderedDict()
        self._guard = threading.Lock()

    def get(self, key: Key) -> Grade | None:
        """The grade of an earlier call, or None."""
        with self._guard:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def put(self, key: Key, grade: Grade) -> None:
        """Keep a grade; one that is larger than a hundredth of the limit is not kept."""
        size = _size(key, grade)
        if size > self.limit // 100:
            return
        with self._guard:
            if key in self._kept:
                return  # another thread was first, and its bytes are counted
            self._kept[key] = grade
            self.bytes += size
            while self.bytes > self.limit:
                self.bytes -= _size(*self._kept.popitem(last=False))

    def clear(self) -> None:
        """Forget everything."""
        with self._guard:
            self._kept.clear()
            self.bytes = 0

    def __len__(self) -> int:
        return len(self._kept)


def _size(key: Key, grade: Grade) -> int:
    return _ENTRY + sys.getsizeof(key[0]) + sys.getsizeof(key[1]) + sys.getsizeof(grade.rule)
