"""Checks of settings that several rewards share; each raises ValueError, which the contract turns into a SettingsError."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from grpo_rewards.types import SettingValues

_TAG = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")


def finite(settings: SettingValues) -> None:
    """Refuse inf and NaN in any number among the settings, also within lists and mappings."""
    for name, value in settings.items():
        parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else (value,)
        for part in parts:
            if isinstance(part, float) and not math.isfinite(part):
                raise ValueError(f"{name} must be a finite number, not {part}")


def between(settings: SettingValues, name: str, low: float, high: float = math.inf) -> None:
    """Refuse a setting below `low` or above `high`; None passes."""
    value = settings[name]
    # written so that NaN, which compares with nothing, is refused
    if value is not None and not low <= value <= high:
        span = f"at least {low:g}" if high == math.inf else f"between {low:g} and {high:g}"
        raise ValueError(f"{name} must be {span}, not {value:g}")


def tag_name(settings: SettingValues, name: str = "tag") -> None:
    """Refuse a tag that is no plain word."""
    if not _TAG.fullmatch(settings[name]):
        raise ValueError(
            f"{name} is the bare name of a tag (letters, digits, - _ .), such as answer, not {settings[name]!r}"
        )
