"""A real run on the CPU: with the composite the reward of a tiny model rises, with a constant reward it does not.

The bounds are held against the run's own start. Five seeds are kept in docs/training-curves.json: there the first five
batches average 0.35 to 0.42, batches 80 to 100 0.78 to 0.80, and a constant reward moves by 0.03 at most.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from statistics import fmean

import pytest

pytest.importorskip("trl")

pytestmark = [pytest.mark.train, pytest.mark.timeout(1500)]

ROOT = Path(__file__).parents[2]


def test_the_reward_rises_with_the_composite_and_not_with_a_constant(tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    command = [sys.executable, "-W", "ignore", str(ROOT / "examples" / "train_tiny.py"), "--seed", "2"]
    command += ["--steps", "100", "--constant-steps", "20", "--threads", "1", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    run = json.loads(out.read_text())
    curve, flat = run["composite"]["curve"], run["constant"]["curve"]
    assert len(curve) == 100
    assert fmean(curve[-20:]) - fmean(curve[:5]) > 0.25
    assert fmean(run["composite"]["format"][-20:]) - fmean(run["composite"]["format"][:5]) > 0.1
    assert run["composite"]["held_out_after"] - run["held_out_before"] > 0.3
    assert abs(fmean(flat[-10:]) - fmean(flat[:10])) < 0.1
    assert run["constant"]["held_out_after"] == run["held_out_before"]


def test_the_kept_curves_rise_for_every_seed() -> None:
    runs = json.loads((ROOT / "docs" / "training-curves.json").read_text())["runs"]
    assert len({run["seed"] for run in runs}) == 5
    for run in runs:
        curve, flat = run["composite"]["curve"], run["constant"]["curve"]
        assert fmean(curve[-20:]) - fmean(curve[:5]) > 0.35
        assert run["composite"]["held_out_after"] > 0.9
        assert abs(fmean(flat[-10:]) - fmean(flat[:10])) < 0.05
