"""A Ray tier on two nodes of this machine against the same composite in one process: processor time, rows and programs a second.

    python benchmarks/tier.py --data ../shared/data [--rows 1024] [--programs 96] [--rounds 5]

Prints one JSON object. `text` is math + format + length over GSM8K solutions (the composite of benchmarks/reasoning.py), other
solutions in each round, since training sees none twice; `code` HumanEval-like programs in the sandbox. Both ways take turns in one
run. `cpu` is the processor time of everything that evaluates (this process, its children, the actors with theirs), the median of
the rounds; `daemons` that of Ray's own processes (raylets, GCS), in which idle work is counted too. `empty` is what Ray itself
costs: the same messages sent to actors that do nothing but give back bytes of the same number, `least_ratio` what the tier's ratio
would be if it cost nothing beside that.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ray
from processes import alone, processor_seconds
from ray.cluster_utils import Cluster
from reasoning import COMPOSITE, gsm8k_rows

from grpo_rewards import Composite
from grpo_rewards._tier import tier as tiers
from grpo_rewards._tier.tier import Tier

SMALL = {"num_cpus": 1, "object_store_memory": 100_000_000}
TESTS = "def check(f):\n    assert [f(n) for n in (0, 3, -4)] == [0, 6, -8]\n"


def measured(score: Callable[[], object], numbers: list[int], daemons: list[int]) -> tuple[float, float, float]:
    """Seconds by the clock, processor seconds of `numbers` with this process, and of `daemons`."""
    before, theirs = processor_seconds(*numbers), sum(map(alone, daemons))
    began, own = time.perf_counter(), time.process_time()
    score()
    wall, own = time.perf_counter() - began, time.process_time() - own
    time.sleep(0.03)  # what follows an answer is paid for too
    return wall, own + processor_seconds(*numbers) - before, sum(map(alone, daemons)) - theirs


class Empty:
    """An actor that does nothing."""

    def __init__(self, replies: list[bytes]) -> None:
        self.replies = replies

    def evaluate(self, key: str, composite: list[object], number: int, *message: bytes) -> bytes:
        """Give back the bytes of that number."""
        return self.replies[number]

    def ready(self) -> int:
        """The process's number."""
        return os.getpid()


class Recorded:
    """The messages of a tier's call and the answers to them, to be sent to actors that do nothing."""

    def __init__(self, tier: Tier, score: Callable[[], object]) -> None:
        self.tier, self.messages, self.replies = tier, list[list[bytes]](), list[bytes]()
        pack, unpack = tiers.pack_rows, tiers.unpack_outcomes
        tiers.pack_rows = lambda *given: self.messages.append(pack(*given)) or self.messages[-1]  # type: ignore[assignment,func-returns-value]
        tiers.unpack_outcomes = lambda reply: self.replies.append(reply) or unpack(reply)  # type: ignore[assignment,func-returns-value]
        score()
        tiers.pack_rows, tiers.unpack_outcomes = pack, unpack
        affinity = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        self.actors = [
            ray.remote(Empty)
            .options(num_cpus=0, max_concurrency=16, scheduling_strategy=affinity(member.node, soft=False))
            .remote(self.replies)
            for member in tier.actors.ready.values()
        ]
        self.processes = [ray.get(actor.ready.remote()) for actor in self.actors]

    def send(self) -> None:
        """Send the messages, at most two under way at an actor, and take the answers."""
        flying: dict[object, object] = {}
        free = self.actors * 2
        queue = list(enumerate(self.messages))
        while queue or flying:
            while queue and free:
                number, message = queue.pop(0)
                actor = free.pop(0)
                flying[actor.evaluate.remote(self.tier._key, [], number, *message)] = actor
            found, _ = ray.wait(list(flying), num_returns=1, timeout=1.0)
            for reference in found:
                ray.get(reference)
                free.append(flying.pop(reference))


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


def program(number: int) -> dict[str, str]:
    """A row of code like no other."""
    body = f"    return n * 2 + {number % 2} # {number}"
    return {"completion": f"```python\ndef double(n):\n{body}\n```", "tests": TESTS, "entry_point": "double"}


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
    every = list(gsm8k_rows(options.data))
    most = (len(every) - options.rows // 8) // options.rows  # rounds that there are other rows for; the first warms up
    texts = [every[at * options.rows : (at + 1) * options.rows] for at in range(min(options.rounds + 1, most))]
    code = [
        [program(n) for n in range(r * options.programs, (r + 1) * options.programs)] for r in range(options.rounds + 1)
    ]
    work = {
        "text": (COMPOSITE, every[-(options.rows // 8) :], texts),
        "code": ({"rewards": {"code": {"use": "code", "params": {"sandbox": "local"}}}}, code[0], code),
    }
    report: dict[str, Any] = {"rows": options.rows, "programs": options.programs}
    for name, (config, first, rounds_of) in work.items():
        here = Composite(config)
        there = Composite({**config, "scale": {"executor": "ray", "name": f"bench-{os.getpid()}"}})
        tier = there.tier
        assert tier is not None
        while len(tier.actors.ready) < 2:
            tier.actors.look(now=True)
            time.sleep(0.1)
        for _ in range(3):  # sizes are learned, sandboxes opened
            same = there.score(first).rewards() == here.score(first).rewards()
        actors = [ray.get(member.handle.ready.remote()) for member in tier.actors.ready.values()]
        begun = [place.read_text().split() for place in Path("/proc/self/task").glob("*/children")]  # by any thread
        children = [int(child) for children in begun for child in children]
        daemons = [
            number for number in named("raylet", "gcs_server") if number in children
        ]  # not those of other clusters
        local = [number for number in children if number not in daemons]
        found: dict[str, list[tuple[float, float, float]]] = {"here": [], "there": [], "empty": []}
        recorded = Recorded(tier, lambda t=there, r=rounds_of[0]: t.score(r))  # type: ignore[misc]
        there.score(first)
        recorded.send()
        for rows in rounds_of[1:]:
            found["here"].append(measured(lambda h=here, r=rows: h.score(r), local, daemons))  # type: ignore[misc]
            found["there"].append(measured(lambda t=there, r=rows: t.score(r), [*local, *actors], daemons))  # type: ignore[misc]
            found["empty"].append(measured(recorded.send, recorded.processes, daemons))
        result: dict[str, Any] = {
            "same": same,
            "messages": len(recorded.messages),
            "bytes": sum(map(len, itertools.chain(*recorded.messages))),
        }
        for kind, times in found.items():
            wall, cpu, idle = (statistics.median(column) for column in zip(*times, strict=True))
            result[kind] = {"seconds": round(wall, 4), "cpu": round(cpu, 4), "daemons": round(idle, 4)}
        result["least_ratio"] = round(1 + result["empty"]["cpu"] / result["here"]["cpu"], 3)
        ratios = [b[1] / a[1] for a, b in zip(found["here"], found["there"], strict=True)]
        result["cpu_ratio"] = round(statistics.median(ratios), 3)  # a machine's pace changes between rounds
        result["cpu_ratio_of_rounds"] = [round(ratio, 3) for ratio in ratios]
        result["seconds_ratio"] = round(result["there"]["seconds"] / result["here"]["seconds"], 3)
        report[name] = result
    print(json.dumps(report, indent=1))
    tier.actors.end()
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main()
