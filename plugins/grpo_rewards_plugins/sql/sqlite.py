"""SQLite: a file that is opened as immutable, or a script built in memory.

The guard is SQLite's own: the authorizer lets a statement read and nothing else, a progress handler ends it at its time, and
a timer of processor time ends the process where one step alone takes too long.
"""

from __future__ import annotations

import re
import sqlite3
import time
from pathlib import Path

from .limits import ALARM, PARTS, Asked, Database, QueryRefused, Stopped, Unopened, fetched, line, quoted, said, shadow
from .rules import ResultRow

_STEPS = 5_000  # of SQLite's machine between two looks at the clock: well below a millisecond
_HEAP = 256 << 20  # bytes that SQLite may hold

_READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
_FUNCTION = sqlite3.SQLITE_FUNCTION
_REFUSED_FUNCTIONS = frozenset({"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"})
_ACTIONS = (
    "ALTER_TABLE ANALYZE ATTACH CREATE_INDEX CREATE_TABLE CREATE_TEMP_INDEX CREATE_TEMP_TABLE CREATE_TEMP_TRIGGER "
    "CREATE_TEMP_VIEW CREATE_TRIGGER CREATE_VIEW CREATE_VTABLE DELETE DETACH DROP_INDEX DROP_TABLE DROP_TEMP_INDEX "
    "DROP_TEMP_TABLE DROP_TEMP_TRIGGER DROP_TEMP_VIEW DROP_TRIGGER DROP_VIEW DROP_VTABLE INSERT PRAGMA REINDEX "
    "SAVEPOINT TRANSACTION UPDATE"
)
_NAMES = {getattr(sqlite3, f"SQLITE_{name}"): name.replace("_", " ") for name in _ACTIONS.split()}
_CREATE_VIEW = re.compile(r"^\s*CREATE\s+VIEW\b", re.IGNORECASE)
_WITHOUT_ROWID = re.compile(r"\bWITHOUT\s+ROWID\b[^)]*$", re.IGNORECASE)
_KEYS = "SELECT name FROM pragma_table_info(?, 'whole') WHERE pk > 0 ORDER BY pk"
_PARTS_BY_PLACE = ("place % 2 = 1", "place % 2 = 0 OR place = (SELECT count(*) FROM {table})")
_BROKEN_TEXT = "Could not decode to UTF-8"


class SQLite(Database):
    """One database file, opened so that nothing can change it, or a script built in memory; of a `part` see `PARTS`.

    Raises:
        Unopened: it is no database, or cannot be read.
    """

    def __init__(self, path: str, max_bytes: int, part: str = "") -> None:
        self._denied = ""
        self._deadline = 0.0
        self._path, self._max_bytes, self._part = path, max_bytes, part
        try:
            self._open(path, max_bytes)
        except (sqlite3.Error, OSError, ValueError) as error:
            raise Unopened(said(error)) from None

    def _open(self, path: str, max_bytes: int) -> None:
        script = Path(path).read_text(encoding="utf-8") if path.endswith(".sql") else None
        # immutable: SQLite makes no lock and no journal, so nothing beside the file is touched either
        name = ":memory:" if script is not None else f"{Path(path).resolve().as_uri()}?mode=ro&immutable=1"
        self._connection = sqlite3.connect(name, uri=True, isolation_level=None, cached_statements=0)
        if script is not None:
            self._connection.executescript(script)
        # the first look at the file: is it a database at all?
        listed = self._connection.execute("SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view')")
        found = [(name, kind, text) for name, kind, text in listed.fetchall() if not name.startswith("sqlite_")]
        self._tables = frozenset(name.lower() for name, *_ in found)
        if self._part:
            self._connection = _beside(self._connection, name)
        # behind the script, which writes; the first of them drops what is temporary
        for pragma in ("temp_store=MEMORY", "trusted_schema=OFF", f"hard_heap_limit={_HEAP}"):
            self._connection.execute(f"PRAGMA {pragma}").fetchall()
        for table, kind, text in found if self._part else ():
            view = _CREATE_VIEW.sub("CREATE TEMP VIEW", text) if kind == "view" else shadow(table, "whole", self._part)
            if kind == "table" and _WITHOUT_ROWID.search(text) is not None:
                keys = [key for (key,) in self._connection.execute(_KEYS, (table,)).fetchall()]
                view = _shadow_by_keys(table, keys, PARTS.index(self._part))
            self._connection.execute(view)
        self._connection.execute("PRAGMA query_only=ON").fetchall()
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max_bytes)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        # last: what is done above would be refused; a part is asked only what was let through before
        if not self._part:
            self._connection.set_authorizer(self._authorize)
        self._connection.set_progress_handler(self._is_late, _STEPS)

    def part(self, rows: str) -> SQLite:
        return SQLite(self._path, self._max_bytes, rows)

    def close(self) -> None:
        self._connection.close()

    def _authorize(self, action: int, one: str | None, two: str | None, _of: str | None, _in: str | None) -> int:
        if action == sqlite3.SQLITE_READ and not self.reads:
            self.reads = str(one).lower() in self._tables  # not what the query itself calls a table
        if action in _READING or (action == _FUNCTION and str(two).lower() not in _REFUSED_FUNCTIONS):
            return sqlite3.SQLITE_OK
        self._denied = f"the function {two}" if action == _FUNCTION else _NAMES.get(action, f"action {action}")
        return sqlite3.SQLITE_DENY

    def _is_late(self) -> int:
        return time.process_time() > self._deadline

    def _run(self, text: str, seconds: float, asked: Asked) -> list[ResultRow] | None:
        now = time.process_time()
        self._denied, self._deadline, self.reads = "", now + seconds, False
        ALARM.cover(now, seconds)
        try:
            return self._rows(text, asked)
        except MemoryError:
            raise Stopped("the query needs too much memory") from None
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
            if self._is_late():
                raise Stopped(f"the query ran longer than {seconds:g} s", late=True) from None
            if self._denied:
                raise QueryRefused(f"the query does more than read: {self._denied}") from None
            raise QueryRefused(line("SQLite", error)) from None

    def _rows(self, text: str, asked: Asked) -> list[ResultRow] | None:
        try:
            return fetched(self._connection.execute(text).fetchmany, asked)
        except sqlite3.OperationalError as error:
            if not (asked.rule.lenient and _BROKEN_TEXT in str(error)):
                raise
        self._connection.text_factory = _without_what_is_broken
        try:
            return fetched(self._connection.execute(text).fetchmany, asked)
        finally:
            self._connection.text_factory = str


def _shadow_by_keys(name: str, keys: list[str], part: int) -> str:
    """As `shadow`, of a table without rowid: the rows are counted in the order of their keys."""
    table = f"whole.{quoted(name)}"
    listed = ", ".join(map(quoted, keys))
    placed = f"SELECT {listed}, row_number() OVER (ORDER BY {listed}) AS place FROM {table}"
    chosen = f"SELECT {listed} FROM ({placed}) WHERE {_PARTS_BY_PLACE[part].format(table=table)}"
    return f"CREATE TEMP VIEW {quoted(name)} AS SELECT * FROM {table} WHERE ({listed}) IN ({chosen})"


def _beside(connection: sqlite3.Connection, name: str) -> sqlite3.Connection:
    """Another connection, in which the database is not `main`: no query has its tables but by the views before them."""
    found = sqlite3.connect(":memory:", uri=True, isolation_level=None, cached_statements=0)
    found.execute("ATTACH ? AS whole", (name,))
    if name == ":memory:":
        found.deserialize(connection.serialize(), name="whole")
    connection.close()
    return found


def _without_what_is_broken(text: bytes) -> str:
    return text.decode(errors="ignore")
