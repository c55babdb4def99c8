"""Tests of the format `calls`, as they cross to where they run."""

from __future__ import annotations

import json
import marshal
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .program.border.calling import BATCH, LENGTH

# without blanks, as results come back: equal texts need not be read
_encode = json.JSONEncoder(separators=(",", ":")).encode
_VERSION = 2  # of marshal: each version of Python reads and writes it, and equal values are equal bytes
_KEYED = b"{u"  # how an object with keys begins in marshal, and hardly anything else
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


def pack_calls(calls: Iterable[list[object] | dict[str, object]]) -> list[bytes]:
    """Return calls for `Job.tests`, of each the arguments in a list or by name; equal calls are equal bytes.

    Arguments are values out of JSON and no other: no tuples, sets or numpy numbers. JSON has no other keys than text, so where
    all keys of an object are whole numbers, the program is given numbers.

    Raises:
        ValueError: they are nested too deeply, or of types that nothing knows.
    """
    given: list[tuple[list[object], dict[str, object]]] = [
        ([], call) if isinstance(call, dict) else (call, {}) for call in calls
    ]
    packed = [marshal.dumps(one, _VERSION) for one in given]
    if _KEYED in b"".join(packed):
        for place, (arguments, keywords) in enumerate(given):
            packed[place] = _packed(arguments, keywords)
    return packed


def _packed(arguments: list[object], keywords: dict[str, object]) -> bytes:
    named = {name: _with_whole_keys(value) for name, value in keywords.items()}
    return marshal.dumps((_with_whole_keys(arguments), named), _VERSION)


def _with_whole_keys(value: object) -> Any:
    if type(value) is list:
        return [_with_whole_keys(part) for part in value]
    if type(value) is dict:
        whole = bool(value) and all(map(_WHOLE.fullmatch, value))
        return {int(key) if whole else key: _with_whole_keys(part) for key, part in value.items()}
    return value


def batches(tests: Sequence[object]) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield calls, how long each is, and their results as JSON: as many together as cross at once."""
    some: list[tuple[bytes, str]] = []
    size = 0
    for call, result in map(_pair, tests):
        some.append((call, result))
        size += len(call) + len(result)
        if size > BATCH:
            yield _batch(some)
            some, size = [], 0
    if some:
        yield _batch(some)


def _batch(some: list[tuple[bytes, str]]) -> tuple[bytes, bytes, bytes]:
    calls, results = zip(*some, strict=True)
    lengths = array(LENGTH, map(len, calls)).tobytes()
    return b"".join(calls), lengths, f"[{','.join(results)}]".encode("utf-8", "surrogatepass")


def _pair(test: Any) -> tuple[bytes, str]:
    if not isinstance(test, Mapping):
        call, result = test
        return call, result
    arguments, keywords = json.loads(_encode([test.get("arguments", []), test.get("keywords", {})]))
    return _packed(arguments, keywords), _encode(test["result"])
