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
from swift.rl_core.advantage import compute_advantages, compute_advantages_dynamic
from swift.rl_core.data import GRPOSample
from swift.rl_core.grpo_algorithm import score_completions

from grpo_rewards.errors import ConfigError, PluginError

TEXTS = ["4", "5", "4", "down", "5", "down", "down", "4"]


def rewards(
    config: str,
    texts: list[str],
    generations: int = 4,
    *,
    scale: str = "none",
    estimator: str = "grpo",
    requests: list[str] | None = None,
    **options: bool,
) -> torch.Tensor:
    orms["grpo_rewards"] = orm_class(config, **options)
    arguments = {"scale_rewards": scale, "advantage_estimator": estimator, "kl_in_reward": False, "beta": 0.04}
    scorer = orms["grpo_rewards"](
        args=SimpleNamespace(num_generations=generations, num_generations_eval=2, **arguments)
    )
    samples = [
        GRPOSample(
            messages=[{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": text}],
            extra={"answer": "4"}, prompt_id="prompt_0", request_id=requests[row] if requests else f"r{row}",
        )
        for row, text in enumerate(texts)
    ]  # fmt: skip
    return score_completions(
        samples, [scorer], [None], use_gym_env=False, device=torch.device("cpu"), trainer_state=None
    )


def advantages(found: torch.Tensor, generations: int, scale: str = "none", estimator: str = "grpo") -> torch.Tensor:
    return compute_advantages(found, torch.ones(1), generations, advantage_estimator=estimator, scale_rewards=scale)[0]


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


@pytest.mark.parametrize(("estimator", "divide"), [("grpo", True), ("rloo", False), ("rloo", True)])
def test_divided_here_survivors_are_as_ms_swift_divides_a_group_without_the_others(
    config: str, estimator: str, divide: bool
) -> None:
    scale = "group" if divide else "none"

    def alone(texts: list[str]) -> torch.Tensor:
        return advantages(rewards(config, texts, len(texts)), len(texts), scale, estimator)

    ours = advantages(rewards(config, TEXTS, estimator=estimator, divide=divide), 4, "none", estimator)
    torch.testing.assert_close(ours[:3], alone(["4", "5", "4"]))
    torch.testing.assert_close(ours[[4, 7]], alone(["5", "4"]))
    assert ours[[3, 5, 6]].abs().max() < 1e-6


@pytest.mark.parametrize("divide", [False, True])
def test_rows_of_one_request_are_one_sample(config: str, divide: bool) -> None:
    texts = ["4", "4", "4", "5", "down", "4", "4", "5"]
    requests = ["a", "a", "a", "b", "c", "c", "d", "e"]  # c has a row without a reward
    found = rewards(config, texts, requests=requests, divide=divide)
    ours = compute_advantages_dynamic(found, torch.ones(1), ["p"] * 8, requests, scale_rewards="none")[0]
    alone = advantages(rewards(config, ["4", "5", "4", "5"]), 4, "group" if divide else "none")
    torch.testing.assert_close(ours, alone[[0, 0, 0, 1, 0, 0, 2, 3]] * torch.tensor([1, 1, 1, 1, 0, 0, 1, 1]))


def test_what_would_move_the_survivors_is_chosen_by_name(config: str) -> None:
    with pytest.raises(ConfigError, match=r"--scale_rewards none and orm_class\(..., divide=True\)"):
        rewards(config, TEXTS, scale="group")
    with pytest.raises(ConfigError, match="so would ms-swift with --scale_rewards batch"):
        rewards(config, TEXTS, scale="batch", divide=True)
    with pytest.raises(ConfigError, match="--kl_in_reward false or --beta 0"):
        orm_class(config)(SimpleNamespace(scale_rewards="none", kl_in_reward=True, beta=0.04))
    ours = advantages(rewards(config, TEXTS, scale="group", accept_growth=True), 4, "group")
    first = advantages(rewards(config, ["4", "5", "4"], 3), 3, "group")
    torch.testing.assert_close(ours[:3], first * math.sqrt(3 / 2), rtol=1e-3, atol=1e-4)


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
    ours = advantages(found, 8)
    divided = advantages(rewards(hostile_config(), [text for group in GROUPS for text in group], 8, divide=True), 8)
    for number, group in enumerate(GROUPS):
        alive = [row for row, text in enumerate(group) if text in RIGHT]
        rows = [8 * number + row for row in alive]
        lost = [8 * number + row for row, text in enumerate(group) if text not in RIGHT]
        assert ours[lost].abs().max() < 1e-6
        assert divided[lost].abs().max() < 1e-6
        if alive:
            alone = torch.tensor([[2.0 * RIGHT[group[row]]] for row in alive])
            torch.testing.assert_close(ours[rows], advantages(alone, len(alive)))
            torch.testing.assert_close(divided[rows], advantages(alone, len(alive), "group"))


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
