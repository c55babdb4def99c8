"""Which files a row's database is, and whether they are still those of before."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

__all__ = ["DatabaseProblem", "Files", "find_files"]

Files = tuple[tuple[str, str], ...]
"""Paths, each with a stamp that changes when the file does."""

_SUFFIXES = (".sqlite", ".sqlite3", ".db", ".sql")


class DatabaseProblem(Exception):
    """There is no such database, or not one that can be read; the text says where it was looked for."""


def find_files(folder: str, name: str | None, path: str | None, *, whole_folder: bool) -> Files:
    """Return the files of a database: `path`, else ``FOLDER/NAME/NAME.sqlite`` or ``FOLDER/NAME.sqlite`` (``.db``, ``.sql``).

    With `whole_folder`, also all others beside it, where it has a folder of its own (Spider's test suites).

    Raises:
        DatabaseProblem: there is none, or the name leads out of the folder.
    """
    found = _found(folder, name, path)
    alone = not whole_folder or found.suffix == ".sql" or found.parent.name != found.stem
    files = [found] if alone else _beside(found)
    return tuple((str(file), _stamp(file)) for file in files)


@lru_cache(maxsize=4096)
def _found(folder: str, name: str | None, path: str | None) -> Path:
    if path is not None:
        whole = Path(folder, path)
        if not whole.is_file():
            raise DatabaseProblem(f"there is no database {str(whole)[:200]!r}")
        return whole
    if not name or name in (".", "..") or set(name) & set("/\\\0"):
        raise DatabaseProblem(f"db_id must be the name of a database, not {str(name)[:80]!r}")
    for suffix in _SUFFIXES:
        for place in (Path(folder, name, name + suffix), Path(folder, name + suffix)):
            if place.is_file():
                return place
    raise DatabaseProblem(f"there is no {name}/{name}.sqlite and no {name}.sqlite (.db, .sql) in {folder!r}")


def _beside(found: Path) -> list[Path]:
    return sorted(file for file in found.parent.iterdir() if file.suffix == found.suffix and file.is_file())


def _stamp(file: Path) -> str:
    """What changes with a file.

    Raises:
        DatabaseProblem: it is gone, or somebody writes to it: what stands in its log would not be seen.
    """
    try:
        state = file.stat()
        if os.path.exists(log := f"{file}-wal") and os.path.getsize(log):
            raise DatabaseProblem(f"{file.name} has changes in {file.name}-wal; close what writes to it")
    except OSError as error:
        raise DatabaseProblem(f"{file.name}: {error.strerror}") from None
    return f"{state.st_mtime_ns} {state.st_size} {state.st_ino}"
