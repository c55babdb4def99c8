"""Finding and loading plugins, so that a broken one is reported and the rest go on.

pluggy's own entry-point loader raises at the first plugin that fails and registers none; this one records each.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import cast

import pluggy

from grpo_rewards._contract import Reward
from grpo_rewards._registry import hookspecs
from grpo_rewards.errors import nearest

GROUP = "grpo_rewards"
"""The entry-point group that plugins announce themselves in."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Plugin:
    """An installed plugin: its entry point, distribution, rewards, and what is wrong with it (empty when nothing is)."""

    name: str
    target: str
    distribution: str
    version: str
    rewards: tuple[Reward, ...] = ()
    problems: tuple[str, ...] = ()
    module: object = field(default=None, repr=False, compare=False)

    @property
    def label(self) -> str:
        """The distribution and entry point, for messages."""
        return f"{self.distribution} (entry point {self.name} = {self.target!r})"


def load_plugins(manager: pluggy.PluginManager, points: Iterable[EntryPoint] | None = None) -> list[Plugin]:
    """Load every plugin of the group into `manager`, the built-in ones first. Never raises for what a plugin does."""
    found = list(entry_points(group=GROUP) if points is None else points)
    found.sort(key=lambda point: (_distribution(point)[0] != "grpo-rewards", _distribution(point)[0], point.name))
    seen: set[tuple[str, str]] = set()
    plugins = []
    for point in found:
        if (point.name, point.value) in seen:  # the same distribution found twice on sys.path
            continue
        seen.add((point.name, point.value))
        plugins.append(_load(manager, point))
    for plugin in plugins:
        for problem in plugin.problems:
            _log.warning("plugin %s: %s", plugin.label, problem)
    return plugins


def _load(manager: pluggy.PluginManager, point: EntryPoint) -> Plugin:
    distribution, version = _distribution(point)

    def report(*problems: str, rewards: tuple[Reward, ...] = (), module: object = None) -> Plugin:
        return Plugin(point.name, point.value, distribution, version, rewards, problems, module)

    try:
        module = point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the boundary around a plugin's code
        return report(f"it cannot be imported: {type(error).__name__}: {error}")
    problems = list(misspelt_hooks(module))
    if isinstance(module, Reward):
        own = [module]
    else:
        own = own_rewards(module)
        try:
            manager.register(module, name=f"{distribution}:{point.name}")
            own.extend(_hooked_rewards(manager, module))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the boundary around a plugin's code
            problems.append(f"its hooks cannot be used: {type(error).__name__}: {error}")
    for item in own:
        item.source, item.version = distribution, version
    return report(*problems, rewards=tuple(dict.fromkeys(own)), module=module)


def own_rewards(module: object) -> list[Reward]:
    """The rewards among a module's names that are its own: defined in it or in its package, or named in ``__all__``."""
    package = getattr(module, "__name__", "")
    exported = set(getattr(module, "__all__", ()))
    # what a module imports of another plugin to use it is not registered a second time
    return [
        value
        for name, value in vars(module).items()
        if isinstance(value, Reward)
        and not name.startswith("_")
        and (value.__module__ == package or value.__module__.startswith(package + ".") or name in exported)
    ]


def _hooked_rewards(manager: pluggy.PluginManager, module: object) -> list[Reward]:
    """What the plugin's own ``register_rewards`` returns."""
    found: list[Reward] = []
    for implementation in manager.hook.register_rewards.get_hookimpls():
        if implementation.plugin is module:  # those of the plugins before it have been asked
            found.extend(cast("Iterable[Reward]", implementation.function()))
    for item in found:
        if not isinstance(item, Reward):
            raise TypeError(f"register_rewards returned {item!r:.80}, which is no Reward: decorate it with @reward")
    return found


def misspelt_hooks(module: object) -> Iterable[str]:
    """Name the functions marked as hook implementations that no hook specification knows."""
    known = [name for name, value in vars(hookspecs).items() if hasattr(value, "grpo_rewards_spec")]
    names = (
        vars(module) if isinstance(module, ModuleType) else {name: getattr(module, name, None) for name in dir(module)}
    )
    for name, value in names.items():
        # pluggy's marker leaves this attribute; it takes an implementation of an unknown hook without a word
        if not isinstance(value, Reward) and hasattr(value, "grpo_rewards_impl") and name not in known:
            yield f"it implements the unknown hook {name!r}{nearest(name, known)} (known: {', '.join(known)})"


def _distribution(point: EntryPoint) -> tuple[str, str]:
    if point.dist is None:
        return ("unknown", "unversioned")
    return (point.dist.name, point.dist.version)
