"""`open_sandbox` and the pool behind it: threads of this process, each with a supervisor of its own."""

from __future__ import annotations

import atexit
import os
import queue
import threading
import time
import weakref
from collections.abc import Iterable
from concurrent.futures import Future

from ._errors import SandboxUnavailable
from ._job import Job, Verdict
from ._worker import LocalWorker

_GRACE, _ATTEMPTS = 5.0, 3
_CLOSED = "the sandbox is closed"
_open: weakref.WeakSet[Sandbox] = weakref.WeakSet()


class Sandbox:
    """Runs jobs on `workers` supervisors. Threads may share it; a forked child gets supervisors of its own."""

    def __init__(self, workers: int, allow: tuple[str, ...], python_path: tuple[str, ...]) -> None:
        self.workers, self._allow, self._python_path = workers, allow, python_path
        self._live: list[LocalWorker] = []
        self._forget()
        self._closed = False
        first = self._start()
        self._idle.append(first)
        self.plan = first.plan
        _open.add(self)

    def _forget(self) -> None:
        """Start without a supervisor or thread; in a forked child, whose parent goes on using those there are."""
        for worker in self._live:
            worker.abandon()
        self._queue: queue.SimpleQueue[tuple[Job, Future[Verdict]] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._live = []
        self._idle: list[LocalWorker] = []
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def run(self, jobs: Iterable[Job]) -> list[Verdict]:
        """Judge jobs; return their verdicts in order. Raise `SandboxUnavailable` once the sandbox is closed."""
        items: list[tuple[Job, Future[Verdict]]] = [(job, Future()) for job in jobs]
        with self._lock:
            if self._closed:
                raise SandboxUnavailable(_CLOSED)
            while len(self._threads) < min(self.workers, len(self._threads) + len(items)):
                thread = threading.Thread(target=self._work, daemon=True, name="grpo-sandbox")
                self._threads.append(thread)
                thread.start()
            for item in items:
                self._queue.put(item)
        return [future.result() for _, future in items]

    def _work(self) -> None:
        worker: LocalWorker | None = None
        while (item := self._queue.get()) is not None:
            job, future = item
            start, problem = time.monotonic(), ""
            verdict: Verdict | None = None
            for _ in range(_ATTEMPTS):
                if self._closed:
                    problem = _CLOSED
                    break
                try:
                    worker = worker or self._take()
                    answer = worker.ask(job.to_wire(), job.timeout + _GRACE)
                    answer.pop("passed")
                    if answer["status"] != "unavailable":
                        verdict = Verdict(**answer, seconds=time.monotonic() - start)
                        break
                    problem = answer["reason"]
                except Exception as error:  # noqa: BLE001  a thread that ended here would leave `run` waiting for ever
                    problem = str(error) or type(error).__name__
                if worker is not None:
                    self._drop(worker)
                    worker = None
            else:
                problem = f"the sandbox failed {_ATTEMPTS} times: {problem}"
            future.set_result(verdict or Verdict("unavailable", reason=problem, seconds=time.monotonic() - start))

    def _start(self) -> LocalWorker:
        worker = LocalWorker(self._allow, self._python_path)
        with self._lock:
            self._live.append(worker)
        return worker

    def _take(self) -> LocalWorker:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return self._start()

    def _drop(self, worker: LocalWorker) -> None:
        worker.close()
        with self._lock:
            self._live.remove(worker)

    def close(self) -> None:
        """End every supervisor; nothing of them stays. Jobs that are not done become `unavailable`."""
        with self._lock:
            if self._closed or self._pid != os.getpid():
                return
            self._closed = True
            for _ in self._threads:
                self._queue.put(None)
            for worker in self._live:
                worker.interrupt()
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


def _after_fork() -> None:
    for sandbox in list(_open):
        sandbox._forget()


os.register_at_fork(after_in_child=_after_fork)


def open_sandbox(
    backend: str = "auto",
    *,
    workers: int = 2,
    allow: tuple[str, ...] = ("namespaces", "user", "landlock"),
    python_path: tuple[str, ...] = (),
) -> Sandbox:
    """Open a sandbox; raise `SandboxUnavailable` where this machine cannot give what was asked for.

    `backend`: "local" (Linux, this machine) or "auto" (today the same). There is no Docker backend yet: "docker" raises.
    """
    if backend not in ("auto", "local", "docker"):
        raise ValueError(f"backend {backend!r}; expected auto, local or docker")
    if backend == "docker":
        raise SandboxUnavailable("there is no docker backend yet; use sandbox='local'")
    if workers < 1:
        raise ValueError(f"workers {workers}; expected at least 1")
    return Sandbox(workers, allow, python_path)
