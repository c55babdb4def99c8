"""Configuration files: how a section of one is written and read, and whether a composition's weights fit its data."""

from grpo_rewards._composition.config import read_yaml
from grpo_rewards._composition.section import Section, problems_of
from grpo_rewards._doctor import Applied, idle_weights
from grpo_rewards._presets import is_preset

__all__ = ["Applied", "Section", "idle_weights", "is_preset", "problems_of", "read_yaml"]
