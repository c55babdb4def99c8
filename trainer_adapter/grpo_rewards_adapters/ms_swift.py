"""ms-swift: ``orms["grpo_rewards"] = orm_class()`` in a plugin file, then ``--reward_funcs grpo_rewards``."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any

from grpo_rewards import Composite
from grpo_rewards._contract import Batch
from grpo_rewards_adapters.single import Scored, composite_for, score_rows, stand_in

__all__ = ["CompositeORM", "fill_with_group_mean", "orm_class"]

_log = logging.getLogger(__name__)
_NOT_COLUMNS = ("trainer_state", "trajectory_inputs", "log_extra", "log_metric")


class CompositeORM:
    """A composite in the shape of ms-swift's ``ORM``: made with ``args``, called with lists, answers floats.

    ms-swift sums rewards with ``nansum``, which makes a sample without any reward 0 without a word. So a missing reward
    is filled with the mean of its group's others, whose advantage under group centring is 0; a group with none gets
    `missing`. Both are logged.
    """

    config: Composite | str | None = None
    missing: float = 0.0

    def __init__(self, args: Any = None, **_kwargs: Any) -> None:
        self.args = args
        self.composite = composite_for(self.config)
        self.components: dict[str, list[float | None]] = {}
        """Each component's values in the latest call."""

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float]:
        """Score a batch: `completions` are strings, every dataset column a list of the same length."""
        given = {name: values for name, values in columns.items() if _is_column(name, values, len(completions))}
        rows = [
            {**{name: values[row] for name, values in given.items()}, "completion": completion}
            for row, completion in enumerate(completions)
        ]
        scored = score_rows(self.composite, rows)
        self.components = {name: [one.values[name] for one in scored] for name in self.composite.weights}
        for name, values in self.components.items():
            present = [value for value in values if value is not None]
            if present:
                _log.info("rewards/%s/mean %.6g over %d of %d", name, math.fsum(present) / len(present), len(present), len(values))  # fmt: skip
        return fill_with_group_mean(scored, _groups(given, len(completions)), missing=self.missing)


def orm_class(config: Composite | str | None = None, *, missing: float = 0.0) -> type[CompositeORM]:
    """Return the class to put into ms-swift's ``orms``, bound to a composition."""
    return type("CompositeORM", (CompositeORM,), {"config": config, "missing": missing})


def fill_with_group_mean(scored: Sequence[Scored], groups: Sequence[Sequence[int]], *, missing: float) -> list[float]:
    """Return the rewards with each gap filled by the mean of its group's present ones, or `missing` where none is."""
    filled = [one.reward for one in scored]
    for rows in groups:
        present = [reward for row in rows if (reward := scored[row].reward) is not None]
        mean = math.fsum(present) / len(present) if present else missing
        for row in rows:
            if not scored[row].valid:
                filled[row] = stand_in(scored[row], mean)
    return [value for value in filled if value is not None]


def _is_column(name: str, values: Any, size: int) -> bool:
    return name not in _NOT_COLUMNS and isinstance(values, list | tuple) and len(values) == size


def _groups(columns: dict[str, Any], size: int) -> list[list[int]]:
    """The rows of each prompt: by ``prompt_id``, ``group_id``, or equal messages before the last one."""
    keys = columns.get("prompt_id") or columns.get("group_id") or columns.get("prompt")
    if keys is None and "messages" in columns:
        keys = [messages[:-1] if messages and messages[-1].get("role") == "assistant" else messages for messages in columns["messages"]]  # fmt: skip
    return Batch([""] * size, keys).groups if keys is not None else [[row] for row in range(size)]
