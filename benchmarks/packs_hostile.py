"""How long hostile completions take: the slowest rows of each pack, one row a call, from a worker that has started.

    python benchmarks/packs_hostile.py [--packs instructions sql_duckdb] [--length 1000000] [--every 1] [--server postgresql://reader@HOST]

The rows are those of tests/plugins/hostile_rows.py. Prints a table as in docs/packs.md: rows, those above two seconds, the slowest.
`sql_postgres` needs a server with the tests' table `t` in a database `d`, and a role that can only read.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "plugins"))

import hostile_rows as made

_TABLE = """
CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INTEGER, price DOUBLE PRECISION);
INSERT INTO t VALUES (1, 'a', 3, 1.5), (2, 'b', NULL, 2.0), (3, 'a', 3, 1.5), (4, 'distinct', 1, 0.1);
"""


class _Judge(BaseHTTPRequestHandler):
    """Says yes to everything."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        word = asked["messages"][0]["content"].partition('"canary": \'')[2].partition("'")[0]
        verdict = {
            "canary": word,
            "score": 1,
            "better": "first",
            "scores": {"response 1": 1},
            "answers": [{"met": "yes", "quote": "a"}],
        }
        body = json.dumps({"choices": [{"message": {"content": json.dumps(verdict)}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def databases(folder: Path) -> None:
    """The tests' table, as a file of SQLite and of DuckDB."""
    import duckdb

    for name in ("sqlite", "duckdb"):
        (folder / name).mkdir()
    lite, duck = sqlite3.connect(folder / "sqlite" / "d.sqlite"), duckdb.connect(str(folder / "duckdb" / "d.duckdb"))
    lite.executescript(_TABLE)
    duck.execute(_TABLE)
    lite.close()
    duck.close()


def measure(rows: Iterator[made.Row]) -> tuple[int, list[tuple[float, float | None, str]]]:
    """How many rows there are, and the seconds, value and beginning of each, the slowest first."""
    found = []
    for number, (reward, text, columns) in enumerate(rows):
        if not number:
            reward.one("1", **columns)  # starts what has to be started
        begun = time.perf_counter()
        value = reward.one(text, **columns).value
        found.append((time.perf_counter() - begun, value, f"{next(iter(columns.values()))!r:.60} {text!r:.60}"))
    return len(found), sorted(found, reverse=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packs", nargs="+")
    parser.add_argument("--length", type=int, default=1_000_000)
    parser.add_argument(
        "--every", type=int, default=1, help="take each n-th row of instructions alone, which has fifteen thousand"
    )
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--server")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, ThreadingHTTPServer(("127.0.0.1", 0), _Judge) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        databases(Path(scratch))
        known: dict[str, Callable[[], Iterator[made.Row]]] = {
            "instructions": lambda: iter(list(made.instructions(options.length))[:: options.every]),
            "qa": lambda: made.qa(options.length),
            "tool_calls": lambda: made.tool_calls(options.length),
            "reasoning_gym": lambda: made.reasoning_gym(options.length),
            "sql_sqlite": lambda: made.sql("sqlite", f"{scratch}/sqlite"),
            "sql_duckdb": lambda: made.sql("duckdb", f"{scratch}/duckdb"),
            "judges": lambda: made.judges(f"http://127.0.0.1:{server.server_port}/v1", options.length),
        }
        if options.server:
            known["sql_postgres"] = lambda: made.sql("postgres", options.server)
        print("| pack | hostile rows | above 2 s | slowest, s |\n|---|---|---|---|")
        for name in options.packs or known:
            number, found = measure(known[name]())
            print(f"| {name} | {number:,} | {sum(row[0] > 2 for row in found)} | {found[0][0]:.2f} |", flush=True)
            for seconds, value, text in found[: options.show]:
                print(f"  {seconds:.2f} s {value} {text!a}")
        server.shutdown()


if __name__ == "__main__":
    main()
