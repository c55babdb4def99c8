"""`Composite`: rewards weighted, gated and clipped into one reward function."""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Never

import orjson

from grpo_rewards._composition.arguments import as_yaml, configuration, listed
from grpo_rewards._composition.component import Component
from grpo_rewards._composition.config import ComponentConfig, Config, only, read_config, read_file
from grpo_rewards._composition.duplicates import Memory
from grpo_rewards._composition.evaluation import (
    Evaluated,
    StuckAttempts,
    UnderWay,
    begin_components,
    evaluate_components,
    evaluate_parts,
)
from grpo_rewards._composition.expanded import Part, parts_of
from grpo_rewards._composition.session import Session
from grpo_rewards._composition.stream import Rows, Stream
from grpo_rewards._composition.table import ScoreTable, table_of
from grpo_rewards._contract import Batch, CallLimits, Outcome, as_reward
from grpo_rewards._contract.shapes import RewardCall
from grpo_rewards._presets import find_preset, is_preset
from grpo_rewards._registry import call_hook, get_reward, registry, with_origin
from grpo_rewards._version import __version__
from grpo_rewards.errors import ColumnError, ConfigError, GrpoRewardsError

if TYPE_CHECKING:
    from grpo_rewards._composition.views import Explanation
    from grpo_rewards._tier.tier import Tier

_log = logging.getLogger(__name__)

CONFIG_VARIABLE = "GRPO_REWARDS_CONFIG"
"""The environment variable that names the configuration of ``grpo_rewards.composite_reward``."""

_PLAIN = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY  # a schedule's steps are keys; params may be numpy's


class Composite:
    """One reward made of several, callable with TRL's signature: goes into ``reward_funcs`` as it is.

    ``Composite(correct=("math", 2.0), polite=polite, think=think_format_reward)`` names its components. Each is a reward,
    the name of one, a plain function with or without TRL's signature, or another composite; alone, in a pair with its
    weight or with its other keys (``(math, {"weight": 2.0, "clip": (0, 1)})``), or under ``use`` in a mapping of all
    keys. A number alone is the weight of the installed reward of that name: ``Composite(math=2.0, xml_format=0.5)``.

    Args:
        config: the mapping that a ``rewards.yaml`` holds, or what stands under its ``rewards``.
        base: the folder that relative paths in it start from; the current one by default.
        source: the file it came from, for messages.
        components: components by name; ``combine``, ``errors``, ``stages`` and ``adapt`` are those sections.

    Raises:
        ConfigError: names the path in the configuration and what to do.
    """

    def __init__(
        self,
        config: Mapping[str, object] | Config | None = None,
        /,
        *more: Never,  # taken to be refused with the right spelling, not with Python's TypeError
        base: Path | None = None,
        source: str = "",
        **components: object,
    ) -> None:
        if not isinstance(config, Config) or more or components:
            config = read_config(configuration(config, more, components), source=source)
        self.config = config
        self.base = base or Path.cwd()
        self.source = source
        self.components = tuple(self._component(name, config) for name, config in self.config.rewards.items())
        self.__name__ = self.name = "composite"
        self.__doc__ = f"The composite of {', '.join(component.name for component in self.components)}."
        self.counting = frozenset(name for name in self.config.rewards if self._can_count(name))
        self._stuck: StuckAttempts = {}
        self.memory: Memory | None = None
        self._tier: Tier | None = None
        self._session: Session | None = None
        self._lock = threading.RLock()
        self._tier_lock = threading.Lock()
        if self.config.adapt is not None:
            self._alone  # noqa: B018 - made now, so that a method that is not there is refused here

    def _component(self, name: str, config: ComponentConfig) -> Component:
        path = f"rewards.{name}"
        try:
            use = config.use
            found = get_reward(use, base=self.base) if isinstance(use, str) else with_origin(as_reward(use))
            found = found.configured(config.params, config.columns, config.workers)
        except (GrpoRewardsError, TypeError) as error:
            raise ConfigError(str(error), path=path, source=self.source) from error
        return Component(name, found, config.weight, config.when, config.gate, config.clip)

    def __repr__(self) -> str:
        return f"<Composite {', '.join(f'{c.weight:g} x {c.name}' for c in self.components)}>"

    def _repr_html_(self) -> str:
        from grpo_rewards._composition.views import html_of_composite

        return html_of_composite(self)

    def __reduce__(self) -> tuple[object, ...]:
        rewards = {
            name: {**component.model_dump(exclude_unset=True, exclude={"use"}), "use": component.use}
            for name, component in self.config.rewards.items()
        }
        # the configuration alone: sessions, the memory and the tier belong to the process that made them
        config = {**self.config.model_dump(exclude_unset=True, exclude={"rewards"}), "rewards": rewards}
        return (partial(Composite, base=self.base, source=self.source), (config,))

    # -------------------------------------------------------------------------------------------- what it is

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each component outside a run: as configured, with schedules at their end. Those of a run belong to its session."""
        return {component.name: component.weight for component in self.components}

    @cached_property
    def required_columns(self) -> tuple[str, ...]:
        """The columns that the data must have."""
        return tuple(dict.fromkeys(column for component in self.components for column in component.columns))

    @cached_property
    def asked_columns(self) -> frozenset[str]:
        """The required columns, and those that the configuration names although a reward could do without them."""
        return frozenset(column for one in self.components for column in (*one.columns, *one.named.values()))

    @cached_property
    def calls_at_once(self) -> int:
        """How many calls that wait for an answer its components may have under way together."""
        return sum(component.reward.workers for component in self.components if component.asks_beside)

    @cached_property
    def provenance(self) -> dict[str, object]:
        """The version of the package, a hash of the configuration, and every component's plugin with its version."""
        text = orjson.dumps(self.identity, option=orjson.OPT_SORT_KEYS)
        plugins = self.identity["plugins"]
        return {"grpo_rewards": __version__, "config": hashlib.sha256(text).hexdigest()[:16], "plugins": plugins}

    @cached_property
    def identity(self) -> dict[str, object]:
        """The configuration, defaults included, and the plugins with their versions, as plain data."""
        plugins = {c.name: f"{c.reward.source}:{c.reward.name} {c.reward.version}" for c in self.components}
        config = self.config.model_dump(mode="python", exclude={"rewards", "scale"})  # where it is scored is not what
        config["rewards"] = {  # by plugin and version: a reward by name, by reference or as an object is the same
            name: {**component.model_dump(mode="python", exclude={"use"}), "use": plugins[name]}
            for name, component in self.config.rewards.items()
        }
        return {"config": orjson.loads(orjson.dumps(config, default=repr, option=_PLAIN)), "plugins": plugins}

    def to_yaml(self) -> str:
        """Return the ``rewards.yaml`` that `load` makes this composite from; relative paths in it start from `base`.

        Raises:
            ConfigError: a reward has no name that a file could say (a lambda, or one of ``__main__``), or a setting is
                no plain data.
        """
        return as_yaml(self)

    def only(self, names: Iterable[str]) -> Composite:
        """Return the composite of the named components alone (and of those that their gates look at).

        Raises:
            ConfigError: there is no such component.
        """
        wanted: set[str] = set()
        queue = list(names)
        while queue:
            name = queue.pop(0)
            if name not in self.config.rewards:
                known = ", ".join(self.config.rewards)
                raise ConfigError(f"there is no component {name!r} (components: {known})", source=self.source)
            wanted.add(name)
            gate = self.config.rewards[name].gate
            if gate is not None and gate.component not in wanted:
                queue.append(gate.component)
        return Composite(only(self.config, wanted), base=self.base, source=self.source)

    def scaled(self, executor: str) -> Composite:
        """Return the composite that runs its components elsewhere, as ``scale: {executor: ...}`` says where it is given.

        Raises:
            ConfigError: there is no such executor.
        """
        if self.config.scale is not None and self.config.scale.executor == executor:
            return self
        # as a whole configuration, so that a wrong executor is refused with its path; its reward is never looked up
        scale = read_config({"rewards": {"_": "_"}, "scale": {"executor": executor}}, source=self.source).scale
        return Composite(self.config.model_copy(update={"scale": scale}), base=self.base, source=self.source)

    def check_columns(self, available: Iterable[str], *, batch: Batch | None = None) -> None:
        """Raise `ColumnError` when a column that a component needs is not among `available`.

        With a `batch`, what a reward reads is asked of the components that apply to some row of it. The column that a
        ``when`` looks at has to be there all the same: without it, a misspelt one would look like data of other tasks.
        """
        have = set(available)
        self.check_named(have, batch=batch)
        self._check_required(have, batch)

    def check_named(self, available: Collection[str], *, batch: Batch | None = None) -> None:
        """Raise `ColumnError` when a column that the configuration names, in a ``when`` or under ``columns``, is not there.

        Also one that its reward could do without, since the reward would silently do so. `batch` is as in `check_columns`.
        """
        for component in self.components:
            for setting, column in component.named.items():
                if column not in available and (setting == "when.column" or batch is None or component.rows(batch)):
                    raise ColumnError(component.name, [column], available, setting=setting)

    def _check_required(self, available: set[str], batch: Batch | None) -> None:
        for component in () if available.issuperset(self.required_columns) else self.components:
            missing = [column for column in component.columns if column not in available]
            if missing and (batch is None or component.rows(batch)):
                raise ColumnError(component.name, missing, available)

    # -------------------------------------------------------------------------------------------- scoring

    def score(self, rows: Iterable[Mapping[str, object]] | Batch) -> ScoreTable:
        """Score rows offline: mappings with ``completion``, optionally ``prompt`` and ``completion_ids``, and columns.

        Rows that cannot be scored are marked in the table, whatever the cause; nothing is raised for them.

        Raises:
            ColumnError: a column is missing for rows that a component applies to.
            InputError: a row has no ``completion``, or a component compares groups that cannot be known.
        """
        batch = rows if isinstance(rows, Batch) else Batch.from_rows(rows)
        have = set(batch.available)
        if batch is not rows:  # those of a batch may be a part of the data, in which none has what others have
            self.check_named(have, batch=batch)
        self._check_required(have, batch)
        return replace(self.evaluate(batch), batch=batch)

    def explain(self, row: Mapping[str, object]) -> Explanation:
        """Score one row and say how its reward came about: value × weight × gate of every component, each with its reason.

        A component that compares the completions of a group sees a group of this one.

        Raises:
            ColumnError: a column is missing.
            InputError: the row has no ``completion``.
        """
        return self.score([row])[0]

    def __call__(self, **call: object) -> list[float | None]:
        """Score the rows of a trainer's reward call: lists ``prompts``, ``completions``, ``completion_ids`` and columns.

        Returns one float per completion; None where nothing applies, or where a sandbox or service was down. What the
        run adds (the step's weights, groups over ranks, logs, state) is done by its session; see `session_for`.

        Raises:
            ColumnError: a column is missing; found before the first row.
            InputError: a component or GDPO compares the rows of a group, and the groups cannot be known.
            PluginError: a plugin broke its contract (unless ``errors.plugin: drop_row``).
            InfrastructureError: more rows than ``errors.max_infra_rate`` were left out.
        """
        return self.session_for(call).rewards(call)

    def parts(self) -> list[Part]:
        """Return a fresh list of reward functions, one per component (the expanded form); the first one called scores all.

        The trainer weights and sums them, so what the configuration says about the total does not hold, which it warns of.
        """
        return parts_of(self)

    @property
    def session(self) -> Session:
        """The session of the run that called last; before any run, one that belongs to nobody."""
        with self._lock:
            return self._alone if self._session is None else self._session

    @cached_property
    def _alone(self) -> Session:
        return Session(self)  # of the calls of nobody; rows that are scored offline never ask for it

    def session_for(self, call: RewardCall) -> Session:
        """Return the session that a reward call belongs to: the latest, or one that a plugin opens, or nobody's."""
        with self._lock:
            if self._session is None or not self._session.serves(call):
                opened: Session | None = registry().manager.hook.open_session(composite=self, call=call)
                if opened is None:  # a call by hand between a run's: the run's session stays the latest
                    return self._alone
                self._session = opened
            return self._session

    def _can_count(self, name: str) -> bool:
        """Whether a component can change a reward: by its weight in some stage, or as another's gate."""
        rewards, stages = self.config.rewards, self.config.stages
        gated = (other for other, c in rewards.items() if c.gate is not None and c.gate.component == name)
        return any(
            rewards[one].weight != 0.0 or any(stage.weights.get(one) for stage in stages) for one in (name, *gated)
        )

    def stream(self, rows: Rows | None = None, *, group_size: int | None = None, ahead: int = 1024) -> Stream:
        """Return a `Stream`: rows scored one by one as they come, each as soon as its components are done.

        ``for found in composite.stream(rows)`` and ``async for`` take rows from an iterable of either kind, at most
        `ahead` of them under way; without `rows` they are given one by one (`Stream.submit`, `Stream.score`).
        `group_size` is how many rows make a group, for rewards that compare those of one. The failure policy and
        ``errors.batch_timeout`` hold for each row; rows that are scored again in a batch are not evaluated again.

        Raises:
            InputError: `ahead` is less than `group_size`, or that less than 1.
        """
        return Stream(self, rows, group_size=group_size, ahead=ahead)

    # -------------------------------------------------------------------------------------------- where it is scored

    @property
    def tier(self) -> Tier | None:
        """The Ray actors that components run in, joined on first use; None without ``scale``.

        Raises:
            ConfigError: Ray is not installed, or a reward cannot be sent to another process.
            InfrastructureError: there is no cluster.
        """
        scale = self.config.scale
        if scale is None:
            return None
        with self._tier_lock:
            if self._tier is None:
                from grpo_rewards._tier.tier import Tier

                self._tier = Tier(self, scale)
                _log.warning("%s", self._tier.describe([(c.name, c.reward) for c in self.components]))
            return self._tier

    def evaluate_parts(
        self, parts: Iterable[tuple[str, Batch]], *, timeout: float | None
    ) -> list[tuple[list[Outcome | None], float]]:
        """Return the outcomes of components for rows that another process has chosen for them; see `Tier`."""
        known = {component.name: component for component in self.components}
        return evaluate_parts([(known[name], batch) for name, batch in parts], timeout=timeout, stuck=self._stuck)

    def hangs(self) -> bool:
        """Whether a call of a component has been left behind and still hangs in this process."""
        # copied, since a call in another thread may add a component meanwhile
        return any(attempt.running for attempts in list(self._stuck.values()) for attempt in attempts)

    # -------------------------------------------------------------------------------------------- the table

    def evaluate(
        self,
        batch: Batch,
        *,
        timeout: float | None = None,
        weights: Mapping[str, float] | None = None,
        whole: Batch | None = None,
        offset: int = 0,
    ) -> ScoreTable:
        """Score a batch whose columns are known to be there.

        With a `timeout` (seconds for the whole batch) components run side by side, and rows unfinished then are
        ``unavailable``. `weights` are those of a step, else the configured ones. `whole` is the batch of all processes,
        with this one's rows from `offset` on, for rewards that compare a group.
        """
        if timeout is None:
            evaluated = self.begin(batch, whole=whole, offset=offset).evaluated()
        else:
            self._check_groups(batch if whole is None else whole)
            evaluated = evaluate_components(
                self.components, batch, timeout=timeout, whole=whole, offset=offset, stuck=self._stuck, tier=self.tier,
                memory=self.memory,
            )  # fmt: skip
        return self.table(batch.groups, evaluated, weights=weights)

    def begin(
        self, batch: Batch, *, whole: Batch | None = None, offset: int = 0, limits: CallLimits | None = None
    ) -> UnderWay:
        """Begin to score a batch that has `required_columns`, beside others that share the `limits`; `table` makes its table.

        Raises:
            InputError: as `score`.
        """
        self._check_groups(batch if whole is None else whole)
        return begin_components(
            self.components, batch, whole=whole, offset=offset, limits=limits, tier=self.tier, memory=self.memory
        )

    def _check_groups(self, batch: Batch) -> None:
        for component in self.components:
            if component.reward.style == "group":
                batch.check_groups(f"component {component.name!r}")

    def table(
        self, groups: Sequence[Sequence[int]], evaluated: Evaluated, *, weights: Mapping[str, float] | None = None
    ) -> ScoreTable:
        """Return the table of rows whose components are evaluated, by `groups`; plugins hear of it. See `table_of`."""
        table = table_of(
            evaluated.outcomes,
            self.components,
            self.weights if weights is None else weights,
            self.config.combine,
            counting=self.counting,
            groups=groups,
            provenance=self.provenance,
            seconds=evaluated.seconds,
            copies=evaluated.copies,
        )
        call_hook("on_scored", table)
        return table


def load(path: str | os.PathLike[str]) -> Composite:
    """Return the composite that a YAML file describes, or the preset of that name (``preset/gsm8k-xml``).

    Relative paths in a file start from its folder.

    Raises:
        ConfigError: the file is missing or wrong, or there is no such preset; the text says where and what to do.
    """
    if is_preset(os.fspath(path)):
        preset = find_preset(os.fspath(path))
        return Composite(preset.config(), base=preset.path.resolve().parent, source=preset.reference)
    file = Path(path)
    return Composite(read_file(file), base=file.resolve().parent, source=str(file))


def compose(
    rewards: Iterable[object],
    weights: Sequence[float] | None = None,
    *,
    names: Sequence[str] | None = None,
    **sections: object,
) -> Composite:
    """Return the composite of a list of rewards, of whatever kinds `Composite` takes, as TRL's ``reward_funcs`` are.

    ``compose(["math", polite], weights=[2, 0.5])``, or in pairs, ``compose([("math", 2), polite])``; `names` are the components' (by default the rewards' own), `sections`
    those of a configuration: ``combine={"clip": (-1, 5)}``.

    Raises:
        ConfigError: there are not as many weights or names as rewards, or what `Composite` refuses.
    """
    return Composite({**sections, "rewards": listed(rewards, weights, names)})


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
