"""The two sides of a comparison: rows with their scores, from a scored file or scored now, and their pairing."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson

from grpo_rewards._compare.spool import Column, Items, Spool, in_order
from grpo_rewards._contract import completion_text
from grpo_rewards._contract.shapes import SCORES, RowScores
from grpo_rewards._scoring.reading.rows import digest
from grpo_rewards.errors import ConfigError, InputError

if TYPE_CHECKING:
    from grpo_rewards._composition import Composite

_EXCERPT = 200
_HALVES = struct.Struct("=qq")  # of a digest


class ComponentScore(NamedTuple):
    """What one component said about one row; `contribution` is value × weight × gate, None where there is no value."""

    value: float | None
    weight: float
    gate: float
    contribution: float | None
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One row: its place in the file, a digest of prompt and completion (16 bytes), its group, reward and components."""

    line: int
    index: int | None
    content: bytes
    group: str
    reward: float | None
    cells: Mapping[str, ComponentScore]
    excerpt: str


_Packed = tuple[int, int | None, bytes, str, float | None, Mapping[str, tuple[object, ...]], str]


class Side(Items[ComparedRow]):
    """One scoring of the rows, and what to call it: rows on disk, and their digests and the components' names, in order of appearance."""

    def __init__(self, name: str, rows: Iterable[ComparedRow] = ()) -> None:
        self.name = name
        self.components: dict[str, None] = {}
        self._halves: Column[int] = Column("q")  # two of each digest
        self._spool: Spool[_Packed] = Spool()
        for row in rows:
            self.append(row)

    def append(self, row: ComparedRow) -> None:
        """Add a row."""
        self.components.update(dict.fromkeys(row.cells))
        self._halves.extend(_HALVES.unpack(row.content))
        # plain tuples, which are packed more quickly than objects
        cells = {name: tuple(cell) for name, cell in row.cells.items()}
        self._spool.append((row.line, row.index, row.content, row.group, row.reward, cells, row.excerpt))

    def __len__(self) -> int:
        return len(self._spool)

    def item(self, place: int) -> ComparedRow:
        line, index, content, group, reward, cells, excerpt = self._spool[place]
        found = {name: ComponentScore._make(fields) for name, fields in cells.items()}
        return ComparedRow(line, index, content, group, reward, found, excerpt)

    def content(self, place: int) -> tuple[int, int]:
        """Return the digest of a row, as two numbers."""
        return self._halves[2 * place], self._halves[2 * place + 1]


def read_side(path: Path) -> Side:
    """Read scored JSONL, a completions parquet or a training output folder.

    Raises:
        InputError: it is none of these, or holds no scores.
    """
    from grpo_rewards._report.reading import open_report_source

    source = open_report_source(path)
    side = Side(str(path))
    for number, row in enumerate(source.rows, 1):
        cells = {}
        for name, part in row.parts.items():
            weight = 1.0 if part.weight is None else part.weight
            gate = 1.0 if part.gate is None else part.gate
            contribution = part.contribution
            if contribution is None and part.value is not None:
                contribution = part.value * weight * gate
            cells[name] = ComponentScore(part.value, weight, gate, contribution, part.status, part.reason)
        line = number if source.kind != "scored rows" else row.line  # each file of a training run counts from 1
        content = digest([row.prompt, row.completion])
        side.append(ComparedRow(line, row.index, content, str(row.group), row.reward, cells, _excerpt(row.completion)))
    if not side:
        raise InputError("holds no rows", source=str(path))
    return side


def score_sides(
    composites: Iterable[tuple[str, Composite]], path: str | Path, *, warn: Callable[[str], None]
) -> list[Side]:
    """Score the rows of a file with each composite, chunk by chunk; malformed rows are warned of and left out.

    Raises:
        InputError: the file cannot be read, or holds no rows.
        ColumnError: a column that a component needs is missing.
        ConfigError: a component found out when it was called that it is configured wrongly, as `score_file` says.
    """
    from grpo_rewards._scoring.chunks import Chunk, Pace, checked, make_chunks
    from grpo_rewards._scoring.executors import EXECUTORS
    from grpo_rewards._scoring.reading import open_source

    source, given = open_source(path), list(composites)
    chunks: Iterator[Chunk] = make_chunks(source, Pace(start=256), warn=warn)
    for _, composite in given:
        chunks = checked(chunks, composite, source, path)
    sides = [Side(name) for name, _ in given]
    # each chunk is read once, and kept until all have scored it: they go through the file together
    scored = (EXECUTORS["local"](one, same, 1) for (_, one), same in zip(given, tee(chunks, len(given)), strict=True))
    for found in zip(*scored, strict=True):
        for row in found[0][0].malformed:
            warn(f"{source.name}:{row.number}: {row.problem}; the row is left out")
        for side, (chunk, output) in zip(sides, found, strict=True):
            if output.configuration:
                raise ConfigError(output.configuration)
            for sample, line in zip(chunk.samples, output.lines, strict=True):
                side.append(_from_scores(orjson.loads(line)[SCORES], sample.data))
    if not sides[0]:
        raise InputError("holds no rows", source=source.name)
    return sides


def _from_scores(scores: RowScores, data: Mapping[str, object]) -> ComparedRow:
    cells = {
        name: ComponentScore(p["value"], p["weight"], p["gate"], p["contribution"], p["status"], p["reason"])
        for name, p in scores["components"].items()
    }
    content = digest([data.get("prompt"), data["completion"]])
    group, index = str(scores["group"]), scores.get("index")
    return ComparedRow(scores["row"], index, content, group, scores["reward"], cells, _excerpt(data["completion"]))


def _excerpt(completion: object) -> str:
    text = completion if isinstance(completion, str) else completion_text(completion) if completion else ""
    return " ".join(text[-4 * _EXCERPT :].split())[-_EXCERPT:]  # the answer stands at the end


def pair_up(a: Side, b: Side) -> tuple[Sequence[int], Sequence[int]]:
    """Return the places of the same rows on both sides, in the order of `a`.

    Rows are the same when prompt and completion are; among equal ones the first belongs to the first, and so on.

    Raises:
        InputError: no row of one is in the other.
    """
    alike = 0  # rows that both have at the same place need not be searched for
    while alike < min(len(a), len(b)) and a.content(alike) == b.content(alike):
        alike += 1
    left, right = Column("q", range(alike)), Column("q", range(alike))
    for place, other in in_order(_same(_places(a, alike), _places(b, alike)), "qq"):
        left.append(place)
        right.append(other)
    if not left:
        raise InputError(
            f"no row of {a.name} is in {b.name}: a row is known by its prompt and completion, and both sides must score "
            f"the same rows. To compare two configurations: grpo-rewards compare a.yaml b.yaml rows.jsonl"
        )
    return left, right


def _places(side: Side, start: int) -> Iterator[tuple[int, ...]]:
    """The digests from one on, in order, each with its place."""
    return in_order(((*side.content(place), place) for place in range(start, len(side))), "qqq")


def _same(mine: Iterator[tuple[int, ...]], theirs: Iterator[tuple[int, ...]]) -> Iterator[tuple[int, int]]:
    """The places of equal digests on both sides."""
    one, two = next(mine, None), next(theirs, None)
    while one is not None and two is not None:
        if one[:2] == two[:2]:
            yield one[2], two[2]
            one, two = next(mine, None), next(theirs, None)
        elif one < two:
            one = next(mine, None)
        else:
            two = next(theirs, None)
