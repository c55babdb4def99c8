"""What a reason says of the errors and values of a plugin, whose own ``__str__`` and ``__repr__`` may raise too."""

from __future__ import annotations

from collections.abc import Callable

from grpo_rewards.errors import ConfigError, InfrastructureError

__all__ = ["reason_of", "shown"]


def reason_of(error: BaseException) -> str:
    """Say what a plugin raised, in at most 500 characters."""
    said = _said(str, error)
    return (
        said if isinstance(error, (ConfigError, InfrastructureError)) else f"it raised {type(error).__name__}: {said}"
    )[:500]


def shown(value: object) -> str:
    """Return a value's type and the first 80 characters of how it writes itself."""
    return f"{type(value).__name__} {_said(repr, value)[:80]}"


def _said(how: Callable[[object], str], value: object) -> str:
    try:
        return how(value)
    except Exception as error:  # noqa: BLE001 - the boundary around a plugin's code
        return f"(its {how.__name__} raised {type(error).__name__})"
