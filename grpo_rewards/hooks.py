"""What plugins registered, for rewards that can be extended by others."""

from __future__ import annotations

from typing import Any

from grpo_rewards._registry import registry

__all__ = ["registered"]


def registered(hook: str) -> dict[str, Any]:
    """Return what all plugins return from a hook that names things, such as ``register_code_readers``; the first keeps a name."""
    found: dict[str, Any] = {}
    for implementation in getattr(registry().manager.hook, hook).get_hookimpls():
        for name, thing in implementation.function().items():
            found.setdefault(name, thing)
    return found
