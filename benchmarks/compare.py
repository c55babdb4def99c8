"""How much memory and time `compare` takes, by rows: two scored files of the same made-up rows.

    python benchmarks/compare.py [--rows 100000 300000]

Prints one JSON object: per size the seconds by the clock and of processors and the peak memory of the command, and the bytes that a
row more costs between the smallest and the largest size. Every reward of the second file differs, so that every row is a changed one.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from score import CONFIG, made_up, measure

BAR_BYTES = 200.0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 300_000])
    asked = parser.parse_args()
    program = str(Path(sys.executable).with_name("grpo-rewards"))
    sizes: dict[int, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        quiet = os.open(os.devnull, os.O_WRONLY)
        for rows in sorted(asked.rows):
            data = folder / "rows.jsonl"
            made_up(rows, data)
            sides = []
            for side, weight in (("a", "2.0"), ("b", "1.5")):
                config, out = folder / f"{side}.yaml", folder / f"{side}.jsonl"
                config.write_text(CONFIG.replace("weight: 0.2", f"weight: {float(weight) / 10}"))
                kept = os.dup(1)
                os.dup2(quiet, 1)
                measure([program, "score", str(data), "-c", str(config), "-o", str(out), "--force"])
                os.dup2(kept, 1)
                sides.append(str(out))
            kept = os.dup(1)
            os.dup2(quiet, 1)
            seconds, processor, peak = measure([program, "compare", *sides])
            os.dup2(kept, 1)
            sizes[rows] = {
                "seconds": round(seconds, 1),
                "processor_seconds": round(processor, 1),
                "peak_mb": round(peak, 1),
            }
    report: dict[str, Any] = {"sizes": sizes}
    small, large = min(sizes), max(sizes)
    if large > small:
        report["bytes_per_row"] = round((sizes[large]["peak_mb"] - sizes[small]["peak_mb"]) * 2**20 / (large - small))
        report["met"] = report["bytes_per_row"] <= BAR_BYTES
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
