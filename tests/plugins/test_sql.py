"""The reward `sql`: three rules on real databases, and queries that write, never end or need all memory."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from grpo_rewards_plugins.sql.queries import asks_for_order, same_form, spider_text, varies
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_rewards import Reward, get_reward
from grpo_rewards.testing import RewardContract

SCRIPT = """
CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INTEGER, price REAL);
INSERT INTO t VALUES (1, 'a', 3, 1.5), (2, 'b', NULL, 2.0), (3, 'a', 3, 1.5), (4, 'distinct', 1, 0.1);
CREATE TABLE other (id INTEGER PRIMARY KEY AUTOINCREMENT);
CREATE VIEW v AS SELECT n FROM t WHERE id = 1;
"""


def build(path: Path, script: str = SCRIPT) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("databases")
    build(found / "d" / "d.sqlite")
    return found


def bound(folder: Path, **settings: Any) -> Reward:
    return get_reward("sql").with_(databases=str(folder), **settings)


NAMES = "SELECT name FROM t"
CONSTANTS = [
    "SELECT 4 FROM t LIMIT 1", "SELECT DISTINCT 2 + 2 FROM t", "SELECT max(4) FROM t", "SELECT 4 + 0 * id FROM t WHERE id > 0 LIMIT 1",
    "SELECT 4 WHERE EXISTS (SELECT name FROM t)", "WITH a AS (SELECT 4 AS b FROM T) SELECT b FROM a LIMIT 1", "SELECT DISTINCT 4 FROM t AS a JOIN t AS b ON a.id = b.id",
    "SELECT id + 3 FROM t WHERE id = 1", "SELECT id * 2 FROM t WHERE id = 2", "SELECT length(name) + 3 FROM t WHERE id = 1", "SELECT id FROM t WHERE id = 4",
    "SELECT DISTINCT id + 3 FROM t WHERE id = 1",
]  # fmt: skip
# gold, query, and what BIRD, Spider and the strict rule say of it
RULES = [
    pytest.param("SELECT count(*) FROM t", "SELECT 4 AS n FROM t WHERE id = 1", (0, 0, 0), id="a constant where one row is"),
    pytest.param("SELECT count(*) FROM t WHERE name = 'x'", "SELECT DISTINCT 0 FROM t", (0, 0, 0), id="a constant nought"),
    pytest.param("SELECT id FROM t WHERE id = 1", "SELECT 1 FROM t WHERE id = 1", (1, 1, 1), id="a constant that is asked for"),
    pytest.param(NAMES, "SELECT name FROM t WHERE id > 0", (1, 1, 1), id="other text"),
    pytest.param(NAMES, "SELECT DISTINCT name FROM t", (1, 1, 0), id="distinct in the query"),
    pytest.param("SELECT DISTINCT name FROM t", NAMES, (1, 1, 0), id="distinct in the gold"),
    pytest.param(NAMES, f"{NAMES} UNION SELECT name FROM t", (1, 0, 0), id="a set"),
    pytest.param("SELECT id, name FROM t", "SELECT name, id FROM t", (0, 1, 0), id="columns the other way"),
    pytest.param("SELECT name, n FROM t", "SELECT name, n, n FROM t", (0, 0, 0), id="a column more"),
    pytest.param("SELECT id FROM t ORDER BY id DESC", "SELECT id FROM t", (1, 0, 0), id="order asked for"),
    pytest.param("SELECT id FROM t", "SELECT id FROM t ORDER BY id DESC", (1, 1, 1), id="order not asked for"),
    pytest.param(
        "SELECT id FROM (SELECT id FROM t ORDER BY id)", "SELECT id FROM t ORDER BY -id", (1, 0, 1), id="order within"
    ),
    pytest.param("SELECT n FROM t WHERE id = 1", "SELECT n + 0.0 FROM t WHERE id = 1", (1, 1, 1), id="an integer as a float"),
    pytest.param("SELECT id, n FROM t WHERE id = 1", "SELECT n, id FROM t WHERE id = 1", (0, 1, 0), id="one row turned round"),
    pytest.param(NAMES, "SELECT name FROM t; SELECT 1", (0, 1, 0), id="two statements"),
    pytest.param(NAMES, "SELECT name FROM t -- done", (1, 1, 1), id="a comment"),
    pytest.param("SELECT 3 WHERE 3 >= 2", "SELECT 3 WHERE 3 > = 2", (0, 1, 0), id="a split operator"),
    pytest.param("SELECT id FROM t WHERE name = 'distinct'", "SELECT id FROM t WHERE id = 4", (1, 1, 1), id="distinct in a string"),
    pytest.param("SELECT 2020", "SELECT YEAR ( CURDATE() )", (0, 1, 0), id="Spider's year"),
    pytest.param("SELECT 1 WHERE 0", "SELECT name FROM t WHERE 0", (None, None, None), id="nothing at all"),
    pytest.param("SELECT id FROM t WHERE n > 9", NAMES, (None, None, None), id="nothing, and a query that gives rows"),
    pytest.param("SELECT count(*) FROM t", "SELECT 4", (0, 0, 0), id="a constant"),
    pytest.param("SELECT count(*) FROM t", "WITH a AS (SELECT 4 AS b) SELECT b FROM a", (0, 0, 0), id="a table of its own"),
    pytest.param("SELECT count(*) FROM t", "SELECT 4 FROM sqlite_master", (0, 0, 0), id="a table of the engine"),
    pytest.param("SELECT count(*) FROM t", "SELECT count(*) FROM (SELECT 1 FROM T)", (1, 1, 1), id="a column of none"),
    *(pytest.param("SELECT count(*) FROM t", query, (0, 0, 0), id=f"a constant beside a table: {query}") for query in CONSTANTS),
    pytest.param("SELECT count(*) FROM t", "SELECT count(*) FROM main.t", (1, 1, 1), id="a full name"),
    pytest.param("SELECT count(*) FROM t", "SELECT max(id) FROM t", (1, 1, 1), id="right by the rows that are there"),
    pytest.param("SELECT CASE WHEN count(*) > 1 THEN 'yes' END FROM t", "SELECT 'yes' FROM t GROUP BY 1 = 1 HAVING count(*) > 1", (1, 1, 1), id="a word"),
    pytest.param("SELECT name FROM t ORDER BY price DESC LIMIT 1", "SELECT name FROM t WHERE id = 2", (1, 1, 1), id="a row by its key"),
    pytest.param("SELECT n FROM t WHERE id = 1", "SELECT id + 2 FROM t WHERE id = 1", (1, 1, 1), id="a value that no half tells"),
    pytest.param("SELECT n FROM v", "SELECT 3 FROM t LIMIT 1", (0, 0, 0), id="a constant for a view"),
    pytest.param("SELECT n FROM t WHERE id = 1", "SELECT n FROM v", (1, 1, 1), id="a view"),
    pytest.param("SELECT x FROM t", "SELECT x FROM t", (None, None, None), id="a gold that fails"),
    pytest.param(NAMES, "SELEC name FROM t", (0, 0, 0), id="no SQL"),
    pytest.param(NAMES, "", (0, 0, 0), id="empty"),
]  # fmt: skip


def test_constants_are_told_on_a_script_too(tmp_path: Path) -> None:
    (tmp_path / "d.sql").write_text(SCRIPT)
    row = {"query": "SELECT count(*) FROM t", "db_id": "d"}
    assert [bound(tmp_path).one(text, **row).value for text in (*CONSTANTS, "SELECT sum(1) FROM t")] == [
        *([0.0] * len(CONSTANTS)),
        1.0,
    ]


@pytest.mark.parametrize("keys", ["id", "name, id"])
def test_constants_are_told_of_tables_without_rowid(tmp_path: Path, keys: str) -> None:
    rows = "(1, 'a'), (2, 'b'), (3, 'a'), (4, 'c')"
    build(
        tmp_path / "d.sqlite",
        f"CREATE TABLE t (id INT, name TEXT, PRIMARY KEY ({keys})) WITHOUT ROWID; INSERT INTO t VALUES {rows}",
    )
    row = {"query": "SELECT count(*) FROM t", "db_id": "d"}
    assert [
        bound(tmp_path).one(text, **row).value for text in (*CONSTANTS, "SELECT sum(1) FROM t", "SELECT max(id) FROM t")
    ] == [
        *([0.0] * len(CONSTANTS)),
        1.0,
        1.0,
    ]


@pytest.mark.parametrize(("gold", "query", "expected"), RULES)
def test_the_rules_differ_where_they_should(folder: Path, gold: str, query: str, expected: tuple[Any, ...]) -> None:
    found = [bound(folder, rule=rule).one(query, query=gold, db_id="d") for rule in ("bird", "spider", "strict")]
    assert tuple(outcome.value for outcome in found) == expected, found


PLACES = [
    pytest.param("So:\n```sql\nSELECT 1\n```\n", "auto", 1.0, id="a block"),
    pytest.param("```sql\nSELECT 2\n```\n```\nSELECT 1\n```", "block", 1.0, id="the last block"),
    pytest.param("<think>```sql\nSELECT 2\n```</think>SELECT 1", "auto", 1.0, id="after the reasoning"),
    pytest.param("```sql\nSELECT 2\n```<answer>\n```sql\nSELECT 1\n```</answer>", "auto", 1.0, id="the tag"),
    pytest.param("SELECT 1", "block", 0.0, id="no block"),
    pytest.param("The answer is: SELECT 1", "auto", 0.0, id="words around it"),
]


@pytest.mark.parametrize(("completion", "place", "expected"), PLACES)
def test_where_the_query_stands(folder: Path, completion: str, place: str, expected: float) -> None:
    assert bound(folder, place=place).one(completion, query="SELECT 1", db_id="d").value == expected


REFUSED = [
    "DROP TABLE t", "DELETE FROM t", "UPDATE t SET n = 1", "INSERT INTO t VALUES (9, 'x', 1, 1)", "CREATE TEMP TABLE z (a)",
    "ALTER TABLE t RENAME TO u", "ATTACH 'evil.db' AS e", "VACUUM", "VACUUM INTO 'evil.db'", "PRAGMA writable_schema = ON",
    "PRAGMA table_info(t)", "SELECT * FROM pragma_table_info('t')", "BEGIN", "REINDEX", "ANALYZE", "DETACH main",
    "SELECT load_extension('x')", "SELECT writefile('evil', 'x')", "CREATE VIRTUAL TABLE v USING fts5(x)", f"{NAMES}; DROP TABLE t",
]  # fmt: skip
BOMBS = [
    "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT count(*) FROM x",
    "WITH RECURSIVE x(n) AS (SELECT 'a' UNION ALL SELECT n || n FROM x) SELECT max(length(n)) FROM x",
    "WITH RECURSIVE x(n) AS (SELECT 'a' UNION ALL SELECT 'b' FROM x) SELECT n FROM x",
    "SELECT count(*) FROM t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l, t m, t n",
    "SELECT zeroblob(1000000000)", "SELECT printf('%.*c', 1000000000, 'x')", "SELECT '" + "x" * 300_000 + "'",
    "SELECT replace(hex(zeroblob(10000)), '0', 'a') LIKE '" + "%a" * 40 + "b'", "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
    "SELECT name\0 FROM t", "SELECT '\ud800'", "SELECT ?", "/* " * 50_000,
]  # fmt: skip


def _bytes(folder: Path) -> dict[str, str]:
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.rglob("*") if file.is_file()}


def test_hostile_queries_are_0_and_change_no_byte(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    before = _bytes(folder)
    queries = [*REFUSED, *BOMBS, NAMES]
    reward = bound(folder, timeout=0.2, max_rows=10_000)
    values = reward(completions=queries, query=[NAMES] * len(queries), db_id=["d"] * len(queries))
    assert values == [0.0] * (len(queries) - 1) + [1.0]
    assert _bytes(folder) == before


SAID = [
    ("DROP TABLE t", "scored", "the query does more than read: DELETE"),
    ("ATTACH 'x' AS e", "scored", "the query does more than read: ATTACH"),
    ("SELECT load_extension('x')", "scored", "the query does more than read: the function load_extension"),
    (BOMBS[0], "timeout", "the query ran longer than 0.2 s"),
    ("SELECT x FROM t", "scored", "SQLite refuses the query: no such column: x"),
    ("SELECT 1", "scored", "another result than the gold's (bird, d.sqlite)"),
]


@pytest.mark.parametrize(("query", "status", "reason"), SAID, ids=[reason for *_, reason in SAID])
def test_what_is_said_of_a_query(folder: Path, query: str, status: str, reason: str) -> None:
    found = bound(folder, timeout=0.2).one(query, query=NAMES, db_id="d")
    assert (found.status, found.reason) == (status, reason)


def test_rows_and_bytes_have_their_limits(folder: Path) -> None:
    many = bound(folder, rule="spider", max_rows=3).one(NAMES, query="SELECT name FROM t LIMIT 2", db_id="d")
    assert (many.value, many.reason) == (0.0, "another result than the gold's (spider, d.sqlite)")  # stopped at 3 of 2
    many = bound(folder, max_rows=3).one(NAMES, query="SELECT DISTINCT name FROM t", db_id="d")
    assert (many.value, many.status) == (0.0, "rejected")
    long = bound(folder, max_bytes=5_000).one("SELECT hex(zeroblob(4000))", query=NAMES, db_id="d")
    assert (long.value, long.reason) == (0.0, "SQLite refuses the query: string or blob too big")


SAME = [
    "SELECT name FROM t",
    "select  name\n from T ;",
    "SELECT name FROM t -- all of them",
    "SELECT name -- 'x\nFROM t;",
    "\tSELECT name FROM t; --",
]
OTHER = [
    ("SELECT 'a' FROM t", "SELECT 'A' FROM t"), ("SELECT 'a' 'b'", "SELECT 'a''b'"), ("SELECT '-- a'", "SELECT '-- b'"), ("SELECT 1;;", "SELECT 1"),
    ("SELECT 'a  b'", "SELECT 'a b'"), ("SELECT [A]", "SELECT [a]"), ("SELECT É", "SELECT é"), ("SELECT 1\x0b", "SELECT 1"), ("SELECT 1 - -1", "SELECT 1 --1"),
    ("SELECT 1 /* -- */ + 1", "SELECT 1 /* "), ("SELECT $A", "SELECT $a"), ("SELECT `A`", "SELECT `a`"), ("SELECT 1; SELECT 2", "SELECT 1"),
]  # fmt: skip


def test_white_space_comments_and_case_make_no_other_query() -> None:
    assert {same_form(text) for text in SAME} == {"select name from t"}
    for one, other in OTHER:
        assert same_form(one) != same_form(other), one


@given(*[st.lists(st.sampled_from(["select ", "SELECT ", "1", "'a'", "'A'", "'", '"', "`", "--", "\n", " ", "  ", "\t", ";", "/*", "*/", "[", "]", "a", "A", ",", "é", "\x0b", "|| ", "x'0A'"]), max_size=9)] * 2)  # fmt: skip
@settings(max_examples=300)
def test_queries_of_one_form_are_one_query_to_sqlite(one: list[str], other: list[str]) -> None:
    def result(text: str) -> Any:
        with contextlib.closing(sqlite3.connect(":memory:")) as connection:
            try:
                return connection.execute(text).fetchall()
            except (sqlite3.Error, sqlite3.Warning):
                return None

    first = "select " + "".join(one)
    for second in ("select " + "".join(other), first.upper(), first.replace(" ", "\n"), first + " -- x", first + ";"):
        if same_form(first) == same_form(second):
            assert result(first) == result(second)


def test_the_golds_own_query_is_right_and_others_of_its_form_are_too(folder: Path) -> None:
    reward = bound(folder, rule="strict")
    row = {"query": "SELECT id FROM t ORDER BY n, id", "db_id": "d"}
    for text in (row["query"], "select id from t order by n, id;", "SELECT id FROM t\nORDER BY n, id -- so"):
        assert reward.one(text, **row).value == 1.0
    assert reward.one("SELECT random()", query="SELECT random()", db_id="d").value == 0.0  # run twice, as it varies
    assert reward.one("SELECT 1", query="SELECT x", db_id="d").status == "not_applicable"
    assert reward.one("SELECT x", query="SELECT x", db_id="d").status == "not_applicable"


def test_spider_asks_every_database_of_the_folder(tmp_path: Path) -> None:
    build(tmp_path / "d" / "d.sqlite")
    build(tmp_path / "d" / "d_2.sqlite", SCRIPT.replace("2.0", "1.5"))
    row = {"query": "SELECT id FROM t WHERE price < 2", "db_id": "d"}
    assert bound(tmp_path).one("SELECT id FROM t WHERE id <> 2", **row).value == 1.0
    assert bound(tmp_path, rule="spider").one("SELECT id FROM t WHERE id <> 2", **row).value == 0.0


def test_a_relative_folder_is_that_of_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, number in (("one", 1), ("two", 2)):
        build(tmp_path / name / "here" / "d.sqlite", f"CREATE TABLE t (n); INSERT INTO t VALUES ({number})")
        monkeypatch.chdir(tmp_path / name)  # the workers go on in the folder in which they were started
        found = (
            get_reward("sql")
            .with_(databases="here")
            .one(f"SELECT n FROM t WHERE n = {number}", query="SELECT n FROM t", db_id="d")
        )
        assert found.value == 1.0


def test_a_changed_database_is_opened_again(tmp_path: Path) -> None:
    path = build(tmp_path / "d.sqlite")
    row = {"query": "SELECT count(*) FROM t", "db_path": str(path)}
    four, three = (
        f"SELECT sum(1) FROM (SELECT 1 FROM t LIMIT {number}) HAVING count(*) = {number}" for number in (4, 3)
    )
    assert get_reward("sql").one(four, **row).value == 1.0
    path.unlink()
    build(path, SCRIPT.replace("(1, 'a', 3, 1.5), ", ""))
    assert get_reward("sql").one(four, **row).value == 0.0
    assert get_reward("sql").one(three, **row).value == 1.0


def test_a_gold_may_give_no_row_on_some_databases_of_a_suite(tmp_path: Path) -> None:
    build(tmp_path / "d" / "a.sqlite", SCRIPT.replace("'a'", "'z'"))
    build(tmp_path / "d" / "d.sqlite")
    row = {"query": "SELECT id FROM t WHERE name = 'a'", "db_id": "d"}
    for rule in ("spider", "strict"):
        reward = bound(tmp_path, rule=rule)
        assert reward.one("SELECT id FROM t WHERE name LIKE 'a'", **row).value == 1.0
        assert reward.one("SELECT id FROM t WHERE 0", **row).value == 0.0
    # of the one database that BIRD's rule looks at, the rows count
    assert bound(tmp_path).one("SELECT id FROM t WHERE id IN (1, 3)", **row).value == 1.0


def _absent(folder: Path) -> Iterator[tuple[dict[str, Any], str]]:
    yield {"query": "SELECT 1", "db_id": "e"}, "there is no e/e.sqlite"
    yield {"query": "SELECT 1", "db_id": "../d"}, "must be the name of a database"
    yield {"query": "SELECT 1"}, "neither db_id nor db_path"
    yield {"query": None, "db_id": "d"}, "no gold query"
    yield {"query": "SELECT x FROM t", "db_id": "d"}, "the gold cannot be run: SQLite refuses the query: no such column"
    yield {"query": "DELETE FROM t", "db_id": "d"}, "the gold cannot be run: the query does more than read"
    yield {"query": "SELECT random()", "db_id": "d"}, "not equal to itself"


def test_validate_names_the_rows_that_cannot_be_graded(folder: Path) -> None:
    reward = bound(folder)
    for row, reason in _absent(folder):
        assert reason in str(reward.row_problem(row))
        if "itself" not in reason:
            assert reward.one("SELECT 1", **row).status == "not_applicable"
    assert reward.row_problem({"query": NAMES, "db_id": "d"}) is None


def test_no_database_is_no_grade(tmp_path: Path) -> None:
    (tmp_path / "d.sqlite").write_text("no database at all, " * 100)
    found = bound(tmp_path).one("SELECT 1", query="SELECT 1", db_id="d")
    assert (found.value, found.status) == (None, "unavailable")


def test_threads_get_the_same_values(folder: Path) -> None:
    queries = [f"SELECT name FROM t WHERE id > {n}" for n in range(6)] * 4
    columns = {"query": [NAMES] * len(queries), "db_id": ["d"] * len(queries)}
    alone = bound(folder)(completions=queries, **columns)
    with ThreadPoolExecutor(16) as threads:
        found = list(threads.map(lambda _: bound(folder)(completions=queries, **columns), range(16)))
    assert found == [alone] * 16


TEXTS = [
    ("SELECT DISTINCT a FROM t", "SELECT  a FROM t"),
    ("select count(distinct a), 'distinct' from t", "select count( a), 'distinct' from t"),
    ('SELECT "distinct", [distinct], `distinct` FROM t', 'SELECT "distinct", [distinct], `distinct` FROM t'),
    ("SELECT 1 -- distinct\n, distinct", "SELECT 1 -- distinct\n, "),
    ("SELECT ';' ; DROP TABLE t", "SELECT ';' ;"),
    ("SELECT a_distinct, distinct_b FROM t", "SELECT a_distinct, distinct_b FROM t"),
]


@pytest.mark.parametrize(("given", "wanted"), TEXTS)
def test_what_spider_runs(given: str, wanted: str) -> None:
    assert spider_text(given) == wanted


@pytest.mark.parametrize(
    ("gold", "ordered"),
    [("SELECT a FROM t ORDER BY a", True), ("SELECT a FROM (SELECT a FROM t ORDER BY a)", False), ("SELECT 'order by'", False),
     ("SELECT row_number() OVER (ORDER BY a) FROM t", False), ("SELECT a FROM t order\n by a", True)],
)  # fmt: skip
def test_a_gold_s_own_order(gold: str, ordered: bool) -> None:
    assert asks_for_order(gold) is ordered


@pytest.mark.parametrize(
    ("text", "expected"),
    [("SELECT random()", True), ("SELECT date('now')", True), ("SELECT now()", True), ("SELECT date( )", True), ("SELECT uuid()", True),
     ("SELECT CURRENT_TIMESTAMP", True), ("SELECT strftime('%Y')", True), ("SELECT strftime('%Y', born) FROM known", False),
     ("SELECT count(*), date(born) FROM snow", False), ("SELECT f( ) FROM t", False)],
)  # fmt: skip
def test_what_may_give_something_else_when_it_is_run_again(text: str, expected: bool) -> None:
    assert varies(text) is expected


def test_columns_are_put_in_order_however_many_fit(tmp_path: Path) -> None:
    names = [f"c{n}" for n in range(8)]
    table = f"CREATE TABLE t (id INTEGER PRIMARY KEY, {', '.join(names)});"
    bits = [", ".join(str(((row * (2 * n + 3)) % 31 + n) % 2) for n in range(8)) for row in range(620)]
    build(tmp_path / "d.sqlite", f"{table}INSERT INTO t VALUES {', '.join(f'({n}, {b})' for n, b in enumerate(bits))}")
    row = {"query": f"SELECT {', '.join(names)} FROM t", "db_id": "d"}
    reward = bound(tmp_path, rule="spider")
    assert reward.one(f"SELECT {', '.join(reversed(names))} FROM t", **row).value == 1.0
    assert reward.one(f"SELECT {', '.join(['c0', *names[:-1]])} FROM t", **row).value == 0.0


class TestContract(RewardContract):
    reward = "sql"
    rows = (
        {"prompt": "p", "completion": "SELECT COUNT(*) FROM book", "query": "SELECT 5", "db_id": "library"},
        {"prompt": "p", "completion": "SELECT 4", "query": "SELECT 5", "db_id": "library"},
    )
    settings = {"databases": str(Path(__file__).resolve().parents[2] / "examples" / "presets" / "databases")}  # noqa: RUF012
