"""The rows' texts: bounded, packed into compressed chunks on disk, and the index that the page's table reads."""

from __future__ import annotations

import base64
import gzip
import json
import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

import orjson

from grpo_rewards._contract.text import content_text
from grpo_rewards._report.columns import Columns
from grpo_rewards._report.rows import CODES, Row

__all__ = ["CHUNK_ROWS", "Bodies", "PageLimits", "index_json", "packed", "plain_text"]

CHUNK_ROWS = 64
_PREVIEW = 96
_LEVEL = 3  # a third of the time of level 6, for a tenth more bytes
_COLUMN_TEXT = 400
_MAX_COLUMNS = 40
_MAX_MESSAGES = 24
_ANSWER_KEYS = ("extracted", "extracted_answer", "answer", "predicted", "prediction", "parsed", "candidate")


@dataclass(frozen=True, slots=True)
class PageLimits:
    """What the browser of completions may hold: rows, characters per text, and bytes of the packed texts.

    Once half of `packed_bytes` is used each text gets a quarter of `characters`; once all of it is, 200 characters.
    The figures always count every row in full.
    """

    rows: int = 100_000
    characters: int = 6_000
    packed_bytes: int = 40_000_000


def packed(data: bytes) -> str:
    """Return `data` compressed and in base64: letters, digits, +, / and = only, so it cannot leave its element."""
    return base64.b64encode(gzip.compress(data, _LEVEL, mtime=0)).decode("ascii")


def _json(data: Any) -> bytes:
    try:
        return orjson.dumps(data)
    except TypeError:  # lone surrogates, or whole numbers beyond 64 bits
        return json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def plain_text(value: Any) -> str:
    """Return any prompt or completion as one text, of every message in it; never raises on a strange shape."""
    return "\n\n".join(text for _, text in _messages(value))


def _messages(value: Any) -> list[tuple[str, str]]:
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


def _message_text(message: Mapping[str, Any]) -> str:
    try:
        text = content_text(message.get("content"))
    except (TypeError, AttributeError):
        text = _shown(message.get("content"))
    for key in ("reasoning_content", "tool_calls"):
        if message.get(key):
            extra = message[key] if isinstance(message[key], str) else _shown(message[key])
            text = f"{key}: {extra}\n{text}" if text else f"{key}: {extra}"
    return text


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return repr(type(value))


class Bodies:
    """Takes rows in order and keeps their texts in chunks of `CHUNK_ROWS`, one line of `file` each."""

    def __init__(self, file: IO[str], limits: PageLimits) -> None:
        self.limits = limits
        self.previews: list[str] = []
        self.lines = array("l")
        self.indices = array("l")
        self.chunks = 0
        self.cut_texts = 0
        self._file = file
        self._used = 0
        self._pending: list[dict[str, Any]] = []

    def __len__(self) -> int:
        return len(self.previews)

    def add(self, row: Row, completion: str) -> None:
        """Keep one row; one beyond ``limits.rows`` is not kept."""
        if len(self.previews) >= self.limits.rows:
            return
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
        self._used += len(text)
        self.chunks += 1
        self._file.write(text + "\n")
        self._pending = []

    def read(self) -> Iterator[str]:
        """Return the chunks in order, one at a time."""
        self._file.seek(0)
        return (line.rstrip("\n") for line in self._file)

    def _allowance(self) -> int:
        if self._used < self.limits.packed_bytes // 2:
            return self.limits.characters
        return min(self.limits.characters, max(200, self.limits.characters // 4)) \
            if self._used < self.limits.packed_bytes else min(self.limits.characters, 200)  # fmt: skip

    def _cut(self, text: str, allowance: int, cuts: list[str], name: str) -> str:
        """Keep the beginning and, since answers stand there, the end."""
        if len(text) <= allowance:
            return text
        head = allowance * 2 // 3
        tail = allowance - head
        cuts.append(f"{name}: {allowance:,} of {len(text):,} characters kept (beginning and end)")
        self.cut_texts += 1
        return f"{text[:head]}\n[… {len(text) - allowance:,} characters left out …]\n{text[len(text) - tail :]}"

    def _conversation(self, value: Any, allowance: int, cuts: list[str], name: str) -> list[list[str]]:
        messages = _messages(value)
        if len(messages) > _MAX_MESSAGES:
            cuts.append(f"{name}: the last {_MAX_MESSAGES} of {len(messages)} messages kept")
            messages = messages[-_MAX_MESSAGES:]
        share = allowance if len(messages) < 2 else max(200, allowance // len(messages))
        return [[role[:40], self._cut(text, share, cuts, name)] for role, text in messages]

    def _body(self, row: Row) -> dict[str, Any]:
        allowance = self._allowance()
        cuts: list[str] = []
        body: dict[str, Any] = {
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

    def _fields(self, data: Mapping[str, Any], cuts: list[str], name: str) -> list[list[str]]:
        fields = []
        for position, (key, value) in enumerate(data.items()):
            if position == _MAX_COLUMNS:
                cuts.append(f"{name}: {_MAX_COLUMNS} of {len(data)} kept")
                break
            text = value if isinstance(value, str) else _shown(value)
            fields.append([str(key)[:80], self._cut(text, _COLUMN_TEXT, cuts, f"{name} {str(key)[:80]}")])
        return fields


def _answers(row: Row) -> list[tuple[str, str]]:
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
            short.append(int(number) if number.is_integer() and abs(number) < 1e15 else number)
    return short


def index_json(bodies: Bodies, columns: Columns, centred: array[float], normalised: array[float]) -> bytes:
    """Return the table's columns for the rows that `bodies` holds, as JSON."""
    size = len(bodies)
    return _json(
        {
            "n": size,
            "chunk": CHUNK_ROWS,
            "codes": CODES,
            "line": list(bodies.lines),
            "index": list(bodies.indices),
            "group": list(columns.groups[:size]),
            "step": list(columns.steps[:size]),
            "length": list(columns.lengths[:size]),
            "reward": _numbers(columns.rewards, size),
            "centred": _numbers(centred, size),
            "normalised": _numbers(normalised, size),
            "preview": bodies.previews,
            "components": [
                {"name": name, "value": _numbers(column.values, size), "status": list(column.statuses[:size])}
                for name, column in columns.components.items()
            ],
        }
    )
