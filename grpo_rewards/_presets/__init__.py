"""Presets: whole compositions that plugins bring along, named ``preset/NAME``."""

from grpo_rewards._presets.catalogue import Preset, find_preset, is_preset, list_presets
from grpo_rewards._presets.expansion import current_gate, expanded, started_from

__all__ = ["Preset", "current_gate", "expanded", "find_preset", "is_preset", "list_presets", "started_from"]
