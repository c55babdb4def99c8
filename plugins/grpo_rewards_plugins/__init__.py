"""The built-in rewards, registered through the same door as anyone's.

Importing this package is cheap: what a reward needs beyond the standard library is imported when it first scores.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from grpo_rewards import hookimpl
from grpo_rewards_plugins import math
from grpo_rewards_plugins.code import code
from grpo_rewards_plugins.countdown import countdown
from grpo_rewards_plugins.diversity import diversity
from grpo_rewards_plugins.exact import exact
from grpo_rewards_plugins.instructions import instructions
from grpo_rewards_plugins.integer import integer
from grpo_rewards_plugins.json_fields import json_fields
from grpo_rewards_plugins.json_schema import json_schema
from grpo_rewards_plugins.judges import judge, pairwise, ranking, rubric
from grpo_rewards_plugins.language import language
from grpo_rewards_plugins.length import length
from grpo_rewards_plugins.math.reward import math as math_reward  # noqa: F401 - `math` is its package, with parts of its own
from grpo_rewards_plugins.model import model
from grpo_rewards_plugins.multiple_choice import multiple_choice
from grpo_rewards_plugins.qa import qa
from grpo_rewards_plugins.reasoning_gym import reasoning_gym
from grpo_rewards_plugins.regex import regex
from grpo_rewards_plugins.repetition import repetition
from grpo_rewards_plugins.sql import sql
from grpo_rewards_plugins.tool_calls import tool_calls
from grpo_rewards_plugins.xml_format import xml_format

if TYPE_CHECKING:
    from grpo_rewards.types import Case, Probes

__all__ = [
    "code",
    "countdown",
    "diversity",
    "exact",
    "instructions",
    "integer",
    "json_fields",
    "json_schema",
    "judge",
    "language",
    "length",
    "math",
    "model",
    "multiple_choice",
    "pairwise",
    "qa",
    "ranking",
    "reasoning_gym",
    "regex",
    "repetition",
    "rubric",
    "sql",
    "tool_calls",
    "xml_format",
]


@hookimpl
def register_presets() -> Mapping[str, Path]:
    """Register the recipes that people start from; each has a page in docs/presets/."""
    folder = Path(__file__).with_name("presets")
    return {file.stem: file for file in sorted(folder.glob("*.yaml"))}


@hookimpl
def register_attacks() -> Mapping[str, Callable[["Case"], Iterable[str]]]:
    """Register the cheats that only some of the built-in rewards invite."""
    from grpo_rewards_plugins.instructions.attacks import one_word
    from grpo_rewards_plugins.judges.attacks import master_keys

    return {"master keys": master_keys, "one word": one_word}


@hookimpl
def register_probes() -> Mapping[str, Callable[..., "Probes | None"]]:
    """Register what is tried on rows of code, with mathematical references, with options, and with accepted answers."""
    from grpo_rewards_plugins.code.probes import code_probes
    from grpo_rewards_plugins.math.probes import math_probes
    from grpo_rewards_plugins.probes import choice_probes, qa_probes

    return {"code": code_probes, "math": math_probes, "multiple_choice": choice_probes, "qa": qa_probes}


@hookimpl
def register_scalers() -> Mapping[str, Callable[..., float]]:
    """Register the built-in methods by which weights follow training."""
    from grpo_rewards_plugins.scalers import SCALERS

    return SCALERS
