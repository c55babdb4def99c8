"""Training-like steps on a Ray tier while a raylet and an actor are killed at random: rewards may not differ by a bit.

Usage: ``chaos.py [--seeds 20] [--first 0] [--steps 50] [--rows 64]``

One cluster: a head that holds this process and no actor, and two nodes of one processor. In each seed one actor's process
and one node's raylet get SIGKILL at random moments of its steps, and a node joins in the raylet's place. Each step scores new
rows with rewards for a row, a batch and a group, and is compared with the same step in a process without Ray. Prints a JSON
object and ends with 1 where a row was lost, doubled or has another reward.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import signal
import sys
import threading
import time
from typing import Any

import ray
from ray.cluster_utils import Cluster

from grpo_rewards import Composite

SMALL = {"num_cpus": 1, "object_store_memory": 80_000_000}
QUICK = {"health_check_initial_delay_ms": 1000, "health_check_period_ms": 1000, "health_check_failure_threshold": 10}
REWARDS = {
    "correct": {"use": "math", "weight": 2.0},
    "format": {"use": "xml_format", "weight": 0.5},
    "variety": {"use": "diversity", "weight": 0.25},
    "exact": {"use": "exact", "gate": {"on": "format", "at_least": 0.5}},
}


def step_rows(seed: int, step: int, rows: int) -> list[dict[str, Any]]:
    """Return the rows of a step: groups of 8 with answers of which some are right."""
    draw = random.Random(f"{seed}/{step}")
    found = []
    for row in range(rows):
        answer = draw.choice(["\\frac{1}{2}", "0.5", "3", "x^2 - 1", "(x-1)(x+1)"])
        text = f"<reasoning>\n{draw.random()}\n</reasoning>\n<answer>\n{answer}\n</answer>\n"
        found.append(
            {"prompt": f"{seed}/{step}/{row // 8}", "completion": text, "answer": "1/2" if row % 2 else "x^2-1"}
        )
    return found


class Killer(threading.Thread):
    """Kills an actor and a raylet once each, at random moments."""

    def __init__(
        self, cluster: Cluster, nodes: list[Any], composite: Composite, draw: random.Random, seconds: float
    ) -> None:
        super().__init__()
        self._cluster, self._nodes, self._composite = cluster, nodes, composite
        self._draw, self.killed = draw, []  # type: ignore[var-annotated]
        self._moments = sorted((draw.uniform(0, seconds), kind) for kind in ("actor", "raylet"))
        self._over = threading.Event()

    def run(self) -> None:
        """Wait for each moment."""
        began = time.monotonic()
        for moment, kind in self._moments:
            self._over.wait(max(0.0, moment - (time.monotonic() - began)))
            (self._actor if kind == "actor" else self._raylet)()
            self.killed.append(kind)

    def _actor(self) -> None:
        tier = self._composite.tier
        assert tier is not None
        members = sorted(tier.actors.ready.values(), key=lambda member: member.name)
        for member in members and [self._draw.choice(members)]:
            try:
                os.kill(ray.get(member.handle.ready.remote(), timeout=20), signal.SIGKILL)
            except (ray.exceptions.RayError, ProcessLookupError):
                return  # it had gone with its node

    def _raylet(self) -> None:
        node = self._nodes.pop(self._draw.randrange(len(self._nodes)))
        self._cluster.remove_node(node, allow_graceful=False)

    def end(self) -> None:
        """Kill what is left to kill at once, and wait."""
        self._over.set()
        self.join()


def main() -> int:
    """Run the seeds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--rows", type=int, default=64)
    options = parser.parse_args()
    head = {**SMALL, "num_cpus": 0, "include_dashboard": False, "_system_config": QUICK}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes = [cluster.add_node(**SMALL) for _ in range(2)]
    ray.init(address=cluster.address, log_to_driver=False, include_dashboard=False, logging_level=logging.ERROR)
    here = Composite({"rewards": REWARDS, "errors": {"max_infra_rate": 1}})
    scale = {"executor": "ray", "idle": 30, "grace": 60, "name": f"chaos-{os.getpid()}"}
    there = Composite({"rewards": REWARDS, "errors": {"max_infra_rate": 1, "batch_timeout": 300}, "scale": scale})
    counts = dict.fromkeys(("steps", "rows", "lost", "other", "killed"), 0)
    there.score(step_rows(-1, 0, options.rows))  # actors are up
    each = 0.1
    for seed in range(options.first, options.first + options.seeds):
        killer = Killer(cluster, nodes, there, random.Random(seed), options.steps * each)
        killer.start()
        began = time.monotonic()
        for step in range(options.steps):
            while len(nodes) < 2:  # Ray starts nodes in the main thread only
                nodes.append(cluster.add_node(**SMALL))
            rows = step_rows(seed, step, options.rows)
            call = {
                name + "s" * (name != "answer"): [row[name] for row in rows]
                for name in ("prompt", "completion", "answer")
            }
            found, right = there(**call), here(**call)
            counts["steps"] += 1
            counts["rows"] += len(found)
            counts["lost"] += sum(a is None and b is not None for a, b in zip(found, right, strict=True))
            counts["other"] += sum(a is not None and a != b for a, b in zip(found, right, strict=True))
        each = 0.5 * each + 0.5 * (time.monotonic() - began) / options.steps
        killer.end()
        counts["killed"] += len(killer.killed)
        print(f"seed {seed}: {time.monotonic() - began:.1f} s, {counts}", file=sys.stderr, flush=True)
    print(json.dumps(counts))
    assert there.tier is not None
    there.tier.actors.end()
    ray.shutdown()
    cluster.shutdown()
    return int(counts["lost"] + counts["other"] > 0)


if __name__ == "__main__":
    sys.exit(main())
