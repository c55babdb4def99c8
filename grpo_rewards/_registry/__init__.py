"""The registry: every installed reward by name, and where it comes from."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import pluggy

from grpo_rewards._contract import Reward
from grpo_rewards._registry import hookspecs
from grpo_rewards._registry.hookspecs import hookimpl, hookspec
from grpo_rewards._registry.loader import GROUP, Plugin, load_plugins, misspelt_hooks
from grpo_rewards._registry.references import from_reference, with_origin
from grpo_rewards.errors import UnknownRewardError, nearest
from grpo_rewards.forks import PerProcess

__all__ = [
    "GROUP",
    "Failed",
    "Plugin",
    "Registry",
    "call_hook",
    "get_reward",
    "hookimpl",
    "hookspec",
    "list_rewards",
    "registered",
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
    """Register the hooks of a module (or an object) in this process, as of an installed plugin; again, it changes nothing.

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
    if ":" in name:  # a place, ``file.py:name`` or ``pkg.mod:name``, and no registered name
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


_log = logging.getLogger(__name__)

T = TypeVar("T")

Failed = Callable[[str, Exception], None]
"""Called with the plugin whose implementation raised, and what it raised."""


def call_hook(
    hook: str, *arguments: object, read: Callable[[Any], T] = lambda given: given, failed: Failed | None = None
) -> list[tuple[str, T]]:
    """Return each plugin and what `read` makes of its answer, in the order of registration: the built-in ones first.

    One that raises, or whose answer `read` does not understand, goes to `failed`, which logs a warning by default.
    """
    answers = []
    # one by one: a hook that is called through pluggy ends at the first plugin that raises
    for implementation in getattr(registry().manager.hook, hook).get_hookimpls():
        try:
            found = read(implementation.function(*arguments))
        except Exception as error:  # noqa: BLE001 - the boundary around a plugin's code
            if failed is None:
                _warn(hook, implementation.plugin_name, repr(error))
            else:
                failed(implementation.plugin_name, error)
        else:
            answers.append((implementation.plugin_name, found))
    return answers


@lru_cache(maxsize=256)  # once, though a hook is called with each row or batch
def _warn(hook: str, plugin: str, problem: str) -> None:
    _log.warning(
        "the hook %s of plugin %s raised %s; the rest goes on without it", hook, plugin, problem, exc_info=True
    )


def registered(hook: str, *, own: Mapping[str, object] = {}, failed: Failed | None = None) -> dict[str, Any]:
    """Return what all plugins return from a hook that names things, such as ``register_code_readers``; the first keeps a name.

    The caller's `own` come before all of them.
    """
    found: dict[str, Any] = dict(own)
    givers = dict.fromkeys(own, "grpo-rewards")
    for plugin, things in call_hook(hook, read=dict, failed=failed):
        for name, thing in things.items():
            if name in found:
                _warn_of_a_name(hook, name, givers[name], plugin)
            else:
                found[name], givers[name] = thing, plugin
    return found


@lru_cache(maxsize=256)
def _warn_of_a_name(hook: str, name: str, first: str, second: str) -> None:
    _log.warning("%s: both %s and %s give %r; that of %s keeps the name", hook, first, second, name, first)
