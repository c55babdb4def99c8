"""What goes to an actor and comes back: rows by component, and their outcomes as columns.

A tenth of what pickling each outcome costs, and there is one per row and component.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

from grpo_rewards._contract import Batch, Outcome

__all__ = ["pack_outcomes", "pack_rows", "unpack_outcomes", "unpack_rows"]

_NOTHING = Outcome().details


def pack_rows(timeout: float | None, parts: Sequence[tuple[str, Batch]]) -> bytes:
    """Return rows by component as bytes; texts that several components read go once."""
    plain = [
        (name, batch.completions, batch.prompts, batch.completion_ids, dict(batch.columns), batch.grouping, batch.group_size)
        for name, batch in parts
    ]  # fmt: skip
    return pickle.dumps((timeout, plain), protocol=5)


def unpack_rows(message: bytes) -> tuple[float | None, list[tuple[str, Batch]]]:
    """Return what `pack_rows` was given."""
    timeout, plain = pickle.loads(message)  # noqa: S301 - from a driver of this cluster, which can run anything here
    return timeout, [
        (name, Batch(completions, prompts, ids, columns, grouping=grouping, group_size=size))
        for name, completions, prompts, ids, columns, grouping, size in plain
    ]


def pack_outcomes(parts: Sequence[tuple[Sequence[Outcome | None], float]]) -> bytes:
    """Return each part's outcomes (None where a row was not finished) and the seconds that it took, as bytes."""
    plain = [(_columns(outcomes), seconds) for outcomes, seconds in parts]
    try:
        return pickle.dumps(plain, protocol=5)
    except Exception:  # noqa: BLE001 - a plugin's details may hold anything; a reason matters more than they do
        for columns, _ in plain:
            columns[3] = [None if d is None else {str(k): repr(v)[:500] for k, v in d.items()} for d in columns[3]]
        return pickle.dumps(plain, protocol=5)


def unpack_outcomes(reply: bytes) -> list[tuple[list[Outcome | None], float]]:
    """Return what `pack_outcomes` was given."""
    return [(_outcomes(columns), seconds) for columns, seconds in pickle.loads(reply)]  # noqa: S301 - from our own actor


def _columns(outcomes: Sequence[Outcome | None]) -> list[list[Any]]:
    there = [outcome for outcome in outcomes if outcome is not None]
    statuses: list[Any] = [None if outcome is None else outcome.status for outcome in outcomes]
    return [
        statuses,
        [outcome.value for outcome in there],
        [outcome.reason for outcome in there],
        [dict(outcome.details) if outcome.details else None for outcome in there],
        [outcome.seconds for outcome in there],
    ]


def _outcomes(columns: list[list[Any]]) -> list[Outcome | None]:
    statuses, *others = columns
    rest = zip(*others, strict=True)
    found: list[Outcome | None] = []
    for status in statuses:
        if status is None:
            found.append(None)
            continue
        value, reason, details, seconds = next(rest)
        found.append(Outcome(value, status, reason, _NOTHING if details is None else details, seconds))
    return found
