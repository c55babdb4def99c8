"""`Row`: one row of an input file, and JSON that survives what real files hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import orjson

from grpo_rewards._contract.shapes import SCORES

__all__ = ["MAX_ROW_BYTES", "SCORES", "Row", "Source", "dump_json", "parse_object", "without_scores"]

MAX_ROW_BYTES = 64 * 1024 * 1024
"""A longer row is refused: it would be memory, not data."""

_LARGE = 2.0**63


class Row(NamedTuple):
    """One row of a file: its 1-based line (or ordinal, in parquet), its JSON text, and what that says.

    A row that cannot be read has `data` None, a `problem`, and the bytes as they stand in the file in `raw`
    (the first of them, where it is too long).
    """

    number: int
    raw: bytes
    data: dict[str, object] | None
    problem: str = ""


class Source(Protocol):
    """An open file of rows.

    `name` is for messages; `kind` is ``jsonl``, ``csv`` or ``parquet``; `cells` says that every value is text, as in
    CSV; `columns` is known where the format has a header. `position` of `size` has been read (None: not known).
    """

    name: str
    kind: str
    cells: bool
    columns: tuple[str, ...] | None
    size: int | None

    @property
    def position(self) -> int: ...

    def rows(self, *, after: int = 0) -> Iterator[Row]:
        """Yield the rows whose number is above `after`. Empty lines are skipped."""
        ...


def parse_object(raw: bytes | bytearray) -> dict[str, object]:
    """Parse one JSON object; NaN, Infinity and whole numbers of any size are taken, as Python writes them.

    Raises:
        ValueError: says what is wrong, on one line.
    """
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        value = _parse_leniently(raw, str(error))
    if not isinstance(value, dict):
        kind = {list: "an array", str: "a string", type(None): "null", bool: "a boolean"}.get(type(value), "a number")
        hint = "; write one row per line, without brackets around them" if isinstance(value, list) else ""
        raise ValueError(f"a row must be a JSON object, not {kind}{hint}")
    for item in value.values():
        if type(item) is float and abs(item) >= _LARGE and item.is_integer():  # orjson rounds integers of 64 bits
            return _parse_leniently(raw, "not JSON")  # type: ignore[no-any-return]
    return value


def _parse_leniently(raw: bytes | bytearray, problem: str) -> Any:
    try:
        return json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text (byte 0x{raw[error.start]:02x} at column {error.start + 1})") from None
    except RecursionError:
        raise ValueError("not JSON that can be read: nested too deeply") from None
    except ValueError:
        raise ValueError(f"not JSON: {problem}") from None


def dump_json(value: object) -> bytes:
    """Return `value` as JSON on one line; what JSON cannot hold is written as text."""
    try:
        return orjson.dumps(value)  # nearly always; options take it twice as long
    except (TypeError, RecursionError):
        return _dump_anything(value)


def _dump_anything(value: object) -> bytes:
    try:
        return orjson.dumps(value, default=_as_json, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY)
    except (TypeError, ValueError, RecursionError):  # lone surrogates, integers above 64 bits, deep nesting
        try:
            return json.dumps(value, default=_as_json).encode("ascii")
        except (TypeError, ValueError, RecursionError):
            return orjson.dumps(repr(value)[:10_000].encode("utf-8", "replace").decode())


def _as_json(value: object) -> object:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "backslashreplace")
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if hasattr(value, "items"):
        return dict(value.items())
    return str(value)


def without_scores(raw: bytes, data: dict[str, object]) -> bytes:
    """Return the row's JSON text without the key ``grpo_rewards``, otherwise byte for byte where that can be done."""
    if SCORES not in data:
        return raw
    rest = {name: value for name, value in data.items() if name != SCORES}
    # found by its text and then checked, since a completion may hold these very bytes
    start = raw.find(b',"' + SCORES.encode() + b'":{')
    if start > 0:
        shortened = raw[:start] + b"}"
        try:
            if parse_object(shortened) == rest:
                return shortened
        except ValueError:
            pass
    return dump_json(rest)
