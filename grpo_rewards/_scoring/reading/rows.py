"""`Row`: one row of an input file, and JSON that survives what real files hold."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

import orjson

from grpo_rewards._contract.shapes import SCORES
from grpo_rewards.errors import InputError

MAX_ROW_BYTES = 64 * 1024 * 1024
"""A longer row is refused: it would be memory, not data."""

COMPRESSED = (".gz", ".zst", ".zstd")
JSON = (".jsonl", ".json", ".json-lines", ".jsonlines", ".ndjson")
DELIMITED = {".csv": ",", ".tsv": "\t"}
PARQUET = (".parquet", ".pq")
"""What the end of a file's name says of it: compression, and what holds the rows."""

_LARGE = 2.0**63


def check_output(out: Path, *inputs: str | Path) -> None:
    """Refuse what cannot be written as a file beside its `inputs` (``-`` is stdin).

    Raises:
        InputError: its folder does not exist, it is a folder itself, or one of the inputs, or named as what is only read.
    """
    if (kind := format_suffix(out)) in (*DELIMITED, *PARQUET):  # whoever reads it again would go by the name
        raise InputError(f"nothing is written as {kind}: rows are JSONL (.jsonl, also .gz, .zst)", source=str(out))
    if not out.parent.is_dir():
        raise InputError(f"the folder of the output, {out.parent}, does not exist; create it first", source=str(out))
    if out.is_dir():
        raise InputError("is a folder; the output is one file", source=str(out))
    if out.exists() and any(str(one) != "-" and os.path.samefile(one, out) for one in inputs):
        raise InputError("the output is the input itself; give another -o", source=str(out))


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


def format_suffix(path: Path) -> str:
    """The last suffix that is none of compression, in lower case; empty where there is none."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def is_plain(row: Mapping[str, object], *, known: object = None) -> bool:
    """Whether a row is in the common shape already, so that `read_shape` would return it as it is.

    That is nearly every row, and this tells it in a third of the time: one ``completion``, text or messages with text, no
    scores, and a ``prompt`` and ``completion_ids`` of the right shape where they are there. `known`: a prompt that was
    found to be plain, so that the same object need not be looked at again.
    """
    prompt = row.get("prompt", "")
    for value in (row.get("completion"),) if prompt is known else (row.get("completion"), prompt):
        if type(value) is not str:
            if type(value) is not list:
                return False
            for message in value:
                if type(message) is not dict or type(message.get("content")) is not str:
                    return False
    ids = row.get("completion_ids")
    # ids by their types: isinstance would take True for a whole number, and there are thousands in a row
    return (ids is None or (type(ids) is list and set(map(type, ids)) <= _WHOLE)) and SCORES not in row


_WHOLE = {int}


def parse_object(raw: bytes | bytearray) -> dict[str, object]:
    """Parse one JSON object; NaN, Infinity and whole numbers of any size are taken, as Python writes them.

    Raises:
        ValueError: says what is wrong, on one line: no JSON, no object, or a key that is given twice.
    """
    value: object
    try:
        value = orjson.loads(raw)
        if _may_hide_a_key(raw, value):
            value = _parse_leniently(raw, "")
    except orjson.JSONDecodeError as error:
        value = _parse_leniently(raw, str(error))
    # by their types first, in one step: most rows have no such number
    if (
        isinstance(value, dict)
        and float in set(map(type, value.values()))
        and any(map(_may_be_rounded, value.values()))
    ):
        value = _parse_leniently(raw, "")
    if not isinstance(value, dict):
        kind = {list: "an array", str: "a string", type(None): "null", bool: "a boolean"}.get(type(value), "a number")
        hint = "; write one row per line, without brackets around them" if isinstance(value, list) else ""
        raise ValueError(f"a row must be a JSON object, not {kind}{hint}")
    return value


def _may_be_rounded(item: object) -> bool:
    # orjson rounds integers of more than 64 bits
    return type(item) is float and abs(item) >= _LARGE and item.is_integer()


def _may_hide_a_key(raw: bytes | bytearray, value: object) -> bool:
    """Whether the text may hold a key twice, of which orjson keeps the last without a word; json can be asked, and is slow."""
    try:
        return raw.count(b":") != orjson.dumps(value).count(b":")  # one for each key, and as many within strings
    except TypeError:  # nested more deeply than orjson writes
        return True


class _KeyTwice(ValueError):
    """A key that an object has twice; the text names it."""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _KeyTwice(f"the key {next(name for name in names if names.count(name) > 1)!r} is given twice")
    return found


def _parse_leniently(raw: bytes | bytearray, problem: str) -> object:
    try:
        return json.loads(raw.decode("utf-8"), object_pairs_hook=_unique)
    except _KeyTwice:
        raise
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


def digest(value: object, size: int = 16) -> bytes:
    """Return `size` bytes that stand for a value, by its JSON."""
    return hashlib.blake2b(dump_json(value), digest_size=size).digest()


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
