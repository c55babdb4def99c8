"""What the end of a file's name says of it: what holds the rows, and whether it is compressed."""

from __future__ import annotations

from pathlib import Path

__all__ = ["COMPRESSED", "DELIMITED", "JSON", "PARQUET", "format_suffix"]

COMPRESSED = (".gz", ".zst", ".zstd")
JSON = (".jsonl", ".json", ".json-lines", ".jsonlines", ".ndjson")
DELIMITED = {".csv": ",", ".tsv": "\t"}
PARQUET = (".parquet", ".pq")


def format_suffix(path: Path) -> str:
    """The last suffix that is none of compression, in lower case; empty where there is none."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""
