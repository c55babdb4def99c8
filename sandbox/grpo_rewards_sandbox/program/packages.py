"""Which installed packages candidates and tests can import, and which are imported for them."""

from __future__ import annotations

import importlib
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from .protocol import JobMessage, SupervisorConfig

# a library that starts a thread for each processor would use up a candidate's processes
_ONE_THREAD = "OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS NUMEXPR_NUM_THREADS"
# those whose values cross: both processes of a job import what either does, and for seconds
_SHARED = ("numpy", "pandas", "torch")
_IMPORTED = re.compile(rf"^[ \t]*(?:import|from)[ \t]+({'|'.join(_SHARED)})\b", re.MULTILINE)


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


def preloaded(config: SupervisorConfig) -> frozenset[str]:
    """Return the libraries that fork servers may import once for all their children: those that are installed here."""
    names = config.get("packages")
    folders = [*sys.path, *config["python_path"], *config.get("site_packages", [])]
    allowed = [name for name in _SHARED if names is None or name in names]
    return frozenset(name for name in allowed if PathFinder.find_spec(name, folders) is not None)


def imported(job: JobMessage) -> frozenset[str]:
    """Return those that the texts of a job seem to import; one too many costs time and changes nothing else."""
    tests = job["tests"] if isinstance(job["tests"], str) else "\n".join(filter(str.__instancecheck__, job["tests"]))
    found = frozenset(_IMPORTED.findall("\n".join((job["setup"], job["candidate"], tests))))
    return found - {"numpy"} or found  # the others import it too


def preload(libraries: Iterable[str]) -> None:
    """Import these for all that is forked from here."""
    # some ask at import where temporary files go, which here is nowhere, and in each child another place
    tempfile.tempdir = tempfile.gettempprefix()
    for name in libraries:
        importlib.import_module(name)
    tempfile.tempdir = None


def draw_anew() -> None:
    """Let no two children of one fork server draw alike by numpy's own generator."""
    if random := sys.modules.get("numpy.random"):
        random.seed()
