"""Putting a composite into a trainer of TRL: what to give a new one, and what to look at in one that is built."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from grpo_rewards import Composite
from grpo_rewards.errors import ConfigError
from grpo_rewards.types import Part
from grpo_rewards_adapters.ranks import world
from grpo_rewards_adapters.trl.fitting import (
    check_alone,
    check_datasets,
    check_neutrality,
    check_normalisation,
    warn_of_vain,
)
from grpo_rewards_adapters.trl.health import HealthCallback, HealthLimits
from grpo_rewards_adapters.trl.trainer import Trainer

if TYPE_CHECKING:
    from trl.trainer.grpo_config import GRPOConfig

Form = Literal["auto", "expanded", "fused"]
"""How a composite enters a trainer: as one function (fused), as one for each component (expanded), or as its settings ask."""


def attach(
    trainer: Trainer, composite: Composite, *, accept_changes: bool = False, limits: HealthLimits | None = None
) -> HealthCallback:
    """Check that the trainer and the composite fit, and watch the run's health; return the callback that does.

    `accept_changes` allows resuming a checkpoint that was trained with another configuration or plugin version.

    Raises:
        ColumnError: the training or evaluation data lack a column that a component needs.
        ConfigError: the composite is not among the trainer's reward functions, or the trainer drops the columns, learns
            from rows that could not be scored (TRL before 1.6), or would not do the GDPO that is asked for.
    """
    functions = list(getattr(trainer, "reward_funcs", None) or ())
    parts = [f for f in functions if isinstance(f, Part) and f.composite is composite]
    if composite not in functions and not parts:
        raise ConfigError(
            "the trainer does not use this composite: give it as reward_funcs=composite, "
            "or build the trainer with **trl_kwargs(composite, args=...)"
        )
    check_alone(composite, trainer)
    if parts and len(parts) < len(composite.components):
        missing = {component.name for component in composite.components} - {part.component for part in parts}
        raise ConfigError(f"the expanded form needs all components; the trainer lacks {', '.join(sorted(missing))}")
    names = [name for name in getattr(trainer, "reward_func_names", ()) if name is not None]
    taken = {component.name for component in composite.components} if not parts else set()
    if clash := sorted({name for name in names if names.count(name) > 1 or name in taken}):
        raise ConfigError(
            f"two rewards are called {', '.join(clash)}, and the trainer would average their figures; rename one "
            f"(a component by its key under rewards, a function by its __name__)"
        )
    check_neutrality(trainer)
    check_normalisation(composite, trainer, expanded=bool(parts))
    check_datasets(composite, trainer)
    if world().rank == 0:
        warn_of_vain(composite, trainer)
    callback = next((c for c in trainer.callback_handler.callbacks if _watches(c, composite)), None)
    if callback is None or limits is not None or accept_changes:
        # attached before, or given by trl_kwargs: two would say everything twice
        if callback is not None:
            trainer.remove_callback(callback)
        callback = HealthCallback(composite, limits=limits, accept_changes=accept_changes)
        trainer.add_callback(callback)
    return callback


def trl_kwargs(
    composite: Composite,
    *,
    args: Any = None,
    form: Form = "auto",
    callbacks: Sequence[object] = (),
    accept_changes: bool = False,
    limits: HealthLimits | None = None,
) -> dict[str, Any]:
    """Return ``reward_funcs``, ``args`` and ``callbacks`` for a trainer: ``GRPOTrainer(model, **trl_kwargs(...))``.

    ``expanded`` gives the trainer one function per component, which it weights and logs itself (and, with
    ``combine: {normalize: gdpo}``, normalises per component); ``fused`` the composite as one function. ``auto`` takes
    the expanded form where the trainer has weights per function. `args`, a ``GRPOConfig`` or ``RLOOConfig``, is copied,
    not changed; the copy gets what GDPO needs, when that is asked for. `callbacks` are further ones to pass on.

    Raises:
        ConfigError: the form asked for is impossible with these `args`.
    """
    # not dataclasses.replace: it runs __post_init__ again, which refuses the batch sizes that it filled in
    args = _default_args() if args is None else copy.copy(args)
    gdpo = composite.config.combine.normalize == "gdpo"
    if gdpo and not hasattr(args, "multi_objective_aggregation"):
        raise ConfigError(
            f"{type(args).__name__} has no multi_objective_aggregation, so its trainer cannot do GDPO; "
            f"train with GRPOTrainer, or set combine.normalize: running",
            path="combine.normalize", source=composite.source,
        )  # fmt: skip
    able = hasattr(args, "reward_weights")
    if form == "expanded" and not able:
        raise ConfigError(f"{type(args).__name__} has no reward_weights, which the expanded form needs; form='fused'")
    watch = HealthCallback(composite, limits=limits, accept_changes=accept_changes)
    if form == "fused" or not able:
        if gdpo:
            args.multi_objective_aggregation, args.scale_rewards = "sum_then_normalize", "batch"
        return {"reward_funcs": composite, "args": args, "callbacks": [*callbacks, watch]}
    functions = composite.parts()
    # of the first step; later ones are set in the trainer's tensor at each call
    weights = composite.session.weights_at(0)
    args.reward_weights = [weights[part.component] for part in functions]
    if gdpo:
        args.multi_objective_aggregation = "normalize_then_sum"
    return {"reward_funcs": functions, "args": args, "callbacks": [*callbacks, watch]}


def _default_args() -> GRPOConfig:
    from trl.trainer.grpo_config import GRPOConfig

    return GRPOConfig()


def _watches(callback: object, composite: Composite) -> bool:
    return isinstance(callback, HealthCallback) and callback.composite is composite
