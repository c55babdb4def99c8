"""Calling the hooks of plugins, so that one that raises is reported and the rest go on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from grpo_rewards._registry import registry

__all__ = ["Failed", "call_hook", "registered"]

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


def registered(hook: str, *, failed: Failed | None = None) -> dict[str, Any]:
    """Return what all plugins return from a hook that names things, such as ``register_code_readers``; the first keeps a name."""
    found: dict[str, Any] = {}
    for _, things in call_hook(hook, read=dict, failed=failed):
        found = {**things, **found}
    return found
