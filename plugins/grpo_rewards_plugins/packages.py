"""Packages that only some rewards need: one that is missing ends the run with a single error, which says what to install."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec

from grpo_rewards.errors import ConfigError, how_to_install


def require(packages: str, *, extra: str, by: str) -> None:
    """Refuse to go on without `packages`, several names or ``one|other`` for either, which the extra `extra` installs for `by`.

    Raises:
        ConfigError: not all of them are there. No completion is at fault, and every row that comes would say the same.
    """
    if not _are_there(packages):
        named = packages.replace(" ", " and ").replace("|", " or ")
        raise ConfigError(f"{by} needs {named}, not installed here: {how_to_install(extra)}")


@lru_cache(maxsize=64)
def _are_there(packages: str) -> bool:
    return all(any(find_spec(name) is not None for name in group.split("|")) for group in packages.split())
