"""SkyRL: a single-turn environment of SkyRL-gym whose reward is a composite.

::

    skyrl_gym.register(id="grpo_rewards", entry_point="grpo_rewards_adapters.skyrl:CompositeEnv")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from grpo_rewards_adapters.single import ScoredRow, chosen, load_composite, score_rows, stand_in

__all__ = ["CompositeEnv"]


class CompositeEnv(BaseTextEnv):  # type: ignore[misc]  # SkyRL-gym has no types
    """Ends after one response, which the composite scores.

    `env_config` (``environment.skyrl_gym.<id>`` of the run, or ``kwargs`` of ``register``) may hold ``config`` (a file;
    else ``$GRPO_REWARDS_CONFIG``), ``gold`` (the column that ``reward_spec.ground_truth`` is, ``answer`` by default) and
    ``missing`` (what stands for a missing reward). Rewards see the row of the data (`extras`) and the prompt.

    Raises:
        ConfigError: ``missing`` is not chosen, or a component compares whole groups.
    """

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        settings = env_config if env_config is not None else {}
        self.composite = load_composite(settings.get("config"), trainer="SkyRL")
        self.missing = chosen(
            settings.get("missing"), trainer="SkyRL", setting="missing: NUMBER in the environment's settings"
        )
        spec = (extras or {}).get("reward_spec") or {}
        self.columns = {settings.get("gold") or "answer": spec.get("ground_truth"), **(extras or {})}
        self.scored: ScoredRow | None = None

    def init(self, prompt: list[dict[str, str]]) -> tuple[list[dict[str, str]], dict[str, object]]:
        """Keep the prompt, which rewards may read."""
        self.columns["prompt"] = [dict(message) for message in prompt]
        return prompt, {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Score the response; ``metadata`` holds what `get_metrics` gives, and the reason where there is no reward."""
        (self.scored,) = score_rows(self.composite, [{**self.columns, "completion": action}])
        reward = stand_in(self.scored, self.missing)
        metadata = {**self.get_metrics(), "reason": self.scored.reason}
        return BaseTextEnvStepOutput(observations=[], reward=reward, done=True, metadata=metadata)

    def get_metrics(self) -> dict[str, float]:
        """Return ``valid`` and, per component that has a value, ``component_<name>``, once there is a response."""
        if self.scored is None:
            return {}
        values = {f"component_{name}": value for name, value in self.scored.values.items() if value is not None}
        return {"valid": float(self.scored.valid), **values}
