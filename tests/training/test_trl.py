"""TRL's real trainer with a composite in ``reward_funcs``: it runs, it logs, and it stops for the right reasons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("trl")

from grpo_rewards import Composite, Outcome, reward
from grpo_rewards.errors import ColumnError, PluginError

pytestmark = [
    pytest.mark.train,
    pytest.mark.filterwarnings("ignore:::torch"),
    pytest.mark.filterwarnings("ignore:::transformers"),
    pytest.mark.filterwarnings("ignore:::accelerate"),
    pytest.mark.filterwarnings("ignore:::trl"),
    pytest.mark.filterwarnings("error::FutureWarning:transformers.training_args"),  # what our own calls ask for
]


@reward(range=(0.0, 1.0))
def digits(completion: str) -> float:
    """The share of characters that are digits."""
    return sum(character.isdigit() for character in completion) / max(1, len(completion))


@reward(range=(0.0, 1.0))
def hit(completion: str, answer: str) -> float:
    """The answer is somewhere in the completion."""
    return float(answer in completion)


def logged(trainer: Any, key: str) -> list[float]:
    return [entry[key] for entry in trainer.state.log_history if key in entry]


def two(**more: Any) -> Composite:
    return Composite(
        {"rewards": {"digits": {"use": digits, "weight": 0.5}, "hit": {"use": hit, "weight": 2.0}}, **more}
    )


def test_the_composite_alone_is_enough(make_trainer: Callable[..., Any]) -> None:
    composite = two()
    trainer = make_trainer(composite)
    trainer.train()
    assert trainer.state.global_step == 3
    keys = ["rewards/composite/mean", "rewards/digits/mean", "rewards/hit/mean", "rewards/digits/std"]
    keys += ["grpo_rewards/digits/weight", "grpo_rewards/hit/seconds", "grpo_rewards/hit/timeout_rate"]
    for key in keys:
        assert len(logged(trainer, key)) == 3, key
    sums = [0.5 * d + 2.0 * h for d, h in zip(logged(trainer, keys[1]), logged(trainer, keys[2]), strict=True)]
    assert logged(trainer, "rewards/composite/mean") == pytest.approx(sums, abs=1e-6)
    assert logged(trainer, "grpo_rewards/hit/weight") == [2.0, 2.0, 2.0]


def test_a_row_to_which_nothing_applies_passes(make_trainer: Callable[..., Any]) -> None:
    seen: list[list[float | None]] = []

    @reward(range=(0.0, 1.0))
    def sometimes(completion: str, answer: str) -> Any:
        if answer == "1":
            return None
        return Outcome(None, "unavailable", "sandbox is gone") if answer == "2" else digits.function(completion)

    composite = Composite({"rewards": {"sometimes": sometimes}, "errors": {"max_infra_rate": 1.0}})
    inner = composite.__call__

    def recorded(**call: Any) -> list[float | None]:
        seen.append(inner(**call))
        return seen[-1]

    rows = [{"prompt": f"{n}+1=", "answer": str(n + 1)} for n in range(3)]
    trainer = make_trainer(recorded, rows=rows, max_steps=4)
    trainer.train()
    assert trainer.state.global_step == 4
    assert any(None in values for values in seen)
    assert any(value is not None for values in seen for value in values)
    assert max(logged(trainer, "grpo_rewards/left_out_rate")) > 0.0


def test_a_failing_plugin_names_itself(make_trainer: Callable[..., Any]) -> None:
    @reward(range=(0.0, 1.0))
    def broken(completion: str) -> float:
        raise RuntimeError("boom")

    composite = Composite({"rewards": {"digits": digits, "shaky": {"use": broken, "weight": 0.1}}})
    with pytest.raises(PluginError, match=r"component 'shaky' \(broken unversioned\).*RuntimeError: boom"):
        make_trainer(composite).train()


def test_a_missing_column_stops_before_the_first_row(make_trainer: Callable[..., Any]) -> None:
    with pytest.raises(ColumnError, match="'hit' needs the column 'answer'"):
        make_trainer(two(), rows=[{"prompt": "1+1=", "answr": "2"}] * 4).train()
