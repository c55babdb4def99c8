"""Several workers of one task, for any number of threads."""

from __future__ import annotations

import os
import threading
from typing import Any

from grpo_rewards.workers.process import Task, WorkerLost, WorkerProcess, WorkerTimeout


class Pool:
    """At most `size` workers; each is started when it is first needed, and replaced when it was killed or has died."""

    def __init__(self, task: Task, size: int) -> None:
        self._task = task
        self._idle: list[WorkerProcess] = []
        self._busy: set[WorkerProcess] = set()
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(size)
        self._process = os.getpid()

    def ask(self, question: Any, *, seconds: float | None = None, patience: float = 1.0) -> Any:
        """Return the reply to a question.

        With a `patience` above 1 `seconds` are the worker's own processor time where the system tells it (Linux), so that a busy
        machine changes no reply, and `patience` times as many seconds on the clock are the most.

        Raises:
            WorkerTimeout: it took longer than `seconds`; waiting for a free worker or for its start is not counted.
            WorkerLost: the worker ended over it, or the pool was closed meanwhile.
        """
        with self._slots:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            if worker is None:
                worker = WorkerProcess(self._task)
            with self._lock:
                self._busy.add(worker)
            keep = replace = False
            try:
                reply = worker.ask(question, seconds, patience)
                keep = True
                return reply
            except WorkerTimeout:
                keep, replace = worker.renew(), True
                raise
            except WorkerLost:
                keep, replace = worker.alive, True
                raise
            except Exception:  # the function's own, or it could not be made
                keep = worker.answering is not None
                raise
            finally:
                self._back(worker, keep=keep, replace=replace)

    def _back(self, worker: WorkerProcess, *, keep: bool, replace: bool) -> None:
        with self._lock:
            wanted = worker in self._busy  # not once the pool was closed
            self._busy.discard(worker)
            if keep and wanted:
                self._idle.append(worker)
                return
        worker.kill()
        if replace and wanted:
            another = WorkerProcess(self._task)  # it imports its function while the caller goes on
            with self._lock:
                self._idle.append(another)

    def close(self) -> None:
        """End the workers; one that is asked later begins anew."""
        if self._process != os.getpid():  # a forked child must not end its parent's workers
            return
        with self._lock:
            idle, self._idle = self._idle, []
            busy, self._busy = self._busy, set()
        for worker in (*idle, *busy):
            worker.hang_up()
        for worker in idle:  # who asks the others ends them
            worker.stop()
