"""Rows without a verdict, and values that float32 cannot hold, on the real trainers: nothing of them moves a weight."""

from __future__ import annotations

import importlib
import math
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

import torch
import trl
from grpo_rewards_adapters.trl import fitting

from grpo_rewards import Composite, Outcome, reward
from grpo_rewards.errors import ConfigError, PluginError

pytestmark = [
    pytest.mark.train,
    pytest.mark.filterwarnings("ignore:::torch"),
    pytest.mark.filterwarnings("ignore:::transformers"),
    pytest.mark.filterwarnings("ignore:::accelerate"),
    pytest.mark.filterwarnings("ignore:::trl"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

DOWN = Outcome(None, "unavailable", "sandbox is gone")
GOOD = [0.3, 0.1, 0.0, 1.0]
ROWS: dict[str, list[Any]] = {
    "one row": [1.0, DOWN, 0.5, 0.2, *GOOD],
    "a group to which nothing applies": [None] * 4 + GOOD,
    "a group that is lost": [DOWN] * 4 + GOOD,
    "one survivor": [1.0, DOWN, None, DOWN, *GOOD],
    "equal survivors": [1.0, DOWN, 1.0, None, 0.7, 0.7, DOWN, DOWN],
    "every row": [DOWN] * 4 + [None] * 4,
}


def scripted(values: list[Any], *, weight: float = 1.0, **errors: Any) -> Composite:
    @reward.batch
    def given(completions: list[str]) -> list[Any]:
        return values[: len(completions)]

    rewards = {"given": {"use": given, "weight": weight}}
    return Composite({"rewards": rewards, "errors": {"max_infra_rate": 1.0, **errors}})


def step(make_trainer: Callable[..., Any], composite: Composite, **settings: Any) -> tuple[list[float], bool]:
    """The advantages of one step, and whether it moved a weight; weights stay finite."""
    trainer = make_trainer(composite, max_steps=1, **settings)
    before = {name: weight.detach().clone() for name, weight in trainer.model.named_parameters()}
    trainer.train()
    after = dict(trainer.model.named_parameters())
    assert all(weight.isfinite().all() for weight in after.values())
    return list(trainer._logs["advantages"]), any(not torch.equal(after[name], before[name]) for name in before)


def survivors(values: list[Any], scale: str) -> list[float]:
    """TRL's formulas over the rows that have a value; the others' advantages are 0, and a lone one's too."""
    there = [row for row, value in enumerate(values) if isinstance(value, float)]
    found = [0.0] * len(values)
    for start in (0, 4):
        rows = [row for row in there if start <= row < start + 4]
        for row in rows if len(rows) > 1 else ():
            others = rows if scale != "rloo" else [other for other in rows if other != row]
            found[row] = values[row] - statistics.fmean(values[other] for other in others)
            if scale in ("group", "batch"):
                of = rows if scale == "group" else there
                found[row] /= statistics.stdev(values[one] for one in of) + 1e-4
    return found


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        *((name, scale) for name in ROWS for scale in ("group", "rloo")),
        ("one row", "batch"),
        ("equal survivors", "none"),
    ],
)
def test_survivors_alone_teach(make_trainer: Callable[..., Any], name: str, scale: str) -> None:
    composite = scripted(ROWS[name])
    settings: dict[str, Any] = {"scale_rewards": scale}
    if scale == "rloo":
        settings = {"trainer": trl.RLOOTrainer, "config": trl.RLOOConfig, "beta": 0.0}
    wanted = survivors(ROWS[name], scale)
    forms: tuple[Any, ...] = (composite, composite.parts())
    for functions in forms:
        found, moved = step(make_trainer, functions, **settings)
        assert found == pytest.approx(wanted, abs=1e-5)
        assert moved == any(wanted)


@pytest.mark.parametrize("value", [1e39, 10**400, math.nan, Outcome(-1e20)])
def test_a_value_that_float32_cannot_hold_is_the_plugins_fault(make_trainer: Callable[..., Any], value: Any) -> None:
    values = [1.0, 0.0, 0.5, value, *GOOD]
    with pytest.raises(PluginError, match=r"row 3: it returned .*(finite|float32|OverflowError|int 1000)"):
        step(make_trainer, scripted(values), scale_rewards="none")
    left_out = step(make_trainer, scripted(values, plugin="drop_row"), scale_rewards="none")
    assert left_out == step(make_trainer, scripted([1.0, 0.0, 0.5, DOWN, *GOOD]), scale_rewards="none")


def test_a_weighted_sum_that_float32_cannot_hold_stops_the_run(make_trainer: Callable[..., Any]) -> None:
    composite = scripted([1.0, 0.0, 0.5, 1e10, *GOOD], weight=1e10)
    with pytest.raises(ConfigError, match=r"the reward of row 3 is 1e\+20.*lower the weights"):
        step(make_trainer, composite)


SUMMING = """
import torch
from trl import GRPOTrainer

class Summing(GRPOTrainer):
    def _calculate_rewards(self, *given):
        return torch.nan_to_num(super()._calculate_rewards(*given), nan=0.0)
"""


def test_a_trainer_of_its_own_kind_is_tried_also_where_nobody_attached_it(
    make_trainer: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "summing.py").write_text(SUMMING)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    trainer = make_trainer(scripted([1.0] * 8), trainer=importlib.import_module("summing").Summing, max_steps=1)
    with pytest.raises(ConfigError, match=r"Summing of TRL .* takes a row that could not be scored for a reward of 0"):
        trainer.train()


NO_CPU = """
import os
from trl import GRPOTrainer

if os.environ.get("CUDA_VISIBLE_DEVICES") == "":
    raise RuntimeError("it needs a GPU")

class Patched(GRPOTrainer):
    pass
"""


def test_one_that_cannot_be_tried_is_refused_with_an_old_trl(
    make_trainer: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "patched.py").write_text(NO_CPU)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    trainer = make_trainer(scripted([1.0] * 8), trainer=importlib.import_module("patched").Patched, max_steps=1)
    fitting.check_neutrality(trainer)
    assert "could not try whether Patched leaves rows without a reward out: RuntimeError: it needs a GPU" in caplog.text
    monkeypatch.setattr(fitting, "version", lambda name: "1.5.0")
    with pytest.raises(ConfigError, match=r"it needs a GPU\), and TRL 1.5.0 takes them for a reward of 0.*Floats"):
        fitting.check_neutrality(trainer)
