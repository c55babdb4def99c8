"""`open_sandbox` and the pool behind it: threads of this process, each with a supervisor of its own."""

from __future__ import annotations

import atexit
import logging
import os
import queue
import threading
import time
import warnings
import weakref
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future, as_completed

from ._backend import Backend, Worker
from ._errors import SandboxUnavailable
from ._job import Job, Verdict
from ._registry import AUTO, check_options, find_backend, make_backend, option_names

_log = logging.getLogger(__name__)
_ATTEMPTS, _PAUSE = 3, 0.2  # starts; seconds before the next one
_CLEANING = 10.0  # seconds after which a worker that is still ending its last job's processes is replaced
_CLOSED = "the sandbox is closed"
# for the end of the process and for forks
_open: weakref.WeakSet[Sandbox] = weakref.WeakSet()


class Sandbox:
    """Runs jobs on `workers` supervisors. Threads may share it; a forked child gets supervisors of its own."""

    def __init__(self, backend: Backend, workers: int | None) -> None:
        workers = workers or backend.slots or 2
        self.backend, self.workers, self._backend = backend.name, workers, backend
        self._spares = workers if backend.fresh else backend.spares
        self._live: list[Worker] = []
        self._forget()
        self._closed = True
        try:
            # here, so that a machine that cannot isolate is known when the sandbox is opened
            first = self._start()
        except BaseException:
            backend.close()
            raise
        self._closed = False
        self._idle.append(first)
        self.plan, self.description = first.plan, backend.describe(first)
        _open.add(self)
        # anew, so that it runs before what the backend's modules registered: multiprocessing's waits for every worker
        atexit.unregister(_close_all)
        atexit.register(_close_all)

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
            if self._keeper is None and self._spares:
                given = weakref.ref(self), self._wanted
                keeper = threading.Thread(target=_keep, args=given, daemon=True, name="grpo-sandbox-keeper")
                keeper.start()
                self._keeper = keeper
            while len(self._threads) < min(self.workers, len(self._threads) + len(items)):
                shared = weakref.ref(self), self._queue
                thread = threading.Thread(target=_work, args=shared, daemon=True, name="grpo-sandbox")
                thread.start()  # first: one that the system refuses is none that works
                self._threads.append(thread)
            for item in items:
                self._queue.put(item)
        return [future for _, future in items]

    def _judge(self, job: Job, future: Future[Verdict], worker: Worker | None) -> Worker | None:
        """Judge a job on this worker, or on others where it fails; return the one for the next job."""
        start, problem = time.monotonic(), ""
        verdict: Verdict | None = None
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(_PAUSE * attempt)
            if self._closed:
                problem = _CLOSED
                break
            try:
                worker = worker or self._take()
                # waiting for a worker is not the job's time
                start = time.monotonic()
                said = worker.run(job)
                if said.status != "unavailable":
                    verdict = said
                    break
                problem = said.reason
            except Exception as error:  # noqa: BLE001  a thread that ended here would leave `run` waiting for ever
                problem = str(error) or type(error).__name__
            if worker is not None:
                self._drop(worker)
                worker = None
        else:
            problem = f"the sandbox failed {_ATTEMPTS} times: {problem}"
        future.set_result(verdict or Verdict("unavailable", reason=problem, seconds=time.monotonic() - start))
        if worker is not None and (self._backend.fresh or not worker.is_clean_in(_CLEANING)):
            self._drop(worker)
            return None
        return worker

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

    def _end(self, worker: Worker) -> None:
        """Close a worker, whatever its backend raises: who waits for a verdict waits for the thread that does this."""
        try:
            worker.close()
        except Exception as error:  # noqa: BLE001
            _log.warning(
                "a worker of the sandbox (%s) could not be closed: %s: %s", self.backend, type(error).__name__, error
            )

    def _drop(self, worker: Worker) -> None:
        self._end(worker)
        with self._lock:
            self._live.remove(worker)

    def _start_spares(self) -> bool:
        """Start supervisors ahead of need, so that what takes one finds it ready; say whether there may be need again."""
        self._wanted.clear()
        while not self._closed and len(self._idle) < self._spares:
            try:
                worker = self._start()
            except Exception:  # noqa: BLE001  who needs one tries again and says what is wrong
                break
            with self._lock:
                self._idle.append(worker)
        return not self._closed  # looked at after the clearing: `close` may have come just before it

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
            # before any thread is joined: it might be in the middle of a job
            worker.interrupt()
        for thread in (*self._threads, *([self._keeper] if self._keeper else [])):
            if thread is not threading.current_thread():  # one whose job was the last to hold a dropped sandbox
                thread.join()
        for worker in self._live:
            self._end(worker)
        self._backend.close()

    def __del__(self) -> None:
        if not self._closed and self._pid == os.getpid():
            warnings.warn(f"unclosed sandbox ({self.backend}); use close() or with", ResourceWarning, 2, source=self)
            self.close()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


# The threads hold the sandbox while they do something for it, and not while they wait: one that is dropped is closed.


def _work(found: weakref.ref[Sandbox], jobs: queue.SimpleQueue[tuple[Job, Future[Verdict]] | None]) -> None:
    """Judge one job after the other."""
    worker: Worker | None = None
    while (item := jobs.get()) is not None:
        if (sandbox := found()) is not None and item[1].set_running_or_notify_cancel():
            worker = sandbox._judge(*item, worker)
        del sandbox


def _keep(found: weakref.ref[Sandbox], wanted: threading.Event) -> None:
    """Start spare supervisors whenever one was taken."""
    while (sandbox := found()) is not None and sandbox._start_spares():
        del sandbox
        wanted.wait()


def _close_all() -> None:
    for sandbox in list(_open):
        sandbox.close()


def _after_fork() -> None:
    for sandbox in list(_open):
        sandbox._forget()
        sandbox._backend.after_fork()


os.register_at_fork(after_in_child=_after_fork)


def open_sandbox(backend: str | Backend = "auto", *, workers: int | None = 2, **options: object) -> Sandbox:
    """Open a sandbox.

    Args:
        backend: the name of a backend (`backend_names`), or the backend itself: ``LocalBackend(packages="none")``; "auto" is
            local where this machine can isolate, else docker.
        workers: how many jobs run at once; None: as many as the backend has slots elsewhere, else 2.
        options: the backend's own, by the keywords of its class: `LocalBackend` and `DockerBackend` say theirs. "auto"
            gives each of the two those that it takes.

    Raises:
        SandboxUnavailable: nothing here can give what was asked for.
        ValueError: there is no such backend, option or number of workers.
    """
    if workers is not None and workers < 1:
        raise ValueError(f"workers {workers}; expected at least 1")
    if isinstance(backend, Backend):
        if options:
            raise ValueError(f"options {', '.join(options)} beside a backend; give them to {type(backend).__name__}")
        return Sandbox(backend, workers)
    if backend != "auto":
        return Sandbox(make_backend(backend, options), workers)
    return _first_of(AUTO, workers, options)


def _first_of(names: Sequence[str], workers: int | None, options: Mapping[str, object]) -> Sandbox:
    check_options("auto", options)
    problems = []
    for name in names:
        known = option_names(find_backend(name))
        own = {option: value for option, value in options.items() if option in known}
        try:
            return Sandbox(make_backend(name, own), workers)
        except SandboxUnavailable as error:
            problems.append(f"{name}: {error}")
    raise SandboxUnavailable("\n".join(["neither backend can run here.", *problems]))
