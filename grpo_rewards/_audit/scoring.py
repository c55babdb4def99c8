"""Scoring cheats in a process of its own, in an empty folder: a cheat that runs may end what scores it, or write files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from grpo_rewards.workers import Pool, Task, pickled, unpickled

if TYPE_CHECKING:
    from grpo_rewards._composition import Composite, ScoreTable
    from grpo_rewards._contract import Batch

__all__ = ["scoring_apart"]


@contextmanager
def scoring_apart(composite: Composite) -> Iterator[Pool]:
    """Lend a worker that scores batches, and is started again when a cheat has ended it."""
    argument, _ = pickled(composite)
    with tempfile.TemporaryDirectory(prefix="grpo-rewards-audit-", ignore_cleanup_errors=True) as folder:
        pool = Pool(Task(f"{__name__}:scorer", argument=argument, folder=folder, quiet=True), 1)
        try:
            yield pool
        finally:
            pool.close()


def scorer(composite: bytes) -> Callable[[Batch], ScoreTable]:
    """Return what the worker does with a batch."""
    return cast("Composite", unpickled(composite)).score
