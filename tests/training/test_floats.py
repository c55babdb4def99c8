"""TRL's trainers that take no None: their own code adds up what a composite gives them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("trl")

import torch
from grpo_rewards_adapters.trl_floats import Floats
from transformers import TrainerState

from grpo_rewards import Composite, reward
from grpo_rewards.errors import ConfigError, InputError

pytestmark = [
    pytest.mark.train,
    pytest.mark.filterwarnings("ignore:::torch"),
    pytest.mark.filterwarnings("ignore:::transformers"),
    pytest.mark.filterwarnings("ignore:::trl"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*experimental.*"),
]


@reward(range=(0.0, 1.0))
def right(completion: str) -> float | None:
    """None where it cannot tell."""
    return {"4": 1.0, "5": 0.0}.get(completion)


COMPOSITE = Composite({"rewards": {"right": {"use": right, "weight": 2.0}}})
TEXTS = ["4", "5", "4", "?", "5", "?", "?", "4"]


def called(trainer: Any, function: Any, state: Any = None) -> list[float]:
    """What the trainer's own method makes of a reward function."""
    state = state or SimpleNamespace(global_step=0, stateful_callbacks={})
    given: Any = SimpleNamespace(
        accelerator=SimpleNamespace(device="cpu", gather=lambda rewards: rewards), reward_funcs=[function], reward_weights=torch.ones(1),
        reward_processing_classes=[None], state=state,
    )  # fmt: skip
    if trainer == "A2POTrainer":
        from trl.experimental.a2po import A2POTrainer

        return A2POTrainer._calculate_rewards(given, ["p"] * 8, TEXTS).tolist()
    from trl.experimental.online_dpo import OnlineDPOTrainer

    return OnlineDPOTrainer._calculate_rewards_from_functions(given, ["p"] * 8, TEXTS, [[1]] * 8).tolist()


@pytest.mark.parametrize("trainer", ["OnlineDPOTrainer", "A2POTrainer"])
def test_a_number_that_was_chosen_arrives(trainer: str) -> None:
    assert called(trainer, Floats(COMPOSITE, missing=0.5)) == [2.0, 0.0, 2.0, 0.5, 0.0, 0.5, 0.5, 2.0]


def test_online_dpo_itself_makes_none_a_zero() -> None:
    assert called("OnlineDPOTrainer", COMPOSITE) == [2.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 2.0]


def test_its_own_state_gives_it_away() -> None:
    for function in (COMPOSITE, COMPOSITE.parts()[0]):
        with pytest.raises(ConfigError, match=r"a reward of 0, or stops at it.*Floats\(composite"):
            called("OnlineDPOTrainer", function, TrainerState())
    assert called("OnlineDPOTrainer", Floats(COMPOSITE, missing=0.5), TrainerState())[3] == 0.5


def test_the_mean_of_a_groups_others_stands_in_where_the_groups_are_told() -> None:
    found = Floats(COMPOSITE, group_size=4)(prompts=["p"] * 8, completions=TEXTS)
    assert found == pytest.approx([2.0, 0.0, 2.0, 4 / 3, 0.0, 1.0, 1.0, 2.0])
    with pytest.raises(InputError, match="1 or more, not 0"):
        Floats(COMPOSITE, group_size=0)
    with pytest.raises(InputError, match="8 rows are no whole groups of group_size = 3"):
        Floats(COMPOSITE, group_size=3)(prompts=["p"] * 8, completions=TEXTS)


def test_nothing_starts_before_somebody_has_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRPO_REWARDS_MISSING", raising=False)
    with pytest.raises(ConfigError, match=r"missing=NUMBER, or \$GRPO_REWARDS_MISSING.*group_size=N"):
        Floats(COMPOSITE)
