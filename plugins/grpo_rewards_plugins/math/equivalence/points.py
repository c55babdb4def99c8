"""Where trees are evaluated: points, the precision of balls, and the two ways in which there may be no value."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

import flint
from flint import fmpq

from grpo_rewards.forks import PerProcess

__all__ = ["NO_SMALL_INTEGER", "Point", "Undefined", "Unknown", "precision", "pseudo"]

NO_SMALL_INTEGER = "no small integer"
# steps of `evaluate`, so that a sum within a sum comes to an end
_BUDGET = 40_000
_lock = PerProcess(threading.RLock)


class Undefined(ArithmeticError):
    """The expression has no finite value here."""


class Unknown(ArithmeticError):
    """The expression is of a kind that has no number, or costs too much."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Balls are computed to ``bits``; the library's precision is one per process, so one thread at a time."""
    with _lock():
        before = flint.ctx.prec
        flint.ctx.prec = bits
        try:
            yield
        finally:
            flint.ctx.prec = before


class Point:
    """Where a tree is evaluated, and what was met on the way.

    ``opaque``: a part stands for an unknown number, so that *different* proves nothing.
    ``extreme``: a part is so large or small that it could hide in the rounding, so that *equal* proves nothing.
    """

    __slots__ = ("budget", "extreme", "guard", "opaque", "values")

    def __init__(self, values: dict[str, fmpq] | None = None, *, guard: bool = False) -> None:
        self.values = values or {}
        self.guard = guard
        self.opaque = False
        self.extreme = False
        self.budget = _BUDGET


def pseudo(*key: object) -> fmpq:
    """A fixed, arbitrary rational for a key: stands for what an unknown function gives."""
    digest = blake2b(repr(key).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    # never 0, so that no factor beside it is lost
    return fmpq(1 + int.from_bytes(digest[:6], "big") % 9_999_991, 2_097_143) + fmpq(1, 7)
