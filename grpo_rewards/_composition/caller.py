"""Who makes a reward call, as a session has read it: the step, whether it trains, its group size, the ranks beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

__all__ = ["Caller", "World"]

_Thing = TypeVar("_Thing")


@dataclass(frozen=True, slots=True)
class World:
    """The processes that train together, `rank` being this one's number. Where there are several, a subclass gathers."""

    rank: int = 0
    size: int = 1

    def gather(self, thing: _Thing) -> list[_Thing]:
        """Return every rank's `thing`, in order of rank, on every rank. All ranks must call it at the same point."""
        if self.size > 1:
            raise NotImplementedError(f"{type(self).__name__} of {self.size} processes needs a gather of its own")
        return [thing]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls.

    `step` is the optimizer step, None where none is known: nothing adapts then. `training` says whether the batch is
    trained on, `group_size` how many rows in a row form one group, where that is known.
    """

    step: int | None = None
    training: bool = False
    group_size: int | None = None
    world: World = World()
