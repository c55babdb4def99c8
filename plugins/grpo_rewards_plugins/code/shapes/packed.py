"""Tests packed as text, base64 of zlib of pickle, as LiveCodeBench and open-instruct have them: read without running any of it."""

from __future__ import annotations

import base64
import binascii
import io
import pickle
import re
import zlib
from typing import NoReturn

from grpo_rewards_plugins.cells import from_json
from grpo_rewards_plugins.code.problems import SuiteProblem

MOST_BYTES = 256 << 20
"""How large packed tests may be unpacked: real ones are tens of megabytes, and a small text can hold gigabytes."""

# twenty at least: a short answer may be letters and digits alone
_PACKED = re.compile(r"[A-Za-z0-9+/]{20,}={0,2}")


def is_packed(text: str) -> bool:
    """Whether a text is nothing but base64."""
    return _PACKED.fullmatch(text.strip()) is not None


def unpacked(text: str) -> object:
    """Return packed tests: lists and mappings, out of JSON where that is what was packed.

    Raises:
        SuiteProblem: it is something else, or larger than `MOST_BYTES`.
    """
    try:
        data = _inflated(base64.b64decode(text.strip(), validate=True))
    except (binascii.Error, zlib.error, ValueError) as problem:
        raise SuiteProblem(f"the tests are packed as text (base64), and not as zlib packs: {problem}"[:200]) from None
    # with this byte a pickle of protocol 2 and later begins, and neither JSON nor text in UTF-8
    found = _plain_pickle(data) if data[:1] == b"\x80" else data.decode("utf-8", "replace")
    tests = from_json(found)
    if not isinstance(tests, list | dict):
        raise SuiteProblem("the tests are packed as text (base64), and what is packed is no list of tests")
    return tests


def _inflated(data: bytes) -> bytes:
    inflater = zlib.decompressobj()
    # bounded while it inflates: nothing in the packed text says truly how large it becomes
    out = inflater.decompress(data, MOST_BYTES)
    if inflater.unconsumed_tail:
        raise SuiteProblem(f"the tests are packed as text (base64), and hold more than {MOST_BYTES >> 20} MiB")
    # a stream that ends early inflates without an error
    if not inflater.eof:
        raise ValueError("it is cut short")
    return out


class _Plain(pickle.Unpickler):
    """Reads text, numbers, lists and mappings, which need no class; a class is code, and no tests hold one."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise SuiteProblem(f"the packed tests hold a {str(name)[:60]!r}, and only plain data is read")

    def persistent_load(self, pid: object) -> NoReturn:
        raise SuiteProblem("the packed tests refer to something outside, and only plain data is read")


def _plain_pickle(data: bytes) -> object:
    try:
        return _Plain(io.BytesIO(data)).load()
    except SuiteProblem:
        raise
    except Exception as problem:  # noqa: BLE001  pickle raises whatever its bytes bring it to
        raise SuiteProblem(
            f"the packed tests are no pickle of plain data: {type(problem).__name__}: {problem}"[:200]
        ) from None
