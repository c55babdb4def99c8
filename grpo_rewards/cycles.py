"""Python's search for cycles of objects, made rarer where thousands of new ones are all in use.

By default it begins after 700, which is a dozen rows: it finds nothing, again and again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["fewer_searches", "settled"]

_NEW_OBJECTS = 50_000


@contextmanager
def fewer_searches() -> Iterator[None]:
    """Let Python look for cycles among 50,000 new objects at a time meanwhile."""
    before = gc.get_threshold()
    if not 0 < before[0] < _NEW_OBJECTS:  # 0: somebody has put it off altogether
        yield
        return
    gc.set_threshold(_NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def settled() -> None:
    """Do so for good, in a process of ours that has loaded what it works with; that is looked through no more."""
    gc.unfreeze()  # what was let go of since the last call
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)
