"""Configuration files: how a section of one is written and read, and what is wrong with rows for it."""

from grpo_rewards._composition.config import read_yaml
from grpo_rewards._contract.section import Section, problems_of
from grpo_rewards._doctor.faults import DataFaults
from grpo_rewards._doctor.weights import Applied, idle_weights
from grpo_rewards._presets import is_preset

__all__ = ["Applied", "DataFaults", "Section", "idle_weights", "is_preset", "problems_of", "read_yaml"]
