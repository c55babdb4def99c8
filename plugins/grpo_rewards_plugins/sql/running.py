"""A worker's side: one open database for each file or URL, golds run once, and a verdict for each query."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeAlias

from .databases import database_name, is_duckdb, is_postgres
from .limits import ALARM, PARTS, Asked, Database, QueryLimits, QueryRefused, Stopped, Unopened
from .queries import computes_values, gold_varies, writes_values
from .rules import RULES, Gold, ResultRow, Rule

SqlVerdict: TypeAlias = "tuple[float | None, str, str]"
_TURN = 0.2  # seconds after which a list of questions is handed back with what is done
_OPEN, _GOLDS = 64, 4_096
_MANY = 256  # rows; fewer are compared in no time
_TIMES = 5  # as long as its gold may a query take
_GUESSED = 16  # different rows, that a query could have written in it
_COMPARING, _EACH = 0.3, 2e-5  # processor seconds to compare rows: these, and so many for each value of the gold


class _Open:
    """An open database, and what the golds asked of it give."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._golds: OrderedDict[tuple[str, str], Gold | str] = OrderedDict()
        self._parts: dict[str, _Open | None] = {}

    def part(self, rows: str) -> _Open | None:
        """The same with a part of each table's rows; None where there is no such thing."""
        if rows not in self._parts:
            try:
                database = self.database.part(rows)
            except Unopened:
                database = None
            self._parts[rows] = None if database is None else _Open(database)
        return self._parts[rows]

    def close(self) -> None:
        for opened in self._parts.values():
            if opened is not None:
                opened.close()
        self.database.close()

    def gold(self, text: str, name: str, limits: QueryLimits) -> Gold | str:
        """Return what a gold gives, or why it is no reference; remembered, unless it varies."""
        key = text, name
        found = self._golds.get(key)
        if found is None:
            found = self._gold(text, name, limits)
            if not gold_varies(text):
                self._golds[key] = found
                while len(self._golds) > _GOLDS:
                    self._golds.popitem(last=False)
        return found

    def _gold(self, text: str, name: str, limits: QueryLimits) -> Gold | str:
        rule, begun = RULES[name], time.perf_counter()
        try:
            rows = self.database.run(rule.text(text), limits["gold_timeout"], Asked(rule, limits))
        except (Stopped, QueryRefused) as problem:
            return f"the gold cannot be run: {problem}"
        assert rows is not None
        return Gold(rows, rule.ordered(text), time.perf_counter() - begun, self.database.reads)


_open: OrderedDict[tuple[str, str, int], _Open] = OrderedDict()


def _database(path: str, stamp: str, max_bytes: int) -> _Open:
    key = path, stamp, max_bytes
    found = _open.get(key)
    if found is None:
        for old in [other for other in _open if other[0] == path]:
            _open.pop(old).close()
        found = _open[key] = _Open(_engine(path)(path, max_bytes))
        while len(_open) > _OPEN:
            _open.popitem(last=False)[1].close()
    return found


def _engine(path: str) -> Callable[[str, int], Database]:
    """The engine of a file or URL; imported here, since few rows need more than one."""
    if is_postgres(path):
        from .postgres import Postgres

        return Postgres
    if is_duckdb(path):
        from .duck import DuckDB

        return DuckDB
    from .sqlite import SQLite

    return SQLite


def _judge(files: list[list[str]], gold: str, query: str, name: str, limits: QueryLimits) -> SqlVerdict:
    path, golds = "", dict[str, Gold]()
    try:
        for path, stamp in files:
            wanted = _database(path, stamp, limits["max_bytes"]).gold(gold, name, limits)
            if isinstance(wanted, str):
                return None, "not_applicable", wanted
            golds[path] = wanted
            if wanted.rows:
                break
        else:  # whatever the query is: its group must not be graded in parts
            return None, "not_applicable", "the gold gives no row, so every query that gives none would be right"
        for path, stamp in files:
            opened = _database(path, stamp, limits["max_bytes"])
            # of a gold that varies it is not run twice
            found = golds.get(path) or opened.gold(gold, name, limits)
            if isinstance(found, str):
                return None, "not_applicable", found
            verdict = _judge_on(opened, found, gold, query, name, limits)
            if verdict is not None:
                value, status, reason = verdict
                return value, status, reason or f"another result than the gold's ({name}, {database_name(path)})"
        # several databases of one schema tell by themselves
        if len(files) == 1 and _is_written(opened, golds[path], gold, query, name, limits):
            return 0.0, "scored", "the query gives the same with other rows in the tables, where the gold does not"
    except Unopened as problem:
        return None, "unavailable", f"{database_name(path)} cannot be opened: {problem}"
    return 1.0, "scored", "the result is the gold's"


def _judge_on(opened: _Open, wanted: Gold, gold: str, query: str, name: str, limits: QueryLimits) -> SqlVerdict | None:
    """What is said of a query on one database, or None where it is right there."""
    if _same_query(gold, query):
        return None
    rule = RULES[name]
    try:
        rows = _rows(opened, wanted, query, rule, limits)
    except Stopped as problem:
        return 0.0, "timeout" if problem.late else "rejected", str(problem)
    except QueryRefused as problem:
        return 0.0, "scored", str(problem)
    if rows is None:
        return 0.0, "scored", ""
    if len(rows) > _MANY:
        ALARM.cover(time.process_time(), _COMPARING + _EACH * len(wanted.rows) * len(rows[0]))
    if not rule.equal(wanted, rows):
        return 0.0, "scored", ""
    if wanted.reads and not opened.database.reads:
        return 0.0, "scored", "the query reads no table, as the gold does: what it gives is written in it"
    if wanted.reads and writes_values(query, gold):
        return 0.0, "scored", "the query selects no column: what it gives is written in it"
    return None


def _is_written(opened: _Open, wanted: Gold, gold: str, query: str, name: str, limits: QueryLimits) -> bool:
    """Whether what a right query gives stands in it, beside a table (``SELECT 4 FROM t LIMIT 1``): it gives the same on every part
    of the database's rows, and the gold does not. One that computes with values of its own may also give nothing where the row is
    not that it asks for (``SELECT id + 3 FROM t WHERE id = 1``). Where that cannot be told, it does not.
    """
    if _same_query(gold, query) or gold_varies(gold) or not wanted.reads or len(wanted.distinct) > _GUESSED:
        return False
    told, rule = False, RULES[name]
    computes = computes_values(query, gold, (value for row in wanted.distinct for value in row))
    for part in map(opened.part, PARTS):
        if part is None:
            return False
        try:
            rows = _rows(part, wanted, query, rule, limits)
        except (Stopped, QueryRefused):
            return False
        if computes and rows == []:
            continue
        if rows is None or not rule.equal(wanted, rows):
            return False
        there = part.gold(gold, name, limits)
        told = told or (isinstance(there, Gold) and not rule.equal(wanted, there.rows))
    return told


def _same_query(gold: str, query: str) -> bool:
    """The caller sends the gold itself where a query is the same one; one that varies is run for both."""
    return query == gold and not gold_varies(gold)


def _rows(opened: _Open, wanted: Gold, query: str, rule: Rule, limits: QueryLimits) -> list[ResultRow] | None:
    seconds = max(limits["timeout"], _TIMES * wanted.seconds)
    return opened.database.run(rule.text(query), seconds, Asked(rule, limits, wanted))


def answer(question: list[Any]) -> list[SqlVerdict]:
    """Judge ``[rule, limits, files, golds, [[file, gold, query], ...]]``, where file and gold are places in their lists.

    Returns as many verdicts as there was time for, one at least.
    """
    name, limits, files, golds, items = question
    begun, verdicts = time.perf_counter(), []
    try:
        for file, gold, query in items:
            verdicts.append(_judge(files[file], golds[gold], query, name, limits))
            if time.perf_counter() - begun > _TURN:
                break
    finally:
        ALARM.cancel()
    return verdicts
