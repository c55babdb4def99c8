"""What changes while a composite trains: adapted weights and running figures, saved and resumed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from grpo_rewards._composition.config import AdaptConfig, Config
from grpo_rewards._composition.normalize import Running
from grpo_rewards._composition.observation import Observation
from grpo_rewards._composition.scalers import FIXED, Observed, find_scaler
from grpo_rewards._composition.schedule import ScheduleConfig, StageConfig
from grpo_rewards.errors import ConfigError, ResumeError

_FORMAT = 1


@dataclass(slots=True)
class Adapted:
    """One component's adaptation: the factor on its configured weight, and the smoothed figures behind it."""

    factor: float = 1.0
    rate: float | None = None
    spread: float | None = None
    batches: int = 0
    memory: dict[str, float] = field(default_factory=dict)


class Adaptation:
    """Weights by step, adapted on generation batches, and the running figures of ``normalize: running``.

    Every rank holds one and feeds it the same observations, so that all hold the same weights, to the last bit.
    """

    def __init__(self, config: Config, *, source: str = "") -> None:
        self._config = config
        self._own = {name: component.weight for name, component in config.rewards.items()}
        self._adapt: AdaptConfig | None = None
        self._scaler: Callable[..., float] | None = None
        if config.adapt is not None:
            # "fixed" is looked up too, so that its settings are checked like any method's
            self._scaler = find_scaler(config.adapt.method, config.adapt.settings, source=source)
            self._adapt = None if config.adapt.method == FIXED else config.adapt
        self.batches = 0
        self.step: int | None = None
        chosen = () if self._adapt is None else self._adapt.components
        self.adapted = {name: Adapted() for name in (config.rewards if chosen is None else chosen)}
        self.running = {name: Running() for name in config.rewards if config.combine.normalize == "running"}

    # ---------------------------------------------------------------------------------------------- weights

    def weights(self, step: int | None) -> dict[str, float]:
        """Return the weights at an optimizer step: schedule, then stage, then adaptation within its bounds.

        Without a step (offline) they are the configured ones.
        """
        weights = _scheduled_weights(self._own, self._config.stages, step)
        if step is not None and self._adapt is not None:
            for name, state in self.adapted.items():
                weights[name] = _within(weights[name] * state.factor, self._adapt.bounds)
        return weights

    def at_bound(self, name: str) -> bool:
        """Whether adaptation has driven the component's weight to one of its bounds."""
        # a configured weight may happen to equal a bound
        if self._adapt is None or name not in self.adapted or self.adapted[name].factor == 1.0:
            return False
        return abs(self.weights(self.step or 0)[name]) in self._adapt.bounds

    def observe(self, seen: Observation) -> None:
        """Take in a generation batch that is trained on, and move the weights for the next one."""
        self.batches += 1
        self.step = seen.step
        if self._adapt is None or self._scaler is None:
            return
        configured = _scheduled_weights(self._own, self._config.stages, seen.step or 0)
        for name, state in self.adapted.items():
            figures, keep = seen.components[name], self._adapt.ema
            if figures.rate is None or configured[name] == 0.0:
                continue  # it applied nowhere in this batch, or counts for nothing in this stage
            # smoothed during the warm-up too, so that the first factor rests on settled averages
            state.batches += 1
            state.rate = _smoothed(state.rate, figures.rate, keep)
            if figures.group_std is not None:
                state.spread = _smoothed(state.spread, figures.group_std, keep)
            if state.batches <= self._adapt.warmup:
                continue
            observed = Observed(
                name, state.rate, state.spread, figures.rate, figures.group_std, configured[name], state.batches
            )
            factor = float(self._scaler(observed, state.factor, state.memory))
            if not math.isfinite(factor) or factor < 0:
                raise ConfigError(
                    f"method {self._adapt.method!r} returned the factor {factor} for component {name!r}; "
                    f"a factor is a finite number, 0 or more",
                    path="adapt.method",
                )
            base = abs(configured[name])  # kept where the bounds bite, so that it turns back at once
            low, high = self._adapt.bounds
            state.factor = min(max(factor, low / base), high / base)

    # ---------------------------------------------------------------------------------------------- state

    def state(self, identity: Mapping[str, object]) -> dict[str, object]:
        """Return everything as plain data for a checkpoint; `identity` says which composite it belongs to."""
        return {
            "format": _FORMAT,
            **identity,
            "batches": self.batches,
            "step": self.step,
            "weights": self.weights(self.step or 0),
            "adapted": {name: asdict(adapted) for name, adapted in self.adapted.items()},
            "running": {name: asdict(running) for name, running in self.running.items()},
        }

    def restore(
        self, state: Mapping[str, Any], identity: Mapping[str, object], *, accept_changes: bool = False
    ) -> None:
        """Go on from a checkpoint's state.

        Raises:
            ResumeError: it is another composite's (configuration or plugin version); the text gives the differences.
        """
        if state.get("format") != _FORMAT:
            raise ResumeError(
                f"the checkpoint's reward state has format {state.get('format')!r}, this version reads {_FORMAT}; "
                f"resume with the version that wrote it"
            )
        saved = {key: state.get(key) for key in identity}
        changed = [f"{place}: {old!r} -> {new!r}" for place, old, new in differences(saved, identity)]
        if changed and not accept_changes:
            raise ResumeError(
                "the checkpoint was trained with another reward:\n  "
                + "\n  ".join(changed)
                + "\nRestore what it was trained with, or start a new run; to go on all the same, give --accept-changes "
                "to grpo-rewards train, or accept_changes=True to attach(trainer, composite) or Session.restore"
            )
        self.batches, self.step = int(state["batches"]), state["step"]
        for name, saved_one in state["adapted"].items():
            if name in self.adapted:  # changes that are accepted may have removed a component
                self.adapted[name] = Adapted(**{**saved_one, "memory": dict(saved_one["memory"])})
        for name, saved_one in state["running"].items():
            if name in self.running:
                self.running[name] = Running(**saved_one)


# a class of its own: None is a value that settings have
class _Absent:
    def __repr__(self) -> str:
        return "(absent)"


_ABSENT = _Absent()


def differences(saved: object, current: object, path: str = "") -> Iterator[tuple[str, object, object]]:
    """Yield each leaf in which two nests of plain data differ: its place (``config.rewards.a.weight``) and both values."""
    if isinstance(saved, Mapping) and isinstance(current, Mapping):
        for key in sorted({*saved, *current}, key=str):
            where = f"{path}.{key}" if path else str(key)
            yield from differences(saved.get(key, _ABSENT), current.get(key, _ABSENT), where)
    elif saved != current:
        yield path, saved, current


def _smoothed(before: float | None, now: float, keep: float) -> float:
    return now if before is None else keep * before + (1.0 - keep) * now


def _within(weight: float, bounds: tuple[float, float]) -> float:
    """Bound the size of a weight and keep its sign; a weight of 0 stays 0, since such a component is a shadow."""
    if weight == 0.0:
        return 0.0
    return math.copysign(min(max(abs(weight), bounds[0]), bounds[1]), weight)


def _scheduled_weights(
    weights: Mapping[str, float | ScheduleConfig], stages: tuple[StageConfig, ...] | list[StageConfig], step: int | None
) -> dict[str, float]:
    """Return every component's weight at an optimizer step, before any adaptation.

    Without a step (offline) schedules have arrived and no stage applies: the weights under ``rewards``.
    """
    found = {name: one.value(step) if isinstance(one, ScheduleConfig) else one for name, one in weights.items()}
    if step is not None:
        for stage in stages:  # the first that has not ended: they stand in order
            if stage.until is None or step < stage.until:
                found.update(stage.weights)
                break
    return found
