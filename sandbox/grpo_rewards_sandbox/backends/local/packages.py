"""What candidates and tests may import on this machine."""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

from ..._errors import SandboxUnavailable

_REQUIRED = re.compile(r"[\w.-]+")


def site_packages() -> list[str]:
    """Where this environment has its packages."""
    return list(dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib")))


def reachable(packages: str | Sequence[str]) -> list[str] | None:
    """The names that the packages of a setting, and what they need, can be imported by; None for all there are."""
    if packages == "environment":
        return None
    wanted = [] if packages == "none" else [packages] if isinstance(packages, str) else list(packages)
    known, provided = set(), packages_distributions()
    by_distribution: dict[str, list[str]] = {}
    for module, names in provided.items():
        for name in names:
            by_distribution.setdefault(_canonical(name), []).append(module)
    found: list[str] = []
    while wanted:
        name = wanted.pop()
        if (distribution := _canonical(name)) in known:
            continue
        known.add(distribution)
        try:
            needed = requires(distribution) or []
        except PackageNotFoundError:
            if name in provided:  # the name that it is imported by, in its own spelling
                wanted += provided[name]
                continue
            raise SandboxUnavailable(
                f"packages: {name} is not installed in this environment. What to do: pip install {name}, or leave it out"
            ) from None
        found += by_distribution.get(distribution, [])
        # markers are not evaluated: what they leave out is not installed here, or does no harm
        wanted += [_REQUIRED.match(one)[0] for one in needed if "extra ==" not in one and _installed(one)]  # type: ignore[index]
    return found


def _installed(requirement: str) -> bool:
    try:
        requires(_canonical(_REQUIRED.match(requirement)[0]))  # type: ignore[index]
    except PackageNotFoundError:
        return False
    return True


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
