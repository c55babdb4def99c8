"""How long the command line and the import take to start.

    python benchmarks/startup.py [--runs 15]

Prints one JSON object: medians in milliseconds of fresh processes, with the bare interpreter's own time beside them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

COMMANDS = {
    "help": [str(Path(sys.executable).with_name("grpo-rewards")), "--help"],
    "score_help": [str(Path(sys.executable).with_name("grpo-rewards")), "score", "--help"],
    "import": [sys.executable, "-c", "import grpo_rewards"],
    "import_reward": [sys.executable, "-c", "from grpo_rewards import Outcome, Reward, reward"],
    "import_load": [sys.executable, "-c", "from grpo_rewards import load"],
    "bare_interpreter": [sys.executable, "-c", "pass"],
}
BARS_MS = {"help": 300, "import": 150, "import_reward": 150}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for run in range(runs + 1):  # in turns, so that a busy moment hits all alike; the first turn warms the file cache
        for name, command in COMMANDS.items():
            started = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            if run:
                times[name].append((time.perf_counter() - started) * 1000)
    medians = {name: round(statistics.median(values), 1) for name, values in times.items()}
    spread = {name: [round(min(values), 1), round(max(values), 1)] for name, values in times.items()}
    met = {name: medians[name] < bar for name, bar in BARS_MS.items()}
    print(
        json.dumps({"runs": runs, "median_ms": medians, "min_max_ms": spread, "bars_ms": BARS_MS, "met": met}, indent=2)
    )


if __name__ == "__main__":
    main()
