"""The output file while it grows: killed at any moment, it can be taken up where it stopped.

Rows go to ``OUT.partial``, in order. After a chunk, several times a second at most, the small file
``OUT.partial.state`` is replaced: it says what the run belongs to, up to which row and byte it has come, and the figures
so far. What lies beyond that byte is a torn end and is dropped. When all is done ``OUT.partial`` becomes ``OUT`` in one step.
"""

from __future__ import annotations

import base64
import gzip
import math
import os
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, TypedDict

import orjson

from grpo_rewards._composition import differences
from grpo_rewards._scoring.reading.rows import COMPRESSED, Row
from grpo_rewards.errors import ResumeError

_STATE_EVERY = 0.2  # seconds; replacing a file costs some file systems milliseconds


def meta_path(out: Path) -> Path:
    """Where the provenance of a finished output is."""
    return out.with_name(out.name + ".meta.json")


def partial_path(out: Path) -> Path:
    """Where the rows are while the output is unfinished."""
    return out.with_name(out.name + ".partial")


class Reached(TypedDict, total=False):
    """How far a run has come: the row of the input, the bytes of the side file, and its figures.

    The figures are any dataclass that JSON can hold; read back from a file they are plain data.
    """

    row: int
    malformed_bytes: int
    counts: object


class _Committed(Reached, total=False):
    fingerprint: dict[str, object]
    bytes: int


class Journal:
    """The rows written so far; `state` is what was committed with them.

    Args:
        out: the file that is to be made; ``.gz`` and ``.zst`` are compressed when it is finished.
        fingerprint: what the run belongs to.
        resume: go on with what is there.
        force: start again over what is there.

    Raises:
        ResumeError: there is an unfinished output and neither was asked for, or it belongs to something else.
    """

    def __init__(self, out: Path, fingerprint: Mapping[str, object], *, resume: bool, force: bool) -> None:
        self.out = out
        self.fingerprint = dict(fingerprint)
        self.state: _Committed = {}
        self._text = b""  # of the state
        self._partial, self._state_file = partial_path(out), out.with_name(out.name + ".partial.state")
        exists = self._partial.exists()
        if exists and not (resume or force):
            raise ResumeError(
                f"{self._partial} is left from a run that did not finish. Continue it: --resume. Start again: --force"
            )
        continued = exists and not force
        if continued:
            self.state = self._read_state()
            self._text = orjson.dumps(self.state)
        try:
            # unbuffered, so that the state never speaks of rows that the file does not have yet
            self._file: IO[bytes] = self._partial.open("r+b" if continued else "w+b", buffering=0)
        except OSError as error:
            raise ResumeError(f"{self._partial} cannot be written: {error.strerror}") from None
        self._lock()
        if continued:
            self._drop_torn_end(self.state.get("bytes", 0))
        self._bytes = self._file.tell()
        self._noted = -math.inf
        if not continued:
            self.commit(b"", {"row": 0})

    def _read_state(self) -> _Committed:
        try:
            state: _Committed = orjson.loads(self._state_file.read_bytes())
            saved = state["fingerprint"]
        except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
            raise ResumeError(
                f"{self._state_file}, which says how far {self._partial.name} has come, is missing or not readable; "
                f"start again with --force"
            ) from None
        if changed := fingerprint_diff(saved, self.fingerprint):
            raise ResumeError(
                f"{self._partial} belongs to another run: {changed}. Resume with what it was made with, "
                f"start again with --force, or give another -o"
            )
        return state

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # not on this system: two runs into one file are then the user's to avoid
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ResumeError(f"{self._partial} is being written by another process") from None
        except OSError:  # a file system without locks
            return

    def _drop_torn_end(self, committed: int) -> None:
        there = self._file.seek(0, os.SEEK_END)
        if there < committed:
            raise ResumeError(
                f"{self._partial} has {there} bytes where {committed} had been written: it was cut or changed. "
                f"Start again with --force"
            )
        self._file.truncate(committed)
        self._file.seek(committed)

    def commit(self, rows: bytes, state: Reached) -> None:
        """Write whole lines, and note `state` as reached unless one was noted just now; `close` notes the last."""
        view = memoryview(rows)
        while view:
            view = view[self._file.write(view) :]  # an unbuffered file may take less than it is given
        self._bytes += len(rows)
        self.state = {"fingerprint": self.fingerprint, "bytes": self._bytes, **state}
        self._text = orjson.dumps(self.state, option=orjson.OPT_NON_STR_KEYS)  # now: its figures go on growing
        if time.monotonic() >= self._noted + _STATE_EVERY:
            self._note()

    def _note(self) -> None:
        _replace(self._state_file, self._text)
        self._noted = time.monotonic()

    def finish(self, meta: Mapping[str, object]) -> None:
        """Make the output of what has been written, in one step."""
        os.fsync(self._file.fileno())
        # first the provenance: whoever finds the output finds what it was made with
        _replace(meta_path(self.out), orjson.dumps(meta, option=orjson.OPT_INDENT_2, default=str) + b"\n")
        if self.out.suffix.lower() in COMPRESSED:
            packed = self.out.with_name(self.out.name + ".packing")
            self._file.seek(0)
            _compress(self._file, packed)
            os.replace(packed, self.out)
            self._partial.unlink()
        else:
            os.replace(self._partial, self.out)
        self._file.close()
        self._state_file.unlink(missing_ok=True)

    def close(self) -> None:
        """Leave the output unfinished, to be resumed; one in which nothing was scored goes away."""
        if self._file.closed:
            return
        if self._bytes or self.state.get("row"):
            with suppress(OSError):  # then what was noted before stands
                self._note()
        else:
            self._partial.unlink(missing_ok=True)
            self._state_file.unlink(missing_ok=True)
        self._file.close()


class SideFile:
    """Rows that could not be read, each with file, line and problem as one JSON line; made when there is one.

    Args:
        path: where it is; what an earlier run left there is removed, but for the first `keep` bytes.
    """

    def __init__(self, path: Path, source: str, *, keep: int) -> None:
        self.path = path
        self._source = source
        self.bytes = keep
        if path.exists():
            if keep and path.stat().st_size >= keep:
                os.truncate(path, keep)
            else:
                path.unlink()
                self.bytes = 0

    def add(self, rows: list[Row]) -> None:
        """Append rows."""
        lines = b"".join(map(self._line, rows))
        with self.path.open("ab") as stream:
            stream.write(lines)
        self.bytes += len(lines)

    def _line(self, row: Row) -> bytes:
        entry: dict[str, object] = {"file": self._source, "line": row.number, "problem": row.problem}
        try:
            entry["raw"] = row.raw.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            entry["raw"] = row.raw.decode("utf-8", "replace").rstrip("\r\n")
            entry["raw_base64"] = base64.b64encode(row.raw).decode("ascii")
        return orjson.dumps(entry) + b"\n"


def fingerprint_diff(saved: Mapping[str, object], now: Mapping[str, object]) -> str:
    """Say in words how two fingerprints differ; empty when they do not."""
    return "; ".join(f"{place} was {old!r}, is {new!r}" for place, old, new in differences(saved, now))


def _replace(path: Path, content: bytes) -> None:
    fresh = path.with_name(path.name + ".new")
    fresh.write_bytes(content)
    os.replace(fresh, path)


def _compress(rows: IO[bytes], path: Path) -> None:
    with path.open("wb") as raw:
        if path.with_suffix("").suffix.lower() == ".gz":
            # without name and time in the header: the same rows are the same bytes
            with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0, compresslevel=6) as stream:
                shutil.copyfileobj(rows, stream, 1024 * 1024)
        else:
            import zstandard

            zstandard.ZstdCompressor(level=6).copy_stream(rows, raw)
        raw.flush()
        os.fsync(raw.fileno())
