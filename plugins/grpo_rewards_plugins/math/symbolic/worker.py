"""A worker's program: sympy is imported once, then a fork of it answers; where that is killed, the next fork takes over.

One question a line, one answer a line; it ends when its standard input ends.
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
from typing import Any

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


def main(megabytes: int) -> None:
    """Answer questions ``[number, gold, answer]`` with ``[number, equal or null, rule]``.

    Each fork first says ``ready`` and its process id, so that the caller can kill it alone.
    """
    _limit(megabytes)
    from grpo_rewards_plugins.math.symbolic.simplifying import decide  # before any fork, so that each has it

    if not hasattr(os, "fork"):
        _serve(decide)
        return
    for _ in range(_MOST_FORKS):
        child = os.fork()
        if child == 0:
            try:
                _serve(decide)
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


def _serve(decide: Any) -> None:
    if hasattr(select, "poll"):
        threading.Thread(target=_end_with_caller, daemon=True).start()
    reply = sys.stdout
    sys.stdout = sys.stderr
    reply.write(f"ready {os.getpid()}\n")
    reply.flush()
    for line in sys.stdin:
        number: int | None = None
        answer: list[Any]
        try:
            number, gold, other = json.loads(line)
            answer = list(decide(gold, other))
        except MemoryError:
            answer = [None, "sympy ran out of memory"]
        except (
            ArithmeticError,
            AttributeError,
            LookupError,
            RecursionError,
            TypeError,
            ValueError,
            RuntimeError,
        ) as error:
            answer = [None, f"sympy: {type(error).__name__}"]
        reply.write(json.dumps([number, *answer]) + "\n")
        reply.flush()
