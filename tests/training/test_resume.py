"""A run that is killed and resumed equals the one that was not, on one process and on two that share each group."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

pytestmark = [pytest.mark.train, pytest.mark.timeout(600)]

SCRIPT = Path(__file__).with_name("resumable.py")


def run(out: Path, *options: str, world: int) -> list[int]:
    """Run the script on `world` gloo processes and return their exit codes."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    processes = []
    for rank in range(world):
        place = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(world), "MASTER_ADDR": "127.0.0.1"}
        place |= {"MASTER_PORT": str(port), "LOCAL_WORLD_SIZE": str(world)} if world > 1 else {}
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
        environment = {**kept, **(place if world > 1 else {}), "ACCELERATE_USE_CPU": "true"}
        with (out.parent / f"{out.name}{'-'.join(options)}-{rank}.log").open("w") as log:
            command = [sys.executable, str(SCRIPT), str(out), *options]
            processes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
    codes = [process.wait(timeout=300) for process in processes]
    if any(code > 0 for code in codes):
        print("\n".join(path.read_text()[-3000:] for path in sorted(out.parent.glob("*.log"))))
    return codes


def calls(out: Path, rank: int) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / f"calls-{rank}.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("world", [1, 2])
def test_a_killed_and_resumed_run_equals_the_uninterrupted_one(tmp_path: Path, world: int) -> None:
    assert run(tmp_path / "whole", world=world) == [0] * world
    assert run(tmp_path / "killed", "--kill-at", "3", world=world) == [-signal.SIGKILL] * world
    assert run(tmp_path / "killed", "--resume", world=world) == [0] * world
    ranks = range(world)
    whole = [calls(tmp_path / "whole", rank) for rank in ranks]
    parts = [calls(tmp_path / "killed", rank) for rank in ranks]
    for rank in ranks:
        assert [call["step"] for call in whole[rank]] == [0, 1, 2, 3, 4, 5]
        assert [call["step"] for call in parts[rank]] == [0, 1, 2, 2, 3, 4, 5]  # from the checkpoint of step 2
        assert parts[rank][:3] == whole[rank][:3]
        assert parts[rank][3:] == whole[rank][2:]
        assert len({json.dumps(call["next_weights"]) for call in whole[rank]}) == 6  # they did move
        assert all(call["sizes"] == [8.0] for call in whole[rank])  # whole groups, however they are split
    for one, other in zip(whole[0], whole[-1], strict=True):
        assert one["next_weights"] == other["next_weights"]
    assert not [log.name for log in tmp_path.glob("*.log") if "holds other rows" in log.read_text()]
    if world == 2:
        assert whole[0][0]["completions"] != whole[1][0]["completions"]
        assert all(len(call["completions"]) == 4 for call in whole[0])
