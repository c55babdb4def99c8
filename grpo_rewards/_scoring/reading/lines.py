"""Lines of text files, plain or compressed, each of bounded length; and JSONL on top of them."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from grpo_rewards._scoring.reading.rows import MAX_ROW_BYTES, Row, parse_object
from grpo_rewards._scoring.reading.shapes import COMPLETION_COLUMNS
from grpo_rewards.errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

KEPT_OF_LONG_ROW = 1024 * 1024
"""Bytes that are kept of a row which is too long."""

_BLOCK = 256 * 1024
_HEAD = 4096  # of stdin, to see what it holds
_WORTH_IT = 64  # bytes of a row, or characters of a prompt, that is read once for all rows of its group
_MAGIC = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}
_WIDE = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


class BoundedLines:
    """The lines of a file (None: stdin) as bytes, with their 1-based numbers; decompressed by suffix, in UTF-8."""

    def __init__(self, path: Path | None) -> None:
        self.name = "stdin" if path is None else str(path)
        self.size: int | None = None
        self._raw: IO[bytes] | None = None
        try:
            self._raw = sys.stdin.buffer if path is None else path.open("rb", 64 * 1024)
            if path is not None:
                self.size = os.fstat(self._raw.fileno()).st_size or None
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", source=self.name) from None
        self._broken: tuple[type[Exception], ...] = (OSError, EOFError, zlib.error)
        self._stream = self._plain(self._raw, _suffix_by_content(self._raw) if path is None else path.suffix.lower())

    @property
    def delimiter(self) -> str | None:
        """What separates the cells of the first line, where that is a header which names a column of completions.

        Raises:
            InputError: what comes is parquet, which cannot be read from a pipe.
        """
        try:
            head = self._stream.peek(_HEAD)[:_HEAD].removeprefix(codecs.BOM_UTF8)
        except self._broken:
            return None  # reading the lines says it
        if head.startswith(b"PAR1"):
            raise InputError("is parquet, which is not read from a pipe: give the file's name", source=self.name)
        line = head.partition(b"\n")[0].decode("utf-8", "replace").strip()
        for delimiter in (",", "\t"):
            if {cell.strip().strip('"') for cell in line.split(delimiter)} & set(COMPLETION_COLUMNS):
                return delimiter
        return None

    @property
    def position(self) -> int:
        """Bytes of the file, as it lies on disk, that have been read."""
        try:
            return self._raw.tell() if self._raw is not None else 0
        except (OSError, ValueError):
            return 0

    def _plain(self, raw: IO[bytes], suffix: str) -> io.BufferedReader:
        if suffix == ".gz":
            unpacked = gzip.GzipFile(fileobj=raw)
            return io.BufferedReader(_Pieces(iter(lambda: unpacked.read1(_BLOCK), b"")), _BLOCK)
        if suffix in (".zst", ".zstd"):
            import zstandard

            self._broken = (*self._broken, zstandard.ZstdError)
            # windows as `zstd --long=31` makes them, above the library's 128 MiB; frames as appending to a file does
            opened = zstandard.ZstdDecompressor(max_window_size=2**31).stream_reader(raw, read_across_frames=True)
            return io.BufferedReader(opened, _BLOCK)
        return raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, raw), _BLOCK)

    def __iter__(self) -> Iterator[tuple[int, bytes, str]]:
        """Yield number, line with its end, and what is wrong with it (empty when nothing is).

        A file that breaks off within its compressed data ends with a last pair that says so.
        """
        number = 0
        try:
            stream = _in_utf8(self._stream)
            while line := stream.readline(MAX_ROW_BYTES + 1):
                number += 1
                if number == 1:
                    line = line.removeprefix(codecs.BOM_UTF8)
                if len(line) > MAX_ROW_BYTES and not line.endswith(b"\n"):
                    # read past in pieces, so that no line need fit in memory
                    while (rest := stream.readline(_BLOCK)) and not rest.endswith(b"\n"):
                        pass
                    yield number, line[:KEPT_OF_LONG_ROW], f"longer than {MAX_ROW_BYTES // 2**20} MiB"
                    continue
                yield number, line, ""
        except self._broken as error:
            yield number + 1, b"", f"the file cannot be read on from here: {error}"
        finally:
            if self._raw is not None and self._raw is not sys.stdin.buffer:  # whoever opened it closes it
                self._raw.close()


def _suffix_by_content(raw: IO[bytes]) -> str:
    """The suffix that compressed data on stdin would have in a file's name."""
    head: bytes = raw.peek(4)[:4] if isinstance(raw, io.BufferedReader) else b""
    return next((suffix for magic, suffix in _MAGIC.items() if head.startswith(magic)), "")


def _in_utf8(stream: io.BufferedReader) -> io.BufferedReader:
    """Return the stream in UTF-8 where it begins with the mark of UTF-16; what is no text becomes the replacement character."""
    if (mark := stream.peek(2)[:2]) not in _WIDE:
        return stream
    texts = codecs.iterdecode(iter(lambda: stream.read(_BLOCK), b""), _WIDE[mark], "replace")
    return io.BufferedReader(_Pieces(text.encode("utf-8") for text in texts), _BLOCK)


class _Pieces(io.RawIOBase):
    """A stream of pieces of bytes, each handed over at once: what lies before a break in the file is not lost with it."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._ready = pieces, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        self._ready = self._ready or next(filter(None, self._pieces), b"")
        into = memoryview(buffer)
        taken = self._ready[: len(into)]
        into[: len(taken)] = taken
        self._ready = self._ready[len(taken) :]
        return len(taken)


class LineSource(BoundedLines):
    """JSONL: one JSON object per line."""

    kind = "jsonl"
    cells = False
    columns: tuple[str, ...] | None = None

    def rows(self, *, after: int = 0) -> Iterator[Row]:
        parse = RowParser().parse
        for number, line, problem in self:
            if number <= after:
                continue
            if problem:
                yield Row(number, line, None, problem)
                continue
            line = line.strip()
            if not line:
                continue
            try:
                yield Row(number, line, parse(line))
            except ValueError as error:
                yield Row(number, line, None, str(error))


class RowParser:
    """Parses rows one after the other. Those that begin with the same bytes of a prompt get one object for it.

    Rows of a group do, and most of a row is its prompt.
    """

    def __init__(self) -> None:
        self._start = b""  # of a row, up to the comma after its prompt
        self._prompt: object = None  # what that says
        self._before: object = None  # the prompt of the last row that was read whole
        self._repeats = False

    def parse(self, raw: bytes) -> dict[str, object]:
        """Return what `parse_object` returns for the row; raise what it raises."""
        if self._start and raw.startswith(self._start):
            try:
                rest = parse_object(b"{" + raw[len(self._start) :])
            except ValueError:  # said of the whole row, below
                rest = {}
            if rest and "prompt" not in rest:
                self._repeats = True
                return {"prompt": self._prompt, **rest}
        row = parse_object(raw)
        prompt = row.get("prompt")
        if self._repeats or (prompt is not None and prompt == self._before):
            self._start, self._prompt = self._through_prompt(raw, row), prompt
        self._before, self._repeats = prompt, False
        return row

    @staticmethod
    def _through_prompt(raw: bytes, row: dict[str, object]) -> bytes:
        """The bytes of a row through the comma after its prompt; none where it does not begin with one.

        What follows a comma is the rest of the object only if it is an object by itself, with a brace before it, and
        holds all else that the row does.
        """
        names, prompt = list(row), row["prompt"]
        if len(names) < 2 or names[0] != "prompt" or not isinstance(prompt, (str, list)):
            return b""
        if isinstance(prompt, str) and len(prompt) < _WORTH_IT:  # the search would cost more than it saves
            return b""
        for comma in (b', "', b',"'):
            place = raw.find(comma + names[1].encode("utf-8", "surrogatepass") + b'"')
            if place >= _WORTH_IT:
                try:
                    rest = parse_object(b"{" + raw[place + 1 :])
                except ValueError:
                    continue
                if {"prompt": prompt, **rest} == row and "prompt" not in rest:
                    return raw[: place + 1]
        return b""
