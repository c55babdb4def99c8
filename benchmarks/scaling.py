"""Rows per second of `score` on one process, on two and on a Ray cluster of this machine, in one run: what scaling out costs.

    python benchmarks/scaling.py --data ../shared/data [--copies 8] [--workers 2]

Prints one JSON object. The rows are the GSM8K solutions of benchmarks/score_against_trl.py, written `--copies` times with
the copy's number in the prompt, so that no two groups are the same; the composite is its own too (math, format, length). The
time is the command's, start-up included; `start` is what it takes for two rows. Ray is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from score_against_trl import COMPOSITE, gsm8k


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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--copies", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    kinds = {"one": ["--workers", "1"], "workers": ["--workers", str(options.workers)]}
    if importlib.util.find_spec("ray"):
        kinds["ray"] = ["--executor", "ray", "--workers", str(options.workers)]
    rows = list(gsm8k(options.data))
    report: dict[str, Any] = {"rows": len(rows) * options.copies, "workers": options.workers}
    with tempfile.TemporaryDirectory() as scratch:
        source, few, config = (Path(scratch) / name for name in ("rows.jsonl", "few.jsonl", "rewards.yaml"))
        config.write_text(json.dumps(COMPOSITE))  # JSON is YAML
        few.write_text("".join(json.dumps(row) + "\n" for row in rows[:2]))
        with source.open("w") as file:
            for copy in range(options.copies):
                for row in rows:
                    prompt = [{"role": "user", "content": f"{copy}. {row['prompt'][0]['content']}"}]
                    slim = {name: row[name] for name in ("completion", "answer")}
                    file.write(json.dumps({"prompt": prompt, **slim}) + "\n")
        report["bytes"] = source.stat().st_size
        for name, how in kinds.items():
            start, all_of_it = seconds(few, config, how), seconds(source, config, how)
            report[name] = {
                "start_seconds": round(start, 2),
                "seconds": round(all_of_it, 2),
                "rows_per_second": round(report["rows"] / (all_of_it - start), 1),
            }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
