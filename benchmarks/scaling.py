"""Rows per second of `score` on one process, on two and on a Ray cluster of this machine, in one run: what scaling out costs.

    python benchmarks/scaling.py --data ../shared/data [--copies 4] [--workers 2] [--programs 480] [--rounds 3]

Prints one JSON object. `text`: the rows are the GSM8K solutions of benchmarks/reasoning.py, written `--copies` times with
the copy's number in the prompt, so that no two groups are the same; the composite is its own too (math, format, length). The
time is the command's, start-up included; `start` is what it takes for two rows. The ways take turns, in another order each
round; times are the medians of the rounds, `range` the least and the most. Ray is left out where it is not installed.
`code`: `--programs` short programs in the sandbox, with `--workers` 1, 2, 4 and 8, and each one's rate as a share of the best.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from reasoning import COMPOSITE, gsm8k_rows
from scheduling import programs


def seconds(source: Path, config: Path, options: list[str]) -> float:
    """The time of one `score`."""
    out = source.with_suffix(".scored.jsonl")
    command = [
        sys.executable,
        "-c",
        "from grpo_rewards._cli import main; main()",
        "score",
        str(source),
        "-c",
        str(config),
    ]
    started = time.perf_counter()
    subprocess.run([*command, "-o", str(out), "--force", *options], check=True, capture_output=True)
    return time.perf_counter() - started


def measured(
    rows: list[dict[str, Any]], composite: Any, kinds: dict[str, list[str]], folder: Path, rounds: int
) -> dict[str, Any]:
    """Score rows in each of several ways."""
    source, few, config = (folder / name for name in ("rows.jsonl", "few.jsonl", "rewards.yaml"))
    config.write_text(json.dumps(composite))  # JSON is YAML
    few.write_text("".join(json.dumps(row) + "\n" for row in rows[:2]))
    with source.open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    report: dict[str, Any] = {"rows": len(rows), "bytes": source.stat().st_size, "rounds": rounds}
    starts: dict[str, list[float]] = {name: [] for name in kinds}
    times: dict[str, list[float]] = {name: [] for name in kinds}
    draw = random.Random(1)
    for _ in range(rounds):
        for name in draw.sample(list(kinds), len(kinds)):
            starts[name].append(seconds(few, config, kinds[name]))
            times[name].append(seconds(source, config, kinds[name]))
    for name in kinds:
        start, all_of_it = statistics.median(starts[name]), statistics.median(times[name])
        report[name] = {
            "start_seconds": round(start, 2),
            "seconds": round(all_of_it, 2),
            "range": [round(min(times[name]), 2), round(max(times[name]), 2)],
            "rows_per_second": round(len(rows) / (all_of_it - start), 1),
        }
    best = max(report[name]["rows_per_second"] for name in kinds)
    for name in kinds:
        report[name]["of_the_best"] = round(report[name]["rows_per_second"] / best, 2)
    return report


def texts(data: Path, copies: int) -> list[dict[str, Any]]:
    """Solutions, again and again under prompts of their own."""
    return [
        {
            "prompt": [{"role": "user", "content": f"{copy}. {row['prompt'][0]['content']}"}],
            "completion": row["completion"],
            "answer": row["answer"],
        }
        for rows in [list(gsm8k_rows(data))]
        for copy in range(copies)
        for row in rows
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--copies", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--programs", type=int, default=480)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    kinds = {"one": ["--workers", "1"], "workers": ["--workers", str(options.workers)]}
    if importlib.util.find_spec("ray"):
        kinds["ray"] = ["--executor", "ray", "--workers", str(options.workers)]
    report: dict[str, Any] = {"workers": options.workers}
    with tempfile.TemporaryDirectory() as scratch:
        if options.copies:
            report["text"] = measured(
                texts(options.data, options.copies), COMPOSITE, kinds, Path(scratch), options.rounds
            )
        if options.programs:
            code = {"rewards": {"code": {"params": {"sandbox": "local"}}}}
            ways = {str(workers): ["--workers", str(workers)] for workers in (1, 2, 4, 8)}
            report["code"] = measured(list(programs(options.programs, 0)), code, ways, Path(scratch), options.rounds)
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
