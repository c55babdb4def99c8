"""The same rows on a Ray cluster of two nodes: the same bytes, also when a node or a worker dies in mid-run."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess, Popen
from typing import Any

import pytest

if importlib.util.find_spec("ray") is None:  # importing it would put packages of its own on this process's path
    pytest.skip("Ray is not installed", allow_module_level=True)

pytestmark = pytest.mark.slow

CLUSTER = """
import json, os, sys, threading, time
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

from grpo_rewards import load
from grpo_rewards._scoring import score_file
from grpo_rewards._scoring.executors import EXECUTORS

small = {"num_cpus": 2, "object_store_memory": 100_000_000}
quick = {"health_check_initial_delay_ms": 1000, "health_check_period_ms": 500, "health_check_failure_threshold": 2}
head = {**small, "include_dashboard": False, "num_cpus": 1, "_system_config": quick}
cluster = Cluster(initialize_head=True, head_node_args=head)
second = cluster.add_node(**small)
ray.init(address=cluster.address, log_to_driver=False, include_dashboard=False)
folder = Path(sys.argv[1])
composite = load(folder / "rewards.yaml")


finished = threading.Event()


def kill_when_it_runs():
    while len(list(folder.glob("on_*"))) < 2 and not finished.wait(0.05):
        pass
    finished.wait(1)
    cluster.remove_node(second, allow_graceful=False)


drawn = 0


def counted(chunks):
    global drawn
    for chunk in chunks:
        drawn += 1
        yield chunk


plain = EXECUTORS["ray"]
EXECUTORS["ray"] = lambda composite, chunks, workers: plain(composite, counted(chunks), workers)
killer = threading.Thread(target=kill_when_it_runs)
killer.start()
run = score_file(folder / "rows.jsonl", composite, out=folder / "ray.jsonl", executor="ray", workers=3)
finished.set()
killer.join()
told = json.dumps({"rows": run.rows, "broken": run.broken, "chunks": drawn,
                   "nodes": sum(node["Alive"] for node in ray.nodes())})
(folder / "told.json").write_text(told)
ray.shutdown()
cluster.shutdown()
"""

REWARDS = """
import os, signal, time
from pathlib import Path
from grpo_rewards import reward

HERE = Path(__file__).parent

@reward(range=(0.0, 1.0))
def slow(completion: str) -> float:
    (HERE / f"on_{os.getppid()}").touch()
    time.sleep(0.02)
    if completion == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    return len(completion) % 7 / 7
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "slow.py").write_text(REWARDS)
    (tmp_path / "rewards.yaml").write_text(
        "version: 1\nrewards:\n  slow: {use: './slow.py:slow'}\n  exact: {use: exact}\n  spread: {use: diversity}\n"
    )
    return tmp_path


UNFETCHED = """
import sys
from pathlib import Path

from grpo_rewards import load
from grpo_rewards._scoring import score_file
import grpo_rewards._scoring.executors.on_ray

on_ray = sys.modules["grpo_rewards._scoring.executors.on_ray"]  # the package's own name is the function
folder = Path(sys.argv[1])
score_samples = on_ray._score_in_task


def score_or_fail_to_fetch(*arguments):
    try:
        (folder / "failed").touch(exist_ok=False)
    except FileExistsError:
        return score_samples(*arguments)
    import ray
    raise ray.exceptions.ObjectLostError("00", None, "")


on_ray._score_in_task = score_or_fail_to_fetch
score_file(folder / "rows.jsonl", load(folder / "rewards.yaml"), out=folder / "ray.jsonl", executor="ray")
"""


def test_a_task_whose_node_cannot_fetch_its_rows_is_sent_again(
    folder: Path, jsonl: Callable[..., Path], read: Callable[[Path], list[dict[str, Any]]]
) -> None:
    jsonl({"prompt": f"p{n // 4}", "completion": "xx", "answer": "xx"} for n in range(8))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", UNFETCHED, str(folder)], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert (folder / "failed").exists()
    assert "its rows are sent to another" in done.stderr
    assert len(read(folder / "ray.jsonl")) == 8


def test_a_cluster_that_loses_a_node_and_a_worker_writes_the_bytes_of_one_machine(
    folder: Path,
    jsonl: Callable[..., Path],
    read: Callable[[Path], list[dict[str, Any]]],
    cli: Callable[..., CompletedProcess[str]],
) -> None:
    rows = [{"prompt": f"p{n // 4}", "completion": "x" * (n % 23), "answer": "xx"} for n in range(800)]
    rows[601]["completion"] = "kill"
    jsonl(rows)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CLUSTER, str(folder)], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads((folder / "told.json").read_text())
    assert (told["rows"], told["broken"], told["nodes"]) == (800, 1, 1)
    assert len(list(folder.glob("on_*"))) >= 2, "both nodes had work"
    assert told["chunks"] > 8
    local = cli("score", "rows.jsonl", "-c", "rewards.yaml", "-o", "local.jsonl", "--workers", 2)
    assert local.returncode == 1, local.stderr
    here, there = (read(folder / f"{name}.jsonl") for name in ("local", "ray"))
    marked = [
        row for row, found in enumerate(there) if found["grpo_rewards"]["components"]["slow"]["status"] == "error"
    ]
    assert marked == [601]
    for found in (here[601], there[601]):  # only how its worker died is told in other words
        assert "while this row was scored" in json.dumps(found.pop("grpo_rewards"))
    assert here == there
    lines = [(folder / f"{name}.jsonl").read_bytes().splitlines() for name in ("local", "ray")]
    assert [a for n, a in enumerate(lines[0]) if n != 601] == [b for n, b in enumerate(lines[1]) if n != 601]


def test_a_run_on_ray_that_is_killed_goes_on_where_it_stopped(
    folder: Path,
    jsonl: Callable[..., Path],
    start: Callable[..., Popen[str]],
    cli: Callable[..., CompletedProcess[str]],
) -> None:
    jsonl({"prompt": f"p{n // 4}", "completion": "x" * (n % 23), "answer": "xx"} for n in range(400))
    arguments = ("score", "rows.jsonl", "-c", "rewards.yaml", "-o", "ray.jsonl")
    running = start(*arguments, "--executor", "ray")
    journal = folder / "ray.jsonl.partial.state"
    deadline = time.monotonic() + 100
    done = 0
    while not done and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
        done = json.loads(journal.read_bytes())["row"] if journal.exists() else 0
    running.kill()
    output, _ = running.communicate()
    assert running.returncode == -signal.SIGKILL, output
    assert 0 < json.loads(journal.read_bytes())["row"] < 400
    again = cli(*arguments, "--executor", "ray", "--resume", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["resumed"] > 0
    assert cli(*arguments[:-1], "local.jsonl").returncode == 0
    assert (folder / "ray.jsonl").read_bytes() == (folder / "local.jsonl").read_bytes()


def test_without_an_address_no_other_cluster_of_the_machine_is_joined(
    folder: Path, jsonl: Callable[..., Path], cli: Callable[..., CompletedProcess[str]]
) -> None:
    jsonl([{"completion": "x", "answer": "x"}])
    with tempfile.TemporaryDirectory() as place:  # pytest's own is too long a path for Ray's sockets
        (Path(place) / "ray").mkdir()
        (Path(place) / "ray" / "ray_current_cluster").write_text("127.0.0.1:1")  # where Ray notes what was started last
        environment = {**os.environ, "RAY_TMPDIR": place, "RAY_ADDRESS": ""}
        run = cli("score", "rows.jsonl", "--only", "exact", "--executor", "ray", env=environment)
    assert run.returncode == 0, run.stderr


def test_a_cluster_that_is_not_there_is_named(
    folder: Path, jsonl: Callable[..., Path], cli: Callable[..., CompletedProcess[str]]
) -> None:
    jsonl([{"completion": "x", "answer": "x"}])
    run = cli(
        "score", "rows.jsonl", "--only", "exact", "--executor", "ray", env={**os.environ, "RAY_ADDRESS": "127.0.0.1:1"}
    )
    assert run.returncode == 3, run.stderr
    assert "RAY_ADDRESS" in run.stderr
    assert "Traceback" not in run.stderr
