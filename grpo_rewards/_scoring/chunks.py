"""From rows to chunks of work: whole groups together, bounded in rows and bytes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from grpo_rewards._contract import Batch
from grpo_rewards._scoring.reading import open_source
from grpo_rewards._scoring.reading.rows import Row, Source, dump_json, is_plain, parse_object, without_scores
from grpo_rewards._scoring.reading.shapes import ShapeError, read_shape

if TYPE_CHECKING:
    from grpo_rewards._composition import Composite

MAX_GROUP_ROWS = 4096
"""A longer group is cut: it must fit in memory to be compared within itself."""

_SHARE = 0.25  # seconds of a chunk where several processes score
_MAX_CHUNK_BYTES = 8 * 1024 * 1024
_MAX_MALFORMED_BYTES = 8 * 1024 * 1024
_MAX_GROUP_BYTES = 64 * 1024 * 1024
_REMEMBERED_GROUPS = 100_000  # whose return, after others came between, is noticed

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Sample:
    """One completion to score: where it comes from, the JSON text of its row, and its columns, parsed when asked for."""

    row: int
    index: int | None
    group: int
    raw: bytes
    cells: bool
    parsed: dict[str, object] | None = None

    # its text alone: to parse it again costs less than to send the columns along
    def __reduce__(self) -> tuple[object, ...]:
        return (Sample, (self.row, self.index, self.group, self.raw, self.cells))

    @property
    def data(self) -> dict[str, object]:
        """The columns, with ``completion`` and perhaps ``prompt``."""
        if self.parsed is None:
            self.parsed = read_shape(parse_object(self.raw), cells=self.cells).samples[0]
        return self.parsed


@dataclass(slots=True)
class Chunk:
    """A piece of work: samples of whole groups, and the malformed rows that lie between them.

    `last` is the number of the last row that it covers, `position` how far the file was read then, `size` the bytes of its
    samples.
    """

    samples: list[Sample] = field(default_factory=list)
    malformed: list[Row] = field(default_factory=list)
    last: int = 0
    position: int = 0
    size: int = 0


def batch_of(samples: Sequence[Sample], columns: tuple[str, ...] = ()) -> Batch:
    """Return samples as a batch with their groups; `columns` that no sample has are None in every row."""
    rows = [sample.data for sample in samples]
    # else the groups are not known, and a reward that compares one is refused instead of given groups of one row
    known = any("prompt" in row or "group_id" in row for row in rows) or any(s.index is not None for s in samples)
    return Batch.from_rows(rows, columns=columns, grouping=[sample.group for sample in samples] if known else None)


class Pace:
    """How many rows make a chunk: few at first, then as many as take about a second, `least` to `most`.

    What is lost when the process is killed is what is under way, so slow rewards get small chunks.
    """

    def __init__(self, *, start: int = 16, least: int = 1, most: int = 256, seconds: float = 1.0) -> None:
        self.rows = max(start, least)
        self._least = least
        self._most = most
        self._seconds = seconds

    @classmethod
    def of(cls, workers: int, asked: int = 0) -> Pace:
        """The pace for so many scoring processes, whose components may have `asked` calls under way.

        A process has one chunk at a time: rows enough for those calls, and no more than take a moment, since all the others wait
        for whoever has the last one.
        """
        return cls(least=max(1, min(256, 2 * asked)), seconds=_SHARE) if workers > 1 else cls()

    def took(self, rows: int, seconds: float) -> None:
        """Learn from a chunk that is done."""
        wanted = rows * self._seconds / max(seconds, 1e-6)
        self.rows = int(max(self._least, min(wanted, self.rows * 4, self._most)))


def make_chunks(
    source: Source, pace: Pace, *, after: int = 0, warn: Callable[[str], None] = _log.warning
) -> Generator[Chunk, None, None]:
    """Yield the rows of `source` in chunks; rows of one group (``group_id``, else equal prompts) stay together."""
    chunk = Chunk()
    for item in _units(source, after, warn):
        if isinstance(item, Row):
            chunk.malformed.append(item)
            chunk.last = max(chunk.last, item.number)
            continue
        if item is not None:
            if chunk.samples and chunk.size + item.size > _MAX_CHUNK_BYTES:
                yield chunk
                chunk = Chunk()
            chunk.samples += item.samples
            chunk.size += item.size
            chunk.last = max(chunk.last, item.samples[-1].row)  # malformed rows within a group came before it
        chunk.position = source.position
        if item is None or len(chunk.samples) >= pace.rows or chunk.size >= _MAX_CHUNK_BYTES:
            yield chunk
            chunk = Chunk()
    if chunk.samples or chunk.malformed:
        chunk.position = source.size or source.position
        yield chunk


def _units(source: Source, after: int, warn: Callable[[str], None]) -> Iterator[Chunk | Row | None]:
    """Groups (of one that is too large: pieces) and malformed rows; a malformed row comes before the group that it lies in.

    None marks a place where everything read has been yielded, after many malformed rows.
    """
    unit: Chunk | None = None
    current: Hashable = None
    seen = _Seen(source.name, warn)
    piled = 0
    cells = source.cells
    keys, plain = _Keys(), None
    for row in source.rows(after=after):
        raw, data = row.raw, row.data
        if data is None or cells or not is_plain(data, known=plain):
            try:
                if data is None:
                    raise ShapeError(row.problem)
                raw, (samples, listed) = without_scores(raw, data), read_shape(data, cells=cells)
            except ShapeError as error:
                yield Row(row.number, row.raw, None, str(error))
                piled += len(row.raw) + 1000
                if piled > _MAX_MALFORMED_BYTES:  # a file of broken lines must not pile up in memory until a group ends
                    if unit is not None:
                        yield unit
                    unit, current, piled = None, None, 0
                    yield None
                continue
            if listed:
                if unit is not None:
                    yield unit
                unit, current = None, None
                yield _listed(row, samples)
                continue
            data = samples[0]
        else:
            plain = data.get("prompt")
        key = keys.of(data)
        if unit is not None and key is not None and key == current:
            if len(unit.samples) < MAX_GROUP_ROWS and unit.size + len(raw) <= _MAX_GROUP_BYTES:
                unit.samples.append(Sample(row.number, None, unit.samples[0].row, raw, cells, data))
                unit.size += len(raw)
                continue
            seen.cut(unit.samples[0].row, len(unit.samples))
        elif key is not None:
            seen.add(key, row.number)
        if unit is not None:
            yield unit
        unit = Chunk([Sample(row.number, None, row.number, raw, cells, data)], size=len(raw))
        current = key
    if unit is not None:
        yield unit


def _listed(row: Row, samples: list[dict[str, object]]) -> Chunk:
    """A row that holds a list of completions: a group by itself, one output row for each."""
    found = []
    for index, data in enumerate(samples):
        # no cells any more: what they hold has been read as JSON, and is written as such
        found.append(Sample(row.number, index, row.number, dump_json(data), False, data))
    return Chunk(found, size=sum(len(sample.raw) for sample in found))


class _Keys:
    """The keys of groups; a prompt that is the very one of the row before is not looked at again."""

    def __init__(self) -> None:
        self._prompt: object = None
        self._key: Hashable = None

    def of(self, data: dict[str, object]) -> Hashable:
        """The key of a row's group, or None when it is alone; TRL's tables repeat a prompt from step to step."""
        if (group := data.get("group_id")) is not None:
            return ("group", _hashable(group))
        if (prompt := data.get("prompt")) is None:
            return None
        if prompt is not self._prompt:
            self._prompt, self._key = prompt, ("prompt", _hashable(prompt))
        if "advantage" in data and "step" in data:
            return (self._key, _hashable(data["step"]))
        return self._key


def _hashable(value: object) -> Hashable:
    return dump_json(value) if type(value) is list or not isinstance(value, (str, int)) else value


class _Seen:
    """Notices, in bounded memory, a group that comes back after others; says each kind of trouble once."""

    def __init__(self, name: str, warn: Callable[[str], None]) -> None:
        self._name = name
        self._warn = warn
        self._keys: set[int] = set()
        self._warned: set[str] = set()

    def add(self, key: Hashable, row: int) -> None:
        mark = hash(key)  # not the key, which may be a long prompt; a collision warns in vain, no more
        if mark in self._keys:
            self._warn_once(
                "scattered",
                f"{self._name}:{row}: this row's group (group_id, or the same prompt) began earlier and others came "
                f"between; its parts are scored as groups of their own. Sort the file by group to keep them together",
            )
        elif len(self._keys) < _REMEMBERED_GROUPS:
            self._keys.add(mark)

    def cut(self, row: int, rows: int) -> None:
        self._warn_once(
            "long", f"{self._name}:{row}: the group that begins here is cut after {rows} rows; it is too large"
        )

    def _warn_once(self, kind: str, text: str) -> None:
        if kind not in self._warned:
            self._warned.add(kind)
            self._warn(text)


def checked(chunks: Iterator[Chunk], composite: Composite, source: Source, path: str | Path) -> Iterator[Chunk]:
    """Return the chunks of the file at `path`, once the first one is known to have the columns that its rows need.

    Raises:
        ColumnError: a column is missing.
    """
    ahead: list[Chunk] = []
    for chunk in chunks:
        ahead.append(chunk)
        if chunk.samples:
            found = {column for sample in chunk.samples for column in sample.data} - {"completion"}
            if not composite.asked_columns <= found:
                batch = batch_of(chunk.samples)
                composite.check_columns(available_columns(batch, composite, source, path), batch=batch)
            break
    return chain(ahead, chunks)


def available_columns(batch: Batch, composite: Composite, source: Source, path: str | Path) -> list[str]:
    """Return the columns of a file's first rows, and those that the configuration names and a later row has.

    In JSONL rows may leave out what they do not have, so all of the file is looked through; except for a stream, which
    cannot be read twice.
    """
    found = batch.available
    left = {column for component in composite.components for column in component.named.values()}.difference(found)
    if not left or source.columns is not None or str(path) == "-":
        return found
    for row in open_source(path).rows():
        if row.data is not None and (there := left.intersection(row.data)):
            found = [*found, *there]
            left -= there
            if not left:
                break
    return found
