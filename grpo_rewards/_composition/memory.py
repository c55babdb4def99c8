"""Outcomes that were asked for row by row, and what stands for those that never came; the same rows are not evaluated twice."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future

from grpo_rewards._composition.duplicates import content_keys, one_at_a_time
from grpo_rewards._contract import Batch, Outcome, Reward

__all__ = ["Memory", "Promise", "hanging", "unfinished", "units_of"]

Promise = Future[Outcome]
"""An outcome that is there, or is being found."""

_KEPT = 8192  # outcomes of each component


def unfinished(timeout: float) -> Outcome:
    """What stands for a row that took longer than the composition allows."""
    return Outcome(
        None, "unavailable", f"not finished within errors.batch_timeout = {timeout:g} s", {"batch_timeout": timeout}
    )


def hanging(calls: int) -> Outcome:
    """What stands for the rows of a component that is given up."""
    return Outcome(None, "unavailable", f"{calls} earlier calls of this component still hang; it is not called again")


def units_of(reward: Reward, batch: Batch) -> Sequence[Sequence[int]]:
    """Return the rows that a reward has to see together: single rows, groups, or all of them."""
    if reward.style == "group":
        return batch.groups
    if one_at_a_time(reward):
        return list(zip(range(len(batch)), strict=True))  # tuples of numbers cost the garbage collector nothing
    return [list(range(len(batch)))] if len(batch) else []


class Memory:
    """The latest outcomes of a composite's streams, by component and by what each depends on."""

    def __init__(self) -> None:
        self._promises: dict[str, OrderedDict[object, Promise]] = {}
        self._lock = threading.Lock()

    def keys(self, reward: Reward, batch: Batch, units: Sequence[Sequence[int]]) -> list[object]:
        """Return a key per row: what its outcome depends on, so all that it is seen together with; None for no key."""
        each = content_keys(reward, batch)
        found: list[object] = [None] * len(batch)
        for unit in units:
            together = tuple(each[row] for row in unit)
            if None not in together:
                for place, row in enumerate(unit):
                    found[row] = (together, place)
        return found

    def known(self, component: str, reward: Reward, batch: Batch) -> dict[int, Promise]:
        """Return the rows of `batch` whose outcomes are known or being found; units are known whole or not at all."""
        if component not in self._promises or not len(batch):
            return {}
        units = units_of(reward, batch)
        keys = self.keys(reward, batch, units)
        found: dict[int, Promise] = {}
        with self._lock:
            for unit in units:
                promises = [self._of(component, keys[row]) for row in unit]
                found.update(
                    {row: promise for row, promise in zip(unit, promises, strict=True) if promise}
                    if all(promises)
                    else {}
                )
        return found

    def promise(self, component: str, keys: Sequence[object]) -> tuple[list[Promise], bool]:
        """Return the promises of a unit's rows, and whether they are new, so that the caller has to keep them."""
        with self._lock:
            there = [self._of(component, key) for key in keys]
            if all(there):  # all or none: an outcome depends on the whole unit
                return [promise for promise in there if promise is not None], False
            kept = self._promises.setdefault(component, OrderedDict())
            made: list[Promise] = []
            for key in keys:
                promise: Promise = Future()
                made.append(promise)
                if key is not None:
                    kept[key] = promise
            while len(kept) > _KEPT:  # those asked for longest ago; `_of` moves what is asked for to the end
                kept.popitem(last=False)
            return made, True

    def _of(self, component: str, key: object) -> Promise | None:
        kept = self._promises.get(component)
        promise = None if key is None or kept is None else kept.get(key)
        if promise is None or kept is None:
            return None
        if promise.cancelled() or (promise.done() and (promise.exception() is not None or promise.result().failed)):
            return None  # what was down then may be up again
        kept.move_to_end(key)
        return promise
