"""A worker's program: reads one question a line, answers one line. Runs until its standard input ends or it is killed."""

from __future__ import annotations

import json
import sys
from typing import Any

__all__ = ["main"]

_SECONDS_OF_LIFE = 3_600  # processor time, so that a worker that lost its parent ends


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
    """Answer questions ``[gold, answer]`` with ``[equal or null, rule]``."""
    _limit(megabytes)
    from grpo_rewards_plugins.math.symbolic.simplifying import decide

    reply = sys.stdout
    sys.stdout = sys.stderr
    reply.write("ready\n")
    reply.flush()
    for line in sys.stdin:
        answer: list[Any]
        try:
            gold, other = json.loads(line)
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
        reply.write(json.dumps(answer) + "\n")
        reply.flush()
