"""JSON with the text of each part of its lists, so that what is handed on as JSON need not be written again."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, cast

from grpo_rewards_plugins.cells import from_json, plain

# the decoder's scanner in C: it takes a place to begin at and says where the value ends, as `loads` does not
_scan = cast(Any, json.JSONDecoder()).scan_once
# no quote, no point, no exponent: what is left is written in one way only, blanks aside
_KEPT = b"0123456789[],- "
_ASKED = ("input", "inputs", "stdin")  # keys of lists whose parts are handed on as values


class Parts(list[Any]):
    """A list out of JSON, which holds nothing else, that knows the text of each of its parts, if not what a key says."""

    __slots__ = ("_texts", "_whole")

    def __init__(self, values: list[object], texts: list[str], whole: str) -> None:
        super().__init__(values)
        self._texts, self._whole = texts, whole

    def written(self) -> list[str]:
        """The JSON of each part as this package writes it, empty for those that have to be written anew."""
        if not self._texts:
            return [""] * len(self)
        if _is_kept(self._whole):
            return [text.replace(" ", "") for text in self._texts]
        return [written(text) for text in self._texts]


def from_json_with_texts(value: object) -> object:
    """As `from_json`; a list, or each list of an object, is `Parts`, where a text has blanks behind commas and colons alone."""
    value = plain(value)
    if isinstance(value, str) and value[:1] in ("{", "["):
        # whatever is written otherwise is read by the ordinary way, which also says what is wrong with it
        with suppress(ValueError, StopIteration, RecursionError, IndexError):
            found, end = _list(value, 1) if value[0] == "[" else _object(value)
            if not value[end:].strip():
                return found
    return from_json(value)


def _object(text: str) -> tuple[dict[str, object], int]:
    """Read a text that begins with an object; return that and the place behind it."""
    found: dict[str, object] = {}
    at, mark = 1, ","
    while mark == ",":
        key, at = _scan(text, at)
        if type(key) is not str or text[at] != ":":
            raise ValueError("no object")
        at += 2 if text[at + 1] == " " else 1
        if text[at] == "[" and key not in _ASKED:
            found[key], at = _list(text, at + 1)
        else:
            value, at = _scan(text, at)
            found[key] = Parts(value, [], "") if type(value) is list else value
        mark = text[at]
        at += 2 if text[at + 1 : at + 2] == " " else 1
    if mark != "}":
        raise ValueError("no object")
    return found, at


def _list(text: str, at: int) -> tuple[Parts, int]:
    """Read what follows a bracket; return the list and the place behind the bracket that closes it."""
    values: list[object] = []
    texts: list[str] = []
    start, mark = at, text[at]
    while mark != "]":
        value, end = _scan(text, at)
        values.append(value)
        texts.append("" if type(value) is str else text[at:end])
        mark, at = text[end], end + 1
        if mark == ",":
            at += text[at] == " "
        elif mark != "]":
            raise ValueError("no list")
    at = at if values else at + 1
    return Parts(values, texts, text[start:at]), at


def written(text: str) -> str:
    """The JSON of a value as this package writes it, from JSON of the same value; empty where that has to be written anew.

    That is so but for whole numbers and lists of them: a text has blanks that count, and a float may be written in several ways.
    """
    return text.replace(" ", "") if _is_kept(text) else ""


def _is_kept(text: str) -> bool:
    # -0 is read as the integer 0, and written so; deleting bytes takes one pass in C
    return "-0" not in text and not text.encode("utf-8", "replace").translate(None, _KEPT)
