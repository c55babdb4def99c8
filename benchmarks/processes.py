"""Processes below this one, and what they cost: for the benchmarks whose work is done by workers."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def below(pid: int) -> Iterator[int]:
    """The processes below one, theirs included; those that end meanwhile are left out."""
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, children.read_text().split()):
                yield child
                yield from below(child)


def alone(pid: int) -> float:
    """Processor seconds of a process without those below it, to the nanosecond (/proc counts hundredths); 0 once it has ended."""
    with suppress(OSError):
        return time.clock_gettime((~pid << 3) | 2)  # as clock_getcpuclockid(3) makes it
    return 0.0


def processor_seconds(*pids: int) -> float:
    """Processor seconds of processes (none named: of this one) and of all below them, those that have ended included."""
    spent = 0.0
    asked = pids or (os.getpid(),)
    for pid in {*asked, *(child for one in asked for child in below(one))}:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            spent += alone(pid) + sum(map(int, fields[13:15])) / TICKS  # children that it waited for
    return spent
