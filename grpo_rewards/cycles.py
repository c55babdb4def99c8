"""Python's search for cycles of objects, made rarer where thousands of new ones are all in use.

By default it begins after 700, which is a dozen rows: it finds nothing, again and again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["freeze_gc", "relaxed_gc"]

_NEW_OBJECTS = 50_000


@contextmanager
def relaxed_gc() -> Iterator[None]:
    """Have Python search for cycles only after 50,000 new objects while the block runs."""
    before = gc.get_threshold()
    if not 0 < before[0] < _NEW_OBJECTS:  # 0: somebody has put it off altogether
        yield
        return
    gc.set_threshold(_NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def freeze_gc() -> None:
    """Do so for the rest of this process, and leave what it has loaded so far out of the search; for processes of ours."""
    gc.unfreeze()  # what was let go of since the last call
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)
