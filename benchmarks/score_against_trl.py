"""Rows per second of `score` with math + format + length, beside TRL's own reward functions called in a loop, in one run.

    python benchmarks/score_against_trl.py [--data ../shared/data] [--repeat 5]

Prints one JSON object. The rows: the arithmetic ones of examples/reasoning.jsonl, as they are (`<answer>`, which TRL does
not look into: it finds no answer at all there) and with the same answer in a box; and with --data the GSM8K solutions that
four models wrote (gsm8k/model_solutions.jsonl), each closing in a box. Ours is `score` from end to end: reading the file,
scoring with every reason, groups, statistics, writing the scored file. TRL's are accuracy_reward, think_format_reward and
get_soft_overlong_punishment, called group by group on rows that are in memory already. Both see the same completions and
token ids, each in a process of its own, one after the other; the best of at least --repeat runs counts,
after one that warms up. `cpu_ratio` is the same of processor seconds, which other work on the machine disturbs less.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any

from reasoning import COMPOSITE, Row, example_rows, gsm8k_rows, trl_way

_LEAST = 3.0


def best(work: Callable[[], Any], repeat: int, *, before: Callable[[], None] = lambda: None) -> dict[str, float]:
    """The shortest of at least `repeat` times, in seconds on the clock and of the processor; `before` each, untimed.

    It goes on for `_LEAST` seconds, so that other work on the machine meets a quick side no less than a slow one.
    """
    walls, processor = [], []
    begun = time.perf_counter()
    while len(walls) < repeat or time.perf_counter() - begun < _LEAST:
        before()
        started, used = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - started)
        processor.append(time.process_time() - used)
    return {"seconds": min(walls), "cpu_seconds": min(processor)}


def ours(source: Path, repeat: int) -> dict[str, Any]:
    """`score`, from file to file; the file that it writes is not there before."""
    from grpo_rewards import Composite
    from grpo_rewards._scoring import score_file

    out = source.with_suffix(".scored.jsonl")
    composite = Composite(COMPOSITE)
    score_file(source, composite, out=out)

    def remove() -> None:
        for path in source.parent.glob(f"{out.name}*"):
            path.unlink()

    times = best(lambda: score_file(source, composite, out=out), repeat, before=remove)
    found = [json.loads(line)["grpo_rewards"]["components"]["correct"]["value"] for line in out.open()]
    return {**times, "right": found}


def trl(source: Path, repeat: int) -> dict[str, Any]:
    """TRL's reward functions in a loop over the groups."""
    rows = [json.loads(line) for line in source.open()]
    groups = [list(members) for _, members in groupby(rows, key=lambda row: json.dumps(row["prompt"]))]
    calls = [
        trl_way(
            {
                "completions": [row["completion"] for row in group],
                "completion_ids": [row["completion_ids"] for row in group],
                "answer": [row["answer"] for row in group],
            }
        )
        for group in groups
    ]

    def run() -> list[float | None]:
        return [value for call in calls for value in call()]

    found = run()
    return {**best(run, repeat), "right": found}


SIDES = {"ours": ours, "trl": trl}


def measure(rows: list[Row], repeat: int) -> dict[str, Any]:
    """Both sides on `rows`, each in a process of its own."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "rows.jsonl"
        source.write_text("".join(json.dumps(row) + "\n" for row in rows))
        for side in SIDES:
            command = [sys.executable, __file__, "--side", side, "--rows", str(source), "--repeat", str(repeat)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            found[side] = json.loads(done.stdout.splitlines()[-1])
    rate = {side: len(rows) / one["seconds"] for side, one in found.items()}
    right = {side: one["right"] for side, one in found.items()}
    return {
        "rows": len(rows),
        "distinct_rows": len({json.dumps(row) for row in rows}),
        "ours_rows_per_second": round(rate["ours"], 1),
        "trl_rows_per_second": round(rate["trl"], 1),
        "ratio": round(rate["ours"] / rate["trl"], 2),
        "cpu_ratio": round(found["trl"]["cpu_seconds"] / found["ours"]["cpu_seconds"], 2),
        "same_verdict": sum(a == b for a, b in zip(right["ours"], right["trl"], strict=True)),
        "ours_correct": sum(value == 1.0 for value in right["ours"]),
        "trl_correct": sum(value == 1.0 for value in right["trl"]),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--side", choices=list(SIDES), help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        print(json.dumps(SIDES[options.side](options.rows, options.repeat)))
        return
    sets = {"examples": list(example_rows(boxed=False)), "examples_boxed": list(example_rows(boxed=True))}
    if options.data is not None:
        sets["gsm8k"] = list(gsm8k_rows(options.data))
    report: dict[str, Any] = {name: measure(rows, options.repeat) for name, rows in sets.items()}
    report["trl"], report["python"] = version("trl"), sys.version.split()[0]
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
