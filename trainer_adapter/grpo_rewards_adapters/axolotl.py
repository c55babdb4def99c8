"""Axolotl: ``trl: {reward_funcs: [grpo_rewards_adapters.axolotl.composite_reward]}``.

Axolotl imports the name and refuses a function with fewer than two parameters, so `grpo_rewards.composite_reward`, which
takes keywords alone, needs this one in front. Behind it is TRL: None leaves a sample out, and components are logged.
Not so behind two trainers of Axolotl's own, which add up rewards themselves: the one for ``context_parallel_size`` above 1,
which hands over columns alone, and the one for ``async_prefetch`` and ``use_data_producer``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from grpo_rewards_adapters.single import chosen, load_composite
from grpo_rewards_adapters.trl.trainer import calling_trainer
from grpo_rewards_adapters.trl_floats import Floats

__all__ = ["composite_reward"]


def composite_reward(prompts: list[object], completions: list[object], **columns: object) -> list[float | None]:
    """Score a batch with the composite of ``$GRPO_REWARDS_CONFIG``, else of ``./rewards.yaml``.

    Raises:
        ConfigError: the trainer makes None a 0, and ``$GRPO_REWARDS_MISSING`` chooses no number.
    """
    call = {**columns, "prompts": prompts, "completions": completions}
    if _leaves_out(columns):
        return load_composite(None)(**call)
    missing = chosen(
        None,
        trainer="Axolotl with context_parallel_size above 1, async_prefetch or use_data_producer",
        setting="train without these, where None leaves the sample out",
    )
    return cast("list[float | None]", Floats(load_composite(None), missing=missing)(**call))


def _leaves_out(columns: Mapping[str, object]) -> bool:
    """Whether TRL's own code adds up the rewards of the trainer that makes this call."""
    kinds = type(calling_trainer(columns)).__mro__
    return columns.get("log_metric") is not None and not any(kind.__name__ == "AsyncGRPOTrainer" for kind in kinds)
