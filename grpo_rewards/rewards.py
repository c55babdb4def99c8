"""The installed rewards by name, plugins' too: ``from grpo_rewards.rewards import math, xml_format``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grpo_rewards._contract import Reward

__all__: list[str] = []  # what is installed differs from place to place; dir() lists it


def __getattr__(name: str) -> Reward:
    """Find an installed reward.

    Raises:
        AttributeError: there is none of this name; the text names the nearest.
    """
    from grpo_rewards._registry import get_reward
    from grpo_rewards.errors import UnknownRewardError

    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return get_reward(name)
    except UnknownRewardError as error:
        raise AttributeError(str(error)) from None


def __dir__() -> list[str]:
    from grpo_rewards._registry import registry

    return sorted(registry().rewards)
