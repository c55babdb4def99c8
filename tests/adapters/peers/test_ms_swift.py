"""ms-swift: its own samples, scoring and advantages."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from grpo_rewards_adapters.ms_swift import orm_class
from hostile import BROKEN, GROUPS, RIGHT
from swift.rewards import orms
from swift.rl_core.advantage import compute_advantages
from swift.rl_core.data import GRPOSample
from swift.rl_core.grpo_algorithm import score_completions

from grpo_rewards.errors import PluginError

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


def test_whatever_breaks_survivors_are_as_in_groups_without_it(hostile_config: Callable[..., str]) -> None:
    found = rewards(hostile_config(), [text for group in GROUPS for text in group], 8)
    assert found.isfinite().all()
    ours = advantages(found, 8, "none")
    divided = advantages(found, 8, "group")
    for number, group in enumerate(GROUPS):
        alive = [row for row, text in enumerate(group) if text in RIGHT]
        rows = [8 * number + row for row in alive]
        lost = [8 * number + row for row, text in enumerate(group) if text not in RIGHT]
        assert ours[lost].abs().max() < 1e-6
        assert divided[lost].abs().max() < 1e-2  # ms-swift adds 1e-4 to a deviation that may be rounding alone
        if alive:
            alone = torch.tensor([[2.0 * RIGHT[group[row]]] for row in alive])
            torch.testing.assert_close(ours[rows], advantages(alone, len(alive), "none"))
            grown = math.sqrt(7 / (len(alive) - 1))
            torch.testing.assert_close(
                divided[rows], advantages(alone, len(alive), "group") * grown, rtol=1e-3, atol=1e-3
            )


def test_groups_of_one_teach_nothing(hostile_config: Callable[..., str]) -> None:
    found = rewards(hostile_config(), ["4", "down", "raise", "5"], 1)
    assert not advantages(found, 1, "none").any()
    assert not advantages(found, 1, "group").any()


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_plugin_stops_the_run_by_its_name(hostile_config: Callable[..., str], text: str) -> None:
    with pytest.raises(PluginError, match=r"component 'it'.*row 2"):
        rewards(hostile_config(plugin="raise"), ["4", "5", text, "4"])
    with pytest.raises(PluginError, match="3 values for 4 completions"):
        rewards(hostile_config("short", plugin="raise"), ["4", "5", text, "4"])
