"""Whether a trainer of TRL and a composite fit: looked at by `attach`, and in the first call of a run."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Collection
from importlib.metadata import version
from pathlib import Path

from grpo_rewards import Composite
from grpo_rewards.config import Applied, idle_weights
from grpo_rewards.errors import ConfigError
from grpo_rewards_adapters import probe
from grpo_rewards_adapters.trl.trainer import Trainer, owner_of

_log = logging.getLogger(__name__)

_GIVEN = frozenset(("prompt", "completion_ids"))


def check_alone(composite: Composite, trainer: Trainer) -> None:
    """Raise `ConfigError` where another composite scores the same rows; warn of a function that does.

    A row that one could not score has to count for nothing, and only what is scored together can see to that.
    """
    functions = list(getattr(trainer, "reward_funcs", None) or ())
    owners = [owner_of(function) for function in functions]
    for function, owner in zip(functions, owners, strict=True):
        if owner is composite:
            continue
        if owner is not None:
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


def check_normalisation(composite: Composite, trainer: Trainer, *, expanded: bool) -> None:
    """Raise `ConfigError` where ``normalize: gdpo`` is asked for and the trainer would make something else of it.

    GDPO (arXiv 2601.05242) standardises each component in its group and the weighted sum over the batch. In the fused
    form the first half is ours, in the expanded form both are the trainer's.
    """
    if composite.config.combine.normalize != "gdpo":
        return
    wanted = {"multi_objective_aggregation": "normalize_then_sum" if expanded else "sum_then_normalize"}
    if not expanded:
        # the second half stays the trainer's, and only so does it divide by the batch's deviation
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


def check_neutrality(trainer: Trainer) -> None:
    """Raise when the trainer would learn from rows that could not be scored; see `grpo_rewards_adapters.probe`."""
    kind, config = (_importable(type(thing)) for thing in (trainer, trainer.args))
    found = probe.ask(*(f"{cls.__module__}:{cls.__name__}" for cls in (kind, config)), Path(inspect.getfile(kind)))
    remedy = f"pip install -U 'trl>={probe.FLOOR}'"
    if found.neutral is None and _is_old():
        raise ConfigError(
            f"could not try whether {kind.__name__} leaves rows without a reward out ({found.why}), and TRL {version('trl')} "
            f"takes them for a reward of 0; {remedy}, or give it "
            f"grpo_rewards_adapters.trl_floats.Floats(composite, group_size=num_generations)"
        )
    if found.neutral is None:
        _log.warning("could not try whether %s leaves rows without a reward out: %s", kind.__name__, found.why)
    elif not found.neutral:
        raise ConfigError(
            f"{kind.__name__} of TRL {version('trl')} takes a row that could not be scored for a reward of 0, so a sandbox "
            f"that is down would move weights; {remedy}"
        )


def check_first_call(state: object, trainer: Trainer | None, *, logs: bool) -> None:
    """Raise where a trainer that nobody attached a composite to would learn from rows that could not be scored.

    A trainer is tried (`check_neutrality`) unless it is TRL's own, of a version that is known. One that hands over no
    functions that log is none of those that leave rows out: `SDPOTrainer`, `OnlineDPOTrainer` and theirs, or an old TRL.
    """
    if trainer is not None:
        if not _is_known(_importable(type(trainer))):
            check_neutrality(trainer)
    elif not logs and type(state).__module__.startswith("transformers."):
        raise ConfigError(
            "this trainer takes a row that could not be scored for a reward of 0, or stops at it, as TRL's OnlineDPO and SDPO "
            "do: it hands over trainer_state without log_metric. Give it grpo_rewards_adapters.trl_floats.Floats(composite, ...), "
            f"which says what stands in; with GRPOTrainer, pip install -U 'trl>={probe.FLOOR}'"
        )


def _is_known(cls: type) -> bool:
    """Whether it is no trainer at all, or one of TRL's own of a version in which they leave such rows out."""
    if not any(base.__module__.startswith("transformers.") for base in cls.__mro__):
        return True
    return cls.__module__ in ("trl.trainer.grpo_trainer", "trl.trainer.rloo_trainer") and not _is_old()


def _is_old() -> bool:
    from packaging.version import Version  # comes with transformers

    # by release, since a development version comes before its own, and has what it brings
    found, floor = (Version(text).release[:2] for text in (version("trl"), probe.FLOOR))
    return found < floor


def _importable(cls: type) -> type:
    """The class itself, or the nearest of its bases that another process can import by name."""
    return next(c for c in cls.__mro__ if c.__module__ != "__main__" and c.__qualname__ == c.__name__)


def check_datasets(composite: Composite, trainer: Trainer) -> None:
    """Raise before the first step when the trainer's data lack a column that a component needs.

    What the trainer itself adds in each call counts as there. The fields of a ``rollout_func`` are not known before the
    first call, which checks them.
    """
    given = set(_GIVEN)
    if getattr(trainer, "environment_factories", None) or getattr(trainer, "environments", None):
        given.add("environments")
    refuse_dropped_columns(composite, trainer.args, given=given)
    if getattr(trainer, "rollout_func", None) is not None:
        return
    evaluation = getattr(trainer, "eval_dataset", None)
    named = dict(evaluation) if isinstance(evaluation, dict) else {"eval_dataset": evaluation}
    for dataset in (getattr(trainer, "train_dataset", None), *named.values()):
        columns = getattr(dataset, "column_names", None)
        if isinstance(columns, list):
            # TRL hands on no column of this name: a reward's completion is the model's
            composite.check_columns({*columns, *given} - {"completion"})


def warn_of_vain(composite: Composite, trainer: Trainer) -> None:
    """Log what the configuration asks for in vain, in the words of ``validate``: of itself, and of the training data."""
    found = idle_weights(composite)
    looked_at = {c.when.column for c in composite.components if c.when is not None}
    dataset = getattr(trainer, "train_dataset", None)
    columns = getattr(dataset, "column_names", None)
    if dataset is not None and looked_at and isinstance(columns, list) and looked_at <= {*columns}:
        applied = Applied(composite)
        # without the other columns, which may hold images that reading a row would decode
        for number, row in enumerate(dataset.select_columns(sorted(looked_at)), 1):
            applied.see(row)
            if number & (number - 1) == 0 and applied.settled:  # looked at 1, 2, 4, 8 ... rows
                break
        found += applied.findings()
    for text in found:
        _log.warning("%s", text)


def refuse_dropped_columns(composite: Composite, args: object, *, given: Collection[str] = _GIVEN) -> None:
    """Raise `ConfigError` where a trainer's arguments take columns away that rewards need; `given` the trainer adds itself."""
    wanted = [name for name in composite.required_columns if name not in given]
    if getattr(args, "remove_unused_columns", False) and wanted:
        raise ConfigError(
            f"remove_unused_columns=True takes the columns {', '.join(wanted)} away from rewards; "
            f"leave it at False, TRL's default for GRPO"
        )
