"""How many things may run at once: the rule for sandbox slots, sympy workers and scoring processes alike.

The processors that this process may use, divided by the processes that share them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["SHARED_BY", "cores", "shared_by", "slots"]

SHARED_BY = "GRPO_REWARDS_SHARED_BY"
"""The environment variable that says how many processes beside each other score with the processors of this one."""

_LOCAL = ("localhost", "127.0.0.1", "::1")


def slots() -> int:
    """Return how many workers this process should have: its `cores` divided by the processes that share them, at least 1."""
    return max(1, cores() // sharers())


def sharers() -> int:
    """Return how many processes share this one's processors: a trainer's ranks on this machine times `SHARED_BY`.

    The ranks are ``LOCAL_WORLD_SIZE`` (torchrun, accelerate), else ``LOCAL_SIZE`` (DeepSpeed's launcher), else ``WORLD_SIZE`` where
    the ranks meet on this machine (``MASTER_ADDR``).
    """
    ranks = _number("LOCAL_WORLD_SIZE") or _number("LOCAL_SIZE")
    if not ranks and os.environ.get("MASTER_ADDR") in _LOCAL:
        ranks = _number("WORLD_SIZE")
    return max(1, ranks) * max(1, _number(SHARED_BY))


def shared_by(processes: int) -> dict[str, str]:
    """Return the environment variables for each of `processes` workers of this process."""
    return {SHARED_BY: str(max(1, processes) * max(1, _number(SHARED_BY)))}


def cores() -> int:
    """Return the processors that this process may use: its affinity, and no more than its control groups' quota, at least 1."""
    try:
        mine = len(os.sched_getaffinity(0))
    except AttributeError:  # no Linux
        mine = os.cpu_count() or 1
    return max(1, int(min(mine, quota())))


def quota(root: Path = Path("/")) -> float:
    """Return how many processors the control groups of this process let it use, of version 1 or 2; infinity without a limit.

    Each group is bound by those above it. In a container the path may be that of the machine, whose groups are not to be
    seen there: the nearest one that is there counts.
    """
    found = float("inf")
    for folder in _groups(root):
        found = min(found, _limit(folder))
    return found


def _groups(root: Path) -> Iterator[Path]:
    """The folders of this process's groups that can hold a limit of processors, and of all above them."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    mounted = root / "sys/fs/cgroup"
    for line in lines:
        _, controllers, path = line.split(":", 2)  # the path may hold colons
        if controllers and "cpu" not in controllers.split(","):
            continue
        # version 2 has no controllers; where both are mounted, it lies in a folder of its own
        for top in (mounted / controllers, mounted / "cpu") if controllers else (mounted, mounted / "unified"):
            group = Path(path.lstrip("/"))
            yield from (top / part for part in (group, *group.parents))


def _limit(folder: Path) -> float:
    try:
        limit, period, *_ = (folder / "cpu.max").read_text().split()
        return float("inf") if limit == "max" else float(limit) / float(period)
    except (OSError, ValueError, ZeroDivisionError):
        pass
    try:
        limit = (folder / "cpu.cfs_quota_us").read_text()
        period = (folder / "cpu.cfs_period_us").read_text()
        return float("inf") if int(limit) < 0 else int(limit) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return float("inf")


def _number(name: str) -> int:
    value = os.environ.get(name, "")
    return int(value) if value.isdecimal() else 0
