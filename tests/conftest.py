"""Fixtures that several rooms use: the command line, the built wheel, and a fresh environment that holds nothing else."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import threading
import venv
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

ROOT = Path(__file__).resolve().parents[1]
COMMAND = Path(sys.executable).with_name("grpo-rewards")
SECONDS = 120
# before torch is imported, and for the processes that tests start: with as many threads in each as there are processors,
# those of two workers wait for each other, and the rooms of training took two and a half times as long
os.environ.setdefault("OMP_NUM_THREADS", "1")

if importlib.util.find_spec("hypothesis"):  # the environments of peers have it not
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "ours",
        deadline=None,  # the machine may be busy
        suppress_health_check=[HealthCheck.too_slow],
        # CI tries the same examples each time: what it finds must come from the change that it looks at
        derandomize=bool(os.environ.get("CI")),
    )
    settings.load_profile("ours")


def _once(tmp_path_factory: pytest.TempPathFactory, name: str) -> tuple[Path, FileLock]:
    """A folder that all xdist workers of this run share, and the lock on it."""
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent
    return shared / name, FileLock(str(shared / f"{name}.lock"))


class CommandLine:
    """`grpo-rewards`, each call in a process of its own, forked from one that has imported it; see command_line.py."""

    def __init__(self) -> None:
        script = Path(__file__).with_name("command_line.py")
        self._server = subprocess.Popen(
            [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, arguments: list[str], folder: Path, environment: Mapping[str, str], outputs: Path) -> int:
        """Run the command; return its exit code, or minus the signal that ended it."""
        assert self._server.stdin is not None
        files = {"stdout": str(outputs / "stdout"), "stderr": str(outputs / "stderr")}
        for file in files.values():
            Path(file).write_bytes(b"")
        request = {"arguments": arguments, "folder": str(folder), "environment": dict(environment), **files}
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        process = self._answer()
        too_long = threading.Timer(SECONDS, os.kill, (process, 9))
        too_long.start()
        try:
            return self._answer()
        finally:
            too_long.cancel()

    def _answer(self) -> int:
        assert self._server.stdout is not None
        return int(self._server.stdout.readline())

    def close(self) -> None:
        """End the process that they are forked from."""
        self._server.communicate()


@pytest.fixture(scope="session")
def command_line() -> Iterator[CommandLine]:
    """The process that runs the command line."""
    server = CommandLine()
    yield server
    server.close()


Cli = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def cli(command_line: CommandLine, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """Run ``grpo-rewards`` with arguments in the test's folder; `env` adds to the environment, `input` is what it reads."""

    def run(
        *arguments: object, env: Mapping[str, str] | None = None, input: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        words = [*map(str, arguments)]
        environment = {**os.environ, "COLUMNS": "200", **(env or {})}
        if input is not None or any(
            name.startswith("PYTHON") for name in env or ()
        ):  # an interpreter must start with it
            return subprocess.run(
                [str(COMMAND), *words], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, env=environment,
                input=input,
            )  # fmt: skip
        outputs = tmp_path_factory.mktemp("outputs")
        code = command_line.run(words, tmp_path, environment, outputs)
        stdout, stderr = ((outputs / name).read_text(encoding="utf-8") for name in ("stdout", "stderr"))
        return subprocess.CompletedProcess(words, code, stdout, stderr)

    return run


@pytest.fixture
def jsonl(tmp_path: Path) -> Callable[..., Path]:
    """Write rows as JSONL."""

    def write(rows: Iterable[Mapping[str, Any]], name: str = "rows.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write


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


def _pip(python: Path) -> list[str]:
    """The command of this environment's pip for another one: a pip of its own would have to be installed first."""
    return [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check", "-q"]


@pytest.fixture(scope="session")
def fresh_python(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """The interpreter of a fresh environment with the wheel and what it needs, nothing else."""
    folder, lock = _once(tmp_path_factory, "fresh")
    with lock:
        if not (folder / "done").exists():
            venv.create(folder)
            command = [*_pip(folder / "bin" / "python"), "install", "--no-compile", str(wheel)]
            subprocess.run(command, check=True, capture_output=True)
            (folder / "done").touch()
    return folder / "bin" / "python"


@pytest.fixture(scope="session")
def fresh_pip(fresh_python: Path) -> list[str]:
    """The command that installs into the fresh environment."""
    return _pip(fresh_python)
