"""The rows' texts: bounded, packed into compressed chunks on disk, and the index that the page's table reads."""

from __future__ import annotations

import base64
import gzip
import json
import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

import orjson

from grpo_rewards._contract.text import content_text
from grpo_rewards._report.columns import Columns
from grpo_rewards._report.rows import ABSENT, CODES, ReportRow

CHUNK_ROWS = 64  # opening a row unpacks the chunk it is in, and like texts pack better together
_PREVIEW = 64
_LEVEL = 3  # a third of the time of level 6, for a tenth more bytes
_COLUMN_TEXT = 400
_MAX_COLUMNS = 40  # a data set may have hundreds, and every row would carry them
_MAX_MESSAGES = 24
_ANSWER_KEYS = ("extracted", "extracted_answer", "answer", "predicted", "prediction", "parsed", "candidate")


@dataclass(frozen=True, slots=True)
class PageLimits:
    """What the page may hold: rows in its browser of completions, characters per text, and bytes of the whole page.

    Where the texts do not fit, those of every so many rows in a row (`CHUNK_ROWS`) are kept whole, evenly spread, and
    the other rows keep their figures and the beginning of the completion. The figures always count every row in full.
    """

    rows: int = 100_000
    characters: int = 6_000
    bytes: int = 10_000_000


def packed(data: bytes) -> str:
    """Return `data` compressed and in base64: letters, digits, +, / and = only, so it cannot leave its element."""
    # without the time, so that the same rows make the same page
    return base64.b64encode(gzip.compress(data, _LEVEL, mtime=0)).decode("ascii")


def _json(data: object) -> bytes:
    try:
        return orjson.dumps(data)
    except TypeError:  # lone surrogates, or whole numbers beyond 64 bits
        return json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def plain_text(value: object) -> str:
    """Return any prompt or completion as one text, of every message in it; never raises on a strange shape."""
    return "\n\n".join(text for _, text in _messages(value))


def _messages(value: object) -> list[tuple[str, str]]:
    """Return (role, text) pairs; a plain string has the role ``""``."""
    if isinstance(value, str):
        return [("", value)]
    if value is None:
        return []
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, list | tuple):
        return [("", _shown(value))]
    found = []
    for message in value:
        if isinstance(message, Mapping):
            found.append((str(message.get("role") or ""), _message_text(message)))
        else:
            found.append(("", message if isinstance(message, str) else _shown(message)))
    return found


def _message_text(message: Mapping[str, object]) -> str:
    try:
        text = content_text(message.get("content"))
    except (TypeError, AttributeError):
        text = _shown(message.get("content"))
    for key in ("reasoning_content", "tool_calls"):
        if message.get(key):
            extra = message[key] if isinstance(message[key], str) else _shown(message[key])
            text = f"{key}: {extra}\n{text}" if text else f"{key}: {extra}"
    return text


def _shown(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        # its repr may be as deep, or raise
        return repr(type(value))


class Bodies:
    """Takes rows in order and keeps their texts in chunks of `CHUNK_ROWS`, one line of `file` each."""

    def __init__(self, file: IO[str], limits: PageLimits) -> None:
        self.limits = limits
        self.previews: list[str] = []
        self.lines = array("l")
        self.indices = array("l")
        self.cut_texts = 0
        self._file = file
        self._sizes: list[int] = []
        self._kept: frozenset[int] | None = None
        self._pending: list[dict[str, object]] = []

    def __len__(self) -> int:
        return len(self.previews)

    @property
    def without_texts(self) -> int:
        """The number of rows whose texts are not on the page."""
        if self._kept is None:
            return 0
        return sum(min(CHUNK_ROWS, len(self) - k * CHUNK_ROWS) for k in range(len(self._sizes)) if k not in self._kept)

    def add(self, row: ReportRow, completion: str) -> None:
        """Keep one row."""
        # twice as much, since what is white space goes
        self.previews.append(" ".join(completion[: 2 * _PREVIEW].split())[:_PREVIEW])
        self.lines.append(row.line)
        self.indices.append(-1 if row.index is None else row.index)
        self._pending.append(self._body(row))
        if len(self._pending) == CHUNK_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write the chunk under way."""
        if not self._pending:
            return
        text = packed(_json(self._pending))
        self._sizes.append(len(text))
        # base64 holds no line end, so a line is a chunk
        self._file.write(text + "\n")
        self._pending = []

    def fit(self, budget: int) -> None:
        """Keep only so many chunks, evenly spread, that they take about `budget` bytes."""
        total = sum(self._sizes)
        if total > budget:
            share = max(budget, 0) / total
            # a chunk is kept wherever the running share passes a whole number: evenly, as a line is drawn on a grid
            self._kept = frozenset(k for k in range(len(self._sizes)) if int((k + 1) * share) > int(k * share))

    def read(self) -> Iterator[tuple[int, str]]:
        """Return the chunks that are kept, each with its number, in order and one at a time."""
        self._file.seek(0)
        for number, line in enumerate(self._file):
            if self._kept is None or number in self._kept:
                yield number, line.rstrip("\n")

    def _cut(self, text: str, allowance: int, cuts: list[str], name: str) -> str:
        """Keep the beginning and, since answers stand there, the end."""
        if len(text) <= allowance:
            return text
        # the beginning tells what was tried
        head = allowance * 2 // 3
        tail = allowance - head
        cuts.append(f"{name}: {allowance:,} of {len(text):,} characters kept (beginning and end)")
        self.cut_texts += 1
        return f"{text[:head]}\n[… {len(text) - allowance:,} characters left out …]\n{text[len(text) - tail :]}"

    def _conversation(self, value: object, allowance: int, cuts: list[str], name: str) -> list[list[str]]:
        messages = _messages(value)
        if len(messages) > _MAX_MESSAGES:
            cuts.append(f"{name}: the last {_MAX_MESSAGES} of {len(messages)} messages kept")
            messages = messages[-_MAX_MESSAGES:]
        # one allowance for all messages, or a long conversation would outweigh a hundred rows
        share = allowance if len(messages) < 2 else max(200, allowance // len(messages))
        return [[role[:40], self._cut(text, share, cuts, name)] for role, text in messages]

    def _body(self, row: ReportRow) -> dict[str, object]:
        allowance = self.limits.characters
        cuts: list[str] = []
        body: dict[str, object] = {
            "p": self._conversation(row.prompt, allowance, cuts, "prompt"),
            "c": self._conversation(row.completion, allowance, cuts, "completion"),
            "k": {
                name: [
                    part.value, part.weight, part.gate, part.contribution, CODES.index(part.status),
                    self._cut(part.reason, _COLUMN_TEXT, cuts, f"reason of {name}"),
                    self._fields(part.details, cuts, f"details of {name}"),
                ]
                for name, part in row.parts.items()
            },
            "x": self._fields(row.columns, cuts, "column"),
        }  # fmt: skip
        answers = _answers(row)
        if answers:
            body["a"] = [[name, self._cut(text, _COLUMN_TEXT, cuts, "answer")] for name, text in answers]
        if row.left_out:
            body["o"] = row.left_out[:_COLUMN_TEXT]
        if row.advantage is not None:
            body["t"] = row.advantage
        if cuts:
            body["n"] = cuts[:12]
        return body

    def _fields(self, data: Mapping[str, object], cuts: list[str], name: str) -> list[list[str | int]]:
        fields: list[list[str | int]] = []
        for position, (key, value) in enumerate(data.items()):
            if position == _MAX_COLUMNS:
                cuts.append(f"{name}: {_MAX_COLUMNS} of {len(data)} kept")
                break
            text = value if isinstance(value, str) else _shown(value)
            kept = self._cut(text, _COLUMN_TEXT, cuts, f"{name} {str(key)[:80]}")
            is_json = kept is text and not isinstance(value, str)  # an export writes it as the value that it was
            fields.append([str(key)[:80], kept, 1] if is_json else [str(key)[:80], kept])
        return fields


def _answers(row: ReportRow) -> list[tuple[str, str]]:
    """Return what was taken for the answer, per component that says so in its details, else from a logged column."""
    found = []
    for name, part in row.parts.items():
        key = next((key for key in _ANSWER_KEYS if part.details.get(key) is not None), None)
        if key is not None:
            found.append((name, _shown(part.details[key])))
    if not found:
        for key in _ANSWER_KEYS[:2]:
            if row.columns.get(key) is not None:
                found.append((key, _shown(row.columns[key])))
    return found


def _numbers(values: Sequence[float], size: int) -> list[float | int | None]:
    """Return values short enough for a table: five significant digits, whole numbers as such, None for NaN."""
    short: list[float | int | None] = []
    for value in values[:size]:
        if value != value or math.isinf(value):
            short.append(None)
        else:
            number = float(f"{value:.5g}")
            short.append(int(number) if number.is_integer() and abs(number) < 1e15 else number)  # exact in a browser
    return short


@dataclass(frozen=True, slots=True)
class RunRows:
    """One run's part of the page: its columns, how many of its rows the page shows, and what they have in common.

    `contents` and `prompts` are digests, of each shown row and of each group; both empty on a page about one run.
    """

    name: str
    columns: Columns
    shown: int
    contents: Sequence[bytes] = ()
    prompts: Sequence[bytes] = ()


def index_json(bodies: Bodies, runs: Sequence[RunRows], same: Sequence[int]) -> bytes:
    """Return the table's columns for the rows that `bodies` holds, as JSON; what can be worked out is left out.

    `same` is what `twins` found.
    """
    names = list(dict.fromkeys(name for run in runs for name in run.columns.components))
    index: dict[str, object] = {
        "n": len(bodies),
        "chunk": CHUNK_ROWS,
        "codes": CODES,
        "runs": [{"name": run.name, "n": run.shown} for run in runs],
        "line": _unless(list(bodies.lines), list(range(1, len(bodies) + 1))),
        "index": _unless(list(bodies.indices), [-1] * len(bodies)),
        "group": _groups(runs),
        "step": _unless([s for r in runs for s in r.columns.steps[: r.shown]], [-1] * len(bodies)),
        "length": [n for run in runs for n in run.columns.lengths[: run.shown]],
        "reward": [v for run in runs for v in _numbers(run.columns.rewards, run.shown)],
        "left": [row for row, out in enumerate(_left_out(runs)) if out],
        "preview": bodies.previews,
        "components": [_component(name, runs) for name in names],
    }
    if len(runs) > 1:
        index["twin"] = same
        index["prompt"] = _prompts(runs)
    return _json(index)


def _unless(values: list[int], usual: list[int]) -> list[int] | None:
    return None if values == usual else values


def _groups(runs: Sequence[RunRows]) -> list[int]:
    """Number the groups of all runs, one run after the other."""
    found: list[int] = []
    before = 0
    for run in runs:
        found += [before + group for group in run.columns.groups[: run.shown]]
        before += run.columns.group_count
    return found


def _left_out(runs: Sequence[RunRows]) -> Iterator[int]:
    for run in runs:
        yield from run.columns.left_out_rows[: run.shown]


def _component(name: str, runs: Sequence[RunRows]) -> dict[str, object]:
    values: list[float | int | None] = []
    statuses: list[int] = []
    for run in runs:
        column = run.columns.components.get(name)
        values += [None] * run.shown if column is None else _numbers(column.values, run.shown)
        statuses += [ABSENT] * run.shown if column is None else list(column.statuses[: run.shown])
    return {"name": name, "value": values, "status": statuses}


def twins(runs: Sequence[RunRows]) -> list[int]:
    """Return for each row of a later run the first run's row with the same prompt and completion; -1 for none.

    Among equal ones the first belongs to the first, and so on.
    """
    first = runs[0]
    found = [-1] * first.shown
    for run in runs[1:]:
        waiting: dict[bytes, list[int]] = {}
        for row in reversed(range(first.shown)):  # so that pop() gives the first of equals
            waiting.setdefault(first.contents[row], []).append(row)
        found += [same.pop() if (same := waiting.get(content)) else -1 for content in run.contents[: run.shown]]
    return found


def _prompts(runs: Sequence[RunRows]) -> list[int]:
    """Return for each group a number that groups of the same prompt share."""
    numbers: dict[bytes, int] = {}
    return [numbers.setdefault(prompt, len(numbers)) for run in runs for prompt in run.prompts]
