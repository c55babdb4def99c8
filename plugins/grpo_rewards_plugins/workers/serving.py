"""A worker's program: its function is imported once, then a fork of it answers; where that is killed, the next fork takes over.

One question a line, one reply a line; it ends when its standard input ends.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import sys
import threading
from collections.abc import Callable

__all__ = ["main"]

_SECONDS_OF_LIFE = 3_600  # processor time, so that a worker that lost its parent ends
_MOST_FORKS = 100_000


def _limit(megabytes: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    for kind, amount in ((resource.RLIMIT_AS, megabytes << 20), (resource.RLIMIT_CPU, _SECONDS_OF_LIFE)):
        hard = resource.getrlimit(kind)[1]
        limit = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
        resource.setrlimit(kind, (limit, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(function: str, megabytes: int, rights: str) -> None:
    """Answer each question ``[number, question]`` with ``[number, reply]``.

    Each fork first says ``ready`` and its process id, so that the caller can kill it alone.
    """
    _limit(megabytes)
    module, _, name = function.partition(":")
    answer = getattr(importlib.import_module(module), name)  # before any fork, so that each has it
    if not hasattr(os, "fork"):
        _serve(answer, rights)
        return
    for _ in range(_MOST_FORKS):
        child = os.fork()
        if child == 0:
            try:
                _serve(answer, rights)
            finally:
                os._exit(0)  # only a signal is a reason for another fork
        if os.waitpid(child, 0)[1] == 0:
            return


def _end_with_caller() -> None:
    """Wait until nobody can ask any more, and end even in the middle of an answer."""
    poll = select.poll()
    poll.register(sys.stdin.fileno(), 0)  # no event but a hang-up
    poll.poll()
    os._exit(0)


def _serve(function: Callable[[object], object], rights: str) -> None:
    if rights != "all":
        from grpo_rewards_plugins.workers.rights import give_up

        give_up(rights)  # before any thread: a filter binds the thread that sets it, and those that it starts
    if hasattr(select, "poll"):
        threading.Thread(target=_end_with_caller, daemon=True).start()
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what is printed is no reply
    replies.write(f"ready {os.getpid()}\n")
    replies.flush()
    for line in sys.stdin:
        number, question = json.loads(line)
        replies.write(json.dumps([number, function(question)]) + "\n")
        replies.flush()
