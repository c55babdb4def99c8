"""GDPO in both forms on the real trainer: the same advantages as the paper's formula, whatever rows are left out."""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

from grpo_rewards_adapters.trl import attach, trl_kwargs
from trl import GRPOConfig, RLOOConfig, RLOOTrainer

from grpo_rewards import Composite, Outcome, reward
from grpo_rewards.errors import ConfigError

pytestmark = [
    pytest.mark.train,
    pytest.mark.filterwarnings("ignore:::torch"),
    pytest.mark.filterwarnings("ignore:::transformers"),
    pytest.mark.filterwarnings("ignore:::accelerate"),
    pytest.mark.filterwarnings("ignore:::trl"),
    pytest.mark.filterwarnings("error::FutureWarning:transformers.training_args"),  # what our own calls ask for
]

DOWN = Outcome(None, "unavailable", "sandbox is gone")
GROUP = 6
WEIGHTS = {"large": 1.0, "small": 2.0}
TABLES: dict[str, dict[str, list[Any]]] = {
    "all rows": {
        "large": [0, 90, 10, 40, 50, 50, 7, 8, 9, 7, 8, 9, -40, 0, 40, 20, 0, 0],
        "small": [0.1, 0, 0, 1, 1, 0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.6, 1, 0, 1, 0, 1, 0],
    },
    "rows left out and a group of one": {
        "large": [0, 90, DOWN, 40, DOWN, 50, 7, DOWN, DOWN, DOWN, DOWN, DOWN, -40, 0, 40, 20, DOWN, 0],
        "small": [0.1, 0, 0, 1, 1, 0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.6, 1, 0, 1, 0, 1, 0],
    },
    "a component that applies to some rows": {
        "large": [0, 90, None, 40, None, 50, None, None, None, None, None, None, -40, 0, 40, 20, None, 0],
        "small": [0.1, 0, 0, 1, 1, 0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.6, 1, 0, 1, 0, 1, 0],
    },
    "no group with any spread": {
        "large": [0.7] * 6 + [0.2] * 6 + [DOWN, 1.2, DOWN, 1.2, 1.2, DOWN],
        "small": [1.0] * 6 + [0.9] * 6 + [0.3] * 6,
    },
    "all rows left out": {"large": [DOWN] * 18, "small": [0.1, 0.2] * 9},
}


def composite(table: dict[str, list[Any]]) -> Composite:
    """Two components whose values stand in `table`, generation batch's row by row."""

    def component(values: list[Any]) -> Any:
        @reward.batch(range=(-100.0, 100.0))
        def given(completions: Sequence[Any]) -> list[Any]:
            return values[: len(completions)]

        return given

    rewards = {name: {"use": component(values), "weight": WEIGHTS[name]} for name, values in table.items()}
    return Composite({"rewards": rewards, "combine": {"normalize": "gdpo"}, "errors": {"max_infra_rate": 1.0}})


def paper(table: dict[str, list[Any]]) -> list[float]:
    """Equations of arXiv 2601.05242 in double precision: per reward and group, weighted sum, over the batch.

    1e-4 is added to each deviation, as the trainer does.
    """
    size = len(table["large"])
    scored = [row for row in range(size) if not any(column[row] is DOWN for column in table.values())]
    sums = dict.fromkeys(scored, 0.0)
    for name, column in table.items():
        for start in range(0, size, GROUP):
            rows = [row for row in range(start, start + GROUP) if row in sums and column[row] is not None]
            values = [column[row] for row in rows]
            if len(set(values)) < 2:
                continue  # no spread, no signal
            mean, deviation = statistics.fmean(values), statistics.stdev(values)
            for row in rows:
                sums[row] += WEIGHTS[name] * (column[row] - mean) / (deviation + 1e-4)
    mean = statistics.fmean(sums.values()) if sums else 0.0
    deviation = statistics.stdev(sums.values()) if len(sums) > 1 else 0.0
    return [(sums[row] - mean) / (deviation + 1e-4) if row in sums else 0.0 for row in range(size)]


def advantages(make_trainer: Callable[..., Any], built: Composite, form: Any) -> list[float]:
    """What the trainer makes of one generation batch."""
    more: dict[str, Any] = {}

    def config(**arguments: Any) -> Any:
        found = trl_kwargs(built, args=GRPOConfig(**arguments), form=form)
        more.update(callbacks=found["callbacks"], reward_funcs=found["reward_funcs"])
        return found["args"]

    trainer = make_trainer(
        None, config=config, given=more, max_steps=1, num_generations=GROUP, per_device_train_batch_size=18,
        log_completions=True, num_completions_to_print=0,
    )  # fmt: skip
    attach(trainer, built)
    trainer.train()
    return list(trainer._logs["advantages"])


@pytest.mark.parametrize("case", TABLES)
def test_both_forms_give_the_advantages_of_the_paper(make_trainer: Callable[..., Any], case: str) -> None:
    wanted = paper(TABLES[case])
    for form in ("fused", "expanded"):
        found = advantages(make_trainer, composite(TABLES[case]), form)
        assert found == pytest.approx(wanted, abs=1e-5), form


def test_what_would_not_be_gdpo_is_refused_and_says_what_to_set(make_trainer: Callable[..., Any]) -> None:
    built = composite(TABLES["all rows"])
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (built, {"scale_rewards": "none"}, "set scale_rewards='batch'"),
        (built, {"scale_rewards": "batch", "multi_objective_aggregation": "normalize_then_sum"}, "sum_then_normalize"),
        (built.parts(), {}, "set multi_objective_aggregation='normalize_then_sum'"),
        (built, {"trainer": RLOOTrainer, "config": RLOOConfig, "beta": 0.0}, "RLOOTrainer has no"),
    ]
    for functions, settings, message in cases:
        with pytest.raises(ConfigError, match=message):
            attach(make_trainer(functions, **settings), built)
    with pytest.raises(ConfigError, match=r"combine\.normalize: with scale_rewards='group'.*'batch' in GRPOConfig"):
        make_trainer(built).train()  # without attach: in the first call


@pytest.mark.timeout(900)
def test_groups_across_two_ranks_have_the_advantages_of_the_paper(tmp_path: Path) -> None:
    """Of 18 rows each rank has 9, so the second group of six lies on both; the trainer alone is tried beside both forms."""
    case = "a component that applies to some rows"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ranks = []
    for rank in range(2):
        place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2, "MASTER_PORT": port}
        environment = {**os.environ, **{key: str(value) for key, value in place.items()}, "MASTER_ADDR": "127.0.0.1"}
        environment |= {"ACCELERATE_USE_CPU": "true"}
        command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("gdpo_ranks.py")), case]
        out, log = ((tmp_path / f"{rank}.{kind}").open("w") for kind in ("out", "log"))
        with out, log:
            ranks.append(subprocess.Popen(command, env=environment, stdout=out, stderr=log))
    codes = [rank.wait(timeout=800) for rank in ranks]
    assert codes == [0, 0], [(tmp_path / f"{rank}.log").read_text()[-2000:] for rank in range(2)]
    found = json.loads((tmp_path / "0.out").read_text().splitlines()[-1])
    assert set(found) == {"fused", "expanded", "trl"}
    for form, advantages in found.items():
        assert advantages == pytest.approx(paper(TABLES[case]), abs=1e-5), form
