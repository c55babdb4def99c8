"""A tier of Ray actors against the same composite in this process: values, failures, placement, sharing, serving."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

if importlib.util.find_spec("ray") is None:  # importing it would put packages of its own on this process's path
    pytest.skip("Ray is not installed", allow_module_level=True)

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent


def test_rewards_do_not_move_when_an_actor_and_a_raylet_are_killed() -> None:
    command = [sys.executable, "-W", "ignore", str(HERE / "chaos.py"), "--seeds", "1", "--steps", "20"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-3000:]
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("{")]  # Ray writes there, too
    counts = json.loads(line)
    assert counts == {"steps": 20, "rows": 1280, "lost": 0, "other": 0, "killed": 2}


def test_a_cluster_of_several_kinds_of_nodes(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", str(HERE / "cluster.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["placed"], "on the node with processors, not on that with a GPU"
    assert found["same"], "rewards, statuses and gates of every row"
    assert found["shared"], "two runs have the same actors"
    assert found["crowded_out"], "an actor that has let go of a composite gets it anew"
    assert found["programs"] == [[1.0, 1.0, 0.0, 0.0], True], "code runs in the actors"
    assert found["hanging"] == ["not finished within errors.batch_timeout = 6 s", 31]
    assert found["fatal"] == [1, "died while this row was scored"]
    assert found["replaced"], "an actor in which a row hangs is replaced"
    assert found["pickled"] == "ConfigError"
    assert found["stays"] == ["waits", "logs"]
    assert found["served"] == found["expected"]
    assert found["gone"] == [None, None]
    assert "no actor of the Ray tier" in found["why"]
    assert found["policy"] == "InfrastructureError"
