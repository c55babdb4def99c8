"""What can be found out about a run before its model is loaded: arguments, batches, columns, golds, prompt lengths."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from grpo_rewards import Composite
from grpo_rewards.config import DataFaults
from grpo_rewards.errors import ConfigError, nearest
from grpo_rewards_adapters.training.arithmetic import Batches, count_batches
from grpo_rewards_adapters.training.data import Data, prompt_lengths

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_SHOWN = 5


def processes() -> int:
    """The number of ranks that this run was launched with."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def check_arguments(arguments: Mapping[str, object], known: set[str], *, rows: int | None = None) -> Batches:
    """Return the batches; `known` are the arguments that the installed trainer takes.

    Raises:
        ConfigError: an argument is unknown (with the nearest name), or the batches do not fit.
    """
    for name in arguments:
        if name not in known:
            raise ConfigError(f"the trainer has no argument {name}{nearest(name, known)}", path=f"training.{name}")
    return count_batches(arguments, rows=rows, processes=processes())


def check_data(
    data: Data, composite: Composite, tokenizer: PreTrainedTokenizerBase
) -> tuple[dict[str, object], list[str]]:
    """Return figures of the data (rows, prompt lengths in tokens) and what is to be mended, in words.

    Raises:
        ColumnError: a column that a component needs is missing.
    """
    found: list[str] = []
    columns = {name for row in data.train for name in row}
    # no column of the data: the trainer adds it to each call
    composite.check_columns([*columns, "completion_ids"])
    kinds = Counter("text" if isinstance(row["prompt"], str) else "chat" for row in data.train)
    faults = DataFaults(composite)
    for place, row in zip(data.places, [*data.train, *data.held_out], strict=True):
        found += faults.see(row, place)
    found[:0] = faults.over_all()
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


def _percentile(ordered: list[int], share: int) -> int:
    return ordered[max(0, math.ceil(share / 100 * len(ordered)) - 1)]
