"""Parquet, TRL's own tables of completions included; pyarrow is imported here only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from grpo_rewards._scoring.reading.rows import MAX_ROW_BYTES, Row, dump_json, parse_object
from grpo_rewards._scoring.reading.shapes import COMPLETION_COLUMNS
from grpo_rewards.errors import InputError, how_to_install

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

_ROWS_AT_ONCE = 64


@contextmanager
def parquet_file(path: Path) -> Iterator[ParquetFile]:
    """Open a parquet file, to be read in constant memory.

    Raises:
        InputError: pyarrow is not installed, or the file is no parquet, which may show where it is read only.
    """
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise InputError(f"reading parquet needs pyarrow: {how_to_install('parquet')}", source=str(path)) from None
    try:
        with parquet.ParquetFile(path, pre_buffer=False, memory_map=False, buffer_size=1024 * 1024) as file:
            yield file
    # a table that a trainer still writes is such a file: parquet says at its end what is in it
    except (arrow.ArrowException, OSError) as error:
        raise InputError(f"cannot be read as parquet: {error}", source=str(path)) from error


class ParquetSource:
    """A parquet file; a row's number counts from 1. Values become what JSON can hold (times and decimals: text).

    Raises:
        InputError: pyarrow is not installed, the file is no parquet, or it has no column of completions.
    """

    kind = "parquet"
    cells = False

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._path = path
        with parquet_file(path) as file:
            names = tuple(file.schema_arrow.names)
            self.size: int | None = file.metadata.num_rows
        self.columns: tuple[str, ...] | None = names
        self.position = 0
        if not set(names) & set(COMPLETION_COLUMNS):
            raise InputError(
                f"it has none of the columns {', '.join(COMPLETION_COLUMNS)}, only {', '.join(names)}",
                source=self.name,
            )

    def rows(self, *, after: int = 0) -> Iterator[Row]:
        number = 0
        try:
            with parquet_file(self._path) as file:
                for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, use_threads=False):
                    if number + batch.num_rows <= after:
                        number += batch.num_rows
                        continue
                    for data in batch.to_pylist():
                        number += 1
                        self.position = number
                        if number <= after:
                            continue
                        raw = dump_json(data)
                        if len(raw) > MAX_ROW_BYTES:
                            yield Row(number, raw[: 1024 * 1024], None, f"longer than {MAX_ROW_BYTES // 2**20} MiB")
                            continue
                        # from its text, as a worker process reads it, which gets the text alone
                        yield Row(number, raw, parse_object(raw))
        except InputError as error:
            yield Row(number + 1, b"", None, f"the file cannot be read on from here: {error.__cause__}")
