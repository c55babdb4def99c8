"""`open_sandbox` and the pool behind it: threads of this process, each with a supervisor of its own."""

from __future__ import annotations

import atexit
import os
import queue
import threading
import time
import weakref
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future, as_completed

from ._errors import SandboxUnavailable
from ._job import Job, Verdict
from ._local import LocalBackend
from ._worker import Backend, Worker

_GRACE, _ATTEMPTS, _PAUSE = 20.0, 3, 0.2  # seconds without a sign of life; starts; seconds before the next one
_CLEANING = 10.0  # seconds after which a worker that is still ending its last job's processes is replaced
_CLOSED = "the sandbox is closed"
_open: weakref.WeakSet[Sandbox] = weakref.WeakSet()


class Sandbox:
    """Runs jobs on `workers` supervisors. Threads may share it; a forked child gets supervisors of its own."""

    def __init__(self, backend: Backend, workers: int) -> None:
        self.backend, self.workers, self._backend = backend.name, workers, backend
        self._live: list[Worker] = []
        self._forget()
        self._closed = False
        try:
            first = self._start()
        except BaseException:
            backend.close()
            raise
        self._idle.append(first)
        self.plan = first.plan
        _open.add(self)

    def _forget(self) -> None:
        """Start without a supervisor or thread; in a forked child, whose parent goes on using those there are."""
        for worker in self._live:
            worker.abandon()
        self._queue: queue.SimpleQueue[tuple[Job, Future[Verdict]] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._keeper: threading.Thread | None = None
        self._wanted = threading.Event()
        self._live = []
        self._idle: list[Worker] = []
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def run(self, jobs: Iterable[Job]) -> list[Verdict]:
        """Judge jobs; return their verdicts in order. Raise `SandboxUnavailable` once the sandbox is closed."""
        return [future.result() for future in self._submit(jobs)]

    def stream(self, jobs: Iterable[Job]) -> Generator[tuple[int, Verdict], None, None]:
        """Judge jobs; yield each one's place and verdict as it comes. Closing the generator takes back what has not begun.

        Raise `SandboxUnavailable` once the sandbox is closed.
        """
        places = {future: place for place, future in enumerate(self._submit(jobs))}
        try:
            for future in as_completed(places):
                yield places[future], future.result()
        finally:
            for future in places:
                future.cancel()

    def _submit(self, jobs: Iterable[Job]) -> list[Future[Verdict]]:
        items: list[tuple[Job, Future[Verdict]]] = [(job, Future()) for job in jobs]
        with self._lock:
            if self._closed:
                raise SandboxUnavailable(_CLOSED)
            if self._keeper is None and self._backend.spares:
                self._keeper = threading.Thread(target=self._keep, daemon=True, name="grpo-sandbox-keeper")
                self._keeper.start()
            while len(self._threads) < min(self.workers, len(self._threads) + len(items)):
                thread = threading.Thread(target=self._work, daemon=True, name="grpo-sandbox")
                self._threads.append(thread)
                thread.start()
            for item in items:
                self._queue.put(item)
        return [future for _, future in items]

    def _work(self) -> None:
        worker: Worker | None = None
        while (item := self._queue.get()) is not None:
            job, future = item
            if not future.set_running_or_notify_cancel():
                continue
            start, problem = time.monotonic(), ""
            verdict: Verdict | None = None
            clean = True
            for attempt in range(_ATTEMPTS):
                if attempt:
                    time.sleep(_PAUSE * attempt)
                if self._closed:
                    problem = _CLOSED
                    break
                try:
                    worker = worker or self._take()
                    start = time.monotonic()
                    answer = worker.ask(job.to_wire(), _GRACE)
                    answer.pop("passed")
                    clean = answer.pop("clean")
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
            if worker is not None and (self._backend.fresh or not (clean or worker.is_clean_in(_CLEANING))):
                self._drop(worker)
                worker = None

    def _start(self) -> Worker:
        worker = self._backend.start()
        with self._lock:
            self._live.append(worker)
        return worker

    def _take(self) -> Worker:
        with self._lock:
            worker = self._idle.pop() if self._idle else None
        self._wanted.set()
        return worker or self._start()

    def _drop(self, worker: Worker) -> None:
        worker.close()
        with self._lock:
            self._live.remove(worker)

    def _keep(self) -> None:
        """Start supervisors ahead of need: what takes one finds it ready."""
        while not self._closed:
            self._wanted.clear()
            while not self._closed and len(self._idle) < self._backend.spares:
                try:
                    worker = self._start()
                except Exception:  # noqa: BLE001  who needs one tries again and says what is wrong
                    break
                with self._lock:
                    self._idle.append(worker)
            self._wanted.wait()

    def close(self) -> None:
        """End every supervisor; nothing of them stays. Jobs that are not done become `unavailable`."""
        with self._lock:
            if self._closed or self._pid != os.getpid():
                return
            self._closed = True
            for _ in self._threads:
                self._queue.put(None)
            live = list(self._live)
        self._wanted.set()
        for worker in live:
            worker.interrupt()
        for thread in (*self._threads, *([self._keeper] if self._keeper else [])):
            thread.join()
        for worker in self._live:
            worker.close()
        self._backend.close()

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
        sandbox._backend.after_fork()


os.register_at_fork(after_in_child=_after_fork)


def open_sandbox(
    backend: str = "auto",
    *,
    workers: int = 2,
    allow: tuple[str, ...] = ("namespaces", "user", "landlock"),
    python_path: tuple[str, ...] = (),
    packages: str | Sequence[str] = "environment",
    mode: str = "reuse",
    image: str | None = None,
    runtime: str | None = None,
    memory: int = 2 << 30,
    cpus: float = 2.0,
) -> Sandbox:
    """Open a sandbox; raise `SandboxUnavailable` where nothing here can give what was asked for.

    Args:
        backend: "local" (Linux, this machine), "docker" (an engine: `DOCKER_HOST`, else the current context), or
            "auto": local where that can isolate, else docker.
        workers: how many jobs run at once.
        allow: the modes of isolation that are good enough for the local backend (see `guarantees`).
        python_path: local only: further folders that candidates may import from.
        packages: local only: which installed packages candidates and tests may import: "environment" (all that this
            environment has), "none", or names of packages, which bring what they need. Docker has what its image has.
        mode: docker only: "reuse" (a container serves many jobs, one after the other) or "fresh" (one each).
        image: docker only: an image of `grpo-rewards sandbox build`; None: the newest one of this version.
        runtime: docker only: the engine's runtime, such as "runsc" (gVisor).
        memory: docker only: bytes for one container.
        cpus: docker only: processors for one container.
    """
    if backend not in ("auto", "local", "docker"):
        raise ValueError(f"backend {backend!r}; expected auto, local or docker")
    if mode not in ("reuse", "fresh"):
        raise ValueError(f"mode {mode!r}; expected reuse or fresh")
    if workers < 1:
        raise ValueError(f"workers {workers}; expected at least 1")
    problem = ""
    if backend != "docker":
        try:
            return Sandbox(LocalBackend(allow, python_path, packages), workers)
        except SandboxUnavailable as error:
            if backend == "local":
                raise
            problem = str(error)
    from .docker_backend.containers import DockerBackend

    try:
        docker = DockerBackend(
            image=image, runtime=runtime, memory=memory, cpus=cpus, fresh=mode == "fresh", workers=workers
        )
        return Sandbox(docker, workers)
    except SandboxUnavailable as error:
        if problem:
            raise SandboxUnavailable(f"neither backend can run here.\nlocal: {problem}\ndocker: {error}") from error
        raise
