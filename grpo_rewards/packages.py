"""Packages that only some rewards need: one that is missing ends the run with a single error, which says what to install."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec

from grpo_rewards.errors import ConfigError, how_to_install

__all__ = ["require"]


def require(*packages: str, by: str, extra: str = "") -> None:
    """Refuse to go on without `packages` (``one|other`` for either), which `by` needs; `extra` of grpo-rewards installs them.

    Raises:
        ConfigError: not all of them are there. No completion is at fault, and every row that comes would say the same.
    """
    if missing := [names for names in packages if not _is_there(names)]:
        named = " and ".join(missing).replace("|", " or ")
        command = (
            how_to_install(extra) if extra else "pip install " + " ".join(names.split("|")[0] for names in missing)
        )
        raise ConfigError(f"{by} needs {named}, not installed here: {command}")


@lru_cache(maxsize=64)
def _is_there(names: str) -> bool:
    return any(find_spec(name) is not None for name in names.split("|"))
