"""Training-like steps on a Ray tier while a raylet and an actor are killed at random: rewards may not differ by a bit.

Usage: ``chaos.py [--seeds 20] [--first 0] [--steps 50] [--rows 64]``

One cluster: a head that holds this process and no actor, and two nodes of one processor. In each seed one actor's process
and one node's raylet get SIGKILL, each in a step drawn for it while the tier has the step's rows, and a node joins in the raylet's
place. Each step scores new rows with rewards for a row, a batch and a group, one row in sixteen is a program for the sandbox, and is
compared with the same step in a process without Ray. Prints a JSON object and ends with 1 where a row was lost, doubled or has
another reward.
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

SMALL: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80_000_000}
QUICK = {"health_check_initial_delay_ms": 1000, "health_check_period_ms": 1000, "health_check_failure_threshold": 10}
REWARDS = {
    "correct": {"use": "math", "weight": 2.0},
    "format": {"use": "xml_format", "weight": 0.5},
    "variety": {"use": "diversity", "weight": 0.25},
    "exact": {"use": "exact", "gate": {"component": "format", "at_least": 0.5}},
    "tests": {
        "use": "code",
        "params": {"sandbox": "local", "timeout": 60},
        "when": {"column": "kind", "equals": "code"},
    },
}


def step_rows(seed: int, step: int, rows: int) -> list[dict[str, Any]]:
    """Return the rows of a step: groups of 8 with answers of which some are right."""
    draw = random.Random(f"{seed}/{step}")
    found = []
    for row in range(rows):
        answer = draw.choice(["\\frac{1}{2}", "0.5", "3", "x^2 - 1", "(x-1)(x+1)"])
        text = f"<reasoning>\n{draw.random()}\n</reasoning>\n<answer>\n{answer}\n</answer>\n"
        kind = "text" if row % 16 else "code"
        if kind == "code":
            text += f"\n```python\nx = {draw.randrange(2)}  # {step}\n```"
        gold = "1/2" if row % 2 else "x^2-1"
        prompt = f"{seed}/{step}/{row // 8}"
        found.append({"prompt": prompt, "completion": text, "answer": gold, "kind": kind, "tests": ["assert x == 1"]})
    return found


class Killer:
    """Kills an actor and a raylet, each at a random moment of a step drawn for it."""

    def __init__(
        self, cluster: Cluster, nodes: list[Any], composite: Composite, draw: random.Random, steps: int
    ) -> None:
        self._cluster, self._nodes, self._composite = cluster, nodes, composite
        self._draw, self.killed = draw, []  # type: ignore[var-annotated]
        self._plan = [(draw.randrange(steps), draw.random(), kill) for kill in (self._actor, self._raylet)]
        self._under_way: list[threading.Timer] = []

    def step(self, number: int, seconds: float) -> None:
        """A step begins that takes about so long: what is drawn for it is killed somewhere within."""
        self._under_way = [threading.Timer(part * seconds, kill) for step, part, kill in self._plan if step == number]
        for timer in self._under_way:
            timer.start()

    def stepped(self) -> None:
        """The step is over: whatever was to be killed in it is dead when the next one begins."""
        for timer in self._under_way:
            timer.join()

    def _actor(self) -> None:
        tier = self._composite.tier
        assert tier is not None
        while "actor" not in self.killed:  # the one that is drawn may have gone with its node
            members = sorted(tier.actors.ready.values(), key=lambda member: member.name)
            for member in self._draw.sample(members, len(members)):
                try:
                    pid: Any = ray.get(member.handle.ready.remote(), timeout=20)
                    os.kill(pid, signal.SIGKILL)
                except (ray.exceptions.RayError, ProcessLookupError):
                    continue
                self.killed.append("actor")
                break
            else:
                time.sleep(0.1)  # none is ready now

    def _raylet(self) -> None:
        node = self._nodes.pop(self._draw.randrange(len(self._nodes)))
        self._cluster.remove_node(node, allow_graceful=False)
        self.killed.append("raylet")


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
        killer = Killer(cluster, nodes, there, random.Random(seed), options.steps)
        began = time.monotonic()
        for step in range(options.steps):
            while len(nodes) < 2:  # Ray starts nodes in the main thread only
                nodes.append(cluster.add_node(**SMALL))
            rows = step_rows(seed, step, options.rows)
            call = {
                {"prompt": "prompts", "completion": "completions"}.get(name, name): [row[name] for row in rows]
                for name in rows[0]
            }
            right = here(**call)
            killer.step(step, each)
            started = time.monotonic()
            found = there(**call)
            each = 0.7 * each + 0.3 * min(5.0, time.monotonic() - started)
            killer.stepped()
            counts["steps"] += 1
            counts["rows"] += len(found)
            counts["lost"] += sum(a is None and b is not None for a, b in zip(found, right, strict=True))
            counts["other"] += sum(a is not None and a != b for a, b in zip(found, right, strict=True))
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
