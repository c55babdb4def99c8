"""Resource limits of one job."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import time
from collections.abc import Mapping

from .. import proc
from .syscalls import libc

_ARENA_MAX = -8  # of mallopt
# which limit an error of the operating system names
LIMIT_OF_ERRNO = {
    errno.EAGAIN: "processes",
    errno.ENFILE: "open files",
    errno.EMFILE: "open files",
    errno.EFBIG: "file size",
    errno.ENOSPC: "disk",
    errno.ENOMEM: "memory",
}


def lower(which: int, value: int, hard: int | None = None) -> None:
    """Set a limit, never above the hard limit that already holds."""
    _, ceiling = resource.getrlimit(which)
    top = value if hard is None else hard
    if ceiling != resource.RLIM_INFINITY:
        value, top = min(value, ceiling), min(top, ceiling)
    resource.setrlimit(which, (value, top))


def stack_of(memory: int) -> int:
    """How many bytes of its memory a stack may take."""
    return min(memory // 4, 256 << 20)


def _share_one_heap() -> None:
    """Have threads share one heap: glibc gives many of them one each, of 64 MB, all of which count as memory."""
    with contextlib.suppress(AttributeError):  # other C libraries have no such setting, and no such heaps
        libc.mallopt(_ARENA_MAX, 1)


def apply(limits: Mapping[str, int], *, processes: bool, spared: int = 0, starts: bool = False) -> None:
    """Bind this process and all it starts to what came with its job, in bytes, seconds and counts; `processes` only where this user runs nothing else, but for `spared` ones.

    `starts`: it binds the memory and time of each program that it starts, and not its own.
    """
    lower(resource.RLIMIT_CORE, 0)
    if not starts:
        # the soft limit's signal says why it ended; the hard one's cannot be caught
        lower(resource.RLIMIT_CPU, limits["cpu_seconds"], limits["cpu_seconds"] + 1)
        lower(resource.RLIMIT_AS, limits["memory"])
        _share_one_heap()
        # of the process that was forked, so far as the kernel left room above it when the interpreter began
        _, ceiling = resource.getrlimit(resource.RLIMIT_STACK)
        lower(resource.RLIMIT_STACK, stack_of(limits["memory"]), ceiling)
    lower(resource.RLIMIT_NOFILE, limits["open_files"])
    lower(resource.RLIMIT_FSIZE, limits["file_bytes"])
    lower(resource.RLIMIT_MEMLOCK, 0)
    lower(resource.RLIMIT_MSGQUEUE, 0)
    if processes:
        lower(resource.RLIMIT_NPROC, limits["processes"] + spared)


def apply_trusted(memory: int, cpu_seconds: int) -> None:
    """Bind a process that runs tests: against accidents and floods of data, not against an attacker."""
    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_AS, memory)
    _share_one_heap()
    lower(resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1)


def tree_memory(pid: int, enough: int, until: float) -> int:
    """Return the bytes that a process and all below it hold, shared pages counted once; 0 while less than `enough`.

    A resource limit binds each process by itself: many small ones may hold what one may not. To look closely takes long
    where they hold much: it ends as soon as that is `enough`, and at `until` by the monotonic clock.
    """
    found, processes = 0, list(proc.tree(pid, until))
    for one in processes:
        with contextlib.suppress(OSError, ValueError):
            found += _resident(one)[0]
    # shared pages are counted for each process so far: only where that is too much, the slow look is worth its time
    if found < enough:
        return 0
    found = 0
    for one in processes:
        found += _share(one)
        if found > enough or time.monotonic() > until:
            break
    return found


def _resident(pid: int | str) -> tuple[int, int]:
    """Resident bytes, and those of them that are in no file."""
    with open(f"/proc/{pid}/statm") as handle:
        _, resident, shared, *_ = map(int, handle.read().split())
    page = os.sysconf("SC_PAGE_SIZE")
    return resident * page, (resident - shared) * page


def _share(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup") as handle:
            return next(int(line.split()[1]) << 10 for line in handle if line.startswith("Pss:"))
    except PermissionError:
        # without the capability to look closer: what it has of its own beyond what a fork of this process starts with
        with contextlib.suppress(OSError, ValueError):
            return max(0, _resident(pid)[1] - _resident("self")[1])
        return 0
    except (OSError, StopIteration):
        return 0


def folder_bytes(folder: str, enough: int) -> int:
    """Return the bytes on disk of the files below a folder, at least 4096 each; stop counting above `enough`."""
    found, below = 0, [folder]
    for one in below:
        try:
            with os.scandir(one) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        below.append(entry.path)
                    with contextlib.suppress(FileNotFoundError):
                        found += max(entry.stat(follow_symlinks=False).st_blocks * 512, 4096)
                    if found > enough:
                        return found
        except OSError as problem:
            closed = problem.errno == errno.EACCES and os.lstat(one).st_uid == os.geteuid()
            if closed or problem.errno == errno.ENAMETOOLONG:
                return enough + 1  # by who shares this user's rights, or too deep to look at what lies there
    return found
