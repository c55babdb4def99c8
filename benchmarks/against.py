"""Whether single operations have become slower than at an earlier commit: both sides in turns, in one run.

    python benchmarks/against.py [--commit 9464fb8] [--rounds 5] [--rows 100000] [--only math]

Prints one JSON object: of each figure the median of either side's rounds, and now over then (above 1: worse). Measured by the
scripts beside this one, as they are now: what composing costs for a completion and component (composite.py, processor time), what
commands take to start (startup.py), `score` of rows (score.py, processor seconds of the command), and what a labelled pair costs
`math` (math_speed.py, processor time). `--only math` measures one of them. The commit is read from git.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("", "plugins", "sandbox", "trainer_adapter")
BAR = 1.1


def ran(script: str, options: list[str], tree: Path) -> Any:
    """What a script prints of the packages in `tree`."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(tree / part) for part in PACKAGES)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # both sides start from bytecode, as installed packages do
    command = [sys.executable, str(ROOT / "benchmarks" / script), *options]
    return json.loads(subprocess.check_output(command, env=environment, cwd=tree))


def math_figures(tree: Path) -> dict[str, float]:
    """Microseconds of a pair, by the set of pairs."""
    found = ran("math_speed.py", ["--data", str(ROOT.parent / "shared" / "data")], tree)
    return {f"math, {name}, µs": 1e6 / here["pairs_per_processor_second"] for name, here in found.items()}


def figures(tree: Path, rows: int, only: str | None) -> dict[str, float]:
    """The figures of one round."""
    if only == "math":
        return math_figures(tree)
    step = ran("composite.py", ["--repeats", "50"], tree)
    start = ran("startup.py", ["--runs", "3"], tree)["median_ms"]
    score = ran("score.py", ["--rows", str(rows)], tree)["sizes"][str(rows)]
    return {
        "overhead of a usual cell, µs": step["usual"]["processor"]["overhead_microseconds"],
        "overhead of a trivial cell, µs": step["trivial"]["processor"]["overhead_microseconds"],
        "import load, ms": start["import_load"],
        "--help, ms": start["help"],
        "score --help, ms": start["score_help"],
        f"score of {rows:,} rows, s": score["processor_seconds"],
        f"score of {rows:,} rows, MB": score["peak_mb"],
        **math_figures(tree),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--commit", default="9464fb8")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--only", choices=["math"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.check_output(["git", "-C", ROOT, "archive", options.commit])
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        sides = {"then": Path(folder), "now": ROOT}
        rounds: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
        for _ in range(options.rounds):
            for side, tree in sides.items():
                rounds[side].append(figures(tree, options.rows, options.only))
    report: dict[str, Any] = {"commit": options.commit, "rounds": options.rounds}
    for name in rounds["now"][0]:
        median = {side: statistics.median(found[name] for found in rounds[side]) for side in sides}
        each = [now[name] / then[name] for now, then in zip(rounds["now"], rounds["then"], strict=True)]
        ratio = statistics.median(each)
        report[name] = {**median, "now / then": round(ratio, 3), "met": ratio <= BAR}
    print(json.dumps(report, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
