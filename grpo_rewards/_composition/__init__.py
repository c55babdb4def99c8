"""Composition: rewards weighted, gated and clipped into one."""

from grpo_rewards._composition.composite import CONFIG_VARIABLE, Composite, default_composite, load
from grpo_rewards._composition.config import Config
from grpo_rewards._composition.stats import Statistics, group_spread
from grpo_rewards._composition.table import ScoreTable

__all__ = [
    "CONFIG_VARIABLE",
    "Composite",
    "Config",
    "ScoreTable",
    "Statistics",
    "default_composite",
    "group_spread",
    "load",
]
