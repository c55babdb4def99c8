"""The processes that train together, as torch.distributed knows them; it is looked at only where a trainer has imported it."""

from __future__ import annotations

import sys
from typing import TypeVar

from grpo_rewards.types import World

_Thing = TypeVar("_Thing")


class TorchWorld(World):
    """Several processes that gather through torch.distributed."""

    def gather(self, thing: _Thing) -> list[_Thing]:
        """Return every rank's `thing`, in order of rank, on every rank. All ranks must call it at the same point."""
        gathered = [thing] * self.size
        sys.modules["torch.distributed"].all_gather_object(gathered, thing)
        gathered[self.rank] = thing  # its own, with what pickling leaves behind
        return gathered


def world() -> World:
    """Return the processes that train together, or this one alone."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return World()
    rank, size = distributed.get_rank(), distributed.get_world_size()
    return TorchWorld(rank, size) if size > 1 else World()
