"""What every engine's side of a query has in common: how it ends early, and how its rows are taken within limits."""

from __future__ import annotations

import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypedDict

from grpo_rewards.errors import printable

from .rules import Gold, ResultRow, Rule

GRACE = 0.05
"""Seconds beyond its time before a query that cannot be interrupted takes its process with it."""
_LONGEST_QUERY = 200_000  # characters
PARTS = (
    "{table} WHERE (rowid - (SELECT min(rowid) FROM {table})) % 2 = 0",
    "{table} WHERE (rowid - (SELECT min(rowid) FROM {table})) % 2 = 1 OR rowid = (SELECT max(rowid) FROM {table})",
)
"""About one half of a table's rows and the other, neither empty where the table is not."""
# a result that is wrong within these is fetched no further
_FIRST_ROWS = 64
_COUNTED = frozenset({str, bytes})


class QueryLimits(TypedDict):
    """How long a query may run, and how much it may give; more settings may stand beside these."""

    timeout: float  # seconds
    gold_timeout: float
    max_rows: int
    max_bytes: int


class Stopped(Exception):
    """A query passed a limit; the text says which, and `late` whether it was its time."""

    def __init__(self, text: str, *, late: bool = False) -> None:
        super().__init__(text)
        self.late = late


class QueryRefused(Exception):
    """A query does something else than read, or is no query; the text says what."""


class Unopened(Exception):
    """A database cannot be opened; the text says why."""


class Alarm:
    """A timer of processor time that ends the process one to two times `GRACE` after a query's deadline.

    It is moved only where it would come too early or too late: to set it and take it back for each query takes as long as the
    rest of what is done around a small one.
    """

    def __init__(self) -> None:
        self._at = 0.0

    def cover(self, now: float, seconds: float) -> None:
        """A query that may take so many seconds begins; `now` is the processor time of this process."""
        if not seconds + GRACE <= self._at - now <= seconds + 2 * GRACE:
            signal.setitimer(signal.ITIMER_PROF, seconds + 2 * GRACE)
            self._at = now + seconds + 2 * GRACE

    def cancel(self) -> None:
        """Nothing runs any more."""
        self._at = 0.0
        signal.setitimer(signal.ITIMER_PROF, 0)


ALARM = Alarm()


@dataclass(frozen=True, slots=True)
class Asked:
    """What the rows of a query are held against while they come: a rule, the limits, and the gold's, None for a gold itself."""

    rule: Rule
    limits: QueryLimits
    gold: Gold | None = None


class Database(ABC):
    """An open database that a query can read and nothing else.

    `reads` says of the query that ran last, where its rows were returned, whether it reads a table or view of the database.
    """

    reads = False

    def run(self, text: str, seconds: float, asked: Asked) -> list[ResultRow] | None:
        """Return the rows of a query, or None as soon as they cannot be those of the gold.

        Raises:
            Stopped, QueryRefused: it passed a limit; it does more than read, or the engine refuses it.
        """
        if len(text) > _LONGEST_QUERY:
            raise Stopped(f"the query has {len(text)} characters, more than {_LONGEST_QUERY}")
        return self._run(text, seconds, asked)

    @abstractmethod
    def _run(self, text: str, seconds: float, asked: Asked) -> list[ResultRow] | None: ...

    @abstractmethod
    def part(self, rows: str) -> Database | None:
        """Return the database with only those rows in each table that one of `PARTS` says; None where the engine cannot.

        Raises:
            Unopened: it cannot be opened so.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of it."""


def fetched(fetch: Callable[[int], list[ResultRow]], asked: Asked) -> list[ResultRow] | None:
    """Take rows by `fetch` (of so many at most) until there are none, or they cannot be those of the gold any more.

    Raises:
        Stopped: there are too many of them, or too many bytes.
    """
    rows: list[ResultRow] = []
    size, wanted = 0, _FIRST_ROWS
    rule, limits, gold = asked.rule, asked.limits, asked.gold
    while part := fetch(wanted):
        rows += part
        if gold is not None and not rule.possible(gold, part, len(rows)):
            return None
        if len(rows) > limits["max_rows"]:
            raise Stopped(f"the query gives more than {limits['max_rows']} rows")
        last = len(part) < wanted
        if last and gold is not None:  # the gold's, which are within the limits, or wrong: not worth counting
            break
        size += sum(len(value) for row in part for value in row if type(value) in _COUNTED)
        if size > limits["max_bytes"]:
            raise Stopped(f"the query gives more than {limits['max_bytes']} bytes")
        if last:  # there are no more, and asking costs as much as a small query
            break
        wanted = min(1_024, 4 * wanted)
    return rows


def plain_rows(rows: Iterable[tuple[object, ...]]) -> list[ResultRow]:
    """Rows whose values can be members of a set: lists and mappings as tuples, NaN as its name."""
    return [tuple([value if type(value) in _PLAIN else _plain(value) for value in row]) for row in rows]


_PLAIN = frozenset({str, int, bool, bytes, type(None)})


def _plain(value: object) -> object:
    # NaN equals nothing, itself neither, so that equal rows would differ
    if value != value:
        return "NaN"
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    if isinstance(value, dict):
        return tuple((_plain(key), _plain(part)) for key, part in value.items())
    return bytes(value) if isinstance(value, bytearray | memoryview) else value


def line(engine: str, error: BaseException) -> str:
    """What an engine says of a query, on one line."""
    return f"{engine} refuses the query: {said(error)}"


def said(error: BaseException) -> str:
    """An error's text, on one line and no longer than a reason may be."""
    return printable(" ".join(str(error).split())[:200])


def quoted(name: str) -> str:
    """A name as a query writes it."""
    return '"' + name.replace('"', '""') + '"'


def shadow(name: str, schema: str, part: str) -> str:
    """The statement for a view that stands before the table of this name, with one of `PARTS` of its rows."""
    return f"CREATE TEMP VIEW {quoted(name)} AS SELECT * FROM {part.format(table=f'{schema}.{quoted(name)}')}"
