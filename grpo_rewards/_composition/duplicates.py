"""The same rows are evaluated once: identical ones of a batch, as under GRPO many of a group are, and those that a stream was asked for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from concurrent.futures import Future
from typing import Any, cast

from grpo_rewards._contract import Batch, Outcome, Reward


def distinct_rows(reward: Reward, batch: Batch) -> tuple[Sequence[int], list[int] | None]:
    """Return the rows to evaluate, and for each row the position of its outcome among those (None: one each).

    Two rows are the same when the completion and everything else that the reward reads are equal. Only rewards that
    look at one row at a time are asked once for both: row style, and batch style where it says so by an attribute
    ``rowwise`` of True or comes with this package. A batch reward of a user may compare its rows.
    """
    everything = batch.rows
    if len(everything) < 2 or not one_at_a_time(reward):
        return everything, None
    if not (repeated := batch.repeated):
        return everything, None
    rows = [row for same in repeated for row in same]
    first: dict[object, int] = {}
    original: dict[int, int] = {}
    for row, key in zip(rows, _content_keys(reward, batch, rows), strict=True):
        if key is not None and (known := first.setdefault(key, row)) != row:
            original[row] = known
    if not original:
        return everything, None
    distinct = [row for row in everything if row not in original]
    position = {row: index for index, row in enumerate(distinct)}
    return distinct, [position[original.get(row, row)] for row in everything]


def _read(reward: Reward, batch: Batch) -> list[tuple[str, Sequence[object]]]:
    """What a reward looks at beside the text, by name."""
    reads = {parameter.source for parameter in reward.shape.data}
    raw = reward.shape.takes_rest or "raw" in reads or "messages" in reads
    columns: list[tuple[str, Sequence[object]]] = [("completion", batch.completions)] if raw else []
    if reward.shape.takes_rest:
        columns += [(name, batch.columns[name]) for name in sorted(batch.columns)]
        given = (("prompt", batch.prompts), ("completion_ids", batch.completion_ids))
        return columns + [(name, values) for name, values in given if values is not None]
    for name in (*reward.required_columns, *reward.optional_columns):
        if (values := batch.column(name)) is not None:
            columns.append((name, values))
    return columns


def _content_keys(reward: Reward, batch: Batch, rows: Sequence[int]) -> list[object]:
    """Return per row what the reward's outcome depends on, as something hashable, None where it cannot be compared."""
    read, texts = _read(reward, batch), batch.texts
    names = tuple(name for name, _ in read)
    found: list[object] = []
    for row in rows:
        try:
            # with the names: a batch that lacks an optional column must not meet one that lacks another
            found.append((texts[row], names, *(_plain(values[row]) for _, values in read)))
        except TypeError:
            found.append(None)
    return found


def columns_read(reward: Reward) -> frozenset[str] | None:
    """Return the columns that a reward which looks at one row at a time reads beside the text, else None: it may read all.

    ``completion`` stands for the messages as they are, ``len(completion_ids)`` for token ids of which only the number is read.
    """
    if reward.shape.takes_rest or not one_at_a_time(reward):
        return None
    raw = not {"raw", "messages"}.isdisjoint(parameter.source for parameter in reward.shape.data)
    read = {*reward.required_columns, *reward.optional_columns, *(("completion",) if raw else ())}
    if any(parameter.sized and parameter.name in read for parameter in reward.shape.data):
        read = read - {"completion_ids"} | {"len(completion_ids)"}
    return frozenset(read)


def one_at_a_time(reward: Reward) -> bool:
    """Whether a reward's outcome for a row depends on that row alone."""
    if reward.style == "row":
        return True
    return reward.style == "batch" and bool(getattr(reward, "rowwise", reward.source == "grpo-rewards"))


def _plain(value: Any) -> Hashable:
    """Return plain data as something hashable that is equal for equal content of equal types, else raise TypeError."""
    kind = type(value)
    if kind is str or value is None:  # nothing else is equal to it
        return cast(Hashable, value)
    if kind in (int, bool, bytes):  # 1 == True == 1.0, and a reward may tell them apart
        return (kind, value)
    if kind is float:
        return (kind, value.hex())  # tells -0.0 from 0.0, and makes nan equal to itself
    if kind in (list, tuple):
        kinds = set(map(type, value))
        if kinds == _INTEGERS:  # token ids are long
            return (kind, int, *value)
        return (kind, *map(_plain, value))
    if kind is dict:
        # in its order, which a reward sees
        return (kind, *((_plain(key), _plain(item)) for key, item in value.items()))
    raise TypeError


_INTEGERS = {int}


# ------------------------------------------------------------------------------------------------ what streams were asked for


Promise = Future[Outcome]
"""An outcome that is there, or is being found."""

_KEPT = 8192  # outcomes of each component


def units_of(reward: Reward, batch: Batch) -> Sequence[Sequence[int]]:
    """Return the rows that a reward has to see together: single rows, groups, or all of them."""
    if reward.style == "group":
        return batch.groups
    if one_at_a_time(reward):
        return list(zip(batch.rows, strict=True))  # tuples of numbers cost the garbage collector nothing
    return [list(batch.rows)] if batch.rows else []


class Memory:
    """The latest outcomes of a composite's streams, by component and by what each depends on."""

    def __init__(self) -> None:
        self._promises: dict[str, OrderedDict[object, Promise]] = {}
        self._lock = threading.Lock()

    def keys(self, reward: Reward, batch: Batch, units: Sequence[Sequence[int]]) -> list[object]:
        """Return a key per row: what its outcome depends on, so all that it is seen together with; None for no key."""
        each = _content_keys(reward, batch, batch.rows)
        found: list[object] = [None] * len(batch)
        for unit in units:
            together = tuple(each[row] for row in unit)
            if None not in together:
                for place, row in enumerate(unit):
                    found[row] = (together, place)
        return found

    def known(self, component: str, reward: Reward, batch: Batch) -> dict[int, Promise]:
        """Return the rows of `batch` whose outcomes are known or being found; units are known whole or not at all."""
        if component not in self._promises or not batch.rows:
            return {}
        units = units_of(reward, batch)
        keys = self.keys(reward, batch, units)
        found: dict[int, Promise] = {}
        with self._lock:
            for unit in units:
                promises = [self._of(component, keys[row]) for row in unit]
                if all(promises):
                    found.update((row, promise) for row, promise in zip(unit, promises, strict=True) if promise)
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
