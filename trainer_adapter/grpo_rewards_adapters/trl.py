"""TRL: a composite goes into ``reward_funcs`` as it is; `attach` and `trl_kwargs` add what needs the trainer.

Works with `GRPOTrainer` and `RLOOTrainer`. The asynchronous trainer (``trl.experimental.async_grpo``) takes the fused
form, whose weights stay as configured there, since it tells rewards no step.
"""

from __future__ import annotations

import copy
import inspect
import logging
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from transformers import TrainerCallback

from grpo_rewards import Composite
from grpo_rewards._composition.expanded import Part
from grpo_rewards._composition.health import Finding, Health, Limits
from grpo_rewards._composition.observation import Observation
from grpo_rewards._composition.ranks import Caller
from grpo_rewards._composition.training import check_alone, check_normalisation
from grpo_rewards.errors import ConfigError
from grpo_rewards_adapters import probe

__all__ = ["Form", "HealthCallback", "Limits", "attach", "trl_kwargs"]

_log = logging.getLogger(__name__)

Form = Literal["auto", "expanded", "fused"]


class HealthCallback(TrainerCallback):
    """Watches a composite's figures and the trainer's logs, and says each thing that goes wrong once.

    A finding goes to the log (on the main process) and, as the metric ``grpo_rewards/health/<kind>[/<component>]`` = 1
    in the next generation batch, to whatever the trainer reports to. `findings` holds all so far.
    """

    def __init__(self, composite: Composite, *, limits: Limits | None = None) -> None:
        self.composite = composite
        self.findings: list[Finding] = []
        self._health = Health(limits or Limits(), at_bound=lambda name: composite.progress.at_bound(name))
        composite.listeners[:] = [known for known in composite.listeners if not isinstance(known, _Ear)]
        composite.listeners.append(_Ear(self))

    def see(self, seen: Observation, caller: Caller) -> None:
        """Take in a generation batch."""
        if caller.training and caller.state is not None:
            self._report(self._health.see(seen), main=caller.world.rank == 0)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        """Take in what the trainer logged at a training step."""
        if logs and "loss" in logs:
            beta = float(getattr(args, "beta", 0.0) or 0.0)
            self._report(self._health.hear(logs, beta=beta), main=state.is_world_process_zero)

    def _report(self, findings: Sequence[Finding], *, main: bool) -> None:
        self.findings.extend(findings)
        for finding in findings:
            self.composite.notices.append(finding.key)
            if main:
                _log.warning("%s", finding.text)


class _Ear:
    """The callback as one of the composite's listeners."""

    def __init__(self, callback: HealthCallback) -> None:
        self.callback = callback

    def __call__(self, seen: Observation, caller: Caller) -> None:
        self.callback.see(seen, caller)


def attach(
    trainer: Any, composite: Composite, *, accept_changes: bool = False, limits: Limits | None = None
) -> HealthCallback:
    """Check that the trainer and the composite fit, and watch the run's health; return the callback that does.

    `accept_changes` lets a checkpoint be resumed that was trained with another configuration or plugin version.

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
    check_data(composite, trainer)
    composite.accept_changes = accept_changes
    callback = next((c for c in trainer.callback_handler.callbacks if _watches(c, composite)), None)
    if callback is None or limits is not None:
        if callback is not None:
            trainer.remove_callback(callback)
        callback = HealthCallback(composite, limits=limits)
        trainer.add_callback(callback)
    return callback


def check_neutrality(trainer: Any) -> None:
    """Raise when the trainer would learn from rows that could not be scored; see `grpo_rewards_adapters.probe`."""
    kind, config = (_importable(type(thing)) for thing in (trainer, trainer.args))
    found = probe.ask(*(f"{cls.__module__}:{cls.__name__}" for cls in (kind, config)), Path(inspect.getfile(kind)))
    if found.neutral is None:
        _log.warning("could not try whether %s leaves rows without a reward out: %s", kind.__name__, found.why)
    elif not found.neutral:
        raise ConfigError(
            f"{kind.__name__} of TRL {version('trl')} takes a row that could not be scored for a reward of 0, so a sandbox "
            f"that is down would move weights; pip install -U 'trl>={probe.FLOOR}'"
        )


def _importable(cls: type) -> type:
    """The class itself, or the nearest of its bases that another process can import by name."""
    return next(c for c in cls.__mro__ if c.__module__ != "__main__" and c.__qualname__ == c.__name__)


def check_data(composite: Composite, trainer: Any) -> None:
    """Raise before the first step when the trainer's data lack a column that a component needs.

    What the trainer itself adds in each call counts as there. The fields of a ``rollout_func`` are not known before the
    first call, which checks them.
    """
    given = {"prompt", "completion_ids"}
    if getattr(trainer, "environment_factories", None) or getattr(trainer, "environments", None):
        given.add("environments")
    wanted = [name for name in composite.required_columns if name not in given]
    if getattr(trainer.args, "remove_unused_columns", False) and wanted:
        raise ConfigError(
            f"remove_unused_columns=True takes the columns {', '.join(wanted)} away from rewards; "
            f"leave it at False, TRL's default for GRPO"
        )
    if getattr(trainer, "rollout_func", None) is not None:
        return
    evaluation = getattr(trainer, "eval_dataset", None)
    named = dict(evaluation) if isinstance(evaluation, dict) else {"eval_dataset": evaluation}
    for dataset in (getattr(trainer, "train_dataset", None), *named.values()):
        columns = getattr(dataset, "column_names", None)
        if isinstance(columns, list):
            composite.check_columns({*columns, *given} - {"completion"})


def trl_kwargs(
    composite: Composite,
    *,
    args: Any = None,
    form: Form = "auto",
    callbacks: Sequence[Any] = (),
    accept_changes: bool = False,
    limits: Limits | None = None,
) -> dict[str, Any]:
    """Return ``reward_funcs``, ``args`` and ``callbacks`` for a trainer: ``GRPOTrainer(model, **trl_kwargs(...))``.

    ``expanded`` gives the trainer one function per component, which it weights and logs itself (and, with
    ``combine: {normalize: gdpo}``, normalises per component); ``fused`` the composite as one function. ``auto`` takes
    the expanded form where the trainer has weights per function. `args`, a ``GRPOConfig`` or ``RLOOConfig``, is copied,
    not changed; the copy gets what GDPO needs, when that is asked for. `callbacks` are further ones to pass on.

    Raises:
        ConfigError: the form asked for is impossible with these `args`.
    """
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
    composite.accept_changes = accept_changes
    watch = HealthCallback(composite, limits=limits)
    if form == "fused" or not able:
        if gdpo:
            args.multi_objective_aggregation, args.scale_rewards = "sum_then_normalize", "batch"
        return {"reward_funcs": composite, "args": args, "callbacks": [*callbacks, watch]}
    functions = composite.components()
    weights = composite.progress.weights(0)
    args.reward_weights = [weights[part.component] for part in functions]
    if gdpo:
        args.multi_objective_aggregation = "normalize_then_sum"
    return {"reward_funcs": functions, "args": args, "callbacks": [*callbacks, watch]}


def _default_args() -> Any:
    from trl.trainer.grpo_config import GRPOConfig

    return GRPOConfig()


def _watches(callback: Any, composite: Composite) -> bool:
    return isinstance(callback, HealthCallback) and callback.composite is composite
