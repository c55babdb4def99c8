"""A trainer's reward call: from its columns to one number per row, with logs, adaptation and state."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grpo_rewards._composition.combine import combined
from grpo_rewards._composition.completions import CompletionsFiles, columns_read
from grpo_rewards._composition.normalize import Running, exactly_flat, standardised_in_groups
from grpo_rewards._composition.observation import Observation, observe, share_of
from grpo_rewards._composition.progress import STATE_KEY
from grpo_rewards._composition.ranks import Caller, read_caller
from grpo_rewards._composition.table import ScoreTable
from grpo_rewards._contract import Batch
from grpo_rewards.errors import ConfigError

if TYPE_CHECKING:
    from grpo_rewards._composition.composite import Composite

__all__ = ["Scored", "check_alone", "check_normalisation", "score_call", "totals"]

_log = logging.getLogger(__name__)

_REASON = 300  # characters of a reason that go into the completions files
_ROWS = 4096  # kept for a completions file where the trainer does not say how many it holds
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

    Raises:
        InputError: a component or GDPO compares the rows of a group, and the groups cannot be known.
    """
    started = time.perf_counter()
    caller = read_caller(batch)
    if caller.state is not None:
        _join(composite, caller, expanded=expanded)
    weights = composite.progress.weights(caller.step)
    if composite.config.combine.normalize == "gdpo" and not expanded and caller.group_size is None:
        batch.check_groups("combine.normalize: gdpo")
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
        if not expanded:  # TRL logs the components in a list itself
            _log_values(batch, table)
        _keep_rows(composite, batch, table, seen, caller)
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
    if caller.world.size == 1 or not needed or batch.grouping is not None:
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
    whole = Batch.from_call(
        completions=lists[0] or [], prompts=lists[1], completion_ids=lists[2], **joined, **batch.trainer
    )
    return whole, offset


def _normalised(
    composite: Composite, table: ScoreTable, seen: Observation, caller: Caller, *, expanded: bool
) -> dict[str, list[float | None]]:
    """This rank's values per component, after clip, gate and normalisation (GDPO is TRL's own in the expanded form)."""
    method = composite.config.combine.normalize
    values = {name: table.values(name) for name in table.components}
    if method == "none":
        return values
    if method == "gdpo":
        mine, prepared = _own_rows(seen, len(table), caller), exactly_flat if expanded else standardised_in_groups
        return {name: prepared(every, seen.groups)[mine] for name, every in seen.values.items()}
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


def _join(composite: Composite, caller: Caller, *, expanded: bool) -> None:
    """Once per run: take up the state that lies in the trainer's, and look whether the two fit."""
    if not composite.join(caller.state):
        return
    if caller.trainer is not None:
        check_alone(composite, caller.trainer)
        check_normalisation(composite, caller.trainer, expanded=expanded)
    _complete_files(composite, caller)
    if caller.world.rank == 0:
        _warn_of_lone_weight(composite, caller)


def check_alone(composite: Composite, trainer: Any) -> None:
    """Raise `ConfigError` where another composite scores the same rows; warn of a function that does.

    A row that one could not score has to count for nothing, and only what is scored together can see to that.
    """
    functions = list(getattr(trainer, "reward_funcs", None) or ())
    owners = [getattr(function, "composite", function) for function in functions]  # a component's is its composite
    for function, other in zip(functions, owners, strict=True):
        if other is composite:
            continue
        if isinstance(other, type(composite)):
            raise ConfigError(
                "the trainer has two composites, which cannot leave rows out together nor share its saved state; "
                "put the components of both under the rewards of one",
                source=composite.source,
            )
        if not any(owner is composite for owner in owners):
            continue  # it may be a function around the composite
        name = getattr(function, "__name__", type(function).__name__)
        _log.warning(
            "%s stands beside the composite in reward_funcs: where a row cannot be scored its value alone counts, as if the "
            "completion were worse; make it a component, use: module:function, to leave such rows out", name,
        )  # fmt: skip


def check_normalisation(composite: Composite, trainer: Any, *, expanded: bool) -> None:
    """Raise `ConfigError` where ``normalize: gdpo`` is asked for and the trainer would make something else of it.

    GDPO (arXiv 2601.05242) standardises each component in its group and the weighted sum over the batch. In the fused
    form the first half is ours, in the expanded form both are the trainer's.
    """
    if composite.config.combine.normalize != "gdpo":
        return
    wanted = {"multi_objective_aggregation": "normalize_then_sum" if expanded else "sum_then_normalize"}
    if not expanded:
        wanted["scale_rewards"] = "batch"
    for name, value in wanted.items():
        found = getattr(trainer, name, None)
        if found is None:
            raise ConfigError(
                f"{type(trainer).__name__} has no {name}, so it cannot do GDPO; train with GRPOTrainer, "
                f"or set combine.normalize: running",
                path="combine.normalize", source=composite.source,
            )  # fmt: skip
        if found != value:
            raise ConfigError(
                f"with {name}={found!r} the trainer's advantages are not those of GDPO; set {name}={value!r} in "
                f"{type(trainer.args).__name__}, or build the trainer with trl_kwargs(composite, args=...), which does",
                path="combine.normalize", source=composite.source,
            )  # fmt: skip


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


def _log_values(batch: Batch, table: ScoreTable) -> None:
    """Fill the trainer's completions table with each component's value."""
    for name in table.components:
        if name not in _TAKEN:
            batch.log_extra(name, table.values(name))


def _keep_rows(composite: Composite, batch: Batch, table: ScoreTable, seen: Observation, caller: Caller) -> None:
    """Hand the rows of all ranks to what completes the trainer's files: reasons, weights, and what the rewards read."""
    mine: dict[str, list[Any]] = {
        name: list(column) for name, column in columns_read(composite.components, batch).items()
    }
    if batch.completion_ids is not None:
        mine["completion_tokens"] = [len(ids) for ids in batch.completion_ids]
    for name, outcomes in table.components.items():
        reasons = [o.reason if o.status == "scored" else _unscored(o.status, o.reason) for o in outcomes]
        mine[f"{name}_reason"] = [reason[:_REASON] for reason in reasons]
        mine[f"{name}_weight"] = [table.weights[name]] * len(table)
    parts = caller.world.gather((batch.texts, mine))
    if composite.files is None or caller.world.rank != 0:
        return
    texts = [text for part, _ in parts for text in part]
    columns = {name: [value for _, part in parts for value in part[name]] for name in mine}
    if any(component.reward.style == "group" for component in composite.components):
        number = {row: index for index, rows in enumerate(seen.groups) for row in rows}
        columns.setdefault("group_id", [number[row] for row in range(len(texts))])
    composite.files.keep(texts, columns)


def _complete_files(composite: Composite, caller: Caller) -> None:
    """Have the trainer's completions files completed after it has written them."""
    arguments = getattr(caller.trainer, "args", None)
    callbacks = getattr(getattr(caller.trainer, "callback_handler", None), "callbacks", None)
    if not caller.wants_table or arguments is None or not isinstance(callbacks, list):
        return
    rows = int(getattr(arguments, "generation_batch_size", None) or _ROWS)
    composite.files = CompletionsFiles(Path(arguments.output_dir) / "completions", rows=rows)
    callbacks[:] = [*(known for known in callbacks if not isinstance(known, CompletionsFiles)), composite.files]


def _unscored(status: str, reason: str) -> str:
    return f"{status}: {reason}" if reason else status
