"""Write rows of reasoning-gym for `preset/reasoning-gym`, one JSON object a line, without a download.

    pip install '.[reasoning-gym]'
    python examples/presets/make_reasoning_gym.py --datasets chain_sum,countdown,sudoku --size 200 > rows.jsonl
    python examples/presets/make_reasoning_gym.py --all --size 5 --seed 1 > every_data_set.jsonl

Rows hold `prompt`, `question`, `answer` and `metadata` (as JSON text, so that all rows have the same columns).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any


def rows(name: str, size: int, seed: int) -> Iterator[dict[str, Any]]:
    """Make the rows of one data set."""
    import reasoning_gym

    for entry in reasoning_gym.create_dataset(name, size=size, seed=seed):
        metadata = json.dumps(entry["metadata"], default=str)
        yield {
            "prompt": entry["question"],
            "question": entry["question"],
            "answer": entry["answer"],
            "metadata": metadata,
        }


def main(arguments: list[str] | None = None) -> None:
    """Write the rows to standard output."""
    from reasoning_gym.factory import DATASETS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="chain_sum,countdown", help="names, separated by commas")
    parser.add_argument("--all", action="store_true", help="every data set but composite, which needs its parts")
    parser.add_argument("--size", type=int, default=100, help="rows of each")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    names = sorted(set(DATASETS) - {"composite"}) if options.all else options.datasets.split(",")
    if unknown := sorted(set(names) - set(DATASETS)):
        parser.error(f"no such data set: {', '.join(unknown)}; there are {', '.join(sorted(DATASETS))}")
    for name in names:
        for row in rows(name, options.size, options.seed):
            sys.stdout.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
