"""How fast `grpo-rewards score` streams, in how much memory, and whether its time is linear in the rows.

    python benchmarks/score.py [--rows 100000 1000000] [--workers 1] [--keep FOLDER]

Prints one JSON object: per size the seconds, processor seconds, rows per second and peak memory of the command (the highest resident
size of any of its processes, start-up included), and the time of the largest size over that of the smallest.
The rows are made up, with a fixed seed: groups of eight, half of them well formed, graded by
``xml_format + length + exact``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

CONFIG = """\
version: 1
rewards:
  format: {use: xml_format, weight: 0.5, params: {tags: [reasoning, answer], mode: count}}
  brief: {use: length, weight: 0.2, params: {target: 400, band: 200}}
  correct: {use: exact, weight: 2.0}
"""
GROUP = 8
WORDS = ("first", "we", "add", "both", "sides", "then", "half", "of", "them", "is", "away", "so", "that", "each", "box")
BARS = {"peak_mb": 300, "time_ratio_per_row": 1.1}


def made_up(rows: int, path: Path, *, seed: int = 11) -> None:
    """Write `rows` rows in groups of eight completions of one prompt."""
    chance = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for row in range(rows):
            if row % GROUP == 0:
                first, second = chance.randrange(1000), chance.randrange(1000)
            thought = " ".join(chance.choices(WORDS, k=chance.randrange(10, 90)))
            answer = first + second + (chance.random() < 0.5)
            text = f"<reasoning>\n{thought}\n</reasoning>\n<answer>\n{answer}\n</answer>\n"
            if chance.random() < 0.5:
                text = f"{thought} The answer is {answer}."
            entry = {"prompt": f"What is {first} + {second}?", "completion": text, "answer": str(first + second)}
            file.write(json.dumps({**entry, "group_id": row // GROUP}) + "\n")


def measure(command: list[str]) -> tuple[float, float, float]:
    """Run `command`; return its seconds by the clock and of processors, and the peak resident memory of its largest process in MB."""
    started = time.perf_counter()
    process = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - started
    if status:
        raise SystemExit(f"{command} ended with status {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="where to leave the files (default: nowhere)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = asked.keep or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        (place / "rewards.yaml").write_text(CONFIG)
        sizes: dict[str, dict[str, float]] = {}
        for rows in sorted(asked.rows):
            data, out = place / f"{rows}.jsonl", place / f"{rows}.scored.jsonl"
            made_up(rows, data)
            command = [str(Path(sys.executable).with_name("grpo-rewards")), "score", str(data)]
            command += ["-c", str(place / "rewards.yaml"), "-o", str(out), "--json", "--workers", str(asked.workers)]
            with (place / "summary.json").open("w") as summary:
                kept = os.dup(1)
                os.dup2(summary.fileno(), 1)
                try:
                    seconds, processor, peak = measure(command)
                finally:
                    os.dup2(kept, 1)
                    os.close(kept)
            with out.open("rb") as scored:
                written = sum(1 for _ in scored)
            if written != rows:
                raise SystemExit(f"{written} rows were written of {rows}")
            sizes[str(rows)] = {
                "seconds": round(seconds, 2),
                "processor_seconds": round(processor, 2),
                "rows_per_second": round(rows / seconds),
                "peak_mb": round(peak, 1),
                "input_mb": round(data.stat().st_size / 1e6, 1),
            }
    small, large = (sizes[str(rows)] for rows in (min(asked.rows), max(asked.rows)))
    linear = small["rows_per_second"] / large["rows_per_second"]
    met = {"peak_mb": large["peak_mb"] < BARS["peak_mb"], "time_ratio_per_row": linear <= BARS["time_ratio_per_row"]}
    print(
        json.dumps(
            {
                "workers": asked.workers,
                "sizes": sizes,
                "time_ratio": round(large["seconds"] / small["seconds"], 2),
                "time_ratio_per_row": round(linear, 3),
                "bars": BARS,
                "met": met,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
