"""The sandboxes of this process: opened when first needed, one per setting, closed at exit."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grpo_rewards_sandbox import Job, Sandbox, Verdict

__all__ = ["Unavailable", "close_sandboxes", "run_jobs"]

_open: dict[tuple[str, int], Sandbox] = {}
_lock = threading.Lock()


class Unavailable(Exception):
    """There is no sandbox here; the text says why and what to do."""


def run_jobs(jobs: Sequence[Job], *, backend: str, workers: int | None) -> list[Verdict]:
    """Run jobs in this process's sandbox and return their verdicts in order.

    Raises:
        Unavailable: no sandbox could be opened, or it was closed meanwhile.
    """
    from grpo_rewards_sandbox import SandboxError

    try:
        return _sandbox(backend, workers or _cores()).run(jobs)
    except (SandboxError, OSError) as problem:
        raise Unavailable(
            f"no sandbox ({backend}): {problem}; see what is missing with: grpo-rewards sandbox check"
        ) from problem


def _sandbox(backend: str, workers: int) -> Sandbox:
    from grpo_rewards_sandbox import open_sandbox

    with _lock:
        sandbox = _open.get((backend, workers))
        if sandbox is None:
            sandbox = _open[backend, workers] = open_sandbox(backend, workers=workers)
        return sandbox


def _cores() -> int:
    """The processors that this process may use, at most 8: beyond that a trainer's ranks would crowd each other out."""
    return max(1, min(8, len(os.sched_getaffinity(0))))


@atexit.register
def close_sandboxes() -> None:
    """Close every sandbox that the reward `code` opened; the next job opens a new one."""
    with _lock:
        sandboxes = list(_open.values())
        _open.clear()
    for sandbox in sandboxes:
        sandbox.close()


def _after_fork() -> None:
    """Give a forked child a lock and sandboxes of its own: the parent's belong to the parent."""
    global _lock
    _lock = threading.Lock()
    _open.clear()


os.register_at_fork(after_in_child=_after_fork)
