"""A Ray tier on two nodes of this machine against the same composite in one process: processor time, rows and programs a second.

    python benchmarks/tier.py --data ../shared/data [--rows 1024] [--programs 96] [--rounds 5]

Prints one JSON object. `text` is math + format + length over GSM8K solutions (the composite of benchmarks/reasoning.py),
`code` HumanEval-like programs in the sandbox. Both ways take turns in one run; `cpu` is the processor time of everything that
evaluates (this process, its children, the actors with theirs), the median of the rounds; `daemons` that of Ray's own processes
(raylets, GCS), in which idle work is counted too.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster
from reasoning import COMPOSITE, gsm8k_rows

from grpo_rewards import Composite

SMALL = {"num_cpus": 1, "object_store_memory": 100_000_000}
TICKS = os.sysconf("SC_CLK_TCK")
TESTS = "def check(f):\n    assert [f(n) for n in (0, 3, -4)] == [0, 6, -8]\n"


def spent(numbers: list[int]) -> float:
    """Processor seconds of processes and of all below them, with those that have ended and were waited for."""
    below: dict[int, list[int]] = {}
    times: dict[int, float] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(place.parent.name)
        below.setdefault(int(fields[1]), []).append(number)
        times[number] = sum(map(int, fields[11:15])) / TICKS
    total, queue, seen = 0.0, list(numbers), set()
    while queue:
        number = queue.pop()
        if number not in seen:
            seen.add(number)
            total += times.get(number, 0.0)
            queue += below.get(number, [])
    return total


def measured(score: Callable[[], Any], numbers: list[int], daemons: list[int]) -> tuple[float, float, float]:
    """Seconds by the clock, processor seconds of `numbers` with this process, and of `daemons`."""
    mine, theirs = [os.getpid(), *numbers], alone(daemons)
    before, began, own = spent(numbers), time.perf_counter(), time.process_time()
    score()
    wall = time.perf_counter() - began
    del mine
    return wall, time.process_time() - own + spent(numbers) - before, alone(daemons) - theirs


def alone(numbers: list[int]) -> float:
    """Processor seconds of processes without those below them."""
    found = 0.0
    for number in numbers:
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        found += sum(map(int, fields[11:13])) / TICKS
    return found


def named(*names: str) -> list[int]:
    """The processes whose program has one of these names."""
    found = []
    for place in Path("/proc").glob("[0-9]*/comm"):
        try:
            if place.read_text().strip() in names:
                found.append(int(place.parent.name))
        except OSError:
            continue
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--programs", type=int, default=96)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    cluster = Cluster(initialize_head=True, head_node_args={**SMALL, "include_dashboard": False})
    cluster.add_node(**SMALL)
    ray.init(address=cluster.address, log_to_driver=False, include_dashboard=False, logging_level=logging.ERROR)
    texts = [row for row, _ in zip(gsm8k_rows(options.data), range(options.rows), strict=False)]
    code = [
        {
            "completion": f"```python\ndef double(n):\n    return n * 2 + {n % 2} # {n}\n```",
            "tests": TESTS,
            "entry_point": "double",
        }
        for n in range(options.programs)
    ]
    work = {
        "text": (COMPOSITE, texts),
        "code": ({"rewards": {"code": {"use": "code", "params": {"sandbox": "local"}}}}, code),
    }
    report: dict[str, Any] = {"rows": len(texts), "programs": len(code), "rounds": options.rounds}
    for name, (config, rows) in work.items():
        here = Composite(config)
        there = Composite({**config, "scale": {"executor": "ray", "name": f"bench-{os.getpid()}"}})
        tier = there.tier
        assert tier is not None
        while len(tier.actors.ready) < 2:
            tier.actors.look(now=True)
            time.sleep(0.1)
        for _ in range(3):  # sizes are learned, sandboxes opened
            same = there.score(rows).rewards() == here.score(rows).rewards()
        actors = [ray.get(member.handle.ready.remote()) for member in tier.actors.ready.values()]
        begun = [place.read_text().split() for place in Path("/proc/self/task").glob("*/children")]  # by any thread
        children = [int(child) for children in begun for child in children]
        daemons = [
            number for number in named("raylet", "gcs_server") if number in children
        ]  # not those of other clusters
        local = [number for number in children if number not in daemons]
        found: dict[str, list[tuple[float, float, float]]] = {"here": [], "there": []}
        for _ in range(options.rounds):
            found["here"].append(measured(lambda h=here, r=rows: h.score(r), local, daemons))  # type: ignore[misc]
            found["there"].append(measured(lambda t=there, r=rows: t.score(r), [*local, *actors], daemons))  # type: ignore[misc]
        result: dict[str, Any] = {"same": same}
        for kind, times in found.items():
            wall, cpu, idle = (statistics.median(column) for column in zip(*times, strict=True))
            result[kind] = {"seconds": round(wall, 4), "cpu": round(cpu, 4), "daemons": round(idle, 4),
                            "rows_per_cpu_second": round(len(rows) / cpu, 1)}  # fmt: skip
        result["cpu_ratio"] = round(result["there"]["cpu"] / result["here"]["cpu"], 3)
        result["cpu_ratio_of_rounds"] = [
            round(b[1] / a[1], 3) for a, b in zip(found["here"], found["there"], strict=True)
        ]
        result["seconds_ratio"] = round(result["there"]["seconds"] / result["here"]["seconds"], 3)
        report[name] = result
    print(json.dumps(report, indent=1))
    tier.actors.end()
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main()
