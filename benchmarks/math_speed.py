"""What one pair costs `math`: labelled pairs, one process, one thread, each pair once.

    python benchmarks/math_speed.py [--data FOLDER]

Prints one JSON object: per file the pairs for a second of the process's own processor time, and how many were right. What sympy's
workers do is not in it. FOLDER is that of math_equivalence.py; without it the pairs are made up.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from math_equivalence import labelled
from math_pairs import made_up


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    options = parser.parse_args()
    from grpo_rewards_plugins.math.reward import math

    folder = options.data / "math"
    if folder.exists():
        files = {name: labelled(folder / f"{name}.jsonl") for name in ("equivalence_dev", "scale_dev")}
    else:
        files = {name: pairs for name, pairs in made_up().items() if "hostile" not in name}
    bound = math.with_(timeout=0.2)  # waiting for a worker takes no processor time
    bound.one("so \\boxed{\\sqrt{4}}", answer="2")
    bound.one("so \\boxed{5\\text{ cm}}", answer="5\\text{ m}")  # tables are built when first asked for
    report = {}
    for name, pairs in files.items():
        begun = time.process_time()
        found = [bound.one(pair["completion"], answer=pair["gold"]).value == 1.0 for pair in pairs]
        seconds = time.process_time() - begun
        right = sum(value == pair["expected"] for value, pair in zip(found, pairs, strict=True))
        report[name] = {
            "pairs": len(pairs),
            "right": right,
            "pairs_per_processor_second": round(len(pairs) / seconds, 1),
        }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
