"""SkyRL-gym: registered, made and stepped through by its own functions."""

from __future__ import annotations

from typing import Any

import pytest
import skyrl_gym

from grpo_rewards.errors import ConfigError

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
