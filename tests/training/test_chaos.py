"""Processes that die while rewards are computed move nobody else's advantage: a short form of `chaos.py`.

The long form is ``python tests/training/chaos.py --seeds 100``, with ``--form expanded`` for the other form, ``--docker`` for
containers too, and under ``torchrun --nproc-per-node 2`` for two ranks; in the environment of ``.ci/peers trl-oldest`` for old TRL.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("trl")
pytest.importorskip("uvicorn")

pytestmark = [pytest.mark.train, pytest.mark.timeout(600)]

SCRIPT = Path(__file__).with_name("chaos.py")


@pytest.mark.parametrize("form", ["fused", "expanded"])
def test_two_ranks_whose_processes_die_learn_from_the_rest_alone(tmp_path: Path, form: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ranks = []
    for rank in range(2):
        place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2, "MASTER_PORT": port}
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
        environment = {**kept, **{key: str(value) for key, value in place.items()}, "MASTER_ADDR": "127.0.0.1"}
        environment |= {"ACCELERATE_USE_CPU": "true"}
        command = [sys.executable, "-W", "ignore", str(SCRIPT), "--seeds", "2", "--steps", "2", "--form", form]
        out, log = ((tmp_path / f"{rank}.{kind}").open("w") for kind in ("out", "log"))
        with out, log:
            ranks.append(subprocess.Popen(command, env=environment, stdout=out, stderr=log))
    codes = [rank.wait(timeout=500) for rank in ranks]
    said = "\n".join((tmp_path / f"{rank}.log").read_text()[-3000:] for rank in range(2))
    assert codes == [0, 0], said
    found = [json.loads((tmp_path / f"{rank}.out").read_text().splitlines()[-1]) for rank in range(2)]
    assert all(one["differ"] == one["miscounted"] == one["not recovered"] == [] for one in found)
    assert all(one["rows"] >= 32 and one["learns"] for one in found)
    assert sum(one["lost"] for one in found) > 0
    assert sum(sum(one["killed"].values()) for one in found) > 0
