"""Resource limits of one job."""

from __future__ import annotations

import resource
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class JobLimits:
    """Limits of one candidate; bytes, seconds and counts."""

    memory: int
    processes: int
    open_files: int
    file_bytes: int
    output_bytes: int
    cpu_seconds: int

    @classmethod
    def from_wire(cls, values: dict[str, Any]) -> JobLimits:
        """Read the limits that came with a job."""
        return cls(**{name: int(values[name]) for name in cls.__slots__})


def _lower(which: int, value: int, hard: int | None = None) -> None:
    """Set a limit, never above the hard limit that already holds."""
    _, ceiling = resource.getrlimit(which)
    top = value if hard is None else hard
    if ceiling != resource.RLIM_INFINITY:
        value, top = min(value, ceiling), min(top, ceiling)
    resource.setrlimit(which, (value, top))


def apply(limits: JobLimits, *, processes: bool) -> None:
    """Bind this process and all it starts; `processes` only where this user runs nothing else."""
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1)
    _lower(resource.RLIMIT_AS, limits.memory)
    _lower(resource.RLIMIT_NOFILE, limits.open_files)
    _lower(resource.RLIMIT_FSIZE, limits.file_bytes)
    _lower(resource.RLIMIT_MEMLOCK, 0)
    _lower(resource.RLIMIT_MSGQUEUE, 0)
    if processes:
        _lower(resource.RLIMIT_NPROC, limits.processes)


def apply_trusted(memory: int, cpu_seconds: int) -> None:
    """Bind a process that runs tests: against accidents and floods of data, not against an attacker."""
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_AS, memory)
    _lower(resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1)
