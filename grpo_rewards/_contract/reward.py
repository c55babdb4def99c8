"""`Reward`: a function with a name, range, columns and settings, callable as TRL calls."""

from __future__ import annotations

import inspect
import math
import pickle
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from grpo_rewards._contract.batch import TRAINER_ARGUMENTS, Batch
from grpo_rewards._contract.boundary import evaluate
from grpo_rewards._contract.outcome import LARGEST, Outcome, plugin_error
from grpo_rewards._contract.shapes import SettingValues
from grpo_rewards._contract.signature import (
    REQUIRED,
    Shape,
    Style,
    call_signature,
    described,
    read_signature,
    settings_model,
    validate_settings,
    with_messages,
)
from grpo_rewards.errors import ColumnError, SettingsError
from grpo_rewards.packages import require

if TYPE_CHECKING:  # a parameter specification with a default, so that a bare `Reward` is one of any settings
    from typing_extensions import ParamSpec as _ParamSpec

    Settings = _ParamSpec("Settings", default=...)
else:
    Settings = ParamSpec("Settings")

Range = tuple[float, float]
_Answer = TypeVar("_Answer")


class Reward(Generic[Settings]):
    """A reward function with its name, range, columns and settings; callable with TRL's signature.

    Made by `reward`, `reward.batch` or `reward.group`. Goes straight into ``reward_funcs``, whichever style it was
    written in, and pickles by reference, so that spawned workers can import it. Type checkers and editors know the
    settings of a decorated function: ``polite.with_(wrod="x")`` is an error before it runs.
    """

    def __init__(
        self,
        function: Callable[..., object],
        *,
        style: Style = "row",
        name: str | None = None,
        range: Range | None = None,
        check_settings: Callable[[SettingValues], None] | None = None,
        check_row: Callable[..., str | None] | None = None,
        kind_of_row: Callable[..., str | None] | None = None,
        columns: Mapping[str, str] | None = None,
        workers: int | None = None,
        apart: bool = False,
        needs: Sequence[str] = (),
        extra: str = "",
    ) -> None:
        self.function = function
        self.style: Style = style
        self.name: str = name or str(getattr(function, "__name__", type(function).__name__))
        self.range = _checked_range(range, self.name)
        self.shape: Shape = read_signature(function, style)
        self.is_async = self.shape.is_async
        self.settings: Mapping[str, object] = {}
        self.columns: Mapping[str, str] = dict(columns or {})
        self.check_settings = check_settings
        self.check_row = check_row
        self.kind_of_row = kind_of_row
        self.apart = apart
        self.needs = tuple(needs)
        self.extra = extra
        self.workers = self._checked_workers((64 if self.is_async else 1) if workers is None else workers)
        self.source = getattr(function, "__module__", "")
        self.version = "unversioned"
        self.reference: str | None = None
        self._base: Reward[Settings] = self
        self.__name__ = self.name
        self.__qualname__ = getattr(function, "__qualname__", self.name)
        self.__module__ = getattr(function, "__module__", __name__)
        self.documentation: str = inspect.cleandoc(function.__doc__ or "")  # as written: `__doc__` is made of it
        self._describe()

    # -------------------------------------------------------------------------------------------- what it is

    @property
    def low(self) -> float:
        """The low end of the range: what a rejected or hanging completion gets. 0.0 when no range is declared."""
        return 0.0 if self.range is None else self.range[0]

    @property
    def defaults(self) -> dict[str, object]:
        """Every setting that has a value, bound or by default."""
        found = {item.name: item.default for item in self.shape.settings if item.default is not REQUIRED}
        return {**found, **self.settings}

    @property
    def summary(self) -> str:
        """The first sentence of the documentation."""
        return self.documentation.split("\n\n")[0].replace("\n", " ").strip()

    def settings_schema(self) -> dict[str, object]:
        """Return the JSON schema of the settings."""
        return settings_model(self.name, self.shape.settings).model_json_schema()

    def __repr__(self) -> str:
        settings = "".join(f", {name}={value!r}" for name, value in self.settings.items())
        return f"<Reward {self.name} ({self.style}{settings})>"

    def _repr_html_(self) -> str:
        from grpo_rewards._contract.display import html_of_reward

        return html_of_reward(self)

    # -------------------------------------------------------------------------------------------- binding

    # a parameter specification has to be taken whole: `nothing` is there for type checkers
    def with_(self, *nothing: Settings.args, **settings: Settings.kwargs) -> Reward[Settings]:
        """Return the reward with settings bound.

        Raises:
            SettingsError: a setting is unknown (with the nearest name) or of the wrong type.
        """
        if nothing:
            raise TypeError(f"reward {self.name!r}: settings are given by name, not by place: {nothing[0]!r:.80}")
        if not settings:
            return self
        bound = validate_settings(self.name, self.shape.settings, {**self.settings, **settings}, partial=True)
        changed = self._copy(settings=bound)
        if changed.check_settings is not None and not changed._missing_settings():  # it looks at all together
            changed._check_settings()
        return changed

    def _check_settings(self) -> None:
        try:
            if self.check_settings is not None:
                self.check_settings(self.defaults)
        except ValueError as error:
            raise SettingsError(f"reward {self.name!r}: {error}", reward=self.name) from error

    def with_columns(self, **columns: str) -> Reward[Settings]:
        """Return the reward reading column ``k`` from the data's column ``columns[k]``: ``with_columns(answer="solution")``.

        Raises:
            SettingsError: the reward has no such column.
        """
        if not columns:
            return self
        known = {parameter.column for parameter in self.shape.data if parameter.column is not None}
        for name in columns:
            if name not in known and not self.shape.takes_rest:
                takes = ", ".join(sorted(known)) or "none"
                raise SettingsError(
                    f"reward {self.name!r} reads no column {name!r} (it reads {takes})", reward=self.name, setting=name
                )
        return self._copy(columns={**self.columns, **columns})

    def with_workers(self, workers: int) -> Reward[Settings]:
        """Return the reward with up to `workers` (1 to 1024) calls under way at once; values and their order stay.

        Raises:
            SettingsError: out of range, or the reward is called once for all rows, so there is nothing beside each other.
        """
        return self._copy(workers=self._checked_workers(workers))

    def _checked_workers(self, workers: int) -> int:
        if not 1 <= workers <= 1024:
            raise SettingsError(f"reward {self.name!r}: workers must be 1 to 1024, not {workers}", reward=self.name)
        if workers > 1 and self.style != "row" and not self.is_async:
            raise SettingsError(
                f"reward {self.name!r}: workers run the rows of a row reward side by side, or the calls of an async def; "
                f"this {self.style} reward is one call",
                reward=self.name,
            )
        return workers

    def unbound(self) -> Reward[Settings]:
        """Return the reward as it was written: without bound settings, renamed columns or another number of workers."""
        return self._base

    @property
    def named_columns(self) -> dict[str, str]:
        """The columns of the data that were named where the reward is used (`with_columns`), by its own names for them."""
        written = self._base.columns
        return {name: column for name, column in self.columns.items() if written.get(name) != column}

    def configured(
        self: Reward, settings: Mapping[str, object], columns: Mapping[str, str], workers: int | None
    ) -> Reward:
        """Return the reward as a composition uses it, with every setting checked.

        Raises:
            SettingsError: as `with_`, `with_columns`, `with_workers` and `complete`.
        """
        found = self.with_(**settings).with_columns(**columns).complete()
        return found if workers is None else found.with_workers(workers)

    def complete(self) -> Reward[Settings]:
        """Return the reward with every setting checked.

        Raises:
            SettingsError: a required setting is missing, or the settings do not fit together.
        """
        if missing := self._missing_settings():
            raise SettingsError(
                f"reward {self.name!r} needs the setting {missing[0]!r}; give it under params, "
                f"or with .with_({missing[0]}=...)",
                reward=self.name,
                setting=missing[0],
            )
        if self.check_settings is not None:
            self._check_settings()
        return self

    def _missing_settings(self) -> list[str]:
        return [p.name for p in self.shape.settings if p.default is REQUIRED and p.name not in self.settings]

    def _copy(self, **changes: object) -> Reward[Settings]:
        # past __init__: the signature need not be read again, and `_base` and `reference` stay
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy.__dict__.update(changes)
        copy._describe()
        return copy

    def _describe(self) -> None:
        """Let ``help(reward)`` and a notebook's ``reward?`` show TRL's call with the columns, and the settings as bound."""
        reads = [
            (self.columns.get(one.column, one.column), one.default) for one in self.shape.data if one.column is not None
        ]
        self.required_columns: tuple[str, ...] = tuple(name for name, default in reads if default is REQUIRED)
        """The columns of the data that must be there, after renaming."""
        self.optional_columns: tuple[str, ...] = tuple(name for name, default in reads if default is not REQUIRED)
        """The columns of the data that are used when they are there, after renaming."""
        self.__signature__ = call_signature(self.shape, self.columns)
        self.__doc__ = described(self.documentation, self.range, self.required_columns, self.optional_columns,
                                 self.shape.settings, self.defaults)  # fmt: skip

    # -------------------------------------------------------------------------------------------- scoring

    def check_columns(self, available: Iterable[str]) -> None:
        """Raise `ColumnError` when a column that is required, or that `with_columns` names, is not among `available`."""
        have = set(available)
        wanted = dict.fromkeys((*self.required_columns, *self.named_columns.values()))
        if missing := [name for name in wanted if name not in have]:
            raise ColumnError(self.name, missing, have)

    def check_packages(self) -> None:
        """Raise `ConfigError` when a package that it needs is not installed here; the text says what installs it."""
        require(*self.needs, by=repr(self.name), extra=self.extra)

    def row_problem(self, data: Mapping[str, object]) -> str | None:
        """Return what is wrong with a row of the data by the reward's own `check_row`, or None."""
        if self.check_row is None:
            return None
        self.check_packages()
        return self.ask_of_row(self.check_row, data)

    def row_kind(self, data: Mapping[str, object]) -> str | None:
        """Return the kind of data that the reward reads a row as, by its own `kind_of_row`, or None."""
        return None if self.kind_of_row is None else self.ask_of_row(self.kind_of_row, data)

    def ask_of_row(self, question: Callable[..., _Answer], data: Mapping[str, object]) -> _Answer:
        """Call `question` with a row's columns, by parameter name, and those settings that it names; return its answer."""
        given: dict[str, object] = {}
        for parameter in self.shape.data:
            if parameter.column is not None:
                default = None if parameter.default is REQUIRED else parameter.default
                given[parameter.name] = data.get(self.columns.get(parameter.column, parameter.column), default)
        if self.shape.takes_rest:
            taken = {*self.columns.values(), *self.defaults}
            given = {**{name: cell for name, cell in data.items() if name not in taken}, **given}
        asked = inspect.signature(question).parameters
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in asked.values()):
            given = {name: value for name, value in given.items() if name in asked}
        settings = {name: value for name, value in self.defaults.items() if name in asked and name not in given}
        return question(**given, **settings)

    def outcomes(self, batch: Batch) -> list[Outcome]:
        """Score a batch and return every outcome, failures included.

        Raises:
            ColumnError: a required column is missing.
            InputError: it compares the rows of a group, and the groups cannot be known.
        """
        self.complete()
        self.check_columns(batch.available)
        if self.style == "group":
            batch.check_groups(f"reward {self.name!r}")
        # without a deadline every slot is filled: the condition is for type checkers
        return [outcome for outcome in evaluate(self, batch) if outcome is not None]

    def one(self, completion: object, **columns: object) -> Outcome:
        """Score a single completion: ``exact.one("4", answer="4")``."""
        return self.outcomes(Batch.from_rows([{"completion": completion, **columns}]))[0]

    def __call__(self, **call: Any) -> list[float | None]:
        """Score the rows of TRL's reward call: lists ``prompts``, ``completions``, ``completion_ids`` and columns.

        Returns one float per completion, or None where the reward does not apply or could not be computed for want
        of a sandbox or service.

        Raises:
            ColumnError: a required column is missing; found before the first row.
            InputError: it compares the rows of a group, and the groups cannot be known (in a `Composite` they are also
                where a group's rows lie on several processes).
            PluginError: the function raised or broke its contract; names the plugin, its version and the row.
        """
        batch = Batch.from_call(**call)
        if not call.keys().isdisjoint(TRAINER_ARGUMENTS):
            from grpo_rewards._registry import registry  # it stands above this room

            batch = batch.in_groups_of(registry().manager.hook.group_size(call=call))
        outcomes = self.outcomes(batch)
        for row, outcome in enumerate(outcomes):
            if outcome.status == "error":
                raise plugin_error(outcome, row, component=self.name, reward=self, completion=batch.texts[row])
        return [outcome.value for outcome in outcomes]

    # -------------------------------------------------------------------------------------------- pickling

    def __reduce__(self) -> tuple[object, ...]:
        state = {
            "settings": dict(self.settings),
            "columns": dict(self.columns),
            "name": self.name,
            "workers": self.workers,
        }
        # by where it is found: a decorated function itself cannot be pickled, since its name leads to the reward
        return (_restore, (self._base._pickled_reference(), state))

    def _pickled_reference(self) -> str | tuple[Callable[..., object], Style]:
        if self.reference is not None:
            return self.reference
        names = vars(sys.modules[self.__module__]) if self.__module__ in sys.modules else {}
        if name := next((name for name, value in names.items() if value is self), None):
            return f"{self.__module__}:{name}"
        if any(value is self.function for value in names.values()):  # a plain function, wrapped where it was used
            return (self.function, self.style)
        raise pickle.PicklingError(
            f"reward {self.name!r} cannot be sent to another process: {self.__module__}.{self.__qualname__} is not "
            f"at the top level of an importable module. Move it there"
        )


def _restore(reference: str | tuple[Callable[..., object], Style], state: dict[str, object]) -> Reward:
    if isinstance(reference, str):
        from grpo_rewards._registry import get_reward  # the registry stands above this room

        base = get_reward(reference)
    else:
        function, style = reference
        base = Reward(function, style=style)
    restored = base._copy(**state)
    restored.__name__ = restored.name
    return restored


def _checked_range(range: Range | None, name: str) -> Range | None:
    if range is None:
        return None
    try:
        low, high = (float(bound) for bound in range)
    except (TypeError, ValueError, OverflowError):  # the last for whole numbers beyond any float
        raise TypeError(f"reward {name!r}: range must be a pair of numbers (low, high), not {range!r}") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"reward {name!r}: range must be two finite numbers, low < high, not ({low:g}, {high:g})")
    if max(-low, high) > LARGEST:
        raise ValueError(f"reward {name!r}: range must lie within ±{LARGEST:g}, since trainers compute in float32")
    return (low, high)


def as_reward(thing: object) -> Reward:
    """Return `thing` as a `Reward`: itself, or a plain function wrapped (with ``completions``: TRL's signature).

    Raises:
        TypeError: it is neither.
    """
    if isinstance(thing, Reward):
        return thing
    if not callable(thing):
        raise TypeError(f"expected a reward or a function, not {type(thing).__name__} {thing!r:.80}")
    parameters = inspect.signature(thing).parameters
    takes_rest = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    style: Style = "batch" if "completions" in parameters or (takes_rest and "completion" not in parameters) else "row"
    wrapped = Reward(thing, style=style)
    if str(getattr(thing, "__module__", "")).startswith("trl.rewards"):  # these index completions as conversations
        wrapped.shape = with_messages(wrapped.shape)
    return wrapped
