"""Axolotl: its loader finds the function by name, and a trainer of the TRL that it pins leaves out what has no reward."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

from axolotl.core.trainers.grpo import GRPOStrategy
from trl import GRPOConfig, GRPOTrainer

NAME = "grpo_rewards_adapters.axolotl.composite_reward"


def test_its_loader_takes_our_function(config: str) -> None:
    found = GRPOStrategy.get_reward_func(NAME)
    assert found(["p"] * 3, ["4", "5", "down"], answer=["4"] * 3) == [2.0, 0.0, None]


def test_its_trl_leaves_out_what_could_not_be_graded(config: str, tiny: ModuleType, tmp_path: Path) -> None:
    function = GRPOStrategy.get_reward_func(NAME)
    texts = ["4", "down", "4", "4"]

    def graded(prompts: list[Any], completions: list[Any], **columns: Any) -> list[float | None]:
        return function(prompts, texts, **columns)

    seen: list[Any] = []

    class Trainer(GRPOTrainer):
        """Keeps the advantages."""

        def _generate_and_score_completions(self, inputs: Any) -> Any:
            found = super()._generate_and_score_completions(inputs)
            seen.append(found["advantages"].tolist())
            return found

    rows = [{"prompt": "2+2=", "answer": "4"}]
    given = {"max_steps": 1, "per_device_train_batch_size": 4}
    tiny.make_trainer([graded], str(tmp_path), rows=rows, trainer=Trainer, config=GRPOConfig, **given).train()
    assert seen[0] == [0.0] * 4  # equal survivors: a stand-in of 0 would give them 0.5 and the lost one -1.5
