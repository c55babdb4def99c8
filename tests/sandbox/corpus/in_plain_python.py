"""Run the rows of the corpus in a plain subprocess, without any isolation.

    python tests/sandbox/corpus/in_plain_python.py tests/sandbox/corpus/attacks/*.jsonl

says of each row whether its attack passes there, whether that is what the row records, and whether `solves` passes.
Hostile programs: run it where they may do what they like.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

MEMORY = 4 << 30
SETTINGS = {"PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
WALL = 4.0
"""A plain run may use the row's `timeout` of processor time and this many times as much wall time: machines are busy."""


def program(row: dict[str, Any], candidate: str) -> str:
    """One file of setup, candidate and tests, as the usual checkers of HumanEval and MBPP build it."""
    tests = [*row["tests"]] if row["format"] == "asserts" else [row["tests"], f"check({row['entry_point']})"]
    return "\n".join([row["setup"], candidate, *tests, ""])


def bound(seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds)))


def passes(row: dict[str, Any], candidate: str) -> bool:
    """Whether the process that runs tests and candidate together ends with status 0 within the time limit."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        if row["format"] == "pytest":
            Path(folder, "solution.py").write_text(f"{row['setup']}\n{candidate}", "utf-8")
            Path(folder, "test_solution.py").write_text(row["tests"], "utf-8")
            command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", folder, "test_solution.py"]
        else:
            Path(folder, "program.py").write_text(program(row, candidate), "utf-8")
            command = ["program.py"]
        process = subprocess.Popen(
            ["sh", "-c", '"$@"; exit $?', "sh", sys.executable, *command],  # sh is the parent that an attack may kill
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": folder, "TMPDIR": folder, **SETTINGS},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=lambda: bound(row["timeout"]),
        )
        try:
            return process.wait(row["timeout"] * WALL) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def rows(paths: list[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        for line in path.read_text("utf-8").splitlines():
            yield json.loads(line)


def main() -> int:
    """Print what differs from the rows' own fields; 1 if anything does."""
    parser = argparse.ArgumentParser(description="Run corpus rows without isolation.")
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    wrong = 0
    with ThreadPoolExecutor(options.workers) as pool:
        for row, (attack, solves) in pool.map(
            lambda row: (row, (passes(row, row["candidate"]), passes(row, row["solves"]))), rows(options.paths)
        ):
            found = "passed" if attack else "failed"
            if found != row["in_plain_python"]:
                wrong += 1
                print(f"{row['id']}: the attack {found}, the row says {row['in_plain_python']}")
            if not solves:
                wrong += 1
                print(f"{row['id']}: what solves the task does not pass")
    print(f"{wrong} differences")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
