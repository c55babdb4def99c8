"""What `score --workers N` would take on 1 to 512 cores: the real scheduler, driven by a virtual clock and costs of rows.

    python benchmarks/simulate.py [--rows 20000] [--check]

Prints one JSON object: for each kind of row and number of cores the `seconds` of the whole, the `utilisation` of the cores (work done by the
time that all of them had), and the `tail` (seconds from the last but one hundredth of the rows to the last). The scheduler is
`score_in_window` and `Pace` as they are; virtual are the workers, which take a chunk's rows one after another, and the clock. The driver
reads and writes a row in `DRIVER` seconds (docs/scaling.md).

Costs: ``math`` lognormal around 60 µs; ``code`` 9 ms of a core, one row in a hundred 8 s (it hangs); ``judge`` lognormal of median 1 s,
asked by a worker for one row at a time. `--check` also runs the real command's function on 1 and 2 worker processes with rows that sleep for
their cost, and prints predicted over real; what starting takes is measured with a few rows and taken off.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from grpo_rewards import Composite, reward
from grpo_rewards._composition import Statistics
from grpo_rewards._scoring import score_file
from grpo_rewards._scoring.chunks import Chunk, Pace, Sample
from grpo_rewards._scoring.executors.recovery import score_in_window
from grpo_rewards._scoring.scored import ScoredChunk

DRIVER = 0.00003  # seconds of the driver for a row: read, cut, send
CORES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
KINDS: dict[str, Callable[[random.Random], float]] = {
    "math": lambda chance: 60e-6 * chance.lognormvariate(0, 0.5),
    "code": lambda chance: 8.0 if chance.random() < 0.01 else 0.009 * chance.lognormvariate(0, 0.2),
    "judge": lambda chance: chance.lognormvariate(0, 1),
}


class Cluster:
    """Virtual workers and their clock; a handle is when a chunk is finished, and its cost."""

    def __init__(self, cores: int, costs: list[float]) -> None:
        self.now = 0.0
        self.ends: list[tuple[float, int]] = []  # of each chunk, with its rows
        self._costs = costs
        self._free = [0.0] * cores

    def submit(self, samples: list[Sample]) -> tuple[float, int]:
        """Give samples to the worker that is free first."""
        self.now += DRIVER * len(samples)
        end = max(self.now, self._free[0]) + sum(self._costs[sample.row] for sample in samples)
        heapq.heapreplace(self._free, end)
        self.ends.append((end, len(samples)))
        return end, len(self.ends)

    def wait(self, handles: list[tuple[float, int]]) -> list[tuple[float, int]]:
        """Go on to when the first is finished."""
        self.now = max(self.now, min(handles)[0])
        return [handle for handle in handles if handle[0] <= self.now]

    def result(self, handle: tuple[float, int], samples: list[Sample]) -> ScoredChunk:
        """Go on to when it is finished."""
        self.now = max(self.now, handle[0])
        seconds = sum(self._costs[sample.row] for sample in samples)
        return ScoredChunk([], Statistics(), seconds=seconds)


def simulated(costs: list[float], cores: int) -> dict[str, float]:
    """Score rows of these costs on that many cores."""
    pace, cluster = Pace.of(cores), Cluster(cores, costs)

    def chunks() -> Iterator[Chunk]:
        row = 0
        while row < len(costs):
            last = min(len(costs), row + pace.rows)
            yield Chunk([Sample(n, None, n, b"{}", cells=False) for n in range(row, last)], last=last)
            row = last

    nothing: Any = None  # the scheduler needs the composite only for rows whose worker died
    steps = score_in_window(
        nothing, chunks(), workers=cores, submit=cluster.submit, result=cluster.result, wait=cluster.wait
    )
    for chunk, scored in steps:
        pace.took(len(chunk.samples), scored.seconds)
    total, done, nearly = max(end for end, _ in cluster.ends), 0, 0.0
    for end, rows in sorted(cluster.ends):
        done += rows
        if done >= 0.99 * len(costs):
            nearly = end
            break
    utilisation = sum(costs) / (cores * total)
    return {"seconds": round(total, 3), "utilisation": round(utilisation, 3), "tail": round(total - nearly, 3)}


@reward(range=(0.0, 1.0))
def sleeps(completion: str) -> float:
    """Takes as long as the completion says."""
    time.sleep(float(completion.split()[0]))  # its row makes it one of its own: equal ones are evaluated once
    return 1.0


def real(costs: list[float], workers: int, folder: Path) -> float:
    """The seconds that rows of these costs really take on worker processes (one: in this process)."""
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps({"completion": f"{cost} {row}"}) + "\n" for row, cost in enumerate(costs)))
    composite = Composite({"rewards": {"sleeps": {"use": f"{Path(__file__).resolve()}:sleeps"}}})
    return score_file(path, composite, out=folder / "out.jsonl", force=True, workers=workers).seconds


def check(seed: int) -> dict[str, Any]:
    """Predicted and real seconds of rows like a judge's, a tenth as long, on 1 and 2 processes."""
    chance = random.Random(seed)
    costs = [KINDS["judge"](chance) / 10 for _ in range(150)]
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        for cores in (1, 2):
            start = real([0.0, 0.0], cores, Path(scratch)) if cores > 1 else 0.0
            took, predicted = real(costs, cores, Path(scratch)) - start, simulated(costs, cores)["seconds"]
            found[str(cores)] = {
                "predicted": predicted,
                "real": round(took, 3),
                "predicted_over_real": round(predicted / took, 3),
            }
    return found


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    report: dict[str, Any] = {"rows": options.rows}
    for kind, cost in KINDS.items():
        chance = random.Random(options.seed)
        costs = [cost(chance) for _ in range(options.rows)]
        report[kind] = {str(cores): simulated(costs, cores) for cores in CORES}
    if options.check:
        report["check"] = check(options.seed)
    json.dump(report, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
