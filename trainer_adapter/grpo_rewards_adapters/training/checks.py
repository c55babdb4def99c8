"""What can be found out about a run before its model is loaded: arguments, batches, columns, golds, prompt lengths."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping
from typing import Any

from grpo_rewards import Composite
from grpo_rewards.config import Applied, idle_weights
from grpo_rewards.errors import ConfigError, nearest
from grpo_rewards_adapters.training.arithmetic import Batches, count_batches
from grpo_rewards_adapters.training.data import Data, prompt_lengths

__all__ = ["check_arguments", "check_data", "processes"]

_SHOWN = 5


def processes() -> int:
    """The number of ranks that this run was launched with."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def check_arguments(arguments: Mapping[str, Any], known: set[str], *, rows: int | None = None) -> Batches:
    """Return the batches; `known` are the arguments that the installed trainer takes.

    Raises:
        ConfigError: an argument is unknown (with the nearest name), or the batches do not fit.
    """
    for name in arguments:
        if name not in known:
            raise ConfigError(f"the trainer has no argument {name}{nearest(name, known)}", path=f"training.{name}")
    return count_batches(arguments, rows=rows, processes=processes())


def check_data(data: Data, composite: Composite, tokenizer: Any) -> tuple[dict[str, Any], list[str]]:
    """Return figures of the data (rows, prompt lengths in tokens) and what is to be mended, in words.

    Raises:
        ColumnError: a column that a component needs is missing.
    """
    found: list[str] = []
    columns = {name for row in data.train for name in row}
    composite.check_columns([*columns, "completion_ids"])
    kinds = Counter("text" if isinstance(row["prompt"], str) else "chat" for row in data.train)
    if len(kinds) > 1:
        found.append(f"{kinds['text']} prompts are text and {kinds['chat']} are chat; use one form")
    for number, row in enumerate(data.train):
        if not isinstance(row["prompt"], str) and row["prompt"][-1]["role"] == "assistant":
            found.append(f"row {number}: the prompt ends with the assistant's turn, so the answer is in it")
    applied = Applied(composite)
    for row in data.train:
        applied.see(row)
    found += [*idle_weights(composite), *applied.findings()]
    for component in composite.components:
        found += _golds(component, data)
    lengths = sorted(prompt_lengths(data.train, tokenizer))
    repeated = len(data.train) - len({repr(row["prompt"]) for row in data.train})
    figures = {
        "rows": len(data.train),
        "held_out": len(data.held_out),
        "repeated_prompts": repeated,
        "dropped_as_too_long": data.dropped,
        "prompt_tokens": {f"p{share}": _percentile(lengths, share) for share in (50, 95, 99, 100)},
        "prompts": next(iter(kinds), "none"),
        "columns": sorted(columns),
    }
    return figures, found[:_SHOWN] + ([f"... and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else [])


def _golds(component: Any, data: Data) -> list[str]:
    """References that the component cannot read, by its own ``check_row``."""
    found = []
    for number, row in enumerate([*data.train, *data.held_out]):
        if not component.applies_to(row):
            continue
        if problem := component.reward.row_problem(row):
            found.append(f"row {number}: {component.name}: {problem}")
    return found


def _percentile(ordered: list[int], share: int) -> int:
    return ordered[max(0, math.ceil(share / 100 * len(ordered)) - 1)]
