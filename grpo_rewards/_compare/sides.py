"""The two sides of a comparison: rows with their scores, from a scored file or scored now, and their pairing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from grpo_rewards._contract import completion_text
from grpo_rewards._scoring.reading.rows import SCORES, dump_json
from grpo_rewards.errors import InputError

if TYPE_CHECKING:
    from grpo_rewards._composition import Composite

__all__ = ["Cell", "ComparedRow", "Side", "pair_up", "read_side", "score_sides"]

_EXCERPT = 200


@dataclass(frozen=True, slots=True)
class Cell:
    """What one component said about one row; `contribution` is value × weight × gate, None where there is no value."""

    value: float | None
    weight: float
    gate: float
    contribution: float | None
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One row: its place in the file, a digest of prompt and completion, its group, reward and components."""

    line: int
    index: int | None
    content: bytes
    group: str
    reward: float | None
    cells: Mapping[str, Cell]
    excerpt: str


@dataclass(frozen=True, slots=True)
class Side:
    """One scoring of the rows, and what to call it."""

    name: str
    rows: list[ComparedRow]

    @property
    def components(self) -> list[str]:
        """The components' names, in order of appearance."""
        return list(dict.fromkeys(name for row in self.rows for name in row.cells))


def read_side(path: Path) -> Side:
    """Read scored JSONL, a completions parquet or a training output folder.

    Raises:
        InputError: it is none of these, or holds no scores.
    """
    from grpo_rewards._report.reading import open_source

    source = open_source(path)
    rows = []
    before: tuple[int | None, bytes] | None = None
    began = 0
    for number, row in enumerate(source.rows, 1):
        cells = {}
        for name, part in row.parts.items():
            weight = 1.0 if part.weight is None else part.weight
            gate = 1.0 if part.gate is None else part.gate
            contribution = part.contribution
            if contribution is None and part.value is not None:
                contribution = part.value * weight * gate
            cells[name] = Cell(part.value, weight, gate, contribution, part.status, part.reason)
        line = number if source.kind != "scored rows" else row.line
        group = row.group
        if group is None:  # a run of equal prompts within a step, as a trainer writes them
            key = None if row.prompt is None else (row.step, dump_json(row.prompt))
            if key is None or key != before:
                began = line
            before, group = key, f"line {began}"
        content = _digest(row.prompt, row.completion)
        rows.append(ComparedRow(line, row.index, content, group, row.reward, cells, _excerpt(row.completion)))
    if not rows:
        raise InputError("holds no rows", source=str(path))
    return Side(str(path), rows)


def score_sides(
    composites: Iterable[tuple[str, Composite]], path: str | Path, *, warn: Callable[[str], None]
) -> list[Side]:
    """Score the rows of a file with each composite, chunk by chunk; malformed rows are warned of and left out.

    Raises:
        InputError: the file cannot be read, or holds no rows.
        ColumnError: a column that a component needs is missing.
    """
    from grpo_rewards._scoring.chunks import Chunk, Pace, make_chunks
    from grpo_rewards._scoring.columns import checked
    from grpo_rewards._scoring.reading import open_source
    from grpo_rewards._scoring.scored import score_samples

    source = open_source(path)
    sides = [(composite, Side(name, [])) for name, composite in composites]
    chunks: Iterator[Chunk] = make_chunks(source, Pace(start=256), warn=warn)
    for composite, _ in sides:
        chunks = checked(chunks, composite, source, path)
    for chunk in chunks:
        for row in chunk.malformed:
            warn(f"{source.name}:{row.number}: {row.problem}; the row is left out")
        if not chunk.samples:
            continue
        for composite, side in sides:
            lines = score_samples(composite, chunk.samples).lines
            for sample, line in zip(chunk.samples, lines, strict=True):
                side.rows.append(_from_scores(orjson.loads(line)[SCORES], sample.data))
    if not sides[0][1].rows:
        raise InputError("holds no rows", source=source.name)
    return [side for _, side in sides]


def _from_scores(scores: Mapping[str, Any], data: Mapping[str, Any]) -> ComparedRow:
    cells = {
        name: Cell(p["value"], p["weight"], p["gate"], p["contribution"], p["status"], p["reason"])
        for name, p in scores["components"].items()
    }
    content = _digest(data.get("prompt"), data["completion"])
    group, index = str(scores["group"]), scores.get("index")
    return ComparedRow(scores["row"], index, content, group, scores["reward"], cells, _excerpt(data["completion"]))


def _digest(prompt: Any, completion: Any) -> bytes:
    return hashlib.blake2b(dump_json([prompt, completion]), digest_size=16).digest()


def _excerpt(completion: Any) -> str:
    text = completion if isinstance(completion, str) else completion_text(completion) if completion else ""
    return " ".join(text[-4 * _EXCERPT :].split())[-_EXCERPT:]  # the answer stands at the end


def pair_up(a: Side, b: Side) -> tuple[list[tuple[ComparedRow, ComparedRow]], list[ComparedRow], list[ComparedRow]]:
    """Return the pairs in the order of `a`, and the rows that only one side has.

    Rows are the same when prompt and completion are; among equal ones the first belongs to the first, and so on.

    Raises:
        InputError: no row of one is in the other.
    """
    waiting: dict[bytes, list[ComparedRow]] = {}
    for row in reversed(b.rows):
        waiting.setdefault(row.content, []).append(row)
    pairs, only_a = [], []
    for row in a.rows:
        if same := waiting.get(row.content):
            pairs.append((row, same.pop()))
        else:
            only_a.append(row)
    if not pairs:
        raise InputError(
            f"no row of {a.name} is in {b.name}: a row is known by its prompt and completion, and both sides must score "
            f"the same rows. To compare two configurations: grpo-rewards compare a.yaml b.yaml rows.jsonl"
        )
    return pairs, only_a, list(_left(waiting))


def _left(waiting: Mapping[bytes, list[ComparedRow]]) -> Iterator[ComparedRow]:
    for rows in waiting.values():
        yield from reversed(rows)
