"""The reward `sql`, and the caller's side of its workers: what goes to one, and what becomes of a query that takes it along."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from grpo_rewards import Outcome, reward
from grpo_rewards.forks import PerProcess
from grpo_rewards.types import SettingValues
from grpo_rewards.workers import WorkerLost
from grpo_rewards_plugins.blocks import marked_text
from grpo_rewards_plugins.bounds import between, finite, tag_name
from grpo_rewards_plugins.workers import ask_all, shared_pool

from .databases import DatabaseProblem, Files, find_files, is_duckdb, is_postgres
from .queries import gold_form, gold_varies, same_form, varies
from .rules import RULES

_CACHED, _SETTINGS = 100_000, 16
_verdicts: OrderedDict[Settings, OrderedDict[Question, Outcome]] = OrderedDict()
_lock = PerProcess(threading.Lock)


def _check(settings: SettingValues) -> None:
    tag_name(settings)
    finite(settings)
    for name in ("timeout", "gold_timeout", "max_rows", "max_bytes"):
        between(settings, name, 0.001)
    if settings["timeout"] > 600 or settings["gold_timeout"] > 3600:
        raise ValueError("timeout is at most 600 and gold_timeout at most 3600 seconds")


def _check_row(
    query: object = None,
    sql: object = None,
    SQL: object = None,
    gold_sql: object = None,
    db_id: object = None,
    db_path: object = None,
    *,
    databases: str = "",
    rule: str = "bird",
    timeout: float = 0.5,
    gold_timeout: float = 30.0,
    max_rows: int = 100_000,
    max_bytes: int = 64 << 20,
) -> str | None:
    gold = _first(query, sql, SQL, gold_sql)
    files = _files(databases, (_text(db_id), _text(db_path)), rule)
    if isinstance(gold, Outcome):
        return gold.reason
    if isinstance(files, Outcome):
        return files.reason
    settings = Settings(rule, timeout, gold_timeout, max_rows, max_bytes)
    ((_, found),) = ask([(files, gold, f"{gold}\n")], settings)  # the very same text would not be run again
    if found.value is None:
        return found.reason
    return None if found.value == 1.0 else f"the gold is not equal to itself when it is run again: {found.reason}"


@reward.batch(range=(0.0, 1.0), check_settings=_check, check_row=_check_row)
def sql(
    completions: list[str],
    query: list[object] | None = None,
    sql: list[object] | None = None,
    SQL: list[object] | None = None,
    gold_sql: list[object] | None = None,
    db_id: list[object] | None = None,
    db_path: list[object] | None = None,
    *,
    databases: str = "",
    rule: Literal["bird", "spider", "strict"] = "bird",
    timeout: float = 0.5,
    gold_timeout: float = 30.0,
    max_rows: int = 100_000,
    max_bytes: int = 64 << 20,
    place: Literal["auto", "block", "tag", "text"] = "auto",
    tag: str = "answer",
) -> Iterator[tuple[int, Outcome]]:
    """The completion's query gives what the gold query gives, on the row's database.

    1 or 0; None where the database is not there, or the gold cannot be run. Queries run in worker processes that can
    neither write a file nor open a socket, on files that are opened as immutable; SQLite's authorizer lets a statement
    read and nothing else (no write, ``ATTACH``, ``PRAGMA``, extension), so whatever a query tries, no byte of a database
    changes. What a gold gives is remembered, and so is the verdict on a query that does not depend on time or chance.

    Where the scripts of BIRD and Spider pay for no answer: a gold that gives no row (on none of the databases) is no
    reference, since ``SELECT 1 WHERE 0`` would be right; a query that reads no table, where its gold reads one, has its result
    written in it (``SELECT 42``) and is 0. So is one that selects values alone (``SELECT 42 FROM t WHERE id = 1``) which do not
    stand in the gold, and one beside a table that gives the same on either half of the tables' rows, where the gold does not
    (``SELECT 42 + 0 * id FROM t LIMIT 1``), or nothing on one of them where it computes with values that the gold does not
    name (``SELECT id + 41 FROM t WHERE id = 1``); the last not on DuckDB and PostgreSQL where the
    database has views, or the texts name a schema of PostgreSQL, and not where the gold does not tell the halves apart
    either (a count of nothing): there more databases of one schema do, Spider's test suites, with ``spider`` or ``strict``.

    DuckDB and PostgreSQL need the extra ``sql``. DuckDB opens a file read-only, without other files, network,
    extensions and settings, and a query is one SELECT. On a PostgreSQL server it is a cursor in a transaction that can
    only read, under a role that must be able to do nothing else: a superuser or a member of ``pg_read_server_files`` is
    refused (``CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader``). Its data must not
    change meanwhile.

    Args:
        query: the gold (Spider's column); the first of these four that a row has counts.
        sql: the same.
        SQL: the same (BIRD's column).
        gold_sql: the same.
        db_id: the name of the row's database.
        db_path: or its file, within `databases` where that is given.
        databases: the folder of the databases: ``NAME/NAME.sqlite`` or ``NAME.sqlite`` (``.sqlite3``, ``.db``; a script
            ``NAME.sql`` is built in memory by SQLite; ``NAME.duckdb`` is DuckDB's). Or a PostgreSQL server,
            ``postgresql://USER@HOST``, where `db_id` names the database (the password in ``PGPASSWORD`` or ``~/.pgpass``).
        rule: ``bird``: the same set of rows, whatever their order and number (BIRD's ``evaluation.py``). ``spider``: the
            same rows as often, in any order of columns, DISTINCT removed from both, in order where the gold says ORDER BY,
            on every database of the folder (test-suite-sql-eval). ``strict``: the same rows as often, columns in order,
            DISTINCT kept, in order where the gold itself is ordered.
        timeout: seconds of processor time that a query may take (on a server: of time), or five times what its gold took
            where that is more (ours; BIRD's script: 30, Spider's: 60).
        gold_timeout: the same for a gold (ours).
        max_rows: rows that a query may give (ours; the scripts have no limit).
        max_bytes: bytes that a query, or one value, may give (ours).
        place: where the query stands: the last fenced ``block``, the last ``tag``, or the ``text`` after the reasoning.
            ``auto``: the first of these that is there; a fence inside the tag is opened too.
        tag: the tag that holds the query.
    """
    settings = Settings(rule, timeout, gold_timeout, max_rows, max_bytes)
    golds = [column for column in (query, sql, SQL, gold_sql) if column is not None]
    nowhere = [None] * len(completions)
    seen: dict[tuple[str | None, str | None], Files | Outcome] = {}
    known = _remembered(settings)
    waiting: dict[Question, list[int]] = {}
    asked: list[Question] = []
    for row, (name, path) in enumerate(zip(db_id or nowhere, db_path or nowhere, strict=True)):
        at = _text(name), _text(path)
        files = seen.get(at)
        if files is None:
            files = seen[at] = _files(databases, at, rule)
        question = _question(files, _first(*(column[row] for column in golds)), completions[row], place, tag)
        if isinstance(question, Outcome):
            yield row, question
            continue
        form = _form(question)
        if (verdict := known.get(form)) is not None:
            yield row, verdict
        elif form in waiting:
            waiting[form].append(row)
        else:
            waiting[form] = [row]
            # the gold's own text is known by the worker, which does not run it again
            asked.append(question if form[2] != gold_form(form[1]) else (form[0], form[1], form[1]))
    forms = list(waiting)
    for number, found in ask(asked, settings):
        # a failure may be over the next time
        if not (found.failed or gold_varies(asked[number][1]) or varies(asked[number][2])):
            known[forms[number]] = found
        for row in waiting[forms[number]]:
            yield row, found
    _forget(known)


def _first(*values: object) -> str | Outcome:
    """The gold, from the first column that has one, or why there is none."""
    for value in values:
        if isinstance(value, str) and value.strip():
            return value
    return Outcome(None, "not_applicable", "the row has no gold query (query, sql, SQL or gold_sql)")


def _text(given: object) -> str | None:
    return None if given is None else str(given)


def _files(folder: str, at: tuple[str | None, str | None], rule: str) -> Files | Outcome:
    if at == (None, None):
        return Outcome(None, "not_applicable", "the row has neither db_id nor db_path")
    try:
        return find_files(folder, *at, whole_folder=RULES[rule].whole_folder)
    except DatabaseProblem as problem:
        return Outcome(None, "not_applicable", str(problem))


def _question(files: Files | Outcome, gold: str | Outcome, completion: str, place: str, tag: str) -> Question | Outcome:
    """What is to be judged, or what can be said at once; a text without any mark is taken for the query."""
    if isinstance(gold, Outcome):
        return gold
    if isinstance(files, Outcome):
        return files
    query = marked_text(completion, place, tag)
    return Outcome(0.0, "scored", f"no query found ({place})") if query is None else (files, gold, query)


def _form(question: Question) -> Question:
    """What two questions share only where one verdict is right for both."""
    files, gold, query = question
    path = files[0][0]
    return question if is_postgres(path) or is_duckdb(path) else (files, gold, same_form(query))


def _remembered(settings: Settings) -> OrderedDict[Question, Outcome]:
    """The verdicts that are known under the same settings."""
    with _lock():
        found = _verdicts.setdefault(settings, OrderedDict())
        _verdicts.move_to_end(settings)
        while len(_verdicts) > _SETTINGS:
            _verdicts.popitem(last=False)
    return found


def _forget(known: OrderedDict[Question, Outcome]) -> None:
    """Let go of the oldest verdicts."""
    with _lock():
        while len(known) > _CACHED:
            known.popitem(last=False)


Question: TypeAlias = "tuple[Files, str, str]"
"""The files of a database, a gold and a query."""

_POOL = "grpo_rewards_plugins.sql.running:answer", 1_024  # function and megabytes
_POOL_OF_DUCKDB = "grpo_rewards_plugins.sql.duck:answer", 4_096  # it reserves far more than the 256 that it may use
_STUCK = 60.0  # seconds that a worker may wait for a disk, beyond what its queries may run


@dataclass(frozen=True, slots=True)
class Settings:
    """What a verdict depends on beside the question; see the reward."""

    rule: str
    timeout: float
    gold_timeout: float
    max_rows: int
    max_bytes: int

    @property
    def longest(self) -> float:
        """Seconds after which a worker is stuck: everything that it may run, many times over on a busy machine."""
        return _STUCK + 10 * (self.timeout + 6 * self.gold_timeout)


def ask(questions: Sequence[Question], settings: Settings) -> Iterator[tuple[int, Outcome]]:
    """Judge questions; yield each one's place and outcome, in the order in which they come."""
    return ask_all(questions, lambda some: _sent(some, settings), lambda question: _ended(question, settings))


def _sent(questions: Sequence[Question], settings: Settings) -> list[Outcome]:
    # a server is reached by a socket, with what the environment says of it; what a query may do there, its role decides
    path = questions[0][0][0][0]
    function, megabytes = _POOL_OF_DUCKDB if is_duckdb(path) else _POOL
    pool = shared_pool(function, megabytes=megabytes, rights="all" if is_postgres(path) else "read")
    limits = asdict(settings)
    files: dict[Files, int] = {}
    golds: dict[str, int] = {}
    items = [
        (files.setdefault(file, len(files)), golds.setdefault(gold, len(golds)), query)
        for file, gold, query in questions
    ]
    message = [limits.pop("rule"), limits, list(files), list(golds), items]
    replies: list[Any] = pool.ask(message, seconds=settings.longest)
    outcomes: dict[tuple[object, ...], Outcome] = {}  # few verdicts have a reason of their own
    found = []
    for reply in map(tuple, replies):
        outcome = outcomes.get(reply)
        if outcome is None:
            outcome = outcomes[reply] = Outcome(*reply)
        found.append(outcome)
    return found


def _ended(question: Question, settings: Settings) -> Outcome:
    """A worker ended over a single question: because of the query, unless the gold alone ends one too."""
    files, gold, query = question
    if query != gold:
        try:
            (alone,) = _sent([(files, gold, gold)], settings)
        except (WorkerLost, OSError):
            pass
        else:
            if alone.value is None:
                return alone
            return Outcome(0.0, "timeout", f"the query could not be interrupted within {settings.timeout:g} s")
    return Outcome(None, "not_applicable", "the gold cannot be run: it could not be interrupted in time")
