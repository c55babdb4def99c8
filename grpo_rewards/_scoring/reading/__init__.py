"""Reading files of completions, a row at a time and in constant memory."""

from __future__ import annotations

from pathlib import Path

from grpo_rewards._scoring.reading.delimited import DelimitedSource
from grpo_rewards._scoring.reading.lines import BoundedLines, LineSource
from grpo_rewards._scoring.reading.rows import DELIMITED, JSON, PARQUET, Source, format_suffix
from grpo_rewards.errors import InputError

_SHOWN = 5  # malformed lines of a file


def open_source(path: str | Path) -> Source:
    """Return the rows of a file, by its suffix: JSONL, CSV (both also .gz or .zst) or parquet; ``-`` is stdin.

    What stdin holds is seen from its beginning: gzip, zstandard, CSV or TSV by a header that names completions, else JSONL.

    Raises:
        InputError: it is missing, a folder, or of a kind that is not known.
    """
    if str(path) == "-":
        lines = LineSource(None)
        delimiter = lines.delimiter
        return lines if delimiter is None else DelimitedSource(lines, delimiter)
    path = Path(path)
    if not path.exists():
        raise InputError("there is no such file", source=str(path))
    if path.is_dir():
        raise InputError("is a folder; give one file", source=str(path))
    kind = format_suffix(path)
    if kind in PARQUET:
        from grpo_rewards._scoring.reading.columnar import ParquetSource

        return ParquetSource(path)
    if kind in DELIMITED:
        return DelimitedSource(BoundedLines(path), DELIMITED[kind])
    if kind in JSON or not kind:
        return LineSource(path)
    raise InputError(
        f"the suffix {kind!r} names no format that is read here: .jsonl, .csv, .tsv (each also .gz, .zst) or .parquet",
        source=str(path),
    )


def malformed(path: str | Path) -> list[str]:
    """Return the first lines of a file that are no rows, each with file, line and what is wrong."""
    found: list[str] = []
    for row in open_source(path).rows():
        if row.data is None:
            found.append(f"{path}:{row.number}: {row.problem}")
            if len(found) == _SHOWN:
                break
    return found
