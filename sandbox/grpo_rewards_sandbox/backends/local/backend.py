"""The backend `local`: a supervisor as a child process of this one."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ..._backend import Backend, Worker
from ..._errors import SandboxUnavailable
from ..._guarantees import describe_mode
from ..supervised import Supervised, checkers_header
from .packages import reachable, site_packages

_PARENT = str(Path(__file__).parents[2])  # of the program
_LAUNCH = "import sys; sys.path.insert(0, sys.argv[1]); from program.service import main; main()"
_END = 2.0


def _pytest_path() -> list[str]:
    import pytest

    return [str(Path(pytest.__file__).parents[1])]


class LocalBackend(Backend):
    """Supervisors on this machine (Linux).

    Args:
        allow: the modes of isolation that are good enough, the first that works is used (see `guarantees`).
        python_path: further folders that candidates may import from.
        packages: which installed packages candidates and tests may import: "environment" (all that this environment has),
            "none", or names of packages, which bring what they need.
    """

    name = "local"

    def __init__(
        self,
        *,
        allow: tuple[str, ...] = ("namespaces", "user", "landlock"),
        python_path: tuple[str, ...] = (),
        packages: str | Sequence[str] = "environment",
    ) -> None:
        self._allow, self._python_path, self._packages = allow, python_path, reachable(packages)

    def start(self) -> Worker:
        """Start a supervisor."""
        return LocalWorker(self._allow, self._python_path, self._packages)

    def describe(self, worker: Worker) -> str:
        """Say in a line what `worker` keeps candidates apart with."""
        return describe_mode("local", worker.plan)


class LocalWorker(Supervised):
    """A supervisor that was executed afresh, never forked: nothing of this process's memory is in it."""

    def __init__(self, allow: tuple[str, ...], python_path: tuple[str, ...], packages: list[str] | None) -> None:
        # a virtual environment's own is a link to this one, which is what the sandbox's root holds
        interpreter = getattr(sys, "_base_executable", None) or sys.executable
        config = {
            "allow": allow, "python_path": list(python_path), "pytest_path": _pytest_path(), "program_path": _PARENT,
            "sweep": [], "store": "", "warm": True, "site_packages": site_packages(), "packages": packages,
            "testlib": checkers_header(),
        }  # fmt: skip
        try:
            self._process = subprocess.Popen(
                # -I -S: nothing that the user's environment, folder or packages could put before the standard library
                [interpreter, "-I", "-S", "-c", _LAUNCH, _PARENT],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None if os.environ.get("GRPO_SANDBOX_LOG") else subprocess.DEVNULL, bufsize=0, cwd="/",
                env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            advice = (
                "use a Python whose interpreter this user may run, not one below another user's home"
                if isinstance(error, PermissionError | FileNotFoundError)
                else "let this process have more (ulimit -n, ulimit -u, memory), or take fewer workers"
            )
            raise SandboxUnavailable(
                f"the sandbox's supervisor cannot be started with {interpreter}: {error.strerror}. What to do: {advice}"
            ) from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        # a supervisor that was stopped would else hold a write beyond its deadline
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        try:
            self.begin(config)
        except OSError as error:
            raise SandboxUnavailable(f"the sandbox's supervisor did not start: {error}") from error

    @property
    def pid(self) -> int:
        """Process id of the supervisor."""
        return self._process.pid

    def _write(self, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        while view:
            self._wait(self._in, select.POLLOUT, deadline)
            view = view[os.write(self._in, view) :]

    def _receive(self, size: int, deadline: float) -> bytes:
        self._wait(self._out, select.POLLIN, deadline)
        return os.read(self._out, size)

    @staticmethod
    def _wait(descriptor: int, event: int, deadline: float) -> None:
        # poll, for a trainer may hold more descriptors than select can name
        poll = select.poll()
        poll.register(descriptor, event)
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise OSError("the supervisor did not answer in time")

    def interrupt(self) -> None:
        """End the supervisor now, in the middle of a job too; for any thread."""
        if self._process.poll() is None:
            self._process.terminate()

    def close(self) -> None:
        """End the supervisor and all below it."""
        self.interrupt()
        self.abandon()
        try:
            self._process.wait(_END)
        except subprocess.TimeoutExpired:
            # its children die with it: each asked the kernel for that
            self._process.kill()
            self._process.wait()

    def abandon(self) -> None:
        """Close this process's ends only: what a forked child does with its parent's supervisors."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
