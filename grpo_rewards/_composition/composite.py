"""`Composite`: rewards weighted, gated and clipped into one reward function."""

from __future__ import annotations

import hashlib
import logging
import os
from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from grpo_rewards._composition.combine import bounded, combined, gate_factor
from grpo_rewards._composition.config import ComponentConfig, Config, read_config, read_yaml
from grpo_rewards._composition.evaluation import Component, evaluate_components
from grpo_rewards._composition.table import ScoreTable
from grpo_rewards._contract import Batch, Outcome, Status, as_reward, plugin_error
from grpo_rewards._registry import get_reward, registry
from grpo_rewards._version import __version__
from grpo_rewards.errors import ColumnError, ConfigError, GrpoRewardsError, InfrastructureError

__all__ = ["CONFIG_VARIABLE", "Composite", "default_composite", "load"]

_log = logging.getLogger(__name__)

CONFIG_VARIABLE = "GRPO_REWARDS_CONFIG"
"""The environment variable that names the configuration of ``grpo_rewards.composite_reward``."""

_WINDOW = 256  # rows over which the share of infrastructure failures is taken


class Composite:
    """One reward made of several, callable with TRL's signature: goes into ``reward_funcs`` as it is.

    Args:
        config: the mapping that a ``rewards.yaml`` holds; under ``use`` also `Reward` objects and plain functions.
        base: the folder that relative paths in it start from; the current one by default.
        source: the file it came from, for messages.

    Raises:
        ConfigError: names the path in the configuration and what to do.
    """

    def __init__(self, config: Mapping[str, Any] | Config, *, base: Path | None = None, source: str = "") -> None:
        self.config = read_config(config, source=source)
        self.base = base or Path.cwd()
        self.source = source
        self.components: tuple[Component, ...] = tuple(
            self._component(name, component) for name, component in self.config.rewards.items()
        )
        self.__name__ = self.name = "composite"
        self.__doc__ = f"The composite of {', '.join(component.name for component in self.components)}."
        self._recent: deque[tuple[int, int]] = deque()

    def _component(self, name: str, config: ComponentConfig) -> Component:
        path = f"rewards.{name}"
        try:
            use = config.use
            found = get_reward(use, base=self.base) if isinstance(use, str) else as_reward(use)
            found = found.with_(**config.params).with_columns(**config.columns).complete()
        except (GrpoRewardsError, TypeError) as error:
            raise ConfigError(str(error), path=path, source=self.source) from error
        return Component(name, found, config.weight, config.when, config.gate, config.clip)

    def __repr__(self) -> str:
        return f"<Composite {', '.join(f'{c.weight:g} x {c.name}' for c in self.components)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (self.config.model_dump(exclude_unset=True), str(self.base), self.source))

    # -------------------------------------------------------------------------------------------- what it is

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each component."""
        return {component.name: component.weight for component in self.components}

    @property
    def required_columns(self) -> tuple[str, ...]:
        """The columns that the data must have."""
        return tuple(dict.fromkeys(column for component in self.components for column in component.columns))

    @property
    def provenance(self) -> dict[str, Any]:
        """The version of the package, a hash of the configuration, and every component's plugin with its version."""
        plugins = {c.name: f"{c.reward.source}:{c.reward.name} {c.reward.version}" for c in self.components}
        config = self.config.model_dump(mode="python")
        for name, component in config["rewards"].items():
            component["use"] = plugins[name]
        text = orjson.dumps(config, option=orjson.OPT_SORT_KEYS, default=repr)
        return {"grpo_rewards": __version__, "config": hashlib.sha256(text).hexdigest()[:16], "plugins": plugins}

    def only(self, names: Iterable[str]) -> Composite:
        """Return the composite of the named components alone (and of those that their gates look at).

        Raises:
            ConfigError: there is no such component.
        """
        wanted: dict[str, Any] = {}
        queue = list(names)
        while queue:
            name = queue.pop(0)
            if name not in self.config.rewards:
                known = ", ".join(self.config.rewards)
                raise ConfigError(f"there is no component {name!r} (components: {known})", source=self.source)
            component = self.config.rewards[name]
            wanted[name] = component
            if component.gate is not None and component.gate.on not in wanted:
                queue.append(component.gate.on)
        rewards = {name: component for name, component in self.config.rewards.items() if name in wanted}
        return Composite(self.config.model_copy(update={"rewards": rewards}), base=self.base, source=self.source)

    def check_columns(self, available: Iterable[str], *, components: Iterable[Component] | None = None) -> None:
        """Raise `ColumnError` when a column that a component needs is not among `available`."""
        have = set(available)
        for component in self.components if components is None else components:
            if missing := [column for column in component.columns if column not in have]:
                raise ColumnError(component.name, missing, have)

    # -------------------------------------------------------------------------------------------- scoring

    def score(self, rows: Iterable[Mapping[str, Any]] | Batch) -> ScoreTable:
        """Score rows offline: mappings with ``completion``, optionally ``prompt`` and ``completion_ids``, and columns.

        Rows that cannot be scored are marked in the table, whatever the cause; nothing is raised for them.

        Raises:
            ColumnError: a column is missing for rows that a component applies to.
            InputError: a row has no ``completion``.
        """
        batch = rows if isinstance(rows, Batch) else Batch.from_rows(rows)
        self.check_columns(batch.available, components=[c for c in self.components if c.when is None or c.rows(batch)])
        return self._table(batch, timeout=None)

    def __call__(self, **call: Any) -> list[float | None]:
        """Score the rows of TRL's reward call: lists ``prompts``, ``completions``, ``completion_ids`` and columns.

        Returns one float per completion; None where nothing applies, or where a sandbox or service was down.

        Raises:
            ColumnError: a column is missing; found before the first row.
            PluginError: a plugin broke its contract (unless ``errors.plugin: drop_row``).
            InfrastructureError: more rows than ``errors.max_infra_rate`` were left out.
        """
        batch = Batch.from_call(**call)
        self.check_columns(batch.available)
        table = self._table(batch, timeout=self.config.errors.batch_timeout)
        self._enforce(table)
        self._log_metrics(batch, table)
        return table.rewards()

    def _table(self, batch: Batch, *, timeout: float | None) -> ScoreTable:
        found = evaluate_components(self.components, batch, timeout=timeout)
        weights = self.weights
        left_out = _left_out(found, weights)
        for row, reason in left_out.items():
            for outcomes in found.values():
                if not outcomes[row].failed:
                    outcomes[row] = _set_aside(outcomes[row], reason)  # type: ignore[index]
        clips = {component.name: component.clip for component in self.components}
        values = {name: [bounded(o.value, clips[name]) for o in outcomes] for name, outcomes in found.items()}
        gates = {component.name: _gates(component, values, len(batch)) for component in self.components}
        combine = self.config.combine
        totals = [
            combined(row_values, row_gates, tuple(weights.values()), method=combine.method, clip=combine.clip)
            for row_values, row_gates in zip(
                zip(*values.values(), strict=True), zip(*gates.values(), strict=True), strict=True
            )
        ]
        table = ScoreTable(found, gates, weights, clips, totals, left_out, batch.groups, self.provenance_once)
        self._tell_plugins(table)
        return table

    @property
    def provenance_once(self) -> dict[str, Any]:
        """`provenance`, computed once."""
        if "_provenance" not in self.__dict__:
            self._provenance = self.provenance
        return self._provenance

    def _tell_plugins(self, table: ScoreTable) -> None:
        hook = registry().manager.hook.on_scored
        for implementation in hook.get_hookimpls():
            try:
                implementation.function(table)
            except Exception:  # noqa: BLE001 - the boundary around a plugin's code
                _log.exception(
                    "the hook on_scored of plugin %s raised; scores are unchanged", implementation.plugin_name
                )

    def _enforce(self, table: ScoreTable) -> None:
        """Apply the failure policy of training."""
        errors = self.config.errors
        for component in self.components:
            for row, outcome in enumerate(table.components[component.name]):
                if outcome.status == "error" and errors.plugin == "raise":
                    raise plugin_error(outcome, row, component=component.name, reward=component.reward)
        down = {
            row: reason
            for row, reason in table.left_out.items()
            if any(outcomes[row].status == "unavailable" and "left_out" not in outcomes[row].details
                   for outcomes in table.components.values())
        }  # fmt: skip
        if down:
            _log.warning("%d of %d rows left out: %s", len(down), len(table), next(iter(down.values())))
        self._recent.append((len(table), len(down)))
        while len(self._recent) > 1 and sum(rows for rows, _ in self._recent) - self._recent[0][0] >= _WINDOW:
            self._recent.popleft()
        seen, lost = (sum(pair[k] for pair in self._recent) for k in (0, 1))
        rate = lost / seen if seen else 0.0
        if down and (errors.infra == "raise" or (lost >= 2 and rate > errors.max_infra_rate)):
            raise InfrastructureError(
                f"{lost} of the latest {seen} rows ({rate:.0%}) could not be scored, above errors.max_infra_rate = "
                f"{errors.max_infra_rate:g}; the latest: {next(iter(down.values()))}. Bring the sandbox or service back "
                f"('grpo-rewards doctor' looks at it) and resume from the last checkpoint",
                rate=rate,
            )

    def _log_metrics(self, batch: Batch, table: ScoreTable) -> None:
        """Give the trainer each component's mean, under the names it would use for functions in a list."""
        for component in self.components:
            values = [value for value in table.values(component.name) if value is not None]
            if values:
                batch.log_metric(f"rewards/{component.name}/mean", sum(values) / len(values))


def _left_out(found: Mapping[str, Any], weights: Mapping[str, float]) -> dict[int, str]:
    """The rows that count nowhere, and why: a plugin broke, or infrastructure failed under a component that counts."""
    left_out: dict[int, str] = {}
    for name, outcomes in found.items():
        for row, outcome in enumerate(outcomes):
            shadow = weights[name] == 0.0
            if outcome.status == "error" or (outcome.status == "unavailable" and not shadow):
                left_out.setdefault(row, f"component {name!r} is {outcome.status}: {outcome.reason}")
    return left_out


def _set_aside(outcome: Outcome, reason: str) -> Outcome:
    details = {**outcome.details, "left_out": True}
    if outcome.value is not None:
        details["value"] = outcome.value
    status: Status = "not_applicable" if outcome.status == "not_applicable" else "unavailable"
    return Outcome(None, status, f"row left out: {reason}", details, outcome.seconds)


def _gates(component: Component, values: Mapping[str, list[float | None]], size: int) -> list[float]:
    gate = component.gate
    if gate is None:
        return [1.0] * size
    return [gate_factor(value, gate.at_least, gate.at_most) for value in values[gate.on]]


def _restore(config: dict[str, Any], base: str, source: str) -> Composite:
    return Composite(config, base=Path(base), source=source)


def load(path: str | os.PathLike[str]) -> Composite:
    """Return the composite that a YAML file describes; relative paths in it start from its folder.

    Raises:
        ConfigError: the file is missing or wrong; the text gives file, path in it, and what to do.
    """
    file = Path(path)
    return Composite(read_config(read_yaml(file), source=str(file)), base=file.resolve().parent, source=str(file))


def default_composite() -> Composite:
    """Return the composite of ``$GRPO_REWARDS_CONFIG``, else of ``./rewards.yaml``.

    Raises:
        ConfigError: there is neither.
    """
    named = os.environ.get(CONFIG_VARIABLE)
    if named is None and not Path("rewards.yaml").is_file():
        raise ConfigError(
            f"composite_reward needs a configuration: set {CONFIG_VARIABLE}=path/to/rewards.yaml, "
            f"or start in a folder that holds a rewards.yaml (this one, {Path.cwd()}, does not)"
        )
    return load(named or "rewards.yaml")
