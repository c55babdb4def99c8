"""Which installed packages candidates and tests can import."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from .protocol import SupervisorConfig

# a library that starts a thread for each processor would use up a candidate's processes
_ONE_THREAD = "OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS NUMEXPR_NUM_THREADS"


class Chosen:
    """Finds only packages of some names below some folders."""

    def __init__(self, folders: list[str], names: list[str]) -> None:
        self._folders, self._names = folders, frozenset(names)

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return where a top-level module is, if it is one of those."""
        return PathFinder.find_spec(name, self._folders, target) if path is None and name in self._names else None


def reach(config: SupervisorConfig) -> None:
    """Let this process import what the configuration says."""
    for name in _ONE_THREAD.split():
        os.environ[name] = "1"
    folders, names = config.get("site_packages", []), config.get("packages")
    sys.path[:] = [*sys.path, *config["python_path"], *(folders if names is None else [])]
    if names:
        sys.meta_path.append(Chosen(folders, names))
