"""The sandboxes of this process: opened when first needed, one per setting, closed at exit."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from grpo_rewards.hooks import registered
from grpo_rewards.slots import slots

if TYPE_CHECKING:
    from grpo_rewards_sandbox import Job, Sandbox, Verdict

__all__ = ["Unavailable", "check_backend", "close_sandboxes", "run_jobs"]

_SHORT = 0.5  # seconds
_open: dict[tuple[str, int, str | tuple[str, ...]], Sandbox] = {}
_lock = threading.Lock()


def check_backend(settings: Mapping[str, Any]) -> None:
    """Refuse a sandbox that there is none of.

    Raises:
        ValueError: the text names those that there are.
    """
    name = settings["sandbox"]
    if name == "auto":
        return
    from grpo_rewards_sandbox import backend_names, register_backend

    for hooked, backend in registered("register_sandboxes").items():
        register_backend(hooked, backend)
    if name not in backend_names():
        raise ValueError(f"there is no sandbox {name!r}; expected one of auto, {', '.join(backend_names())}")


class Unavailable(Exception):
    """There is no sandbox here; the text says why and what to do."""


def run_jobs(
    jobs: Sequence[Job], *, backend: str, workers: int | None, packages: str | list[str] = "environment"
) -> Iterator[tuple[int, Verdict]]:
    """Run jobs in this process's sandbox; yield each one's place and verdict as it comes.

    Where jobs have to wait for each other, each is given a short time first, and what it does not suffice for is run again,
    last, with all of its own: so a few programs that hang do not keep the others from their verdicts.

    Raises:
        Unavailable: no sandbox could be opened, or it was closed meanwhile.
    """
    from grpo_rewards_sandbox import SandboxError

    size = workers or slots()
    first = [replace(job, timeout=min(job.timeout, _SHORT)) for job in jobs] if len(jobs) > size else jobs
    slow = []
    try:
        sandbox = _sandbox(backend, size, packages if isinstance(packages, str) else tuple(packages))
        with closing(sandbox.stream(first)) as verdicts:
            for place, verdict in verdicts:
                if verdict.status == "timeout" and first[place].timeout < jobs[place].timeout:
                    slow.append(place)
                else:
                    yield place, verdict
        with closing(sandbox.stream([jobs[place] for place in slow])) as verdicts:
            for index, verdict in verdicts:
                yield slow[index], verdict
    except (SandboxError, OSError) as problem:
        raise Unavailable(
            f"no sandbox ({backend}): {problem}; see what is missing with: grpo-rewards sandbox check"
        ) from problem


def _sandbox(backend: str, workers: int, packages: str | tuple[str, ...]) -> Sandbox:
    from grpo_rewards_sandbox import open_sandbox

    with _lock:
        key = backend, workers, packages
        sandbox = _open.get(key)
        if sandbox is None:
            own = (
                {} if packages == "environment" else {"packages": packages}
            )  # not every backend chooses among packages
            sandbox = _open[key] = open_sandbox(backend, workers=workers, **own)
        return sandbox


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
