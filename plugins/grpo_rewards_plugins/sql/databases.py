"""Which files a row's database is, or which database of a server, and whether they are still those of before."""

from __future__ import annotations

import os
import urllib.parse
from functools import lru_cache
from pathlib import Path

from grpo_rewards.packages import require

Files = tuple[tuple[str, str], ...]
"""Paths, each with a stamp that changes when the file does."""

_SUFFIXES = (".sqlite", ".sqlite3", ".db", ".sql", ".duckdb")
_SERVERS = ("postgresql://", "postgres://")
_LOGS = {".duckdb": ".wal"}


class DatabaseProblem(Exception):
    """There is no such database, or not one that can be read; the text says where it was looked for."""


def is_postgres(path: str) -> bool:
    """Whether this is the URL of a PostgreSQL server, and no path."""
    return path.startswith(_SERVERS)


def is_duckdb(path: str) -> bool:
    """Whether DuckDB opens this file; SQLite opens what neither it nor a server does."""
    return path.endswith(".duckdb")


def database_name(path: str) -> str:
    """The name of a file or of a server's database, without what else a URL says."""
    return urllib.parse.unquote(urllib.parse.urlsplit(path).path[1:]) if is_postgres(path) else os.path.basename(path)


def find_files(folder: str, name: str | None, path: str | None, *, whole_folder: bool) -> Files:
    """Return the files of a database: `path`, else ``FOLDER/NAME/NAME.sqlite`` or ``FOLDER/NAME.sqlite`` (``.db``, ``.sql``,
    ``.duckdb``); where `folder` is the URL of a PostgreSQL server, that of its database `name`.

    With `whole_folder`, also all others beside it, where it has a folder of its own (Spider's test suites).

    Raises:
        DatabaseProblem: there is none, or the name leads out of the folder.
        ConfigError: the package that reads such a database is not there.
    """
    if is_postgres(folder):
        require("psycopg", extra="sql", by="a PostgreSQL server")
        return ((_url(folder, name, path), ""),)
    found = _found(os.path.abspath(folder), name, path)  # a worker may have started in another folder
    if found.suffix == ".duckdb":
        require("duckdb", extra="sql", by="a DuckDB file")
    alone = not whole_folder or found.suffix == ".sql" or found.parent.name != found.stem
    files = [found] if alone else _beside(found)
    return tuple((str(file), _stamp(file)) for file in files)


@lru_cache(maxsize=4096)
def _url(server: str, name: str | None, path: str | None) -> str:
    if path is not None or not name:
        raise DatabaseProblem("a database of a PostgreSQL server is named by db_id, not by db_path")
    return urllib.parse.urlunsplit(urllib.parse.urlsplit(server)._replace(path="/" + urllib.parse.quote(name, safe="")))


@lru_cache(maxsize=4096)
def _found(folder: str, name: str | None, path: str | None) -> Path:
    if path is not None:
        whole = Path(folder, path)
        if not whole.is_file():
            raise DatabaseProblem(f"there is no database {str(whole)[:200]!r}")
        return whole
    # a row's name must not lead out of the folder
    if not name or name in (".", "..") or set(name) & set("/\\\0"):
        raise DatabaseProblem(f"db_id must be the name of a database, not {str(name)[:80]!r}")
    for suffix in _SUFFIXES:
        for place in (Path(folder, name, name + suffix), Path(folder, name + suffix)):
            if place.is_file():
                return place
    raise DatabaseProblem(f"there is no {name}/{name}.sqlite and no {name}.sqlite (.db, .sql, .duckdb) in {folder!r}")


def _beside(found: Path) -> list[Path]:
    return sorted(file for file in found.parent.iterdir() if file.suffix == found.suffix and file.is_file())


def _stamp(file: Path) -> str:
    """What changes with a file.

    Raises:
        DatabaseProblem: it is gone, or somebody writes to it: what stands in its log would not be seen.
    """
    try:
        state = file.stat()
        log = Path(f"{file}{_LOGS.get(file.suffix, '-wal')}")
        if log.exists() and log.stat().st_size:
            raise DatabaseProblem(f"{file.name} has changes in {log.name}; close what writes to it")
    except OSError as error:
        raise DatabaseProblem(f"{file.name}: {error.strerror}") from None
    return f"{state.st_mtime_ns} {state.st_size} {state.st_ino}"
