"""Scoring for trainers other than TRL: one composite, rows in, plain numbers and a flag out.

Those trainers cannot leave a sample out the way TRL does with None. So every row carries `Scored.valid`: where it is
false, the number that stands in for the reward measured nothing, and the adapter says so in the form its trainer has.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import grpo_rewards
from grpo_rewards import Composite, load
from grpo_rewards._contract import Batch
from grpo_rewards.errors import ConfigError

__all__ = ["Scored", "composite_for", "refuse_group_rewards", "score_rows", "stand_in"]

_log = logging.getLogger(__name__)
_policy = threading.Lock()  # trainers call from many threads; the failure policy counts rows across calls


@dataclass(frozen=True, slots=True)
class Scored:
    """One row: `reward` and each component's clipped and gated value, None where there is none, and why.

    `failure` is ``""``, ``"not_applicable"`` (no component applies), ``"unavailable"`` or ``"error"``.
    """

    reward: float | None
    values: Mapping[str, float | None]
    failure: str
    reason: str

    @property
    def valid(self) -> bool:
        """Whether `reward` is a measurement."""
        return self.reward is not None


@lru_cache(maxsize=8)
def _loaded(path: str) -> Composite:
    return load(path)


def composite_for(config: Composite | str | None) -> Composite:
    """Return `config` itself, the composite of that file (read once), or the default one (``$GRPO_REWARDS_CONFIG``)."""
    if isinstance(config, Composite):
        return config
    return _loaded(str(config)) if config is not None else grpo_rewards.composite_reward


def refuse_group_rewards(composite: Composite, *, trainer: str) -> None:
    """Raise `ConfigError` when a component must see a whole group, which this trainer never shows at once."""
    for component in composite.components:
        if component.reward.style == "group":
            raise ConfigError(
                f"{trainer} hands over one completion at a time, but reward {component.reward.name!r} compares all "
                f"completions of a prompt; leave it out, or train with TRL",
                path=f"rewards.{component.name}",
                source=composite.source,
            )


def score_rows(composite: Composite, rows: Sequence[Mapping[str, Any]]) -> list[Scored]:
    """Score rows under the failure policy of training (``errors:`` of the configuration, with its batch timeout).

    Raises:
        ColumnError: a column that a component needs is missing.
        PluginError: a plugin broke its contract (unless ``errors.plugin: drop_row``).
        InfrastructureError: more rows than ``errors.max_infra_rate`` were left out.
    """
    batch = Batch.from_rows(rows)
    composite.check_columns(batch.available)
    table = composite._table(batch, timeout=composite.config.errors.batch_timeout)
    with _policy:
        composite._enforce(table)
    values = {name: table.values(name) for name in table.components}
    scored = []
    for row, reward in enumerate(table.rewards()):
        failure, reason = "", ""
        if reward is None:
            statuses = {
                outcomes[row].status
                for outcomes in table.components.values()
                if "left_out" not in outcomes[row].details
            }
            failure = next((kind for kind in ("error", "unavailable") if kind in statuses), "not_applicable")
            reason = table.left_out.get(row, "no component with a weight applies to this row")
        scored.append(Scored(reward, {name: column[row] for name, column in values.items()}, failure, reason))
    return scored


def stand_in(scored: Scored, missing: float) -> float:
    """Return the reward, or `missing` where there is none, which is logged each time.

    Raises:
        ValueError: `missing` is not finite; NaN or inf would poison the batch.
    """
    if not math.isfinite(missing):
        raise ValueError(f"missing must be a finite number, not {missing!r}: the trainer would average it")
    if scored.reward is not None:
        return scored.reward
    _log.warning("no reward for a sample (%s): %s; %g stands in and it is marked invalid", scored.failure, scored.reason,
                 missing)  # fmt: skip
    return missing
