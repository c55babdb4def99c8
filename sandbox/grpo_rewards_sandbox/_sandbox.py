"""`open_sandbox` and the pool behind it: threads of this process, each with a supervisor of its own."""

from __future__ import annotations

import atexit
import os
import queue
import select
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from ._errors import SandboxUnavailable
from ._job import Job, Verdict
from .program import wire

_PARENT = str(Path(__file__).parent)
_LAUNCH = "import sys; sys.path.insert(0, sys.argv[1]); from program.supervisor import main; main()"
_GRACE, _START, _ATTEMPTS = 5.0, 30.0, 3
_open: weakref.WeakSet[Sandbox] = weakref.WeakSet()


def _pytest_path() -> list[str]:
    import pytest

    return [str(Path(pytest.__file__).parents[1])]


class LocalWorker:
    """A supervisor as a child process."""

    def __init__(self, allow: tuple[str, ...], python_path: tuple[str, ...]) -> None:
        interpreter = getattr(sys, "_base_executable", None) or sys.executable
        self._process = subprocess.Popen(
            [interpreter, "-I", "-S", "-c", _LAUNCH, _PARENT],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, cwd="/",
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}, start_new_session=True,
        )  # fmt: skip
        config = {
            "allow": allow, "python_path": list(python_path), "pytest_path": _pytest_path(), "program_path": _PARENT,
            "sweep": [],
        }  # fmt: skip
        try:
            hello = self.ask(config, _START)
        except OSError as error:
            self.close()
            raise SandboxUnavailable(f"the sandbox's supervisor did not start: {error}") from error
        if "error" in hello:
            self.close()
            raise SandboxUnavailable(hello["error"])
        self.plan: dict[str, Any] = hello["plan"]

    def ask(self, message: Any, seconds: float) -> dict[str, Any]:
        """Send a message and return the answer; OSError where none comes in time."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            wire.write_frame(self._process.stdin.fileno(), message)
            if not select.select([self._process.stdout], [], [], seconds)[0]:
                raise OSError("no answer in time")
            answer = wire.read_frame(self._process.stdout.fileno())
        except wire.Disconnected as error:
            raise OSError(str(error)) from error
        if answer is None:
            raise OSError("the supervisor ended")
        return answer  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the supervisor and all below it."""
        self.abandon()
        try:
            self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def abandon(self) -> None:
        """Close this process's ends only."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


class Sandbox:
    """Runs jobs on `workers` supervisors. Threads may share it; a forked child gets supervisors of its own."""

    def __init__(self, workers: int, allow: tuple[str, ...], python_path: tuple[str, ...]) -> None:
        self.workers, self._allow, self._python_path = workers, allow, python_path
        self._reset()
        self.plan = self._first.plan
        _open.add(self)

    _first: Any = None

    def _reset(self) -> None:
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._live: list[LocalWorker] = []
        self._lock = threading.Lock()
        self._closed = False
        self._first = LocalWorker(self._allow, self._python_path)
        self._live.append(self._first)
        self._pid = os.getpid()

    def run(self, jobs: Iterable[Job]) -> list[Verdict]:
        """Judge jobs; return their verdicts in order."""
        if self._pid != os.getpid():
            for worker in self._live:
                worker.abandon()
            self._reset()
        with self._lock:
            if self._closed:
                raise SandboxUnavailable("the sandbox is closed")
            while len(self._threads) < self.workers:
                thread = threading.Thread(target=self._work, daemon=True, name="grpo-sandbox")
                self._threads.append(thread)
                thread.start()
        waiting: list[Future[Verdict]] = []
        for job in jobs:
            future: Future[Verdict] = Future()
            self._queue.put((job, future))
            waiting.append(future)
        return [future.result() for future in waiting]

    def _work(self) -> None:
        worker: LocalWorker | None = None
        while (item := self._queue.get()) is not None:
            job, future = item
            start = time.monotonic()
            problem = ""
            for _ in range(_ATTEMPTS):
                try:
                    if worker is None:
                        worker = self._take()
                    answer = worker.ask(job.to_wire(), job.timeout + _GRACE)
                    answer.pop("passed")
                    future.set_result(Verdict(**answer, seconds=time.monotonic() - start))
                    break
                except (OSError, SandboxUnavailable, ValueError) as error:
                    problem = str(error)
                    if worker is not None:
                        worker.close()
                        worker = None
            else:
                future.set_result(Verdict("unavailable", reason=f"the sandbox failed {_ATTEMPTS} times: {problem}"))

    def _take(self) -> LocalWorker:
        with self._lock:
            first, self._first = self._first, None
            if first is not None:
                return first  # type: ignore[no-any-return]
        worker = LocalWorker(self._allow, self._python_path)
        with self._lock:
            self._live.append(worker)
        return worker

    def close(self) -> None:
        """End every supervisor; nothing of them stays. Jobs that were not done become `unavailable`."""
        if self._closed or self._pid != os.getpid():
            return
        self._closed = True
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()
        for worker in self._live:
            worker.close()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


@atexit.register
def _close_all() -> None:
    for sandbox in list(_open):
        sandbox.close()


def open_sandbox(
    backend: str = "auto",
    *,
    workers: int = 2,
    allow: tuple[str, ...] = ("namespaces", "user", "landlock"),
    python_path: tuple[str, ...] = (),
) -> Sandbox:
    """Open a sandbox; raise `SandboxUnavailable` where this machine cannot give what was asked for."""
    if backend not in ("auto", "local", "docker"):
        raise ValueError(f"backend {backend!r}; expected auto, local or docker")
    if backend == "docker":
        raise SandboxUnavailable("the docker backend is not there yet; use sandbox='local'")
    return Sandbox(workers, allow, python_path)
