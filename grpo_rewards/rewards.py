"""The installed rewards by name, plugins' too: ``from grpo_rewards.rewards import math, xml_format``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the built-in ones by themselves, so that type checkers and editors know the settings of each
    # isort: off
    from grpo_rewards_plugins import (
        code as code,
        countdown as countdown,
        diversity as diversity,
        exact as exact,
        instructions as instructions,
        integer as integer,
        json_fields as json_fields,
        json_schema as json_schema,
        judge as judge,
        language as language,
        length as length,
        model as model,
        multiple_choice as multiple_choice,
        pairwise as pairwise,
        qa as qa,
        ranking as ranking,
        reasoning_gym as reasoning_gym,
        regex as regex,
        repetition as repetition,
        rubric as rubric,
        sql as sql,
        tool_calls as tool_calls,
        xml_format as xml_format,
    )
    from grpo_rewards_plugins.math.reward import math as math

    # isort: on
    from grpo_rewards._contract import Reward

__all__: list[str] = []  # what is installed differs from place to place; dir() lists it


def __getattr__(name: str) -> Reward:
    """Find an installed reward.

    Raises:
        AttributeError: there is none of this name; the text names the nearest.
    """
    from grpo_rewards._registry import get_reward
    from grpo_rewards.errors import UnknownRewardError

    if name.startswith("__"):  # asked for by the import system and tools: no reason to load the plugins
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return get_reward(name)
    except UnknownRewardError as error:
        raise AttributeError(str(error)) from None


def __dir__() -> list[str]:
    from grpo_rewards._registry import registry

    return sorted(registry().rewards)
