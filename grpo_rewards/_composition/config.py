"""The composition file (``rewards.yaml``, or the same keys as a mapping), checked key by key."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import yaml
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from grpo_rewards._composition.schedule import ScheduleConfig, StageConfig
from grpo_rewards._contract import Reward
from grpo_rewards._contract.section import Bounds, Number, Section, keys_at, problems_of
from grpo_rewards._presets import expanded, started_from
from grpo_rewards._tier.settings import ScaleConfig
from grpo_rewards.errors import ConfigError, nearest

if TYPE_CHECKING:
    from pydantic.config import JsonDict


class WhenConfig(Section):
    """The rows that a component applies to, by the value of one column; it is None on all others."""

    column: str = Field(description="A column of the data.")
    equals: object = Field(default=None, description="Apply where the column has this value.")
    any_of: list[object] | None = Field(default=None, description="Apply where the column has one of these values.")
    present: bool | None = Field(default=None, description="Apply where the column is not null (or is, with false).")

    @model_validator(mode="after")
    def _one_condition(self) -> WhenConfig:
        if len(self.model_fields_set - {"column"}) != 1:
            raise ValueError("give exactly one of equals, any_of, present")
        return self

    def holds(self, value: object) -> bool:
        """Whether a row with this value of the column is meant."""
        if self.present is not None:
            return (value is not None) is self.present
        if self.any_of is not None:
            return value in self.any_of
        return bool(value == self.equals)


class GateConfig(Section):
    """A component counts only where another one's value reaches a bound; where that one is None it counts nothing."""

    component: str = Field(description="The component that decides.")
    at_least: Number | None = Field(default=None, description="Open where its value is this or more.")
    at_most: Number | None = Field(default=None, description="Open where its value is this or less.")

    @model_validator(mode="after")
    def _some_bound(self) -> GateConfig:
        if self.at_least is None and self.at_most is None:
            raise ValueError("give at_least or at_most")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError(f"never opens: at_least {self.at_least:g} is above at_most {self.at_most:g}")
        return self


def _weight_kind(weight: object) -> str:
    return "schedule" if isinstance(weight, Mapping | ScheduleConfig) else "number"


class ComponentConfig(Section):
    """One reward in the composition."""

    use: object = Field(
        description="A reward's name, ./file.py:name or package.module:name; preset/NAME for all components of a preset; "
        "in Python also the reward itself."
    )
    # told apart by hand: of a union pydantic reports what is wrong under both of its forms
    weight: Annotated[
        Annotated[Number, Tag("number")] | Annotated[ScheduleConfig, Tag("schedule")], Discriminator(_weight_kind)
    ] = Field(
        default=1.0, description="What its value is multiplied by; 0 means scored and logged only. Or a schedule."
    )
    columns: dict[str, str] = Field(default_factory=dict, description="The reward's column names to the data's.")
    params: dict[str, object] = Field(default_factory=dict, description="The reward's settings.")
    workers: Annotated[int, Field(ge=1, le=1024)] | None = Field(
        default=None,
        description="How many of its calls may be under way at once, for a row reward that waits (HTTP, a judge); the "
        "reward's own number by default.",
    )
    when: WhenConfig | None = None
    gate: GateConfig | None = None
    clip: Bounds | None = Field(default=None, description="Bounds on its value, before gate and weight.")

    @model_validator(mode="before")
    @classmethod
    def _bound_settings_as_params(cls, data: object) -> object:
        """A reward with bound settings is the reward with these params, as a file says it: the two have one identity."""
        if not isinstance(data, Mapping) or not isinstance(use := data.get("use"), Reward):
            return data
        if use is (plain := use.unbound()):
            return data
        found = {**data, "use": plain}
        for key, bound in (("params", use.settings), ("columns", use.named_columns)):
            if bound and isinstance(data.get(key, {}), Mapping):
                found[key] = {**bound, **data.get(key, {})}
        if use.workers != plain.workers:
            found.setdefault("workers", use.workers)
        return found


class CombineConfig(Section):
    """How the components' values become one number per row."""

    method: Literal["weighted_sum", "weighted_mean"] = Field(
        default="weighted_sum",
        description="The sum of weight times value, or that divided by the sum of |weight| that applied.",
    )
    clip: Bounds | None = Field(default=None, description="Bounds on the total.")
    normalize: Literal["none", "gdpo", "running"] = Field(
        default="none",
        description="What a trainer gets: the values as they are, each component standardised within its group (GDPO), "
        "or by its running mean and deviation.",
    )


class AdaptConfig(Section):
    """Weights that follow what training shows. Keys beyond these are settings of the method."""

    model_config = ConfigDict(extra="allow")

    method: str = Field(description="fixed, threshold, signal, target, or a method that a plugin registers.")
    components: list[str] | None = Field(default=None, description="The components it may change; all by default.")
    bounds: Bounds = Field(default=(0.1, 4.0), description="Bounds on the absolute weight of each of them.")
    ema: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.9, description="How much of the smoothed figures is kept at each generation batch."
    )
    warmup: Annotated[int, Field(ge=0)] = Field(
        default=20, description="Generation batches that are watched before any weight changes."
    )

    @field_validator("bounds")
    @classmethod
    def _positive(cls, bounds: tuple[float, float]) -> tuple[float, float]:
        if bounds[0] < 0:
            raise ValueError("bounds are on the absolute weight: both are 0 or more")
        return bounds

    @property
    def settings(self) -> dict[str, object]:
        """The settings of the method."""
        return dict(self.model_extra or {})


class ErrorsConfig(Section):
    """What happens when a row cannot be scored."""

    plugin: Literal["raise", "drop_row"] = Field(
        default="raise", description="A plugin that raises or breaks its contract stops the run, or leaves the row out."
    )
    infra: Literal["drop_row", "raise"] = Field(
        default="drop_row",
        description="A sandbox or service that is down leaves the row out of every component, or stops.",
    )
    max_infra_rate: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.2,
        description="Above this share of rows left out for any cause (two or more of the latest 256) the run stops.",
    )
    batch_timeout: Annotated[float, Field(gt=0)] | None = Field(
        default=120.0, description="Seconds that a batch may take in training; rows unfinished then are unavailable."
    )


def _shorthand(rewards: object) -> object:
    """Let shorter forms stand for a component's mapping.

    ``format: xml_format`` is ``{use: xml_format}``, ``math: 2.0`` is ``{use: math, weight: 2.0}``, and a pair is the
    reward with its weight, or with its other keys; a missing ``use`` is the component's own name.
    """
    if not isinstance(rewards, Mapping):
        return rewards
    return {name: _full(name, component) for name, component in rewards.items()}


def _full(name: object, component: object) -> object:
    if component is None:
        return {"use": name}
    # True is an int to Python, and no weight
    if isinstance(component, int | float) and not isinstance(component, bool):
        return {"use": name, "weight": component}
    if isinstance(component, list | tuple):
        if len(component) != 2:
            raise ValueError(f"rewards.{name}: expected a pair (reward, weight), found {len(component)} things")
        use, keys = component
        component = {**keys, "use": use} if isinstance(keys, Mapping) else {"use": use, "weight": keys}
    if isinstance(component, Mapping):
        return {"use": name, **component}
    return component if isinstance(component, ComponentConfig) else {"use": component}


def _rewards_or_preset(schema: JsonDict) -> None:
    """Say in the JSON schema that a configuration may begin with a preset instead of rewards."""
    schema.pop("required", None)
    schema["anyOf"] = [{"required": ["rewards"]}, {"required": ["use"]}]


class Config(Section):
    """A composition: named rewards, how they combine, and what happens on errors."""

    model_config = ConfigDict(json_schema_extra=_rewards_or_preset)

    version: Literal[1] = Field(default=1, description="The version of this format.")
    use: str | None = Field(
        default=None, description="preset/NAME: the composition to start from; what stands beside it wins, key by key."
    )
    rewards: Annotated[
        dict[str, ComponentConfig], BeforeValidator(_shorthand), AfterValidator(expanded), Field(min_length=1)
    ] = Field(description="The components by name.")
    combine: CombineConfig = Field(default_factory=CombineConfig)
    adapt: AdaptConfig | None = Field(default=None, description="Weights that follow what training shows.")
    stages: list[StageConfig] = Field(default_factory=list, description="Parts of the run with weights of their own.")
    errors: ErrorsConfig = Field(default_factory=ErrorsConfig)
    scale: ScaleConfig | None = Field(default=None, description="Where components run, if not in this process.")

    @model_validator(mode="before")
    @classmethod
    def _start_from_preset(cls, data: object) -> object:
        return started_from(data) if isinstance(data, Mapping) and data.get("use") is not None else data

    @field_validator("stages")
    @classmethod
    def _stages_in_order(cls, stages: list[StageConfig], info: ValidationInfo) -> list[StageConfig]:
        known = list(info.data.get("rewards", {}))
        last = 0
        for index, stage in enumerate(stages):
            if stage.until is None and index < len(stages) - 1:
                raise ValueError(f"stages.{index}: only the last stage may lack 'until'")
            if stage.until is not None and stage.until <= last:
                raise ValueError(
                    f"stages.{index}.until: {stage.until} must come after {last}, where the one before ends"
                )
            last = stage.until or last
            _check_names(f"stages.{index}.weights", stage.weights, known)
        return stages

    @model_validator(mode="after")
    def _known_adapted(self) -> Config:
        if self.adapt is not None:
            _check_names("adapt.components", self.adapt.components or (), list(self.rewards))
        return self

    @model_validator(mode="after")
    def _known_gates(self) -> Config:
        for name, component in self.rewards.items():
            # it becomes part of log keys (rewards/NAME/mean) and of column names (NAME.value)
            if not re.fullmatch(r"[A-Za-z_][\w-]*", name):
                raise ValueError(f"rewards.{name}: a component's name is a plain word (letters, digits, - and _)")
            if name == "composite":
                raise ValueError(
                    "rewards.composite: a component needs another name; in the logs this one means the total"
                )
            gate = component.gate
            if gate is not None and (gate.component not in self.rewards or gate.component == name):
                known = [other for other in self.rewards if other != name]
                raise ValueError(
                    f"rewards.{name}.gate.component: there is no other component {gate.component!r}"
                    f"{nearest(gate.component, known)} (components: {', '.join(known) or 'none'})"
                )
        return self


def _check_names(path: str, names: Iterable[str], known: Sequence[str]) -> None:
    for name in names:
        if known and name not in known:  # none are known where the rewards themselves were refused
            raise ValueError(
                f"{path}: there is no component {name!r}{nearest(name, known)} (components: {', '.join(known)})"
            )


class _UniqueKeyLoader(yaml.SafeLoader):
    """YAML's safe loader, refusing a key that is given twice (the second would silently win)."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                break  # refused below, with its line
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} is given twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


# Booleans as in YAML 1.2: the 1.1 that PyYAML reads makes True of a bare yes, so that `equals: yes` would match no row.
_UniqueKeyLoader.yaml_implicit_resolvers = {  # a table of its own: other users of SafeLoader keep theirs
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_UniqueKeyLoader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)


def read_yaml(path: Path) -> object:
    """Read a YAML file safely.

    Raises:
        ConfigError: it is missing or no YAML; the text gives file and line.
    """
    try:
        with path.open(encoding="utf-8") as stream:
            return yaml.load(stream, Loader=_UniqueKeyLoader)
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", source=str(path)) from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"is not UTF-8 text: {error}", source=str(path)) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark is not None else str(path)
        raise ConfigError(f"is not valid YAML: {getattr(error, 'problem', error)}", source=where) from None


def read_file(path: Path, *, source: str = "") -> Config:
    """Return the configuration that a YAML file holds; `source` is its name in messages, the path by default.

    Raises:
        ConfigError: as `read_yaml` and `read_config`.
    """
    return read_config(read_yaml(path), source=source or str(path))


def only(config: Config, names: Collection[str]) -> Config:
    """Return the configuration of some components alone, and of their weights in stages and adaptation."""
    stages = [
        stage.model_copy(update={"weights": {name: one for name, one in stage.weights.items() if name in names}})
        for stage in config.stages
    ]
    adapt = config.adapt
    if adapt is not None and adapt.components is not None:
        adapted = [name for name in adapt.components if name in names]
        adapt = adapt.model_copy(update={"components": adapted}) if adapted else None
    rewards = {name: component for name, component in config.rewards.items() if name in names}
    return config.model_copy(update={"rewards": rewards, "stages": stages, "adapt": adapt})


def read_config(data: object, *, source: str = "") -> Config:
    """Check a mapping and return the configuration.

    Raises:
        ConfigError: names the path in the configuration, what was found and the nearest name.
    """
    if not isinstance(data, Mapping):
        raise ConfigError(
            f"expected a mapping with the key 'rewards', found {'nothing' if data is None else type(data).__name__}; "
            f"the smallest is: rewards: {{format: xml_format}}",
            source=source,
        )
    try:
        return Config.model_validate(dict(data))
    except ValidationError as error:
        raise ConfigError(problems_of(error, Config, hint=_meant), source=source) from None


def _meant(parts: Sequence[str]) -> str:
    """The section that an unknown key belongs to."""
    belongs = [section for section in ("combine", "errors") if parts[-1] in keys_at(Config, [section])]
    return f"; it is '{belongs[0]}.{parts[-1]}'" if belongs else ""
