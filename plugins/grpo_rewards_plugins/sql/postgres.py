"""PostgreSQL: a role that has no rights over the server, and a cursor in a transaction that can only read.

A query is declared as a cursor in the extended protocol, so that it is one statement, and one that reads. The server ends it
at its time (its own clock), and what it did to the session is rolled back with its transaction.

A role sees in `pg_stat_activity` what its other sessions ask, so a query could run another worker's gold by `query_to_xml`. The view
shows a text's first bytes only: each text begins with a comment that is as long.
"""

from __future__ import annotations

import re
import time
from typing import Any

from .limits import PARTS, Asked, Database, QueryRefused, Stopped, Unopened, fetched, line, plain_rows, quoted, said
from .rules import ResultRow

_ROLES = (
    "pg_read_server_files", "pg_write_server_files", "pg_execute_server_program", "pg_signal_backend", "pg_read_all_settings",
    "pg_write_all_data", "pg_checkpoint",
)  # fmt: skip
_POWERS = f"""
    SELECT 'is a superuser' FROM pg_roles WHERE rolname IN (session_user, current_user) AND rolsuper
    UNION ALL SELECT 'may create roles' FROM pg_roles WHERE rolname IN (session_user, current_user) AND rolcreaterole
    UNION ALL SELECT 'may replicate' FROM pg_roles WHERE rolname IN (session_user, current_user) AND rolreplication
    UNION ALL SELECT 'is a member of ' || rolname FROM pg_roles
        WHERE (rolname IN ({", ".join(f"'{name}'" for name in _ROLES)}) OR rolsuper) AND pg_has_role(session_user, oid, 'MEMBER')
    UNION ALL SELECT 'may read past queries, golds among them, by ' || proname FROM pg_proc
        WHERE proname IN ('pg_stat_statements', 'pg_stat_monitor') AND has_function_privilege(oid, 'EXECUTE')
"""
_SHOWN = "SELECT setting::int FROM pg_settings WHERE name = 'track_activity_query_size'"
_BEGIN = (
    "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL statement_timeout = {milliseconds}; "
    "SET LOCAL lock_timeout = {milliseconds}; SELECT 1"  # a transaction that has read cannot be made one that writes
)
_END = "ROLLBACK; SELECT pg_advisory_unlock_all()"  # locks of a session outlive a transaction
# The server's lexer looks at such a run again for each of its signs, for minutes, and nothing interrupts it.
_MANY_SIGNS = re.compile(r"[-+*/<>=~!@#%^&|`?]{1000}")
# a transaction locks what its statements name, also where the plan leaves it out
_READS = """
    SELECT EXISTS (SELECT FROM pg_locks JOIN pg_class ON pg_class.oid = relation
        WHERE pid = pg_backend_pid() AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace))
"""
_TABLES = """
    SELECT relname, nspname, relkind = 'r' FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE relkind IN ('r', 'v', 'm', 'f', 'p') AND nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
            AND pg_table_is_visible(pg_class.oid) AND has_table_privilege(pg_class.oid, 'SELECT')
"""
_HALVES = "number % 2 = 1", "number % 2 = 0 OR number = count"  # of its rows in their order, neither empty
_HALF = """{name} AS (SELECT * FROM {table} WHERE ctid IN (SELECT ctid FROM (
    SELECT ctid, row_number() OVER (ORDER BY ctid) AS number, count(*) OVER () FROM {table}) AS placed WHERE {half}))"""
_CANCELLED = "57014"  # by the server at its time, or by another session of the same role
_ATTEMPTS = 3  # within twice a query's time: a role may end its own sessions, another row's query this one's


class Postgres(Database):
    """One database of a server, given by its URL.

    Raises:
        Unopened: it cannot be reached, or the role could do more than read.
    """

    def __init__(self, url: str, max_bytes: int) -> None:
        import psycopg
        from psycopg import pq

        self._psycopg, self._pq = psycopg, pq
        self._url = url
        self._connection = self._connected()
        (shown,) = self._connection.execute(_SHOWN).fetchone()
        self._screen = f"/*{'-' * shown}*/"

    def _connected(self) -> Any:
        try:
            connection = self._psycopg.connect(self._url, autocommit=True, connect_timeout=10)
        except self._psycopg.Error as error:
            raise Unopened(said(error)) from None
        power = connection.execute(_POWERS).fetchone()
        if power is not None:
            connection.close()
            raise Unopened(
                f"the role {power[0]}: give the URL of one that may read this database and nothing else "
                "(CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader)"
            )
        return connection

    def part(self, rows: str) -> PostgresPart | None:
        tables: list[tuple[str, str, bool]] = self._connection.execute(_TABLES).fetchall()
        # a view goes on reading all of its tables
        return PostgresPart(self, tables, rows) if tables and all(plain for *_, plain in tables) else None

    def close(self) -> None:
        self._connection.close()

    def _run(self, text: str, seconds: float, asked: Asked) -> list[ResultRow] | None:
        if "\0" in text:  # where the protocol would end the text
            raise QueryRefused("the query holds a NUL")
        if _MANY_SIGNS.search(text) is not None:
            raise QueryRefused("the query holds a thousand signs of operators in a row")
        last = time.monotonic() + 2 * seconds
        for _ in range(_ATTEMPTS):
            try:
                return self._once(text, min(seconds, last - time.monotonic()), asked)
            except self._psycopg.Error as error:
                if error.sqlstate == _CANCELLED and "statement timeout" in str(error):
                    raise Stopped(f"the query ran longer than {seconds:g} s", late=True) from None
                if time.monotonic() > last:
                    break
                if not (self._connection.closed or error.sqlstate == _CANCELLED):
                    raise QueryRefused(line("PostgreSQL", error)) from None
            except (ValueError, OverflowError) as error:  # what cannot be sent, or what Python has no type for
                raise QueryRefused(line("PostgreSQL", error)) from None
        raise Stopped("the query ended its session each time, or needs too much memory")

    def _once(self, text: str, seconds: float, asked: Asked) -> list[ResultRow] | None:
        """Run it once; a session that has ended is closed, and the next run has a new one."""
        if self._connection.closed:
            self._connection = self._connected()
        try:
            self._ask(_BEGIN.format(milliseconds=max(1, int(1000 * seconds))))
            return self._fetched(text, seconds, asked)
        except MemoryError:
            self._connection.close()
            raise Stopped("the query needs too much memory") from None
        finally:
            if self._connection.pgconn.status != self._pq.ConnStatus.OK:
                self._connection.close()
            elif not self._connection.closed:
                self._ask(_END)

    def _ask(self, text: str) -> None:
        found = self._connection.pgconn.exec_(text.encode())
        if found.status == self._pq.ExecStatus.FATAL_ERROR:
            raise self._psycopg.errors.error_from_result(found)

    def _fetched(self, text: str, seconds: float, asked: Asked) -> list[ResultRow] | None:
        late = time.monotonic() + seconds
        # bound to no parameters, but by the extended protocol, which takes one statement and no more
        found = self._connection.pgconn.exec_params(
            f"{self._screen} DECLARE graded NO SCROLL CURSOR FOR\n{text}".encode(), []
        )
        if found.status != self._pq.ExecStatus.COMMAND_OK:
            raise self._psycopg.errors.error_from_result(found)

        def fetch(count: int) -> list[ResultRow]:
            if time.monotonic() > late:  # the server's own limit is for each of these alone
                raise Stopped(f"the query ran longer than {seconds:g} s", late=True)
            return plain_rows(self._connection.execute(f"FETCH {count} FROM graded").fetchall())

        rows = fetched(fetch, asked)
        if rows is not None:
            ((self.reads,),) = self._connection.execute(_READS).fetchall()
        return rows


class PostgresPart(Database):
    """A part of a database's rows, see `PARTS`: each query stands behind tables of the same names that have no others.

    Its role may make no view.
    """

    def __init__(self, whole: Postgres, tables: list[tuple[str, str, bool]], rows: str) -> None:
        half, self._whole, self.reads = _HALVES[PARTS.index(rows)], whole, True
        names = [(quoted(name), f"{quoted(schema)}.{quoted(name)}") for name, schema, _ in tables]
        self._before = ", ".join(_HALF.format(name=name, table=table, half=half) for name, table in names)
        schemas = "|".join({re.escape(schema) for _, schema, _ in tables})
        self._qualified = re.compile(rf"(?<!\w)(?:{schemas})\"?\s*\.", re.IGNORECASE)

    def _run(self, text: str, seconds: float, asked: Asked) -> list[ResultRow] | None:
        if self._qualified.search(text) is not None:
            raise QueryRefused("the query names tables with their schema")
        text = f"WITH {self._before} SELECT * FROM (\n{text.strip().removesuffix(';')}\n) AS graded"
        return self._whole.run(text, seconds, asked)

    def part(self, rows: str) -> None:
        """None: it is one."""

    def close(self) -> None:
        """The whole is closed by itself."""
