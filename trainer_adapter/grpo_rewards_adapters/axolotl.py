"""Axolotl: ``trl: {reward_funcs: [grpo_rewards_adapters.axolotl.composite_reward]}``.

Axolotl imports the name and refuses a function with fewer than two parameters, so `grpo_rewards.composite_reward`, which
takes keywords alone, needs this one in front. Behind it is TRL: None leaves a sample out, and components are logged.
"""

from __future__ import annotations

from grpo_rewards_adapters.single import composite_for

__all__ = ["composite_reward"]


def composite_reward(prompts: list[object], completions: list[object], **columns: object) -> list[float | None]:
    """Score a batch with the composite of ``$GRPO_REWARDS_CONFIG``, else of ``./rewards.yaml``."""
    return composite_for(None)(prompts=prompts, completions=completions, **columns)
