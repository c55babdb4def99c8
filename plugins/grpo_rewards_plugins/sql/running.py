"""A worker's side: one guarded, read-only connection per database, golds run once, and a verdict for each query.

The guard is SQLite's own: the file is opened as immutable, the authorizer lets a statement read and nothing else, a progress
handler ends it at its time, and a timer of processor time ends the process where one step alone takes too long.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections import OrderedDict
from pathlib import Path
from typing import Any, TypeAlias

from .queries import varies
from .rules import RULES, Gold, Row, Rule

__all__ = ["answer"]

Verdict: TypeAlias = "tuple[float | None, str, str]"
_TURN = 0.2  # seconds of processor time after which a list of questions is handed back with what is done
_STEPS = 5_000  # of SQLite's machine between two looks at the clock: well below a millisecond
_GRACE = 0.25  # seconds beyond its time before a query that cannot be interrupted takes its process with it
_OPEN, _GOLDS = 64, 4_096
_TIMES = 5  # as long as its gold may a query take
_HEAP = 256 << 20  # bytes that SQLite may hold
_LONGEST_QUERY = 200_000  # characters
_FIRST_ROWS = 64

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
_BROKEN_TEXT = "Could not decode to UTF-8"


class _Stopped(Exception):
    """A query passed a limit; the text says which, and `late` whether it was its time."""

    def __init__(self, text: str, *, late: bool = False) -> None:
        super().__init__(text)
        self.late = late


class _Refused(Exception):
    """A query does something else than read, or is no query; the text says what."""


class _Database:
    """One database file, opened so that nothing can change it, or a script built in memory."""

    def __init__(self, path: str, max_bytes: int) -> None:
        self.golds: OrderedDict[tuple[str, str], Gold | str] = OrderedDict()
        self._denied = ""
        self._deadline = 0.0
        script = Path(path).read_text(encoding="utf-8") if path.endswith(".sql") else None
        name = ":memory:" if script is not None else f"{Path(path).resolve().as_uri()}?mode=ro&immutable=1"
        self.connection = sqlite3.connect(name, uri=True, isolation_level=None, cached_statements=0)
        if script is not None:
            self.connection.executescript(script)
        for pragma in ("temp_store=MEMORY", "trusted_schema=OFF", f"hard_heap_limit={_HEAP}", "query_only=ON"):
            self.connection.execute(f"PRAGMA {pragma}").fetchall()
        self.connection.execute("SELECT name FROM sqlite_master LIMIT 1").fetchall()  # is it a database at all?
        self.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max_bytes)
        self.connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        self.connection.set_authorizer(self._authorize)
        self.connection.set_progress_handler(self._is_late, _STEPS)

    def _authorize(self, action: int, one: str | None, two: str | None, *_where: str | None) -> int:
        if action in _READING or (action == _FUNCTION and str(two).lower() not in _REFUSED_FUNCTIONS):
            return sqlite3.SQLITE_OK
        self._denied = f"the function {two}" if action == _FUNCTION else _NAMES.get(action, f"action {action}")
        return sqlite3.SQLITE_DENY

    def _is_late(self) -> int:
        return time.process_time() > self._deadline

    def run(
        self, text: str, seconds: float, rule: Rule, limits: dict[str, object], gold: Gold | None
    ) -> list[Row] | None:
        """Return the rows of a query, or None as soon as they cannot be those of `gold`.

        Raises:
            _Stopped, _Refused: it passed a limit; it does more than read, or SQLite refuses it.
        """
        if len(text) > _LONGEST_QUERY:
            raise _Stopped(f"the query has {len(text)} characters, more than {_LONGEST_QUERY}")
        self._denied, self._deadline = "", time.process_time() + seconds
        signal.setitimer(signal.ITIMER_PROF, seconds + _GRACE)
        try:
            return self._rows(text, rule, limits, gold)
        except MemoryError:
            raise _Stopped("the query needs too much memory") from None
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
            if self._is_late():
                raise _Stopped(f"the query ran longer than {seconds:g} s", late=True) from None
            if self._denied:
                raise _Refused(f"the query does more than read: {self._denied}") from None
            raise _Refused(_line(error)) from None
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def _rows(self, text: str, rule: Rule, limits: dict[str, object], gold: Gold | None) -> list[Row] | None:
        try:
            return self._fetched(text, rule, limits, gold)
        except sqlite3.OperationalError as error:
            if not (rule.lenient and _BROKEN_TEXT in str(error)):
                raise
        self.connection.text_factory = _without_what_is_broken
        try:
            return self._fetched(text, rule, limits, gold)
        finally:
            self.connection.text_factory = str

    def _fetched(self, text: str, rule: Rule, limits: dict[str, Any], gold: Gold | None) -> list[Row] | None:
        cursor = self.connection.execute(text)
        rows: list[Row] = []
        size, wanted = 0, _FIRST_ROWS
        try:
            while part := cursor.fetchmany(wanted):
                size += sum(len(value) for row in part for value in row if type(value) in (str, bytes))
                rows += part
                if gold is not None and not rule.possible(gold, part, len(rows)):
                    return None
                if len(rows) > limits["max_rows"]:
                    raise _Stopped(f"the query gives more than {limits['max_rows']} rows")
                if size > limits["max_bytes"]:
                    raise _Stopped(f"the query gives more than {limits['max_bytes']} bytes")
                wanted = 1_024
        finally:
            cursor.close()
        return rows

    def gold(self, text: str, name: str, limits: dict[str, object]) -> Gold | str:
        """Return what a gold gives, or why it is no reference; remembered, unless it varies."""
        key = text, name
        found = self.golds.get(key)
        if found is None:
            found = self._gold(text, name, limits)
            if not varies(text):
                self.golds[key] = found
                while len(self.golds) > _GOLDS:
                    self.golds.popitem(last=False)
        return found

    def _gold(self, text: str, name: str, limits: dict[str, Any]) -> Gold | str:
        rule, begun = RULES[name], time.process_time()
        try:
            rows = self.run(rule.text(text), limits["gold_timeout"], rule, limits, None)
        except (_Stopped, _Refused) as problem:
            return f"the gold cannot be run: {problem}"
        assert rows is not None
        if not rows and not rule.graded_empty:
            return "the gold gives no row, so every query that gives none would be right"
        return Gold(rows, rule.ordered(text), time.process_time() - begun)


def _without_what_is_broken(text: bytes) -> str:
    return text.decode(errors="ignore")


def _line(error: Exception) -> str:
    text = " ".join(str(error).split())[:200]
    return f"SQLite refuses the query: {''.join(mark if mark.isprintable() else ' ' for mark in text)}"


_open: OrderedDict[tuple[str, str, int], _Database] = OrderedDict()


def _database(path: str, stamp: str, max_bytes: int) -> _Database:
    key = path, stamp, max_bytes
    found = _open.get(key)
    if found is None:
        for old in [other for other in _open if other[0] == path]:
            _open.pop(old).connection.close()
        found = _open[key] = _Database(path, max_bytes)
        while len(_open) > _OPEN:
            _open.popitem(last=False)[1].connection.close()
    return found


def _judge(files: list[list[str]], gold: str, query: str, name: str, limits: dict[str, Any]) -> Verdict:
    rule = RULES[name]
    for path, stamp in files:
        try:
            database = _database(path, stamp, limits["max_bytes"])
        except (sqlite3.Error, OSError, ValueError) as error:
            return None, "unavailable", f"{Path(path).name} cannot be opened: {' '.join(str(error).split())[:200]}"
        wanted = database.gold(gold, name, limits)
        if isinstance(wanted, str):
            return None, "not_applicable", wanted
        try:
            seconds = max(limits["timeout"], _TIMES * wanted.seconds)
            rows = database.run(rule.text(query), seconds, rule, limits, wanted)
        except _Stopped as problem:
            return 0.0, "timeout" if problem.late else "rejected", str(problem)
        except _Refused as problem:
            return 0.0, "scored", str(problem)
        if rows is None or not rule.equal(wanted, rows):
            return 0.0, "scored", f"another result than the gold's ({name}, {os.path.basename(path)})"
    return 1.0, "scored", "the result is the gold's"


def answer(question: list[Any]) -> list[Verdict]:
    """Judge ``[rule, limits, files, golds, [[file, gold, query], ...]]``, where file and gold are places in their lists.

    Returns as many verdicts as there was time for, one at least.
    """
    name, limits, files, golds, items = question
    begun, verdicts = time.process_time(), []
    for file, gold, query in items:
        verdicts.append(_judge(files[file], golds[gold], query, name, limits))
        if time.process_time() - begun > _TURN:
            break
    return verdicts
