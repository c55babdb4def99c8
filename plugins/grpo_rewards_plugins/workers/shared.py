"""Pools of workers that all rewards of a process share."""

from __future__ import annotations

import atexit
import threading
from typing import Literal

from grpo_rewards.forks import PerProcess
from grpo_rewards.slots import slots
from grpo_rewards.workers import Pool, Task

__all__ = ["shared_pool", "task_of"]

_RIGHTS = {"all": "", "read": f"{__package__}.rights:read_only", "none": f"{__package__}.rights:nothing"}

_shared = PerProcess[dict[tuple[str, int, str], Pool]](dict)
_guard = PerProcess(threading.Lock)


def task_of(function: str, *, megabytes: int = 480, rights: Literal["all", "read", "none"] = "all") -> Task:
    """What workers are for that answer by `function`, a ``module:name``, with plain JSON.

    `rights` are what the process that answers keeps: ``all``; ``read``, where it can neither write a file, nor open a socket, nor
    start a process; or ``none``, where it can read what the interpreter needs and nothing else (Linux; elsewhere the limits
    of memory alone).
    """
    return Task(function, "json", forks=True, megabytes=megabytes, confine=_RIGHTS[rights], quiet=True)


def shared_pool(function: str, *, megabytes: int = 480, rights: Literal["all", "read", "none"] = "all") -> Pool:
    """The pool of this process for a function, its memory and rights, with a worker per slot; a forked child gets its own."""
    key = function, megabytes, rights
    with _guard():
        found = _shared().get(key)
        if found is None:
            found = _shared()[key] = Pool(task_of(function, megabytes=megabytes, rights=rights), slots())
            atexit.register(found.close)
        return found
