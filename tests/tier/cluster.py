"""What a tier does on a cluster whose nodes differ; writes what it found to FOLDER/found.json.

Usage: ``cluster.py FOLDER``. A head without processors, a node with one, and one with one and a GPU.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

from grpo_rewards import Composite, reward
from grpo_rewards.errors import ConfigError, InfrastructureError

REWARDS = """
import os, signal, time
from grpo_rewards import Outcome, reward

@reward(range=(0.0, 1.0))
def acts(completion: str) -> Outcome:
    if completion == "hang":
        time.sleep(60)
    if completion == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    return Outcome(len(completion) % 5 / 5, reason=f"{len(completion)} characters", details={"length": len(completion)})

@reward(workers=8)
def waits(completion: str) -> float:
    return 0.25

@reward.batch
def logs(completions: list[str], log_metric=None) -> list[float]:
    return [0.5] * len(completions)
"""
SMALL: dict[str, Any] = {"object_store_memory": 80_000_000}


def plain(table: Any) -> tuple[Any, ...]:
    """A table without what may differ: the seconds."""
    return [table.row(row) for row in range(len(table))], table.statuses("acts"), table.copies


def main() -> None:
    """Look at one thing after another."""
    folder = Path(sys.argv[1])
    (folder / "acting.py").write_text(REWARDS)
    quick = {"health_check_initial_delay_ms": 1000, "health_check_period_ms": 500, "health_check_failure_threshold": 2}
    head = {**SMALL, "num_cpus": 0, "include_dashboard": False, "_system_config": quick}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    node = cluster.add_node(**SMALL, num_cpus=1)
    cluster.add_node(**SMALL, num_cpus=1, num_gpus=1)
    ray.init(address=cluster.address, log_to_driver=False, include_dashboard=False, logging_level=logging.ERROR)
    rewards: dict[str, Any] = {
        "acts": {"use": f"{folder}/acting.py:acts", "clip": [0.2, 1.0]},
        "waits": {"use": f"{folder}/acting.py:waits"},
        "logs": {"use": f"{folder}/acting.py:logs", "gate": {"component": "acts", "at_least": 0.4}},
        "variety": {"use": "diversity", "weight": 0.5},
        "tagged": {"use": "xml_format", "when": {"column": "kind", "equals": "b"}},
    }
    errors = {"max_infra_rate": 1, "plugin": "drop_row", "batch_timeout": 6}
    scale = {"executor": "ray", "name": f"test-{os.getpid()}", "idle": 300, "grace": 2}
    here, there = (
        Composite({"rewards": rewards, "errors": errors}),
        Composite({"rewards": rewards, "errors": errors, "scale": scale}),
    )
    rows = [{"prompt": f"p{n // 4}", "completion": "x" * (n % 11), "kind": "ab"[n % 2]} for n in range(80)]
    found: dict[str, Any] = {}
    while not there.tier.actors.ready:  # type: ignore[union-attr]
        there.tier.actors.look(now=True)  # type: ignore[union-attr]
        time.sleep(0.2)
    actors = there.tier.actors  # type: ignore[union-attr]
    found["placed"] = {member.node for member in actors.ready.values()} == {node.node_id} and len(actors.ready) == 1
    found["same"] = plain(there.score(rows)) == plain(here.score(rows))
    found["stays"] = [c.name for c in there.components if not there.tier.takes(c.reward)]  # type: ignore[union-attr]

    other_rewards = {"variety": "diversity", "tests": {"use": "code", "params": {"sandbox": "local"}}}
    other = Composite({"rewards": other_rewards, "scale": scale})
    programs = [{"prompt": "p", "completion": f"```python\nx = {n}\n```", "tests": ["assert x < 2"]} for n in range(4)]
    found["programs"] = [other.score(programs).values("tests"), other.tier.takes(other.components[1].reward)]  # type: ignore[union-attr]
    numbers = [[ray.get(m.handle.ready.remote()) for m in c.tier.actors.ready.values()] for c in (there, other)]  # type: ignore[union-attr]
    found["shared"] = numbers[0] == numbers[1] and len(numbers[0]) == 1

    for weight in range(1, 10):  # more composites than an actor keeps
        Composite({"rewards": {"acts": {**rewards["acts"], "weight": weight}}, "scale": scale}).score(rows[:1])
    found["crowded_out"] = plain(there.score(rows)) == plain(here.score(rows))

    def call(texts: list[str]) -> dict[str, Any]:
        return {"prompts": [f"p{n // 4}" for n in range(len(texts))], "completions": texts, "kind": ["a"] * len(texts)}

    table = there.session_for({}).score(call([*["fine"] * 3, "hang", *[f"{n}" for n in range(28)]])).table
    found["hanging"] = [table.components["acts"][3].reason, sum(total is not None for total in table.totals)]
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:  # its place is taken by another one
        there.tier.actors.look(now=True)  # type: ignore[union-attr]
        there.score(rows[:4])
        now = [ray.get(m.handle.ready.remote()) for m in actors.ready.values()]
        if now and now != numbers[0]:
            break
        time.sleep(0.2)
    found["replaced"] = bool(now) and now != numbers[0]

    patient = Composite(
        {"rewards": rewards, "errors": {**errors, "batch_timeout": 120}, "scale": {**scale, "grace": 30}}
    )
    table = patient.session_for({}).score(call(["fine", "kill", "x", "y"])).table
    reasons = [
        outcome.reason
        for outcome in table.components["acts"]
        if outcome.status == "unavailable" and "value" not in outcome.details
    ]
    found["fatal"] = [sum(total is None for total in table.totals), reasons[0].split("Ray tier ")[1].split(" (")[0]]

    @reward
    def inner(completion: str) -> float:
        return 1.0

    try:
        _ = Composite({"rewards": {"inner": inner}, "scale": scale}).tier
    except ConfigError as error:
        found["pickled"] = type(error).__name__

    from grpo_rewards_adapters.server.worker import answer

    body = json.dumps({"rows": rows[:8]}).encode()
    found["served"], found["expected"] = (json.loads(answer(c, b"s", body)[2])["rewards"] for c in (patient, here))

    cluster.remove_node(node, allow_graceful=False)
    table = there.evaluate(here.session.read(call(["fine", "well"]))[0], timeout=60)
    found["gone"], found["why"] = table.rewards(), table.left_out[0]
    try:
        Composite({"rewards": rewards, "errors": {"batch_timeout": 60}, "scale": scale})(**call(["fine", "well"]))
    except InfrastructureError as error:
        found["policy"] = type(error).__name__
    (folder / "found.json").write_text(json.dumps(found))
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main()
