"""What the kernel says of processes in /proc; nothing of those that are gone, or are not for this user to see."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator


def read(path: str) -> bytes:
    """What a file of /proc holds."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def fields(path: str) -> list[bytes]:
    """The fields of a `stat` from the state on."""
    return read(path).rpartition(b")")[2].split()


def threads(pid: int) -> list[int]:
    """The threads of a process."""
    try:
        return [int(thread) for thread in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def children(pid: int, *of: int) -> list[int]:
    """Children of a process, of all its threads or of these; none where the kernel has no such file."""
    each = (read(f"/proc/{pid}/task/{thread}/children") for thread in of or threads(pid))
    return [int(child) for found in each for child in found.split()]


def tree(pid: int, until: float = math.inf) -> Iterator[int]:
    """A process and all below it; it ends at `until` by the monotonic clock, since one may fork as fast as this walks."""
    found = [pid]
    for one in found:
        yield one
        found += children(one)
        if time.monotonic() > until:
            return
