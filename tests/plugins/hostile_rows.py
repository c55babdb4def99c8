"""Hostile completions for every pack: long, deep, broken, explosive. The tests ask for their values, `benchmarks/packs_hostile.py` for their time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from grpo_rewards_plugins.instructions import arguments as of
from grpo_rewards_plugins.instructions import checks  # noqa: F401 - they register themselves
from grpo_rewards_plugins.instructions.registry import CHECKS

from grpo_rewards import Reward, get_reward

Row = tuple[Reward, str, dict[str, Any]]
"""A reward, a completion and the row's columns."""

_PIECES = (
    "<<", "[", "p.s", "\n-", "*\n", "a.", "a. ", ". ", '"', " \n", " ", "a", "A'", "*", "x\n\n", "***\n", "😀", "İ", "ﬁ", "1", "1,", "[1,", '{"a":',
    "Question 1\n", "A.B.", "word ", "!?", "\x00", "\u0301", "\u0316\u0301", "<think>", "</think>", "<answer>", "www.", "http://", "a@", "\r\n", "((", "`", "-",
    "Dr. ", "abba ", "a-b ", "U.S. ", "<tool_call>\n", "\n{\n", "解", "\nSolution\nAnswer: no.\nRespuesta", "9**", "\\frac{", "f(x=", "}}", "\ud800",
    "a b c d e f g h i j k l m n o p q r s t u v w x y z ",
)  # fmt: skip


def texts(length: int) -> list[str]:
    """Each piece again and again up to so many characters, whole and with something else behind."""
    return [
        text for piece in _PIECES for text in (piece * (length // len(piece)), piece * (length // len(piece)) + "\nx")
    ]


_ARGUMENTS: dict[Any, Any] = {
    of.count: 3, of.position: 1, of.text: "(a+)+$", of.texts: ["(a|a)*b", "(.*)*x"], of.first_text: "(a|aa)+$", of.relation: "at least",
    of.letter: "a", of.language: "en", of.string: "a", of.strings: ["a", ""], of.character: "\ud800", of.quantifier: "around",
}  # fmt: skip


def instructions(length: int) -> Iterator[Row]:
    """Every check, with arguments that explode where they are patterns, on every text."""
    reward = get_reward("instructions").with_(think="keep")
    for id, check in CHECKS.items():
        given = {name: _ARGUMENTS[read] for name, read in check.arguments.items()}
        for text in texts(length):
            yield reward, text, {"instruction_id_list": [id], "kwargs": [given]}


def qa(length: int) -> Iterator[Row]:
    """Every text against every gold that is long or odd."""
    for variant, metric in (("squad", "em"), ("squad2", "f1"), ("hotpot", "f1"), ("search_r1", "subem")):
        reward = get_reward("qa").with_(variant=variant, metric=metric, place="text")
        for text in texts(length):
            yield reward, text, {"golden_answers": ["x y " * 50, "no", "\ud800"]}


_FUNCTIONS = [
    {
        "name": "f",
        "parameters": {"type": "object", "properties": {"x": {"type": "array", "items": {"type": "integer"}}}},
    }
]
_CALLS = (
    "[f(x={})]", '<tool_call>\n{{"name": "f", "arguments": {{"x": {}}}}}\n</tool_call>', '[{{"name": "f", "arguments": {{"x": {}}}}}]',
    '<think>a</think>\n<tool_call>\n{{"name": "f", "parameters": {{"x": {}}}}}\n</tool_call>',
)  # fmt: skip
_VALUES = (
    "9**9**9**9", "'a'*9**9", "[0]*10**10", "1<<10**9", "-" * 50_000 + "1", "[" * 50_000 + "]" * 50_000, "9" * 100_000, "1e999999999", '{"a":' * 50_000,
    "__import__('os').system('sleep 9')", "(lambda: 1)()", "'%999999999d' % 1", "0x" + "f" * 100_000, "'\\ud800'", "[1, " * 40_000, "1+" * 50_000 + "1",
    "f(x=" * 20_000, "NaN", "not " * 30_000 + "1", '"' + "\\u0000" * 20_000 + '"', "(" * 90_000, "{**{}}", "1 if 1 else 2", "'a'" * 40_000,
)  # fmt: skip


def tool_calls(length: int) -> Iterator[Row]:
    """Values that are expensive to read in every format of a call, and every text."""
    truth = {"ground_truth": [{"f": {"x": [[1]]}}], "functions": _FUNCTIONS}
    told = {"ground_truth": '<think>a</think>\n<tool_call>\n{"name": "f", "parameters": {"x": [1]}}\n</tool_call>'}
    exact = {"answers": json.dumps([{"name": "f", "arguments": {"x": [1]}}])}
    given = [call.format(value) for call in _CALLS for value in _VALUES] + texts(length)
    for rule, columns in (("bfcl", truth), ("toolrl", told), ("exact", exact)):
        for text in given:
            yield get_reward("tool_calls").with_(rule=rule), text, columns


def reasoning_gym(length: int) -> Iterator[Row]:
    """Answers that a scorer may evaluate, parse or loop over, for every data set."""
    import reasoning_gym as package
    from reasoning_gym.factory import DATASETS

    hostile = [
        *(value for value in _VALUES if len(value) < 60_000),
        *(piece * (length // len(piece)) for piece in _PIECES[::5]),
    ]
    for number, name in enumerate(sorted(set(DATASETS) - {"composite"})):
        entry = package.create_dataset(name, size=1, seed=3)[0]
        columns = {
            "question": entry["question"],
            "answer": entry["answer"],
            "metadata": json.dumps(entry["metadata"], default=str),
        }
        for text in hostile[number % 6 :: 6]:
            yield get_reward("reasoning_gym"), f"<answer>{text}</answer>", columns


_NAMES = "SELECT name FROM t"
_MANY = ", ".join(f"t t{number}" for number in range(12))
_ANY_ENGINE = (
    f"SELECT count(*) FROM {_MANY}", f"SELECT t1.name FROM {_MANY}", f"SELECT DISTINCT t1.name || t2.id FROM {_MANY}", "SELECT 1 UNION ALL " * 700 + "SELECT 1",
    "SELECT " + "(" * 5_000 + "1" + ")" * 5_000, "SELECT " + "+".join(["1"] * 20_000), "SELECT " + ",".join(["1"] * 3_000), "SELECT 1 WHERE " + "NOT " * 20_000 + "1 = 1",
    "WITH RECURSIVE x(n) AS (SELECT 1 UNION SELECT n + 1 FROM x) SELECT n FROM x", "WITH RECURSIVE x(n, s) AS (SELECT 1, 'a' UNION ALL SELECT n + 1, s || s FROM x) SELECT s FROM x",
    "SELECT CASE " + "WHEN 1 = 2 THEN 3 " * 8_000 + "END", "SELECT '" + "a" * 190_000 + "'", f"SELECT * FROM ({_NAMES}) " * 2,
    f"{_NAMES} WHERE name LIKE '" + "%a" * 20_000 + "'", "PRAGMA table_info(t)", "ATTACH 'evil.db' AS e", "VACUUM INTO 'evil.db'", "COPY t TO PROGRAM 'touch evil'", "SELECT load_extension('evil')",
    "COPY (SELECT 1) TO 'evil.csv'", "DROP TABLE t", "\ud800", "SELECT '\ud800'", "\0", "SELECT 1\0; DROP TABLE t", "", ";" * 100_000, "--" + "x" * 150_000, "/*" * 90_000, "SELECT 1 " + "+-" * 90_000 + "1", "'" * 99_999,
)  # fmt: skip
_OF_SQLITE = (
    "SELECT hex(zeroblob(900000000))", "SELECT printf('%.*c', 1000000000, 'x')", "SELECT printf('%.*f', 100000000, 1.0)", "SELECT max(randomblob(1000000)) FROM t a, t b, t c, t d, t e, t f, t g",
    "SELECT instr(zeroblob(5000000), zeroblob(2500000) || x'01')", "SELECT trim(printf('%.*c', 1000000, 'a'), printf('%.*c', 1000000, 'b'))", "SELECT json('" + "[" * 90_000 + "')",
    "SELECT count(*) FROM json_each('[" + "1," * 90_000 + "1]') a, json_each('[" + "1," * 1_000 + "1]') b", "SELECT 'a' GLOB '" + "*a" * 20_000 + "b'", "SELECT replace(hex(zeroblob(9000000)), '0', 'abcdef')",
    "SELECT group_concat(hex(zeroblob(1000000))) FROM t a, t b, t c, t d, t e", "SELECT * FROM pragma_database_list", "SELECT readfile('/etc/passwd')", "SELECT quote(zeroblob(60000000))",
    "SELECT like(printf('%.*c', 45000, '%') || 'b', printf('%.*c', 1000000, 'a'))", "SELECT strftime(printf('%.*c', 30000000, 'Y'))",
)  # fmt: skip
_OF_DUCKDB = (
    "SELECT sum(hash(range)) FROM range(100000000000)", "SELECT list_sort(range(100000000))", "SELECT levenshtein(repeat('a', 100000), repeat('b', 100000))", "SELECT repeat('x', 10000000000)",
    "SELECT jaro_winkler_similarity(repeat('a', 1000000), repeat('b', 1000000))", "SELECT lpad('x', 2000000000, 'y')", "SELECT regexp_matches(repeat('a', 100000), '(a|a|aa)*b')", "SELECT unnest(range(1000000000))",
    "SELECT * FROM read_text('/etc/passwd')", "SELECT md5(repeat('x', 100000000))", "SELECT list_transform(range(100000000), x -> x + 1)", "SELECT json_structure(repeat('[', 100000))",
    "SELECT string_agg(repeat('x', 1000), '') FROM range(1000000)", "SELECT bitstring('1', 100000000)", "SELECT 2 ** 100000", "INSTALL httpfs", "SET memory_limit = '90GB'",
)  # fmt: skip
_OF_POSTGRES = (
    "SELECT pg_sleep(60)", "SELECT name FROM t, generate_series(1, 100000) WHERE pg_sleep(0.002) IS NOT NULL", "SELECT count(*) FROM generate_series(1, 100000000000)", "SELECT repeat('x', 1000000000)",
    "SELECT regexp_matches(repeat('a', 50), '(a*)*b')", "SELECT 10::numeric ^ 100000", "SELECT factorial(30000)", "SELECT array_agg(x) FROM generate_series(1, 100000000) x", "SELECT lpad('x', 1000000000, 'y')",
    "SELECT query_to_xml('SELECT pg_sleep(9)', true, true, '')", "SELECT pg_terminate_backend(pg_backend_pid()) FROM (SELECT pg_sleep(0.4)) x", "SELECT pg_cancel_backend(pg_backend_pid()) FROM (SELECT pg_sleep(0.4)) x",
    "SELECT pg_read_file('/etc/passwd')", "DO $$ BEGIN LOOP END LOOP; END $$", "SELECT pg_advisory_lock(1), pg_sleep(9)", "SELECT lo_import('/etc/passwd')", "SELECT power(9::numeric, 99999) * power(9::numeric, 99999)",
    "SELECT xmlparse(document '" + "<a>" * 20_000 + "')", "SELECT '" + "[" * 90_000 + "'::json",
)  # fmt: skip
_OF = {"sqlite": _OF_SQLITE, "duckdb": _OF_DUCKDB, "postgres": _OF_POSTGRES}


def sql(engine: str, databases: str) -> Iterator[Row]:
    """Queries that write, never end or need all memory, by each rule; the database is that of test_sql.py, as `d`."""
    for number, query in enumerate([*_ANY_ENGINE, *_OF[engine]]):
        rule = ("bird", "spider", "strict")[number % 3]
        yield (
            get_reward("sql").with_(databases=databases, rule=rule, place="text"),
            query,
            {"query": _NAMES, "db_id": "d"},
        )


def judges(url: str, length: int) -> Iterator[Row]:
    """Every text for each of the judges, which are at `url`."""
    columns: dict[str, dict[str, Any]] = {
        "rubric": {"rubric": ["a"]},
        "pairwise": {"reference": "other"},
        "ranking": {},
        "judge": {},
    }
    for name, more in columns.items():
        reward = get_reward(name).with_(url=url, model="m", key_env="NO_KEY", requests_per_minute=1e6, attempts=1)
        for text in texts(length):
            yield reward, text, {"prompt": "p", **more}
