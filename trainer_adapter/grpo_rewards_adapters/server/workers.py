"""The workers as the service sees them: each has a little work ahead, and is started again when it dies."""

from __future__ import annotations

import asyncio
import itertools
import logging
import math
import pickle
import socket
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from grpo_rewards import Composite
from grpo_rewards.errors import ConfigError
from grpo_rewards.slots import shared_by
from grpo_rewards.workers import HEADER, START_SECONDS, Task, WorkerLost, WorkerProcess, how_it_ended, pickled
from grpo_rewards_adapters.server.worker import LATE, REPLY, REQUEST

_log = logging.getLogger(__name__)
_STARTS = 3  # a worker that is killed while it starts is started again; what ends three is not chance
_ATTEMPTS = 2  # a job whose worker dies is tried once more; what kills two workers is the job
_AHEAD = 0.016  # seconds of work that a worker may have waiting at it, by the usual time of a job
_NAP = 0.9  # of the work that every worker has ahead, while which the event loop sleeps
_WORTH = 0.0005  # seconds of it, from which on that is worth while
_PATIENCE = 0.04  # seconds after which what waits behind a job is taken back, for whichever worker is free first
_BUFFER = 1 << 20  # bytes of jobs that the line holds, so that those ahead are written at once


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, rows and JSON of a job."""

    status: int
    rows: int
    body: bytes


@dataclass(slots=True, eq=False)
class _Job:
    number: int  # as they came
    kind: bytes
    body: bytes
    done: asyncio.Future[Answer]
    worker: _ServiceWorker | None = None  # the one that is to do it
    attempts: int = 0

    def answer(self, answer: Answer) -> None:
        if not self.done.done():  # its client may have gone
            self.done.set_result(answer)


class _ServiceWorker(WorkerProcess, asyncio.Protocol):
    """A worker on an event loop: it does the jobs that it was asked in their order, `began` is when it came to the first of them."""

    _transport: asyncio.Transport | None = None  # until it is connected

    def __init__(self, task: Task, replied: Callable[[_ServiceWorker, bytes, bytes], None]) -> None:
        super().__init__(task)
        self.line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
        self.jobs: deque[_Job] = deque()
        self.began = 0.0
        self.ended = False
        self._came = bytearray()
        self._replied = replied
        self._started: asyncio.Future[tuple[bytes, bytes]] = asyncio.get_running_loop().create_future()

    async def start(self, composite: bytes) -> None:
        """Have it load the rewards.

        Raises:
            ConfigError: they cannot be loaded there.
            WorkerLost: it ended.
        """
        await asyncio.get_running_loop().create_connection(lambda: self, sock=self.line)
        self._write(HEADER.pack(b"?", 0, len(composite)), composite)
        kind, body = await self._started
        if kind == b"!":
            raise pickle.loads(body)  # noqa: S301 - from our own child
        if not kind:
            await asyncio.to_thread(self.stop)
            raise WorkerLost(how_it_ended(self.process.returncode))

    def give(self, job: _Job) -> None:
        """Have a job done after those that it has; not at all if the first of them takes long."""
        until = self.began + _PATIENCE if self.jobs else math.inf
        if not self.jobs:
            self.began = time.monotonic()
        self.jobs.append(job)
        job.worker = self
        head = HEADER.pack(b"?", 1, REQUEST.size + len(job.body)) + REQUEST.pack(job.kind, until)
        self._write(head, job.body)

    def _write(self, *parts: bytes) -> None:
        assert self._transport is not None
        self._transport.writelines(parts)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._came += data
        while len(self._came) >= HEADER.size:
            kind, _, length = HEADER.unpack_from(self._came)
            end = HEADER.size + length
            if len(self._came) < end:
                return
            body = bytes(memoryview(self._came)[HEADER.size : end])
            del self._came[:end]
            self._received(kind, body)

    def connection_lost(self, _error: Exception | None) -> None:
        self.ended = True
        self._received(b"", b"")

    def _received(self, kind: bytes, body: bytes) -> None:
        if self._started.done():
            self._replied(self, kind, body)
        else:
            self._started.set_result((kind, body))

    async def end(self, *, now: bool = False) -> None:
        """Let it end by itself, unless it is to end `now`."""
        if self._transport is not None:
            self._transport.abort()
        await asyncio.to_thread(self.kill if now else self.stop)


@dataclass(slots=True)
class Workers:
    """`size` worker processes that take jobs from one queue, in order.

    While jobs are short each worker has some ahead, so that neither it nor the event loop waits for the other. While all of
    them have, the event loop sleeps until most of it is done, and then sees to all that has come: processes that share a
    processor change places that much less often, each time on caches that the other has emptied.
    """

    composite: Composite
    size: int
    request_timeout: float
    restarts: int = 0
    _running: list[_ServiceWorker] = field(default_factory=list)
    _queue: deque[_Job] = field(default_factory=deque)
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _usual: float = _AHEAD  # seconds of a job
    _naps: bool = False  # it is about to
    _watch: asyncio.TimerHandle | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _pickled: bytes = b""
    _stopped: bool = False

    @property
    def alive(self) -> int:
        """Workers that are up."""
        return len(self._running)

    async def start(self) -> None:
        """Start every worker, once.

        Raises:
            ConfigError: the rewards cannot be loaded in another process.
        """
        if self._pickled:
            return
        self._pickled, _ = pickled(self.composite)
        try:
            await asyncio.gather(*(self._task(self._first()) for _ in range(self.size)))
        except asyncio.CancelledError:
            if not self._stopped:  # else there is nothing to start any more
                raise

    async def do(self, kind: bytes, body: bytes) -> Answer:
        """Have a job done."""
        job = _Job(next(self._numbers), kind, body, asyncio.get_running_loop().create_future())
        self._queue.append(job)
        self._hand_out()
        return await job.done

    async def stop(self) -> None:
        """End the workers, those that are starting too; jobs that are not done are answered 503."""
        self._stopped = True
        if self._watch is not None:
            self._watch.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        running, self._running = self._running, []
        for job in (*self._queue, *(job for worker in running for job in worker.jobs)):
            job.answer(Answer(503, 0, b'{"error":"the service is shutting down"}'))
        await asyncio.gather(*(worker.end() for worker in running))

    def _hand_out(self) -> None:
        """Give jobs to the workers that are free, then to those that will be at once."""
        while self._queue and self._running:
            worker = self._idlest()
            if worker.jobs and (
                len(worker.jobs) * self._usual > _AHEAD or time.monotonic() - worker.began > _PATIENCE / 2
            ):
                break
            job = self._queue.popleft()
            if not job.done.done():
                worker.give(job)
        if not self._naps and self._ahead() > _WORTH:
            self._naps = True
            # once what is ready now is done, and what that brings about: answers go out, requests that have come are handed out
            loop = asyncio.get_running_loop()
            loop.call_soon(loop.call_soon, self._nap)
        if self._watch is None and any(worker.jobs for worker in self._running):
            self._watch = asyncio.get_running_loop().call_later(_PATIENCE, self._look)

    def _idlest(self) -> _ServiceWorker:
        return min(self._running, key=lambda one: len(one.jobs))

    def _ahead(self) -> float:
        """Seconds of work that every worker has after the job that it is at."""
        return (len(self._idlest().jobs) - 1) * self._usual if self._running else 0.0

    def _nap(self) -> None:
        self._naps = False
        if (ahead := self._ahead()) > _WORTH:
            time.sleep(min(ahead, _AHEAD) * _NAP)

    def _replied(self, worker: _ServiceWorker, kind: bytes, body: bytes) -> None:
        if worker not in self._running:  # it is being ended
            return
        if not kind:
            # what was taken back it would not have begun
            self._lose(worker, next((job for job in worker.jobs if job.worker is worker), None))
            return
        now = time.monotonic()
        status, rows = REPLY.unpack_from(body)
        job = worker.jobs.popleft()
        if status == LATE:
            # it has not been taken back yet, nor given to this worker once more
            if job.worker is worker and job not in worker.jobs:
                self._queue_again([job])
        else:
            self._usual += (now - worker.began - self._usual) / 16
            job.answer(Answer(status, rows, body[REPLY.size :]))
        worker.began = now
        if kind == b"x":  # it has a thread that hangs, and leaves
            self._lose(worker)
        else:
            self._hand_out()

    def _look(self) -> None:
        """Take back what waits behind a job that takes long, and end a worker whose job takes too long."""
        self._watch = None
        now = time.monotonic()
        for worker in tuple(self._running):
            if worker.jobs and now - worker.began > self.request_timeout:
                job = worker.jobs.popleft()
                job.answer(Answer(504, 0, b'{"error":"scoring took too long; its worker process was ended"}'))
                self._lose(worker, now=True)
            elif worker.jobs and now - worker.began > _PATIENCE:
                self._take_back(worker, worker.jobs[0])
        self._hand_out()

    def _take_back(self, worker: _ServiceWorker, kept: _Job | None = None) -> None:
        """Queue the jobs again that a worker has, but for the one that is `kept`."""
        mine = [job for job in worker.jobs if job.worker is worker and job is not kept]
        for job in mine:
            job.worker = None
        self._queue_again(mine)

    def _queue_again(self, jobs: Iterable[_Job]) -> None:
        """Have jobs done where they stood in the queue."""
        self._queue = deque(sorted(dict.fromkeys((*jobs, *self._queue)), key=lambda job: job.number))

    def _lose(self, worker: _ServiceWorker, job: _Job | None = None, *, now: bool = False) -> None:
        """Have another worker in place of one that died over a `job`, leaves, or is to end `now`; its jobs are queued again."""
        self._running.remove(worker)
        if job is not None:
            job.attempts += 1
        self._take_back(worker, None if job is None or job.attempts < _ATTEMPTS else job)
        self._task(self._replace(worker, job, now=now))
        self._hand_out()

    def _task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Begin what `stop` is to end."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _replace(self, worker: _ServiceWorker, job: _Job | None, *, now: bool) -> None:
        await worker.end(now=now)
        if job is not None:
            lost = how_it_ended(worker.process.returncode)
            _log.warning("%s while it scored a request (attempt %d)", lost, job.attempts)
            if job.attempts >= _ATTEMPTS:
                job.answer(Answer(500, 0, f'{{"error":"{lost} on this request, {_ATTEMPTS} times"}}'.encode()))
        pause = 0.1
        while True:
            self.restarts += 1
            try:
                await self._spawn()
                return
            except (WorkerLost, ConfigError, OSError) as error:
                _log.error("a worker cannot be started again: %s; trying once more in %.1f s", error, pause)
                await asyncio.sleep(pause)
                pause = min(pause * 2, 10.0)

    async def _first(self) -> None:
        lost: WorkerLost | None = None
        for _ in range(_STARTS):
            if lost is not None:
                self.restarts += 1
                _log.warning("%s while it started; starting another", lost)
            try:
                await self._spawn()
                return
            except WorkerLost as error:
                lost = error
        raise ConfigError(f"a worker process did not start, {_STARTS} times: {lost}")

    async def _spawn(self) -> None:
        task = Task(f"{__package__}.worker:RequestScorer", "bytes", b"", environment=shared_by(self.size))
        worker = _ServiceWorker(task, self._replied)
        try:
            await asyncio.wait_for(worker.start(self._pickled), START_SECONDS)
        except BaseException as error:  # also where the service stops meanwhile: nobody else knows of this process yet
            await worker.end(now=not isinstance(error, ConfigError | WorkerLost))
            if isinstance(error, TimeoutError):
                raise ConfigError(f"a worker process did not start within {START_SECONDS:g} s") from None
            raise
        self._running.append(worker)
        if worker.ended:  # between its start and here
            self._lose(worker)
        self._hand_out()
