"""SkyRL-gym: registered, made and stepped through by its own functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import skyrl_gym
from hostile import BROKEN, LOST, RIGHT

from grpo_rewards.errors import ConfigError, PluginError

PROMPT = [{"role": "user", "content": "2+2?"}]
ENTRY = "grpo_rewards_adapters.skyrl:CompositeEnv"


def made(name: str, **settings: Any) -> Any:
    if name not in skyrl_gym.envs.registration.registry:
        skyrl_gym.register(id=name, entry_point=ENTRY)
    return skyrl_gym.make(
        name, env_config=settings, extras={"reward_spec": {"ground_truth": "4"}, "data_source": "sums"}
    )


@pytest.mark.parametrize(("text", "reward", "valid"), [("4", 2.0, 1.0), ("5", 0.0, 1.0), ("down", 0.5, 0.0)])
def test_one_response_ends_an_episode_with_the_composites_reward(
    config: str, text: str, reward: float, valid: float
) -> None:
    env = made("sums", config=config, missing=0.5)
    assert env.init(PROMPT)[0] == PROMPT
    step = env.step(text)
    assert (step["reward"], step["done"], step["observations"]) == (reward, True, [])
    assert env.get_metrics()["valid"] == valid
    assert ("no route to service" in step["metadata"]["reason"]) is (valid == 0.0)
    assert env.aggregate_metrics([env.get_metrics()])["valid"] == valid


def test_nothing_starts_before_somebody_has_chosen(config: str) -> None:
    with pytest.raises(ConfigError, match=r"SkyRL takes no None.*missing: NUMBER"):
        made("sums", config=config)


def test_what_a_plugin_or_a_sandbox_breaks_is_the_number_that_was_chosen(hostile_config: Callable[..., str]) -> None:
    config = hostile_config()
    for text in (*LOST, *RIGHT):
        env = made("sums", config=config, missing=0.5)
        env.init(PROMPT)
        found = env.step(text)["reward"], env.get_metrics()["valid"]
        assert found == ((2.0 * RIGHT[text], 1.0) if text in RIGHT else (0.5, 0.0)), text


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_plugin_ends_the_episode_with_its_name(hostile_config: Callable[..., str], text: str) -> None:
    env = made("sums", config=hostile_config(plugin="raise"), missing=0.5)
    with pytest.raises(PluginError, match=r"component 'it'.*row 0"):
        env.step(text)
    with pytest.raises(PluginError, match="0 values for 1 completions"):
        made("sums", config=hostile_config("short", plugin="raise"), missing=0.5).step(text)
