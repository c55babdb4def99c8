"""Axolotl: its loader finds the function by name, and a trainer of the TRL that it pins leaves out what has no reward."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from axolotl.core.trainers.grpo import GRPOStrategy
from hostile import BROKEN, GROUPS, RIGHT
from trl import GRPOConfig, GRPOTrainer

from grpo_rewards.errors import ConfigError, PluginError

NAME = "grpo_rewards_adapters.axolotl.composite_reward"


def test_its_loader_takes_our_function(config: str) -> None:
    found = GRPOStrategy.get_reward_func(NAME)
    assert found(["p"] * 3, ["4", "5", "down"], answer=["4"] * 3, log_metric=print) == [2.0, 0.0, None]


@pytest.mark.parametrize("kind", [{"context_parallel": True}, {"async_grpo": True}])
def test_its_own_trainers_which_add_up_none_as_0_do_not_start_unless_a_number_is_chosen(
    config: str, monkeypatch: pytest.MonkeyPatch, kind: dict[str, bool]
) -> None:
    trainer: Any = GRPOStrategy.get_trainer_class(**kind)
    own = {} if "context_parallel" in kind else {"log_metric": object.__new__(trainer)._log_metric}
    found = GRPOStrategy.get_reward_func(NAME)
    monkeypatch.delenv("GRPO_REWARDS_MISSING", raising=False)
    with pytest.raises(ConfigError, match="Axolotl with context_parallel_size above 1, async_prefetch"):
        found(["p"] * 3, ["4", "5", "4"], answer=["4"] * 3, **own)
    monkeypatch.setenv("GRPO_REWARDS_MISSING", "0.5")
    if "context_parallel" in kind:
        assert found(["p"] * 3, ["4", "5", "down"], answer=["4"] * 3) == [2.0, 0.0, 0.5]


def test_its_trl_leaves_out_what_could_not_be_graded(config: str, tiny: ModuleType, tmp_path: Path) -> None:
    rows = [{"prompt": "2+2=", "answer": "4"}]
    # equal survivors: a stand-in of 0 would give them 0.5 and the lost one -1.5
    assert learned(tiny, tmp_path, ["4", "down", "4", "4"], rows) == [0.0] * 4


def learned(tiny: ModuleType, folder: Path, texts: list[str], rows: list[Any], **given: Any) -> list[float]:
    """The advantages of one step of the trainer, whose model says `texts`."""
    function = GRPOStrategy.get_reward_func(NAME)

    def graded(prompts: list[Any], completions: list[Any], **columns: Any) -> list[float | None]:
        return function(prompts, texts, **columns)

    seen: list[Any] = []

    class Trainer(GRPOTrainer):
        """Keeps the advantages."""

        def _generate_and_score_completions(self, inputs: Any) -> Any:
            found = super()._generate_and_score_completions(inputs)
            seen.append(found["advantages"].tolist())
            return found

    given = {"max_steps": 1, "per_device_train_batch_size": len(texts), **given}
    tiny.make_trainer([graded], str(folder), rows=rows, trainer=Trainer, config=GRPOConfig, **given).train()
    return seen[0]


def test_whatever_breaks_survivors_are_as_in_groups_without_it(
    hostile_default: Callable[..., None], tiny: ModuleType, tmp_path: Path
) -> None:
    hostile_default()
    rows = [{"prompt": "2+2=", "answer": "4"}] * len(GROUPS)  # equal prompts, and yet as many groups
    given = {"num_generations": 8, "scale_rewards": "none"}
    found = learned(tiny, tmp_path, [text for group in GROUPS for text in group], rows, **given)
    for number, group in enumerate(GROUPS):
        alone = [2.0 * RIGHT[text] for text in group if text in RIGHT]
        mean = sum(alone) / len(alone) if alone else 0.0
        wanted = [2.0 * RIGHT[text] - mean if text in RIGHT else 0.0 for text in group]
        assert found[8 * number : 8 * number + 8] == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_plugin_stops_the_run_by_its_name(hostile_default: Callable[..., None], text: str) -> None:
    for reward, words in (("scripted", r"component 'it'.*row 1"), ("short", "1 values for 2 completions")):
        hostile_default(reward, plugin="raise")
        function = GRPOStrategy.get_reward_func(NAME)
        with pytest.raises(PluginError, match=words):
            function(["p"] * 2, ["4", text], answer=["4"] * 2, log_metric=print)
