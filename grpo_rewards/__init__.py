"""grpo-rewards: verifiable reward functions for GRPO, composed into one and scored the same offline and in training.

Write a reward with `reward`, find installed ones with `get_reward` or in `grpo_rewards.rewards`, compose with `Composite`,
`compose` or `load`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grpo_rewards._version import __version__

if TYPE_CHECKING:
    from grpo_rewards._composition import Composite, ScoreTable, compose, load
    from grpo_rewards._contract import Outcome, Reward, completion_text, reward
    from grpo_rewards._registry import get_reward, hookimpl, list_rewards, use_plugin

    composite_reward: Composite

__all__ = [  # composite_reward is left out: a star import must not ask for a configuration
    "Composite",
    "Outcome",
    "Reward",
    "ScoreTable",
    "__version__",
    "completion_text",
    "compose",
    "get_reward",
    "hookimpl",
    "list_rewards",
    "load",
    "reward",
    "use_plugin",
]

_ROOMS = {
    "_composition": ("Composite", "ScoreTable", "compose", "load"),
    "_contract": ("Outcome", "Reward", "completion_text", "reward"),
    "_registry": ("get_reward", "hookimpl", "list_rewards", "use_plugin"),
}
_LAZY = {name: f"grpo_rewards.{room}" for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a name on its first use, so that a command starts at once; build ``composite_reward`` from the configured file."""
    if name in _LAZY:
        import importlib

        value = getattr(importlib.import_module(_LAZY[name]), name)
    elif name == "composite_reward":
        from grpo_rewards._composition import default_composite

        value = default_composite()
    else:
        raise AttributeError(f"module 'grpo_rewards' has no attribute {name!r}")
    globals()[name] = value  # found there from now on, without this function
    return value


def __dir__() -> list[str]:
    return __all__
