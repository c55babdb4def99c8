"""Identical rows of a batch, so that each is evaluated once: under GRPO many of a group's completions are the same."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, cast

from grpo_rewards._contract import Batch, Reward

__all__ = ["columns_read", "content_keys", "distinct_rows", "one_at_a_time"]


def distinct_rows(reward: Reward, batch: Batch) -> tuple[Sequence[int], list[int] | None]:
    """Return the rows to evaluate, and for each row the position of its outcome among those (None: one each).

    Two rows are the same when the completion and everything else that the reward reads are equal. Only rewards that
    look at one row at a time are asked once for both: row style, and batch style where it says so by an attribute
    ``rowwise`` of True or comes with this package. A batch reward of a user may compare its rows.
    """
    everything = range(len(batch))
    if not one_at_a_time(reward) or len(batch) < 2:
        return everything, None
    if not (repeated := batch.repeated):
        return everything, None
    columns = [values for _, values in _read(reward, batch)]
    original: dict[int, int] = {}
    for rows in repeated:
        if not columns:  # nothing but the text is read
            original.update(dict.fromkeys(rows[1:], rows[0]))
            continue
        first: dict[object, int] = {}
        for row in rows:
            try:
                key = tuple([_plain(values[row]) for values in columns])
            except TypeError:  # a value that cannot be compared by content: a row of its own
                continue
            if (known := first.setdefault(key, row)) != row:
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


def content_keys(reward: Reward, batch: Batch) -> list[object]:
    """Return per row what the reward's outcome depends on, as something hashable, None where it cannot be compared."""
    read = _read(reward, batch)
    names = tuple(name for name, _ in read)
    found: list[object] = []
    for row, text in enumerate(batch.texts):
        try:
            # with the names: a batch that lacks an optional column must not meet one that lacks another
            found.append((text, names, *(_plain(values[row]) for _, values in read)))
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
