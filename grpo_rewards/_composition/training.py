"""A trainer's reward call: from its columns to one number per row, with logs, adaptation and state."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grpo_rewards._composition.combine import combined
from grpo_rewards._composition.normalize import Running, standardised_in_groups
from grpo_rewards._composition.observation import Observation, observe, share_of
from grpo_rewards._composition.progress import STATE_KEY
from grpo_rewards._composition.ranks import Caller, read_caller
from grpo_rewards._composition.table import ScoreTable
from grpo_rewards._contract import Batch

if TYPE_CHECKING:
    from grpo_rewards._composition.composite import Composite

__all__ = ["Scored", "score_call"]

_log = logging.getLogger(__name__)

_REASON = 300  # characters of a reason that go into the completions table
_TAKEN = {"prompt", "completion", "step", "advantage", "composite"}


@dataclass(frozen=True, slots=True)
class Scored:
    """A scored reward call: the table, per component what a trainer gets, and what all ranks saw."""

    table: ScoreTable
    values: Mapping[str, list[float | None]]
    seen: Observation
    caller: Caller


def score_call(composite: Composite, batch: Batch, *, expanded: bool) -> Scored:
    """Score a reward call on every rank; `expanded` when the components go to the trainer one by one.

    Collective where several ranks train: each must call it at the same point, as TRL does.
    """
    started = time.perf_counter()
    caller = read_caller(batch)
    if caller.state is not None:
        _resume(composite, caller)
    weights = composite.progress.weights(caller.step)
    whole, offset = _whole_batch(composite, batch, caller)
    table = composite._table(
        batch, timeout=composite.config.errors.batch_timeout, weights=weights, whole=whole, offset=offset
    )
    shares = caller.world.gather(share_of(table, batch, composite.components, caller))
    seen = observe(shares, weights, caller)
    composite.failures.check(shares, {c.name: c.reward for c in composite.components}, caller.world.rank)
    values = _normalised(composite, table, seen, caller, expanded=expanded)
    if expanded:
        _blank_shadows(table, values)
    if caller.training and caller.state is not None:
        composite.progress.observe(seen)
        _save(composite, caller)
    if expanded:
        _apply_weights(caller, weights)
    for listener in list(composite.listeners):
        listener(seen, caller)
    _log_figures(composite, batch, seen, expanded=expanded, seconds=time.perf_counter() - started)
    if caller.wants_table:
        _log_rows(batch, table, expanded=expanded)
    return Scored(table, values, seen, caller)


def totals(composite: Composite, scored: Scored) -> list[float | None]:
    """Return one number per row, as a trainer that knows only the whole composite takes it."""
    combine = composite.config.combine
    if combine.normalize == "none":
        return scored.table.rewards()
    weights = tuple(scored.table.weights.values())
    gates = [[1.0] * len(scored.table)] * len(weights)  # the values are past their gates
    return combined(scored.values.values(), gates, weights, method=combine.method, clip=combine.clip)


def _whole_batch(composite: Composite, batch: Batch, caller: Caller) -> tuple[Batch | None, int]:
    """The rows of all ranks and where this rank's begin, when a group reward needs them; else None."""
    needed = [component for component in composite.components if component.reward.style == "group"]
    size = caller.group_size
    if caller.world.size == 1 or not needed or (size is not None and len(batch) % size == 0):
        return None, 0
    everything = any(component.reward.shape.takes_rest for component in needed)
    wanted = {"group_id"}
    for component in needed:
        wanted.update(component.columns, component.reward.optional_columns)
    columns = {k: list(v) for k, v in batch.columns.items() if (everything and k != "environments") or k in wanted}
    mine = (list(batch.completions), batch.prompts, batch.completion_ids, columns)
    parts = caller.world.gather(mine)
    lists: list[list[Any] | None] = [
        None if parts[0][k] is None else [value for part in parts for value in part[k]] for k in range(3)
    ]
    names = [name for name in parts[0][3] if all(name in part[3] for part in parts)]
    joined = {name: [value for part in parts for value in part[3][name]] for name in names}
    offset = sum(len(part[0]) for part in parts[: caller.world.rank])
    return Batch(lists[0] or [], lists[1], lists[2], joined, batch.trainer), offset


def _normalised(
    composite: Composite, table: ScoreTable, seen: Observation, caller: Caller, *, expanded: bool
) -> dict[str, list[float | None]]:
    """This rank's values per component, after clip, gate and normalisation (GDPO is TRL's own in the expanded form)."""
    method = composite.config.combine.normalize
    values = {name: table.values(name) for name in table.components}
    if method == "none" or (method == "gdpo" and expanded):
        return values
    if method == "gdpo":
        mine = _own_rows(seen, len(table), caller)
        return {name: standardised_in_groups(every, seen.groups)[mine] for name, every in seen.values.items()}
    progress = composite.progress
    for name, every in seen.values.items():
        if caller.training:
            progress.running[name].add(every)
    fresh = {name: Running() for name in values}
    for name, running in fresh.items():
        running.add(seen.values[name])
    return {
        name: (progress.running[name] if progress.running[name].count else fresh[name]).normalised(own)
        for name, own in values.items()
    }


def _blank_shadows(table: ScoreTable, values: Mapping[str, list[float | None]]) -> None:
    """Where nothing that counts applies there is no reward; a shadow's value would make the trainer's sum 0 there."""
    for row, total in enumerate(table.totals):
        if total is None:
            for column in values.values():
                column[row] = None


def _own_rows(seen: Observation, size: int, caller: Caller) -> slice:
    """Where this rank's rows lie among all: ranks have equally many, or there is one."""
    start = caller.world.rank * size if caller.world.size > 1 else 0
    return slice(start, start + size)


# ------------------------------------------------------------------------------------------------ state


def _resume(composite: Composite, caller: Caller) -> None:
    """Take up the state that lies in the trainer's, once per run."""
    if composite.join(caller.state) and caller.world.rank == 0:
        _warn_of_lone_weight(composite, caller)


def _warn_of_lone_weight(composite: Composite, caller: Caller) -> None:
    """With one component, dividing by the group's deviation cancels its weight."""
    counting = [component for component in composite.components if composite.can_count(component.name)]
    if len(counting) != 1 or composite.config.combine.clip is not None:
        return
    (component,) = counting
    config = composite.config
    moves = config.adapt is not None or bool(config.stages) or component.schedule != 1.0
    if moves and getattr(caller.trainer, "scale_rewards", None) in ("group", "batch", True):
        _log.warning(
            "component %r is the only one that counts, and the trainer divides rewards by their deviation "
            "(scale_rewards=%r), so its weight changes nothing; only the ratio of several weights does. "
            "Add a component, or set scale_rewards='none'",
            component.name,
            caller.trainer.scale_rewards,
        )


def _save(composite: Composite, caller: Caller) -> None:
    stateful = getattr(caller.state, "stateful_callbacks", None)
    if isinstance(stateful, dict):
        stateful[STATE_KEY] = composite.state()


def _apply_weights(caller: Caller, weights: Mapping[str, float]) -> None:
    """Set the trainer's own weights, in place: it multiplies by them after this call."""
    names, applied = (getattr(caller.trainer, name, None) for name in ("reward_func_names", "reward_weights"))
    if names is None or applied is None:
        return
    for index, name in enumerate(names):
        if name in weights:
            applied[index] = weights[name]


# ------------------------------------------------------------------------------------------------ logs


def _log_figures(composite: Composite, batch: Batch, seen: Observation, *, expanded: bool, seconds: float) -> None:
    """Give the trainer the figures under stable names (docs/training.md lists them)."""

    def log(name: str, value: float | None) -> None:
        if value is not None and math.isfinite(value):
            batch.log_metric(name, value)

    for name, figures in seen.components.items():
        if not expanded:  # TRL logs these itself for components in a list
            log(f"rewards/{name}/mean", figures.mean)
            log(f"rewards/{name}/std", figures.std)
        place = f"grpo_rewards/{name}"
        log(f"{place}/weight", figures.weight)
        log(f"{place}/group_std", figures.group_std)
        log(f"{place}/zero_std_groups", figures.flat_groups)
        log(f"{place}/seconds", figures.seconds)
        log(f"{place}/p95_seconds", figures.p95_seconds)
        log(f"{place}/timeout_rate", figures.rates.get("timeout", 0.0))
        log(f"{place}/rejected_rate", figures.rates.get("rejected", 0.0))
        log(f"{place}/failure_rate", figures.rates.get("unavailable", 0.0) + figures.rates.get("error", 0.0))
    log("grpo_rewards/total/mean", seen.mean)
    log("grpo_rewards/total/group_std", seen.group_std)
    log("grpo_rewards/total/zero_std_groups", seen.flat_groups)
    log("grpo_rewards/left_out_rate", seen.left_out)
    log("grpo_rewards/duplicate_rate", seen.copies)
    log("grpo_rewards/seconds", seconds)
    while composite.notices:
        log(composite.notices.pop(0), 1.0)


def _log_rows(batch: Batch, table: ScoreTable, *, expanded: bool) -> None:
    """Fill the completions table: each component's value, and each one's reason where it gave any."""
    for name, outcomes in table.components.items():
        if not expanded and name not in _TAKEN:
            batch.log_extra(name, table.values(name))
        reasons = [o.reason if o.status == "scored" else _unscored(o.status, o.reason) for o in outcomes]
        batch.log_extra(f"{name}_reason", [reason[:_REASON] for reason in reasons])


def _unscored(status: str, reason: str) -> str:
    return f"{status}: {reason}" if reason else status
