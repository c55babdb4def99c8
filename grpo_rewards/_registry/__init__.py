"""The registry: every installed reward by name, and where it comes from."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

import pluggy

from grpo_rewards._contract import Reward
from grpo_rewards._registry import hookspecs
from grpo_rewards._registry.hookspecs import hookimpl, hookspec
from grpo_rewards._registry.loader import GROUP, Plugin, load_plugins, misspelt_hooks
from grpo_rewards._registry.references import from_reference, is_reference, with_origin
from grpo_rewards.errors import UnknownRewardError, nearest
from grpo_rewards.forks import PerProcess

__all__ = [
    "GROUP",
    "Plugin",
    "Registry",
    "get_reward",
    "hookimpl",
    "hookspec",
    "list_rewards",
    "registry",
    "use_plugin",
    "with_origin",
]


@dataclass(frozen=True)
class Registry:
    """What is installed: the plugin manager, every plugin with its problems, and the rewards by name."""

    manager: pluggy.PluginManager
    plugins: tuple[Plugin, ...]
    rewards: dict[str, Reward]
    duplicates: tuple[str, ...] = field(default=())

    @classmethod
    def scan(cls) -> Registry:
        """Load every installed plugin."""
        manager = pluggy.PluginManager("grpo_rewards")
        manager.add_hookspecs(hookspecs)
        plugins = load_plugins(manager)
        rewards: dict[str, Reward] = {}
        duplicates = []
        for plugin in plugins:
            for item in plugin.rewards:
                # plugins come built-in ones first, so that nobody's install takes a name like `math` from them
                if (taken := rewards.setdefault(item.name, item)) is not item:
                    duplicates.append(
                        f"reward {item.name!r} comes from both {taken.source} and {plugin.distribution}; "
                        f"{taken.source} keeps the name, the other is reached as {item.__module__}:{item.name}"
                    )
        return cls(manager, tuple(plugins), rewards, tuple(duplicates))


_lock = PerProcess(threading.Lock)
_registry: Registry | None = None  # loaded modules outlive a fork, unlike the lock


def registry(*, rescan: bool = False) -> Registry:
    """Return the process's registry, loading the plugins on first use (or again, with `rescan`)."""
    global _registry
    if _registry is not None and not rescan:
        return _registry
    with _lock():
        if _registry is None or rescan:
            _registry = Registry.scan()
        return _registry


def use_plugin(plugin: object) -> None:
    """Take the hooks of a module (or an object) into this process, as if it were an installed plugin; a second time is once.

    Raises:
        TypeError: it implements a hook that there is not; the text names the nearest.
    """
    if problems := list(misspelt_hooks(plugin)):
        raise TypeError("; ".join(problems))
    if not (manager := registry().manager).is_registered(plugin):
        manager.register(plugin)


def list_rewards() -> list[Reward]:
    """Return every installed reward, sorted by name."""
    return [reward for _, reward in sorted(registry().rewards.items())]


def get_reward(name: str, *, base: Path | None = None) -> Reward:
    """Return a reward by name, or by ``./file.py:name`` (relative to `base`) or ``package.module:name``.

    Raises:
        UnknownRewardError: there is none; the text names the nearest, and lists what there is.
    """
    if is_reference(name):
        return from_reference(name, base=base)
    known = registry().rewards
    if name in known:
        return known[name]
    broken = [plugin.label for plugin in registry().plugins if plugin.problems]
    hint = f". These plugins did not load cleanly: {'; '.join(broken)}" if broken else ""
    raise UnknownRewardError(
        f"there is no reward {name!r}{nearest(name, known)}; installed are {', '.join(sorted(known)) or 'none'}{hint}. "
        f"A reward of your own is given as ./file.py:name or package.module:name",
        reference=name,
    )
