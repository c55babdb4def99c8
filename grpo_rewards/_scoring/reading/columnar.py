"""Parquet, TRL's own tables of completions included; pyarrow is imported here only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from grpo_rewards._scoring.reading.rows import MAX_ROW_BYTES, Row, dump_json, parse_object
from grpo_rewards._scoring.reading.shapes import COMPLETION_COLUMNS
from grpo_rewards.errors import InputError, how_to_install

__all__ = ["ParquetSource"]

_ROWS_AT_ONCE = 64


class ParquetSource:
    """A parquet file; a row's number counts from 1. Values become what JSON can hold (times and decimals: text).

    Raises:
        InputError: pyarrow is not installed, the file is no parquet, or it has no column of completions.
    """

    kind = "parquet"
    cells = False

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        try:
            import pyarrow as arrow
            from pyarrow import parquet
        except ImportError:
            raise InputError(f"reading parquet needs pyarrow: {how_to_install('parquet')}", source=self.name) from None
        self._errors = (arrow.ArrowException, OSError)
        try:
            self._file = parquet.ParquetFile(path, pre_buffer=False, memory_map=False, buffer_size=1024 * 1024)
        except self._errors as error:
            raise InputError(f"cannot be read as parquet: {error}", source=self.name) from None
        names = tuple(self._file.schema_arrow.names)
        self.columns: tuple[str, ...] | None = names
        self.size: int | None = self._file.metadata.num_rows
        self.position = 0
        if not set(names) & set(COMPLETION_COLUMNS):
            raise InputError(
                f"it has none of the columns {', '.join(COMPLETION_COLUMNS)}, only {', '.join(names)}",
                source=self.name,
            )

    def rows(self, *, after: int = 0) -> Iterator[Row]:
        number = 0
        try:
            for batch in self._file.iter_batches(batch_size=_ROWS_AT_ONCE, use_threads=False):
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
        except self._errors as error:
            yield Row(number + 1, b"", None, f"the file cannot be read on from here: {error}")
        finally:
            self._file.close()
