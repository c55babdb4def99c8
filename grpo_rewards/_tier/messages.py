"""What goes to an actor and comes back: rows by component, and their outcomes as columns.

A tenth of what pickling each outcome costs, and there is one per row and component. Above 100 kB Ray takes an argument or an answer
through its object stores and daemons, which costs three times what it does to send it along with the call: so rows go as several
arguments, and long answers are compressed.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import is_
from typing import Any

import zstandard

from grpo_rewards._contract import Batch, Outcome
from grpo_rewards._contract.outcome import Status, restored

_NOTHING = Outcome().details
_LONG = 90_000  # bytes: somewhat less than Ray takes along
_ARGUMENTS = 32  # that Ray takes along together; what is longer is one, compressed, in its object stores


def _dumps(value: object, limit: int = _LONG) -> bytes:
    """Return plain data as bytes, compressed where they are more than `limit`."""
    found = pickle.dumps(value, protocol=5)
    return found if len(found) <= limit else zstandard.ZstdCompressor(level=1).compress(found)


def _loads(message: bytes) -> Any:
    """Return what `_dumps` was given."""
    # a pickle never begins with zstandard's header: its first byte is 0x80
    plain = zstandard.ZstdDecompressor().decompress(message) if message.startswith(zstandard.FRAME_HEADER) else message
    return pickle.loads(plain)  # noqa: S301 - between a driver and actors of one cluster, which can run anything in each other


@dataclass(eq=False)
class _Counted(Sequence[object]):
    """Token ids of which only the number is read: it goes in their place, and a range of that length comes out."""

    numbers: list[int]

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, row: Any) -> Any:
        return range(self.numbers[row])

    def __iter__(self) -> Iterator[object]:
        return map(range, self.numbers)


def counted(ids: Sequence[object]) -> Sequence[object]:
    """Return token ids so that only their numbers are sent; what is no list of them goes as it is."""
    return _Counted(list(map(len, ids))) if all(type(one) is list for one in ids) else ids  # type: ignore[arg-type]


def pack_rows(timeout: float | None, parts: Sequence[tuple[str, Batch]]) -> list[bytes]:
    """Return rows by component as a call's arguments; rows that several components read go once, with what any of them reads."""
    rows: list[_BatchColumns] = []
    readers: list[tuple[str, int]] = []
    for name, batch in parts:
        mine = _BatchColumns(batch.completions, batch.prompts, batch.completion_ids, dict(batch.columns), batch.grouping, batch.group_size)  # fmt: skip
        at = next((at for at, known in enumerate(rows) if known.joins(mine)), len(rows))
        if at == len(rows):
            rows.append(mine)
        readers.append((name, at))
    found = _dumps((timeout, readers, [tuple(vars(one).values()) for one in rows]), _ARGUMENTS * _LONG)
    if found.startswith(zstandard.FRAME_HEADER):
        return [found]
    return [found[start : start + _LONG] for start in range(0, len(found), _LONG)]


@dataclass
class _BatchColumns:
    """The columns of a batch, in the order of its fields."""

    completions: Sequence[object]
    prompts: Sequence[object] | None
    completion_ids: Sequence[object] | None
    columns: dict[str, Sequence[object]]
    grouping: Sequence[object] | None
    group_size: int | None

    def joins(self, other: _BatchColumns) -> bool:
        """Take in the columns of the other where both are the same rows; say whether they are."""
        if not (self.grouping is other.grouping is None and self.group_size is other.group_size is None):
            return False
        both = [(self.completions, other.completions), (self.prompts, other.prompts), (self.completion_ids, other.completion_ids)]  # fmt: skip
        both += [(values, other.columns[name]) for name, values in self.columns.items() if name in other.columns]
        if not all(_same(one, two) for one, two in both):
            return False
        self.prompts = other.prompts if self.prompts is None else self.prompts
        self.completion_ids = other.completion_ids if self.completion_ids is None else self.completion_ids
        self.columns |= other.columns
        return True


def _same(one: Sequence[object] | None, other: Sequence[object] | None) -> bool:
    """Whether two columns hold the very same objects; a component that does not read a column has none."""
    return one is None or other is None or (len(one) == len(other) and all(map(is_, one, other)))


def unpack_rows(message: Iterable[bytes]) -> tuple[float | None, list[tuple[str, Batch]]]:
    """Return what `pack_rows` was given, one batch for all that read the same rows."""
    timeout, readers, rows = _loads(b"".join(message))
    batches = [
        Batch(completions, prompts, ids, columns, grouping=grouping, group_size=size)
        for completions, prompts, ids, columns, grouping, size in rows
    ]
    return timeout, [(name, batches[at]) for name, at in readers]


def pack_outcomes(parts: Sequence[tuple[Sequence[Outcome | None], float]]) -> bytes:
    """Return each part's outcomes (None where a row was not finished) and the seconds that it took, as bytes."""
    plain = [(_columns(outcomes), seconds) for outcomes, seconds in parts]
    try:
        return _dumps(plain)
    except Exception:  # noqa: BLE001 - a plugin's details may hold anything; a reason matters more than they do
        for (_, _, _, details, _), _ in plain:
            details[:] = [None if d is None else {str(k): repr(v)[:500] for k, v in d.items()} for d in details]
        return _dumps(plain)


def unpack_outcomes(reply: bytes) -> list[tuple[list[Outcome | None], float]]:
    """Return what `pack_outcomes` was given."""
    return [(_outcomes(columns), seconds) for columns, seconds in _loads(reply)]


_Details = Mapping[str, object] | None
_Columns = tuple[list[Status | None], list[float | None], list[str], list[_Details], list[float | None]]


def _columns(outcomes: Sequence[Outcome | None]) -> _Columns:
    finished = [outcome for outcome in outcomes if outcome is not None]
    details = [outcome.details for outcome in finished]
    return (
        [None if outcome is None else outcome.status for outcome in outcomes],
        [outcome.value for outcome in finished],
        [outcome.reason for outcome in finished],
        [dict(one) if one else None for one in details] if any(details) else [],
        [outcome.seconds for outcome in finished],
    )


def _outcomes(columns: _Columns) -> list[Outcome | None]:
    statuses, values, reasons, details, seconds = columns
    each_details: Iterable[Mapping[str, object]] = (
        [_NOTHING if one is None else one for one in details] if details else repeat(_NOTHING)
    )
    known: Iterator[Status] = filter(None, statuses)
    finished = map(restored, values, known, reasons, each_details, seconds)
    if None not in statuses:
        return list(finished)
    return [None if status is None else next(finished) for status in statuses]
