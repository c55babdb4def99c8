"""Presets: compositions that plugins bring along, named ``preset/NAME``, and composites, in the place of a component.

Either is replaced by its components; a preset is also what a whole configuration may start from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grpo_rewards._contract import as_reward
from grpo_rewards._registry import call_hook, get_reward
from grpo_rewards.errors import ConfigError, GrpoRewardsError, nearest

if TYPE_CHECKING:
    from grpo_rewards._composition.config import ComponentConfig, Config
    from grpo_rewards._composition.schedule import ScheduleConfig

_PREFIX = "preset/"


@dataclass(frozen=True, slots=True)
class Preset:
    """A composition by name: the YAML file `path`, which the plugin `source` brings."""

    name: str
    path: Path
    source: str

    @property
    def reference(self) -> str:
        """What a configuration, `load` and ``-c`` call it."""
        return _PREFIX + self.name

    @property
    def text(self) -> str:
        """The file's content."""
        return self.path.read_text(encoding="utf-8")

    @property
    def summary(self) -> str:
        """The file's first comment."""
        lines = []
        for line in self.text.splitlines():
            if not line.startswith("#"):
                break
            lines.append(line.lstrip("# ").strip())
        return " ".join(lines)

    def config(self) -> Config:
        """Return the composition, presets in it expanded.

        Raises:
            ConfigError: the file is missing or wrong.
        """
        # here and not above: configurations expand presets, so that room imports this one
        from grpo_rewards._composition.config import read_file

        return read_file(self.path, source=self.reference)


def is_preset(reference: str) -> bool:
    """Whether a reference names a preset and neither a reward nor a file (``./preset/x`` or ``preset/x.yaml``)."""
    return reference.startswith(_PREFIX) and not reference.endswith((".yaml", ".yml"))


def list_presets() -> list[Preset]:
    """Return every installed preset, sorted by name; of two with one name the built-in one, else the first, is kept."""
    found: dict[str, Preset] = {}
    for plugin, given in call_hook("register_presets", read=lambda given: {name: Path(given[name]) for name in given}):
        for name, path in given.items():
            found.setdefault(name, Preset(name, path, plugin.partition(":")[0]))  # the built-in ones come first
    return [preset for _, preset in sorted(found.items())]


def find_preset(reference: str) -> Preset:
    """Return the preset of a reference ``preset/NAME``.

    Raises:
        ConfigError: there is none; the text names the nearest, and lists what there is.
    """
    known = {preset.name: preset for preset in list_presets()}
    name = reference.removeprefix(_PREFIX)
    if name not in known:
        raise ConfigError(
            f"there is no preset {name!r}{nearest(name, known)}; installed are {', '.join(known) or 'none'}"
        )
    return known[name]


# ------------------------------------------------------------------------------------------------ in a configuration


@dataclass(frozen=True, slots=True)
class _Inner:
    """What stands for its components: its name for messages, its configuration, and where its files are."""

    name: str
    config: Config
    folder: Path


def _preset(preset: Preset) -> _Inner:
    return _Inner(preset.reference, preset.config(), preset.path.parent)


def _inner(name: str, use: object) -> _Inner | None:
    if isinstance(use, str):
        return _preset(find_preset(use)) if is_preset(use) else None
    # here and not above: composites are made of configurations, which import this module
    from grpo_rewards._composition.composite import Composite

    if not isinstance(use, Composite):
        return None
    _check_only_components(name, use.config)
    return _Inner("the composite", use.config, use.base)


def _check_only_components(name: str, config: Config) -> None:
    """Raise ValueError for a composite whose total is more than the weighted sum of its components."""
    more = [
        f"combine.{key}"
        for key in ("clip", "method", "normalize")
        if getattr(config.combine, key) not in (None, "none", "weighted_sum")
    ]
    more += [key for key in ("adapt", "stages") if getattr(config, key)]
    if more:
        raise ValueError(
            f"rewards.{name}: a composite within another lends its components only, and this one has {more[0]}, which "
            f"concerns its total or the run; move it to the outer composite"
        )


def started_from(data: Mapping[str, object]) -> dict[str, object]:
    """Return a configuration with ``use: preset/NAME`` at its top as one of its own: the preset's keys, and these.

    Mappings are merged key by key, so that ``rewards: {overlong: {weight: 0.5}}`` changes one weight of the preset; any
    other value takes the place of the preset's.

    Raises:
        ValueError: there is no such preset.
    """
    use = data["use"]
    if not (isinstance(use, str) and is_preset(use)):
        raise ValueError(f"use: expected preset/NAME at the top of a configuration, not {use!r:.80}")
    try:
        preset = _preset(find_preset(use))
        start = preset.config
    except GrpoRewardsError as error:
        # pydantic puts a ValueError beside what else is wrong; any other error would hide that
        raise ValueError(f"use: {error}") from None
    # what is not set stays so: `when` counts which of its keys are given
    plain = start.model_dump(exclude_unset=True)
    plain["rewards"] = {
        name: {**component.model_dump(exclude_unset=True), "use": _absolute(component.use, preset)}
        for name, component in start.rewards.items()
    }
    return _merged(plain, {key: value for key, value in data.items() if key != "use"})


def _merged(below: Mapping[str, object], above: Mapping[str, object]) -> dict[str, object]:
    found = dict(below)
    for key, value in above.items():
        under = found.get(key)
        found[key] = _merged(under, value) if isinstance(value, Mapping) and isinstance(under, Mapping) else value
    return found


def expanded(rewards: Mapping[str, ComponentConfig]) -> dict[str, ComponentConfig]:
    """Return the components with every preset (``use: preset/NAME``) and composite replaced by its own.

    A preset of one component keeps the name it was given; of several, component ``c`` of the preset under ``x`` is
    ``x_c``, and of a composite likewise. Weights multiply; `columns` renames the preset's columns, `params` holds settings per component, `when` and
    `gate` hold for each. Only components are taken: combine, adapt, stages and errors are the configuration's own.

    Raises:
        ValueError: the preset does not exist, or what is asked of it cannot be combined with what it says itself.
    """
    found: dict[str, ComponentConfig] = {}
    for name, component in rewards.items():
        try:
            inner = _inner(name, component.use)
            new = {name: component} if inner is None else _components(name, component, inner)
        except GrpoRewardsError as error:
            raise ValueError(f"rewards.{name}: {error}") from None
        for key, value in new.items():
            if key in found:
                raise ValueError(f"rewards.{name}: there is another component {key!r}; rename one of them")
            found[key] = value
    return found


def _components(name: str, outer: ComponentConfig, preset: _Inner) -> dict[str, ComponentConfig]:
    inner = preset.config.rewards
    if outer.clip is not None:
        raise ValueError(f"rewards.{name}.clip: {preset.name} is no single value; clip the total under combine")
    if unknown := next((key for key in outer.params if key not in inner), None):
        raise ValueError(
            f"rewards.{name}.params: a preset takes settings per component, and {preset.name} has no "
            f"component {unknown!r}{nearest(unknown, inner)} (components: {', '.join(inner)})"
        )
    names = {key: name if len(inner) == 1 else f"{name}_{key}" for key in inner}
    read: set[str] = set()
    new = {names[key]: _component(name, key, outer, component, preset, names, read) for key, component in inner.items()}
    if strange := [column for column in outer.columns if column not in read]:
        raise ValueError(
            f"rewards.{name}.columns: {preset.name} reads no column {strange[0]!r} "
            f"(it reads {', '.join(sorted(read)) or 'none'})"
        )
    return new


def _component(
    name: str,
    key: str,
    outer: ComponentConfig,
    inner: ComponentConfig,
    preset: _Inner,
    names: Mapping[str, str],
    read: set[str],
) -> ComponentConfig:
    """One component of a preset as the configuration uses it; notes in `read` which columns of the data it reads."""
    use = _absolute(inner.use, preset)
    reward = get_reward(use) if isinstance(use, str) else as_reward(use)
    columns = {}
    for column in (*reward.required_columns, *reward.optional_columns):
        # back to the reward's own name for the column, by which `columns` goes
        own = {actual: wanted for wanted, actual in reward.columns.items()}.get(column, column)
        data = inner.columns.get(own, column)
        read.add(data)
        if data in outer.columns:
            columns[own] = outer.columns[data]
    changes: dict[str, object] = {
        "use": use,
        "weight": _product(f"rewards.{name}.weight", outer.weight, inner.weight),
        "columns": {**inner.columns, **columns},
    }
    if key in outer.params:
        given = outer.params[key]
        if not isinstance(given, Mapping):
            raise ValueError(f"rewards.{name}.params.{key}: expected a mapping of settings, not {given!r:.80}")
        changes["params"] = {**inner.params, **given}
    if inner.when is not None:
        read.add(inner.when.column)
        column = outer.columns.get(inner.when.column, inner.when.column)
        changes["when"] = inner.when.model_copy(update={"column": column})
    if inner.gate is not None:
        changes["gate"] = inner.gate.model_copy(update={"component": names[inner.gate.component]})
    for word in ("gate", "when"):
        if (asked := getattr(outer, word)) is not None:
            if getattr(inner, word) is not None:
                raise ValueError(f"rewards.{name}.{word}: component {key!r} of {preset.name} has its own {word}")
            changes[word] = asked
    return inner.model_copy(update=changes)


def _absolute(use: object, preset: _Inner) -> object:
    """A reward in a file, by its absolute path: relative ones start from the preset's folder."""
    if not isinstance(use, str):
        return use
    place, mark, reward = use.rpartition(":")
    return f"{(preset.folder / place).resolve()}:{reward}" if mark and place.endswith(".py") else use


def _product(path: str, outer: float | ScheduleConfig, inner: float | ScheduleConfig) -> float | ScheduleConfig:
    if not isinstance(outer, int | float):
        if not isinstance(inner, int | float):
            raise ValueError(f"{path}: the preset schedules this weight itself; give a number")
        outer, inner = inner, outer  # so that `outer` is the factor, whichever of the two is a schedule
    if isinstance(inner, int | float):
        return outer * inner
    factor = outer
    return inner.model_copy(
        update={
            "start": inner.start * factor,
            "end": None if inner.end is None else inner.end * factor,
            "at": {step: weight * factor for step, weight in inner.at.items()},
        }
    )
