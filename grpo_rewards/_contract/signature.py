"""What a reward function asks for, read from its signature: data, and settings with the schema that validates them.

pydantic is imported on first use only, so that importing the core stays cheap.
"""

from __future__ import annotations

import inspect
import keyword
import typing
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from grpo_rewards._contract.batch import TRAINER_ARGUMENTS
from grpo_rewards.errors import SettingsError, nearest

if TYPE_CHECKING:
    from pydantic import BaseModel

Style = Literal["row", "batch", "group"]
REQUIRED = inspect.Parameter.empty
"""The default of a parameter that has none."""

_FIELD = "setting_"
_SINGULAR = {"completion": "completions", "prompt": "prompts"}
_PLURAL = {plural: singular for singular, plural in _SINGULAR.items()}
_GIVEN = {"row": {"completion", "messages"}, "batch": {"completions", "messages"}, "group": {"completions", "messages"}}


@dataclass(frozen=True, slots=True)
class DataParameter:
    """A parameter before the star: `name`, where its values come from, its default, and whether it may be None.

    `source` is ``text``, ``raw`` (completions as TRL gives them), ``messages``, ``prompt``, ``completion_ids``,
    ``trainer`` or ``column``. `sized` says that of each value only the length is read, since it is annotated so.
    """

    name: str
    source: Literal["text", "raw", "messages", "prompt", "completion_ids", "trainer", "column"]
    default: object
    nullable: bool = True
    sized: bool = False

    @property
    def column(self) -> str | None:
        """The dataset column (or ``prompt``, ``completion_ids``) that must be there, or None."""
        if self.source in ("prompt", "completion_ids"):
            return self.source
        return self.name if self.source == "column" else None


@dataclass(frozen=True, slots=True)
class SettingParameter:
    """A parameter after the star: its type and default."""

    name: str
    annotation: object
    default: object

    @classmethod
    def of(cls, parameter: inspect.Parameter, hints: Mapping[str, object]) -> SettingParameter:
        """Return what a parameter is, by the types that its function declares."""
        return cls(parameter.name, hints.get(parameter.name, Any), parameter.default)


@dataclass(frozen=True, slots=True)
class Shape:
    """What a function asks for: data in order of its parameters, settings, and whether it takes all other columns."""

    data: tuple[DataParameter, ...]
    settings: tuple[SettingParameter, ...]
    takes_rest: bool
    is_async: bool


def read_signature(function: Callable[..., object], style: Style) -> Shape:
    """Read the signature of `function`, written in the given style.

    Raises:
        TypeError: the signature does not fit the style; the text says what to write instead.
    """
    name = getattr(function, "__name__", type(function).__name__)
    # an object that can be called has its annotations, and its `async`, at its class's __call__
    target = function if inspect.isroutine(function) else type(function).__call__
    is_async = inspect.iscoroutinefunction(target)
    hints = _type_hints(target)
    data: list[DataParameter] = []
    settings: list[SettingParameter] = []
    takes_rest = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            raise TypeError(f"reward {name!r} takes *{parameter.name}: name its data columns instead")
        if parameter.kind is parameter.VAR_KEYWORD:
            takes_rest = True
        elif parameter.kind is parameter.KEYWORD_ONLY and not _is_data(parameter.name, style):
            settings.append(SettingParameter.of(parameter, hints))
        else:
            data.append(_data_parameter(parameter, style, hints, name))
    return Shape(tuple(data), tuple(settings), takes_rest, is_async)


def _is_data(name: str, style: Style) -> bool:
    """Whether a keyword-only parameter is data all the same, by its reserved name."""
    reserved = _GIVEN[style] | {"completion_ids", *TRAINER_ARGUMENTS}
    return name in reserved or name == ("prompt" if style == "row" else "prompts")


def _data_parameter(parameter: inspect.Parameter, style: Style, hints: dict[str, object], reward: str) -> DataParameter:
    name, default = parameter.name, parameter.default
    wrong = _PLURAL if style == "row" else _SINGULAR
    if name in wrong:
        instead = "@reward.batch" if style == "row" else "@reward"
        raise TypeError(
            f"reward {reward!r} takes {name!r}, but a {style} reward gets {wrong[name]!r}; "
            f"rename the parameter, or decorate the function with {instead}"
        )
    if name in ("completion", "completions"):
        as_text = (
            style == "row"
            or hints.get(name) in (list[str], typing.Sequence[str], tuple[str, ...])
            or (str(hints.get(name)) == "collections.abc.Sequence[str]")
        )
        return DataParameter(name, "text" if as_text else "raw", default)
    if name == "messages":
        return DataParameter(name, "messages", default)
    if name in ("prompt", "prompts"):
        return DataParameter(name, "prompt", default)
    if name == "completion_ids":
        return DataParameter(name, "completion_ids", default, sized=hints.get(name) in (Sized, Sized | None))
    if name in TRAINER_ARGUMENTS:
        return DataParameter(name, "trainer", default)
    return DataParameter(name, "column", default, _allows_none(hints.get(name)) or default is not REQUIRED)


def _allows_none(annotation: object) -> bool:
    """Whether an annotation admits None: only then does a row reward get to see None in a required column."""
    return annotation in (Any, object, type(None)) or type(None) in typing.get_args(annotation)


def with_messages(shape: Shape) -> Shape:
    """Return the shape whose completions come as lists of messages, whatever the data hold."""
    data = (replace(one, source="messages") if one.name == "completions" else one for one in shape.data)
    return replace(shape, data=tuple(data))


def call_signature(shape: Shape, columns: Mapping[str, str]) -> inspect.Signature:
    """Return the signature of TRL's reward call with the columns that a function of this shape reads, renamed by `columns`."""
    taken: dict[str, object] = {"completions": REQUIRED}
    for one in shape.data:
        if one.column is not None:
            name = "prompts" if one.source == "prompt" else columns.get(one.column, one.column)
            if name.isidentifier() and not keyword.iskeyword(
                name
            ):  # a column of the data may be called what no parameter can be
                taken[name] = REQUIRED if one.default is REQUIRED else None
    named = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default) for name, default in taken.items()
    ]
    rest = inspect.Parameter("call" if "call" not in taken else "rest", inspect.Parameter.VAR_KEYWORD)
    return inspect.Signature([*named, rest])


def described(
    documentation: str,
    low_high: tuple[float, float] | None,
    required: Sequence[str],
    optional: Sequence[str],
    settings: Sequence[SettingParameter],
    values: Mapping[str, object],
) -> str:
    """Return a reward's documentation with its range, columns and settings, as ``help`` and a notebook show it."""
    text = f"{documentation}\n\nRange: {'any number' if low_high is None else '{:g} to {:g}'.format(*low_high)}\n"
    text += f"Columns: {', '.join(required) or 'none'} needed; {', '.join(optional) or 'none'} optional\n"
    text += f"Settings, bound with .with_(...):{'' if settings else ' none'}\n"
    for one in settings:
        value = f" = {values[one.name]!r}" if one.name in values else " (needed)"
        text += f"    {one.name}: {inspect.formatannotation(one.annotation)}{value}\n"
    return text.strip() + "\n"


def _type_hints(target: Callable[..., object]) -> dict[str, object]:
    """Resolve annotations, falling back to the written form where a name cannot be resolved."""
    try:
        # with Annotated, whose bounds settings are checked by
        return typing.get_type_hints(target, include_extras=True)
    except (NameError, TypeError, AttributeError):  # one name that cannot be resolved fails them all
        return {
            name: value for name, value in getattr(target, "__annotations__", {}).items() if not isinstance(value, str)
        }


def settings_model(reward: str, parameters: Sequence[SettingParameter]) -> type[BaseModel]:
    """Return the pydantic model of a reward's settings (field per setting, nothing else allowed)."""
    from pydantic import ConfigDict, Field, create_model

    # The alias keeps settings called schema, copy or json from shadowing what a model has of its own.
    fields: dict[str, Any] = {
        _FIELD + parameter.name: (
            parameter.annotation,
            Field(... if parameter.default is REQUIRED else parameter.default, alias=parameter.name),
        )
        for parameter in parameters
    }
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, protected_namespaces=())
    return create_model(f"{reward}_settings", __config__=config, **fields)


def validate_settings(
    reward: str, parameters: Sequence[SettingParameter], given: Mapping[str, object], *, partial: bool = False
) -> dict[str, object]:
    """Return `given` converted to the declared types; with `partial`, required settings may still be missing.

    Raises:
        SettingsError: a setting is unknown (with the nearest name), missing, or of the wrong type.
    """
    known = [parameter.name for parameter in parameters]
    for name in given:
        if name not in known:
            takes = f"it takes {', '.join(sorted(known))}" if known else "it takes none"
            raise SettingsError(
                f"reward {reward!r} has no setting {name!r}{nearest(name, known)} ({takes})",
                reward=reward,
                setting=name,
            )
    if not given and (partial or not parameters):  # nothing to check, so pydantic need not be imported
        return {}
    from pydantic import ValidationError

    wanted = [parameter for parameter in parameters if not partial or parameter.name in given]
    try:
        model = settings_model(reward, wanted)(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        if first["type"] == "missing":
            message = f"reward {reward!r} needs the setting {name!r}; give it under params, or with .with_({name}=...)"
        else:
            message = f"reward {reward!r}, setting {name!r}: {first['msg']}, not {first['input']!r}"
        raise SettingsError(message, reward=reward, setting=name) from None
    return {name: getattr(model, _FIELD + name) for name in given}
