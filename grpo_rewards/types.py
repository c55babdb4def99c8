"""What hooks and adapters speak, types and a check: what a plugin of another distribution may import, beside `grpo_rewards` itself."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grpo_rewards._audit.cases import Case
    from grpo_rewards._audit.data.probes import Probes
    from grpo_rewards._composition.component import Component
    from grpo_rewards._composition.expanded import Part
    from grpo_rewards._composition.observation import ComponentFigures, Observation
    from grpo_rewards._composition.scalers import Observed, Scaler
    from grpo_rewards._composition.session import Caller, ScoredCall, Session, World
    from grpo_rewards._composition.stream import Stream, StreamedRow
    from grpo_rewards._contract.batch import Batch, check_group_size
    from grpo_rewards._contract.shapes import PartScores, RewardCall, RowScores, SettingValues

__all__ = [
    "Batch",
    "Caller",
    "Case",
    "Component",
    "ComponentFigures",
    "Observation",
    "Observed",
    "Part",
    "PartScores",
    "Probes",
    "RewardCall",
    "RowScores",
    "Scaler",
    "ScoredCall",
    "Session",
    "SettingValues",
    "Stream",
    "StreamedRow",
    "World",
    "check_group_size",
]

_ROOMS = {
    "_audit.cases": ("Case",),
    "_audit.data.probes": ("Probes",),
    "_composition.component": ("Component",),
    "_composition.expanded": ("Part",),
    "_composition.observation": ("ComponentFigures", "Observation"),
    "_composition.scalers": ("Observed", "Scaler"),
    "_composition.session": ("Caller", "ScoredCall", "Session", "World"),
    "_composition.stream": ("Stream", "StreamedRow"),
    "_contract.batch": ("Batch", "check_group_size"),
    "_contract.shapes": ("PartScores", "RewardCall", "RowScores", "SettingValues"),
}
_HOMES = {name: f"grpo_rewards.{room}" for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a type on its first use, so that a plugin that needs one of them loads no other room."""
    if name not in _HOMES:
        raise AttributeError(f"module 'grpo_rewards.types' has no attribute {name!r} (it has {', '.join(__all__)})")
    globals()[name] = found = getattr(importlib.import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return __all__
