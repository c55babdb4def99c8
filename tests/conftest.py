"""Fixtures that several rooms use: the built wheel and a fresh environment that holds nothing else."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).resolve().parents[1]

# CI tries the same examples each time: what it finds must come from the change that it looks at
if os.environ.get("CI") and importlib.util.find_spec("hypothesis"):  # the environments of peers have it not
    from hypothesis import settings

    settings.register_profile("ci", derandomize=True)
    settings.load_profile("ci")


def _once(tmp_path_factory: pytest.TempPathFactory, name: str) -> tuple[Path, FileLock]:
    """A folder that all xdist workers of this run share, and the lock on it."""
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent
    return shared / name, FileLock(str(shared / f"{name}.lock"))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder, lock = _once(tmp_path_factory, "wheel")
    with lock:
        if not folder.exists():
            command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
            subprocess.run(command, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def fresh_python(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """The interpreter of a fresh environment with the wheel and what it needs, nothing else."""
    folder, lock = _once(tmp_path_factory, "fresh")
    with lock:
        if not (folder / "done").exists():
            venv.create(folder, with_pip=True)
            command = [
                folder / "bin" / "python",
                "-m",
                "pip",
                "install",
                "-q",
                "--disable-pip-version-check",
                str(wheel),
            ]
            subprocess.run(command, check=True, capture_output=True)
            (folder / "done").touch()
    return folder / "bin" / "python"
