"""Rows that lack columns, completed from the data set that they were generated from.

What a trainer logs of a run may hold prompts and completions only. A trainer writes a prompt of messages as the text that
its chat template makes of them, so a row of the data set is also found by its messages' texts standing in it in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from grpo_rewards._contract.text import content_text
from grpo_rewards._scoring.reading.rows import Row, Source, dump_json
from grpo_rewards.errors import InputError

_NOT_COLUMNS = frozenset({"prompt", "completion", "completions", "response", "messages", "grpo_rewards"})


class JoinedData:
    """The rows of a data set by their value of the column `on`, such as ``prompt``.

    Raises:
        InputError: a row cannot be read or lacks `on`, or two rows have the same value and differ.
    """

    def __init__(self, source: Source, on: str) -> None:
        self.name, self.on = source.name, on
        self._rows: dict[bytes, dict[str, object]] = {}
        self._by_messages: list[tuple[int, Sequence[str], dict[str, object]]] = []
        self._found: dict[bytes, dict[str, object] | str] = {}
        for row in source.rows():
            if row.data is None or row.data.get(on) is None:
                raise InputError(row.problem or f"has no column {on!r} to join on", source=self.name, line=row.number)
            value = row.data[on]
            columns = {name: held for name, held in row.data.items() if name != on and name not in _NOT_COLUMNS}
            key = _key(value)
            if self._rows.setdefault(key, columns) != columns:
                raise InputError(
                    f"another row has the same {on!r} and other columns, so it is not known which one to join; "
                    "join on a column that tells them apart, with --on",
                    source=self.name, line=row.number,
                )  # fmt: skip
            if isinstance(value, list) and (texts := _texts(value)):
                self._by_messages.append((sum(map(len, texts)), texts, columns))
        self._by_messages.sort(key=lambda entry: -entry[0])  # the longest is the most particular

    def columns_of(self, value: object) -> dict[str, object] | str:
        """Return the columns of the row with this value, or what is wrong."""
        key = _key(value)
        if key not in self._found:  # a trainer logs a prompt once for each completion and step
            self._found[key] = self._look(key, value)
        return self._found[key]

    def _look(self, key: bytes, value: object) -> dict[str, object] | str:
        if key in self._rows:
            return self._rows[key]
        if isinstance(value, str):
            fitting = [entry for entry in self._by_messages if _stand_in(entry[1], value)]
            best = [columns for size, _, columns in fitting if size == fitting[0][0]]
            if best and all(columns == best[0] for columns in best):  # equally long ones may say the same
                return best[0]
            if best:
                return f"{len(best)} rows of {self.name} could be that of its {self.on!r}, and they differ"
        return f"no row of {self.name} has its {self.on!r}"


def _key(value: object) -> bytes:
    return dump_json(value.strip() if isinstance(value, str) else value)


def _texts(messages: Sequence[object]) -> list[str]:
    found = []
    for message in messages:
        try:
            text = content_text(cast(Mapping[str, object], message).get("content")).strip()
        except (TypeError, AttributeError):
            return []
        if text:
            found.append(text)
    return found


def _stand_in(texts: Sequence[str], prompt: str) -> bool:
    at = 0
    for text in texts:
        at = prompt.find(text, at)
        if at < 0:
            return False
        at += len(text)
    return True


class Joined:
    """A source whose rows have the columns of a data set too; its own win. A row that has no partner is malformed."""

    def __init__(self, source: Source, data: JoinedData) -> None:
        self._source, self._data = source, data
        self.name, self.kind, self.cells = source.name, source.kind, source.cells
        self.columns: tuple[str, ...] | None = None
        self.size = source.size

    @property
    def position(self) -> int:
        """How far the source has been read."""
        return self._source.position

    def rows(self, *, after: int = 0) -> Iterator[Row]:
        """Yield the rows whose number is above `after`."""
        for row in self._source.rows(after=after):
            if row.data is None:
                yield row
                continue
            value = row.data.get(self._data.on)
            found = f"it has no {self._data.on!r} to join on" if value is None else self._data.columns_of(value)
            if isinstance(found, str):
                yield Row(row.number, row.raw, None, found)
            else:
                data = {**found, **row.data}
                yield Row(row.number, dump_json(data), data)


def joined(source: Source, join: str | Path | None, on: str) -> Source:
    """Return `source` with the columns of the file `join`; as it is where there is none."""
    from grpo_rewards._scoring.reading import open_source

    return source if join is None else Joined(source, JoinedData(open_source(join), on))
