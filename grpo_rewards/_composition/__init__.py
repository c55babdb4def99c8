"""Composition: rewards weighted, gated and clipped into one."""

from grpo_rewards._composition.adaptation import differences
from grpo_rewards._composition.composite import CONFIG_VARIABLE, Composite, compose, default_composite, load
from grpo_rewards._composition.config import Config
from grpo_rewards._composition.observation import ComponentFigures, Observation
from grpo_rewards._composition.scalers import Observed
from grpo_rewards._composition.stats import Statistics, group_spread
from grpo_rewards._composition.table import ScoreTable

__all__ = [
    "CONFIG_VARIABLE",
    "ComponentFigures",
    "Composite",
    "Config",
    "Observation",
    "Observed",
    "ScoreTable",
    "Statistics",
    "compose",
    "default_composite",
    "differences",
    "group_spread",
    "load",
]
