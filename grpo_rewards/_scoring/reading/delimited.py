"""CSV and TSV: a header, then one row per record; every value is text, an empty cell is null."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from grpo_rewards._scoring.reading.lines import BoundedLines
from grpo_rewards._scoring.reading.rows import MAX_ROW_BYTES, Row, dump_json
from grpo_rewards._scoring.reading.shapes import COMPLETION_COLUMNS
from grpo_rewards.errors import InputError


class _BadLine(ValueError):
    """A physical line that cannot be part of a record."""


class DelimitedSource:
    """A CSV file (or TSV); a row's number is the line that it begins on.

    Raises:
        InputError: the header is missing, names a column twice, or has no column of completions.
    """

    kind = "csv"
    cells = True

    def __init__(self, lines: BoundedLines, delimiter: str) -> None:
        self._lines = lines
        self.name = self._lines.name
        self.size = self._lines.size
        self._last = 0
        self._problem = ""
        # 128 KiB by default, which a completion may exceed
        csv.field_size_limit(max(csv.field_size_limit(), MAX_ROW_BYTES))
        self._records = csv.reader(self._text(), delimiter=delimiter, strict=True)
        self._header_names = self._header()
        self.columns: tuple[str, ...] | None = self._header_names

    @property
    def position(self) -> int:
        return self._lines.position

    def _header(self) -> tuple[str, ...]:
        try:
            header = next(self._records, None)
        except (csv.Error, ValueError) as error:
            raise InputError(f"the header cannot be read: {error}", source=self.name, line=1) from None
        if not header:
            raise InputError("the file is empty; a CSV file begins with a header", source=self.name)
        names = tuple(name.strip() for name in header)
        if twice := [name for name in names if names.count(name) > 1]:
            raise InputError(f"the header names {twice[0]!r} twice", source=self.name, line=1)
        if not set(names) & set(COMPLETION_COLUMNS):
            raise InputError(
                f"the header has none of {', '.join(COMPLETION_COLUMNS)}, only {', '.join(names)}",
                source=self.name,
                line=1,
            )
        return names

    def _text(self) -> Iterator[str]:
        """Physical lines; one that is no text becomes a stand-in, and its record is refused."""
        for number, line, problem in self._lines:
            self._last = number
            try:
                if problem:
                    raise _BadLine(problem)
                yield line.decode("utf-8")
            except (UnicodeDecodeError, _BadLine) as error:
                self._problem = self._problem or (
                    f"not UTF-8 text (line {number}, byte 0x{line[error.start]:02x} at column {error.start + 1})"
                    if isinstance(error, UnicodeDecodeError)
                    else str(error)
                )
                yield line.decode("utf-8", "backslashreplace")

    def rows(self, *, after: int = 0) -> Iterator[Row]:
        while True:
            number = self._last + 1
            self._problem = problem = ""
            record: list[str] | None = []
            try:
                record = next(self._records, None)
            except csv.Error as error:
                problem = f"not CSV: {error}"
            if record is None:
                return
            problem = self._problem or problem
            if number <= after or not (record or problem):
                continue
            if not problem and len(record) != len(self._header_names):
                problem = f"{len(record)} cells, but the header has {len(self._header_names)}"
            if problem:
                yield Row(number, "\t".join(record).encode("utf-8", "replace"), None, problem)
                continue
            data: dict[str, object] = {
                # an empty completion is one, and is scored
                name: cell if cell or name in ("completion", "response") else None
                for name, cell in zip(self._header_names, record, strict=True)
            }
            yield Row(number, dump_json(data), data)
