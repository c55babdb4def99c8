"""DuckDB: a file that is opened read-only, without files, network, extensions and settings of its own.

A query is one statement that DuckDB's own parser takes for a SELECT. One that runs too long is interrupted from a thread;
where that does not help, a timer of processor time ends the process.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb

from .limits import ALARM, Asked, Database, QueryRefused, Stopped, Unopened, fetched, line, plain_rows, said, shadow
from .rules import ResultRow
from .running import answer

__all__ = ["DuckDB", "answer"]  # a pool that is asked for this `answer` has the engine before its workers fork

_CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false", "autoinstall_known_extensions": "false", "autoload_known_extensions": "false",
    "allow_community_extensions": "false", "allow_persistent_secrets": "false", "python_enable_replacements": "false",
    "temp_directory": "", "memory_limit": "256MB", "threads": "1", "lock_configuration": "true",
}  # fmt: skip


_LAST = "enable_external_access", "lock_configuration"  # without the first no file can be put beside another
_TABLES = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'whole' AND schema_name = 'main'"
_VIEWS = "SELECT 1 FROM duckdb_views() WHERE NOT internal LIMIT 1"


class DuckDB(Database):
    """One database file, opened so that nothing can change it; of a `part` see `PARTS`.

    Raises:
        Unopened: it is no database, or of another version of DuckDB.
    """

    def __init__(self, path: str, max_bytes: int, part: str = "") -> None:
        self._path, self._max_bytes, self._part = path, max_bytes, part
        self._connection = self._connected()
        self._used_up = False

    def _connected(self) -> Any:
        try:
            if not self._part:
                return duckdb.connect(self._path, read_only=True, config=_CLOSED)
            return self._beside()
        except duckdb.Error as error:
            raise Unopened(said(error)) from None

    def _beside(self) -> object:
        """A connection whose own database is empty, with the file beside it: no query has its tables but by the views before them."""
        opened = {name: value for name, value in _CLOSED.items() if name not in _LAST}
        connection = duckdb.connect(":memory:", config=opened)
        connection.execute("ATTACH '{}' AS whole (READ_ONLY)".format(self._path.replace("'", "''")))
        for (name,) in connection.execute(_TABLES).fetchall():
            connection.execute(shadow(name, "whole.main", self._part))
        for name in _LAST:
            connection.execute(f"SET {name} = {_CLOSED[name]}")
        return connection

    def part(self, rows: str) -> DuckDB | None:
        # a view goes on reading all of its tables
        return None if self._connection.execute(_VIEWS).fetchall() else DuckDB(self._path, self._max_bytes, rows)

    def close(self) -> None:
        self._connection.close()

    def _run(self, text: str, seconds: float, asked: Asked) -> list[ResultRow] | None:
        if self._used_up:  # what the query before left behind is no cost of this one, in time or in memory
            self._connection.close()
            self._connection, self._used_up = self._connected(), False
        begun = time.process_time()
        ALARM.cover(begun, seconds)
        try:
            with self._interrupted(begun + seconds):
                return self._fetched(text, asked)
        except Stopped:
            self._used_up = True
            raise
        except MemoryError:
            self._used_up = True
            raise Stopped("the query needs too much memory") from None
        except (duckdb.Error, RuntimeError, ValueError, OverflowError) as error:
            self._used_up = True
            if time.process_time() - begun > seconds:
                raise Stopped(f"the query ran longer than {seconds:g} s", late=True) from None
            if "OutOfMemory" in type(error).__name__:
                raise Stopped("the query needs too much memory") from None
            raise QueryRefused(line("DuckDB", error)) from None

    @contextmanager
    def _interrupted(self, deadline: float) -> Iterator[None]:
        """Interrupt what runs beyond a deadline of processor time, and end the process where that does not help."""
        done = threading.Event()

        def watch() -> None:
            while (left := deadline - time.process_time()) > 0:
                if done.wait(left):
                    return
            while not done.wait(0.01):
                self._connection.interrupt()

        watcher = threading.Thread(target=watch, daemon=True)
        try:
            watcher.start()
        except RuntimeError:
            # no memory is left for a thread, by no fault of this query: the next process is asked again
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            yield
        finally:
            done.set()
            watcher.join()

    def _fetched(self, text: str, asked: Asked) -> list[ResultRow] | None:
        text.encode()  # the engine ends the process over half a surrogate pair
        statements = self._connection.extract_statements(text)
        if len(statements) != 1:
            raise QueryRefused(f"the query is {len(statements)} statements")
        if statements[0].type != duckdb.StatementType.SELECT:
            raise QueryRefused(f"the query does more than read: {statements[0].type.name.replace('_', ' ')}")
        found = self._connection.execute(text)
        rows = fetched(lambda count: plain_rows(found.fetchmany(count)), asked)
        self.reads = rows is not None and bool(self._connection.get_table_names(text))
        return rows
