"""ms-swift: its own samples, scoring and advantages."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from grpo_rewards_adapters.ms_swift import orm_class
from swift.rewards import orms
from swift.rl_core.advantage import compute_advantages
from swift.rl_core.data import GRPOSample
from swift.rl_core.grpo_algorithm import score_completions

TEXTS = ["4", "5", "4", "down", "5", "down", "down", "4"]


def rewards(config: str, texts: list[str], generations: int = 4) -> torch.Tensor:
    orms["grpo_rewards"] = orm_class(config)
    scorer = orms["grpo_rewards"](args=SimpleNamespace(num_generations=generations, num_generations_eval=2))
    samples = [
        GRPOSample(
            messages=[{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": text}],
            extra={"answer": "4"}, prompt_id="prompt_0", request_id=f"r{row}",
        )
        for row, text in enumerate(texts)
    ]  # fmt: skip
    return score_completions(
        samples, [scorer], [None], use_gym_env=False, device=torch.device("cpu"), trainer_state=None
    )


def advantages(found: torch.Tensor, generations: int, scale: str) -> torch.Tensor:
    return compute_advantages(found, torch.ones(1), generations, scale_rewards=scale)[0]


def test_two_rows_with_equal_messages_are_two_groups(config: str) -> None:
    found = rewards(config, TEXTS)
    assert found.flatten().tolist() == pytest.approx([2.0, 0.0, 2.0, 4 / 3, 0.0, 1.0, 1.0, 2.0])


def test_survivors_are_as_in_a_group_without_the_others(config: str) -> None:
    found = rewards(config, TEXTS)
    ours = advantages(found, 4, "none")
    first = advantages(rewards(config, ["4", "5", "4"], 3), 3, "none")
    second = advantages(rewards(config, ["5", "4"], 2), 2, "none")
    torch.testing.assert_close(ours[:3], first)
    torch.testing.assert_close(ours[[4, 7]], second)
    assert ours[[3, 5, 6]].abs().max() < 1e-6


def test_where_it_divides_by_the_deviation_survivors_grow_by_a_known_factor(config: str) -> None:
    ours = advantages(rewards(config, TEXTS), 4, "group")
    first = advantages(rewards(config, ["4", "5", "4"], 3), 3, "group")
    second = advantages(rewards(config, ["5", "4"], 2), 2, "group")
    torch.testing.assert_close(ours[:3], first * math.sqrt(3 / 2), rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(ours[[4, 7]], second * math.sqrt(3 / 1), rtol=1e-3, atol=1e-4)


def test_a_reward_over_groups_sees_them(config: str) -> None:
    from grpo_rewards import Composite, reward

    sizes: list[Any] = []

    @reward.group
    def counted(completions: list[str]) -> list[float]:
        sizes.append(len(completions))
        return [1.0] * len(completions)

    scorer = orm_class(Composite({"rewards": {"counted": {"use": counted}}}))(args=SimpleNamespace(num_generations=4))
    scorer(["a"] * 8, prompt_id=["prompt_0"] * 8, request_id=[str(row) for row in range(8)], messages=[[]] * 8)
    assert sizes == [4, 4]
