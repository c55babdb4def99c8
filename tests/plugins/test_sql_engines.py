"""`sql` on DuckDB and on a PostgreSQL server: the same rules, and queries that write, read files, never end or need all memory."""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from grpo_rewards import Reward, get_reward

from . import hostile_rows

duckdb = pytest.importorskip("duckdb")
pytestmark = pytest.mark.slow  # workers that start engines, and a server

SCRIPT = """
CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INTEGER, price DOUBLE PRECISION);
INSERT INTO t VALUES (1, 'a', 3, 1.5), (2, 'b', NULL, 2.0), (3, 'a', 3, 1.5), (4, 'distinct', 1, 0.1);
"""
NAMES = "SELECT name FROM t"
# gold, query, and what BIRD, Spider and the strict rule say of it
RULES = [
    pytest.param("SELECT count(*) FROM t", "SELECT 4 AS n FROM t WHERE id = 1", (0, 0, 0), id="a constant where one row is"),
    pytest.param("SELECT count(*) FROM t WHERE name = 'x'", "SELECT DISTINCT 0 FROM t", (0, 0, 0), id="a constant nought"),
    pytest.param("SELECT id FROM t WHERE id = 1", "SELECT 1 FROM t WHERE id = 1", (1, 1, 1), id="a constant that is asked for"),
    pytest.param(NAMES, "SELECT name FROM t WHERE id > 0;", (1, 1, 1), id="other text"),
    pytest.param(NAMES, "SELECT DISTINCT name FROM t", (1, 1, 0), id="distinct"),
    pytest.param("SELECT id, name FROM t", "SELECT name, id FROM t", (0, 1, 0), id="columns the other way"),
    pytest.param("SELECT id FROM t ORDER BY id DESC", "SELECT id FROM t ORDER BY id", (1, 0, 0), id="order asked for"),
    pytest.param("SELECT id FROM t WHERE id = 1", "SELECT id + 0.0 FROM t WHERE id = 1", (1, 1, 1), id="an integer as a float"),
    pytest.param("SELECT count(*) FROM t", "SELECT 4", (0, 0, 0), id="a constant"),
    pytest.param("SELECT count(*) FROM t WHERE 1 = 0", "SELECT count(*) FROM t WHERE 2 = 0", (1, 1, 1), id="a plan without the table"),
    pytest.param("SELECT id FROM t WHERE id > 99", "SELECT 1 WHERE 1 = 0", (None, None, None), id="no row"),
    pytest.param("SELECT ARRAY[1, 2]", "SELECT ARRAY[1, 1 + 1]", (1, 1, 1), id="a list"),
    pytest.param("SELECT CAST('nan' AS double precision)", "SELECT CAST('NaN' AS double precision)", (1, 1, 1), id="NaN"),
    pytest.param("SELECT x FROM t", "SELECT x FROM t", (None, None, None), id="a gold that fails"),
    pytest.param(NAMES, "SELEC name FROM t", (0, 0, 0), id="no SQL"),
    pytest.param(NAMES, f"{NAMES}; {NAMES}", (0, 1, 0), id="two statements"),
]  # fmt: skip
WRITES = [
    "DROP TABLE t", "DELETE FROM t", "UPDATE t SET n = 1", "INSERT INTO t VALUES (9, 'x', 1, 1)", "CREATE TEMP TABLE z (a int)",
    "WITH x AS (DELETE FROM t RETURNING *) SELECT name FROM x", f"{NAMES}; DROP TABLE t", "COPY t TO '{folder}/evil.csv'", "BEGIN", "COMMIT",
    "COPY (SELECT 1) TO '{folder}/evil.csv'", "EXPLAIN ANALYZE SELECT 1", "PREPARE v AS SELECT 1", "VACUUM", "ANALYZE", "CHECKPOINT",
    "SELECT '\ud800'", f"{NAMES}\0", "SELECT $1", "", ";", "SELECT '" + "x" * 300_000 + "'",
]  # fmt: skip
OF_DUCKDB = [
    "ATTACH '{folder}/evil.db' AS e", "ATTACH ':memory:' AS e", "SELECT * FROM read_csv('/etc/passwd')", "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM read_text('/etc/passwd')", "SELECT * FROM read_blob('/etc/passwd')", "FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM glob('/etc/*')", "INSTALL httpfs", "LOAD httpfs", "SET enable_external_access = true", "RESET memory_limit",
    "PRAGMA database_list", "EXPORT DATABASE '{folder}/evil'", "IMPORT DATABASE '{folder}/evil'", "CALL checkpoint()", "USE memory",
    "SELECT * FROM query('DROP TABLE t')", "SELECT * FROM query_table('/etc/passwd')", "FROM force_checkpoint('d')", "FROM rows",
    "CREATE SECRET s (TYPE s3)", "CREATE MACRO m() AS 1", "SET VARIABLE x = 1", "SELECT write_log('x')", "FROM sys",
    "FROM enable_logging(storage = 'file', storage_path = '{folder}/evil')", "SELECT * FROM parquet_scan('/etc/passwd')",
]  # fmt: skip
DUCKDB_BOMBS = [
    "SELECT count(*) FROM range(100000000000)", "SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b",
    "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT count(*) FROM x", "SELECT range FROM range(100000000)",
    "SELECT repeat('x', 10000000000)", "SELECT list(range) FROM range(100000000)", "SELECT list_sort(range(100000000))",
    "SELECT string_agg(repeat('x', 1000), '') FROM range(1000000)", "SELECT 'x' LIKE repeat('%a', 100000)",
]  # fmt: skip
OF_POSTGRES = [
    "SELECT pg_read_file('/etc/passwd')", "SELECT pg_read_binary_file('/etc/passwd')", "SELECT pg_ls_dir('/')", "SELECT pg_stat_file('/')",
    "SELECT lo_import('/etc/passwd')", "SELECT lo_export(1, '{folder}/evil')", "SELECT lo_create(0)", "SELECT lo_from_bytea(0, 'x')",
    "COPY (SELECT 1) TO PROGRAM 'touch {folder}/evil'", "CREATE EXTENSION file_fdw", "LOAD 'x'", "SET ROLE boss", "SET TRANSACTION READ WRITE",
    "SELECT set_config('role', 'boss', false)", "SELECT set_config('session_authorization', 'boss', false)",
    "SELECT set_config('transaction_read_only', 'off', false)", "SELECT set_config('default_transaction_read_only', 'off', false)",
    "SELECT set_config('statement_timeout', '0', false)", "SELECT set_config('search_path', 'nowhere', false)",
    "SELECT query_to_xml('DROP TABLE t', true, true, '')", "SELECT query_to_xml('COMMIT', true, true, '')", "SELECT name INTO u FROM t",
    "SELECT name FROM t FOR UPDATE", "DO $$ BEGIN LOOP END LOOP; END $$", "DECLARE x CURSOR FOR SELECT 1", "LISTEN x",
    "SELECT pg_notify('a', 'b')", "SELECT nextval('s')", "SELECT setval('s', 9)", "SELECT pg_advisory_lock(1)", "SELECT pg_reload_conf()",
    "SELECT pg_terminate_backend(pg_backend_pid())", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity", "SELECT pg_switch_wal()",
    "SELECT pg_logical_emit_message(false, 'a', 'b')", "SELECT pg_promote()", "SELECT rolpassword FROM pg_authid", "SELECT dblink('x', 'y')",
    "SELECT current_setting('data_directory')", "SELECT pg_cancel_backend(pg_backend_pid())",
]  # fmt: skip
POSTGRES_BOMBS = [
    "SELECT pg_sleep(60)", "SELECT count(*) FROM generate_series(1, 100000000000)", "SELECT generate_series(1, 100000000)",
    "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT count(*) FROM x", "SELECT repeat('x', 1000000000)",
    "SELECT string_agg(repeat('x', 1000), '') FROM generate_series(1, 1000000)",
]  # fmt: skip


def bound(databases: str, **settings: Any) -> Reward:
    return get_reward("sql").with_(databases=databases, **settings)


def values(databases: str, queries: list[str], **settings: Any) -> list[Any]:
    reward = bound(databases, **settings)
    return list(reward(completions=queries, query=[NAMES] * len(queries), db_id=["d"] * len(queries)))


def by_each_rule(databases: str, gold: str, query: str) -> tuple[Any, ...]:
    rules = ("bird", "spider", "strict")
    return tuple(bound(databases, rule=rule).one(query, query=gold, db_id="d").value for rule in rules)


# ------------------------------------------------------------------------------------------------ DuckDB


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("databases")
    connection = duckdb.connect(str(folder / "d.duckdb"))
    connection.execute(SCRIPT)
    connection.close()
    return str(folder)


@pytest.mark.parametrize(("gold", "query", "expected"), RULES)
def test_the_rules_hold_on_duckdb(files: str, gold: str, query: str, expected: tuple[Any, ...]) -> None:
    assert by_each_rule(files, gold, query) == expected


COUNT = "SELECT count(*) FROM t"
CONSTANTS = [
    "SELECT 4 FROM t LIMIT 1", "SELECT DISTINCT 2 + 2 FROM t WHERE id > 0", "SELECT 4 + 0 * id FROM t WHERE id > 0 LIMIT 1", "SELECT id + 3 FROM t WHERE id = 1",
    "SELECT id FROM t WHERE id = 4", "WITH a AS (SELECT 4 AS b FROM t) SELECT b FROM a LIMIT 1", "SELECT 4 FROM t LIMIT 1 -- four",
]  # fmt: skip
NO_CONSTANTS = [
    "SELECT max(id) FROM t", "SELECT sum(1) FROM t;", "SELECT count(*) FROM t AS a JOIN t AS b ON a.id = b.id ORDER BY 1",
    "WITH t AS (SELECT id FROM t) SELECT count(*) FROM t",
]  # fmt: skip


def constants_are_told(databases: str, constants: list[str], others: list[str]) -> None:
    for text in constants:
        assert by_each_rule(databases, COUNT, text) == (0, 0, 0), text
    for text in others:
        assert by_each_rule(databases, COUNT, text) == (1, 1, 1), text


def test_constants_beside_a_table_are_told_on_duckdb(files: str) -> None:
    others = [text for text in NO_CONSTANTS if "WITH t" not in text]  # a circle there
    constants_are_told(
        files,
        [*CONSTANTS, "SELECT max(4) FROM main.t"],
        [*others, "SELECT count(*) FROM d.t", "SELECT sum(1) FROM main.t"],
    )


def _bytes(folder: str) -> dict[str, str]:
    found = [file for file in Path(folder).rglob("*") if file.is_file()]
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in found}


def test_hostile_queries_on_duckdb_are_0_and_change_no_byte(files: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    before = _bytes(files)
    queries = [text.replace("{folder}", files) for text in (*WRITES, *OF_DUCKDB, NAMES)]
    assert values(files, queries) == [0.0] * (len(queries) - 1) + [1.0]
    assert _bytes(files) == before


def test_a_query_that_needs_all_time_or_memory_of_duckdb_is_0(files: str) -> None:
    queries = [*DUCKDB_BOMBS, NAMES]
    assert values(files, queries, max_rows=10_000) == [0.0] * len(DUCKDB_BOMBS) + [1.0]
    late = bound(files).one(DUCKDB_BOMBS[0], query=NAMES, db_id="d")
    assert (late.value, late.status) == (0.0, "timeout")


def test_more_hostile_rows_on_duckdb_are_0(files: str) -> None:
    for reward, query, columns in hostile_rows.sql("duckdb", files):
        assert reward.one(query, **columns).value == 0.0, query[:80]


def of_sixteen_threads(databases: str, timeout: float) -> list[list[Any]]:
    """What 16 threads at once get for the same queries, each text its own, after what one gets alone."""
    queries = [f"SELECT name FROM t WHERE id > {number % 3}" for number in range(24)]

    def one(thread: int) -> list[Any]:
        return values(databases, [f"{text} -- {thread}" for text in queries], timeout=timeout)

    with ThreadPoolExecutor(16) as threads:
        return [one(-1), *threads.map(one, range(16))]


def test_sixteen_threads_get_the_same_values_of_duckdb(files: str) -> None:
    found = of_sixteen_threads(files, 10.0)
    assert found == [[1.0, 1.0, 0.0] * 8] * 17


def test_what_is_said_of_a_query_on_duckdb(files: str, tmp_path: Path) -> None:
    said = [
        bound(files).one(text, query=NAMES, db_id="d").reason
        for text in ("DROP TABLE t", "FROM read_csv('/etc/passwd')")
    ]
    assert said[0] == "the query does more than read: DROP"
    assert "file system operations are disabled" in said[1]
    (tmp_path / "d.duckdb").write_text("no database at all, " * 100)
    assert bound(str(tmp_path)).one("SELECT 1", query="SELECT 1", db_id="d").status == "unavailable"


# ------------------------------------------------------------------------------------------------ PostgreSQL


def _programs() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    beside = shutil.which("initdb")
    return found[-1].parent if found else Path(beside).parent if beside else None


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real server of one's own, with a superuser `boss` and a `reader`; it cannot run as root."""
    psycopg, programs = pytest.importorskip("psycopg"), _programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed")
    user = "postgres" if os.getuid() == 0 else None
    folder = Path("/tmp") / f"grpo-pg-{os.getpid()}"  # a short path that the server's user can enter
    folder.mkdir()
    if user:
        os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data, control = str(folder / "data"), str(programs / "pg_ctl")
    options = f"-h 127.0.0.1 -p {port} -k {folder} -c fsync=off"
    try:
        for command in (
            [str(programs / "initdb"), "-D", data, "-U", "boss", "-A", "trust", "-N"],
            [control, "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start"],
        ):
            subprocess.run(command, user=user, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        with psycopg.connect(f"postgresql://boss@127.0.0.1:{port}/postgres", autocommit=True) as boss:
            boss.execute("CREATE ROLE reader LOGIN")
            boss.execute("CREATE DATABASE d")
        with psycopg.connect(f"postgresql://boss@127.0.0.1:{port}/d", autocommit=True) as boss:
            boss.execute(
                f"{SCRIPT}; CREATE SEQUENCE s; GRANT ALL ON ALL TABLES IN SCHEMA public TO reader; GRANT ALL ON s TO reader"
            )
        yield f"postgresql://reader@127.0.0.1:{port}"
    finally:
        subprocess.run(
            [control, "-D", data, "-m", "immediate", "stop"], user=user, cwd="/", check=False, stdout=subprocess.DEVNULL
        )
        shutil.rmtree(folder)


def _state(server: str) -> list[Any]:
    import psycopg

    with psycopg.connect(server.replace("reader", "boss") + "/d") as boss:
        asked = ("SELECT * FROM t ORDER BY id", "SELECT relname FROM pg_class ORDER BY 1", "SELECT last_value, is_called FROM s",
                 "SELECT count(*) FROM pg_largeobject_metadata", "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")  # fmt: skip
        return [boss.execute(text).fetchall() for text in asked]


@pytest.mark.parametrize(("gold", "query", "expected"), RULES)
def test_the_rules_hold_on_postgresql(server: str, gold: str, query: str, expected: tuple[Any, ...]) -> None:
    assert by_each_rule(server, gold, query) == expected


def test_constants_beside_a_table_are_told_on_postgresql(server: str) -> None:
    # what a schema is named for cannot be told: both halves are asked of the whole
    constants_are_told(
        server,
        [*CONSTANTS, "SELECT max(4) FROM t"],
        [*NO_CONSTANTS, "SELECT count(*) FROM public.t", "SELECT 4 + 0 * max(id) FROM public.t"],
    )


def test_hostile_queries_on_postgresql_are_0_and_change_nothing(server: str, tmp_path: Path) -> None:
    before = _state(server)
    tmp_path.chmod(0o777)
    queries = [text.replace("{folder}", str(tmp_path)) for text in (*WRITES, *OF_POSTGRES, *POSTGRES_BOMBS, NAMES)]
    found = values(server, queries, timeout=0.3, max_rows=10_000)
    assert [query for query, value in zip(queries, found, strict=True) if value != 0.0] == [NAMES]
    assert found[-1] == 1.0
    assert _state(server) == before
    assert list(tmp_path.iterdir()) == []


def test_more_hostile_rows_on_postgresql_are_0(server: str) -> None:
    before = _state(server)
    for reward, query, columns in hostile_rows.sql("postgres", server):
        assert reward.one(query, **columns).value == 0.0, query[:80]
    assert _state(server) == before


def test_a_query_that_sleeps_a_little_for_each_row_has_one_limit_for_all(server: str) -> None:
    slow = "SELECT name FROM t, generate_series(1, 100000) WHERE pg_sleep(0.002) IS NOT NULL"
    outcome = bound(server).one(slow, query=NAMES, db_id="d")
    assert (outcome.value, outcome.status) == (0.0, "timeout")


def test_a_query_that_ends_the_sessions_of_its_role_costs_no_other_row(server: str) -> None:
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = current_user AND pid <> pg_backend_pid()"
    queries = [others if place % 4 == 0 else f"SELECT name FROM t WHERE id > {-place}" for place in range(80)]

    def one(query: str) -> float | None:
        return bound(server, timeout=5.0).one(query, query=NAMES, db_id="d").value

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(one, queries)) == [float(query != others) for query in queries]


def test_no_query_sees_the_gold_of_another_worker(server: str) -> None:
    import psycopg

    gold = "SELECT name FROM t WHERE price <> 0.0625"
    with (
        ThreadPoolExecutor(1) as thread,
        psycopg.connect(server.replace("reader", "boss") + "/d") as boss,
        psycopg.connect(server + "/d", autocommit=True) as spy,
    ):
        boss.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")  # the gold waits in the middle of its run
        asked = thread.submit(bound(server).one, gold, query=gold, db_id="d")
        while not boss.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()[0]:  # type: ignore[index]
            assert not asked.done(), asked.result()
        seen = [text for (text,) in spy.execute("SELECT query FROM pg_stat_activity WHERE usename = 'reader'")]
        boss.rollback()
        assert asked.result().value == 1.0
    assert len(seen) >= 2
    assert not any("SELECT name" in text or "0.0625" in text for text in seen), seen


def test_sixteen_threads_get_the_same_values_of_postgresql(server: str) -> None:
    found = of_sixteen_threads(server + "/", 10.0)
    assert found == [[1.0, 1.0, 0.0] * 8] * 17


def test_past_queries_must_not_be_readable(server: str) -> None:
    import psycopg

    with psycopg.connect(server.replace("reader", "boss") + "/postgres", autocommit=True) as boss:
        boss.execute("CREATE DATABASE watched")
    with psycopg.connect(server.replace("reader", "boss") + "/watched", autocommit=True) as boss:
        boss.execute(
            "CREATE FUNCTION pg_stat_statements(showtext boolean) RETURNS text LANGUAGE sql AS 'SELECT NULL::text'"
        )
        refused = bound(server).one("SELECT 1", query="SELECT 1", db_id="watched")
        assert refused.status == "unavailable"
        assert "may read past queries, golds among them, by pg_stat_statements" in refused.reason
        boss.execute("REVOKE EXECUTE ON FUNCTION pg_stat_statements FROM PUBLIC")
    assert bound(server).one("SELECT 1", query="SELECT 1", db_id="watched").value == 1.0


def test_a_role_that_could_do_more_than_read_the_tables_is_refused(server: str) -> None:
    import psycopg

    powerful = bound(server.replace("reader", "boss")).one(NAMES, query=NAMES, db_id="d")
    assert powerful.status == "unavailable"
    assert "the role is a superuser: give the URL of one that may read" in powerful.reason
    with psycopg.connect(server.replace("reader", "boss") + "/d", autocommit=True) as boss:
        boss.execute("CREATE ROLE spy LOGIN IN ROLE pg_read_server_files")
    spy = bound(server.replace("reader", "spy")).one(NAMES, query=NAMES, db_id="d")
    assert "is a member of pg_read_server_files" in spy.reason


def test_what_is_no_database_of_a_server(server: str) -> None:
    reward = bound(server)
    assert "does not exist" in reward.one(NAMES, query=NAMES, db_id="nope").reason
    assert reward.one(NAMES, query=NAMES, db_id="d?host=elsewhere").status == "unavailable"
    assert "named by db_id" in str(reward.row_problem({"query": NAMES, "db_path": "d"}))
    assert "column" in str(reward.row_problem({"query": "SELECT x FROM t", "db_id": "d"}))
    assert reward.row_problem({"query": NAMES, "db_id": "d"}) is None
    gone = bound("postgresql://reader@127.0.0.1:1").one(NAMES, query=NAMES, db_id="d")
    assert (gone.value, gone.status) == (None, "unavailable")
