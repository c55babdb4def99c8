"""What can be learned from a trainer's call: its step, whether it trains, its group size, and the other ranks.

This is an edge: it looks at torch.distributed only where the trainer has imported it already.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from grpo_rewards._contract import Batch

__all__ = ["Caller", "World", "read_caller", "world"]


@dataclass(frozen=True, slots=True)
class World:
    """The processes that train together; `rank` is this one's number."""

    rank: int = 0
    size: int = 1

    def gather(self, thing: Any) -> list[Any]:
        """Return every rank's `thing`, in order of rank, on every rank. All ranks must call it at the same point."""
        if self.size == 1:
            return [thing]
        distributed = sys.modules["torch.distributed"]
        gathered: list[Any] = [None] * self.size
        distributed.all_gather_object(gathered, thing)
        gathered[self.rank] = thing  # its own, with what pickling leaves behind
        return gathered


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the optimizer step (None outside a trainer), whether this batch is trained on, and more.

    `state` is the trainer's state object, `group_size` the number of completions per prompt where it is known,
    `wants_table` whether the trainer keeps a completions table, `trainer` the trainer itself where it can be seen.
    """

    step: int | None = None
    training: bool = False
    group_size: int | None = None
    state: Any = None
    world: World = World()
    wants_table: bool = False
    trainer: Any = None


def read_caller(batch: Batch) -> Caller:
    """Read the trainer's part of a reward call."""
    state = batch.trainer["trainer_state"]
    if state is None:
        return Caller()
    trainer = batch.calling_trainer
    return Caller(
        step=int(getattr(state, "global_step", 0) or 0),
        training=batch.is_training,
        group_size=batch.group_size,
        state=state,
        world=world(),
        wants_table=bool(getattr(trainer, "log_completions", True)),
        trainer=trainer,
    )


def world() -> World:
    """Return the processes that train together, or this one alone."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return World()
    return World(distributed.get_rank(), distributed.get_world_size())
