"""The workers as the service sees them: one job each at a time, started again when they die."""

from __future__ import annotations

import asyncio
import logging
import pickle
from collections import deque
from dataclasses import dataclass, field
from typing import cast

from grpo_rewards import Composite
from grpo_rewards.errors import ConfigError
from grpo_rewards.rows import dump_json
from grpo_rewards.slots import shared_by
from grpo_rewards.workers import HEADER, START_SECONDS, Task, WorkerLost, WorkerProcess, how_it_ended, pickled
from grpo_rewards_adapters.server.worker import REPLY

__all__ = ["Answer", "Job", "Workers"]

_log = logging.getLogger(__name__)
_STARTS = 3  # a worker that is killed while it starts is started again; what ends three is not chance
_ATTEMPTS = 2  # a job whose worker dies is tried once more; what kills two workers is the job


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, rows and JSON of a job."""

    status: int
    rows: int
    body: bytes


class Job:
    """A request's kind and body, tried so many times; nobody waits for it once it is `dropped`. It began at a time of its caller's."""

    __slots__ = ("attempts", "began", "body", "dropped", "kind")

    def __init__(self, kind: bytes = b"", body: bytes = b"") -> None:
        self.kind = kind
        self.body = body
        self.attempts = 0
        self.dropped = False
        self.began = 0.0

    def answered(self, answer: Answer) -> None:
        """Take the answer."""
        raise NotImplementedError


class _ServiceWorker(WorkerProcess, asyncio.Protocol):
    """A worker that an event loop asks, by calls of its own: a task and a stream for each question take twice as long."""

    transport: asyncio.Transport

    def __init__(self, task: Task, workers: Workers) -> None:
        super().__init__(task)
        self._workers = workers
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[tuple[bytes, bytes]] = self._loop.create_future()
        self._came = bytearray()
        self.job: Job | None = None
        self.since = 0.0  # it has had it
        self.leaving = False

    async def start(self, composite: bytes) -> None:
        """Have it load the rewards.

        Raises:
            ConfigError: they cannot be loaded there.
            WorkerLost: it ended.
        """
        await self._loop.create_connection(lambda: self, sock=self.line)
        self._tell(composite)
        try:
            kind, body = await self._ready
        except ConnectionError:
            await self.end()
            raise WorkerLost(how_it_ended(self.process.returncode)) from None
        if kind == b"!":
            raise pickle.loads(body)  # noqa: S301 - from our own child

    def do(self, job: Job) -> None:
        """Have a job done."""
        job.attempts += 1
        self.job = job
        self.since = self._loop.time()
        self._tell(job.kind, job.body)

    async def end(self, *, now: bool = False) -> None:
        """Let it end by itself, unless it is to end `now`."""
        self.leaving = True
        self.transport.abort()
        await asyncio.to_thread(self.kill if now else self.stop)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        came: bytes | bytearray = data
        if self._came:
            self._came += data
            came = self._came
        if len(came) < HEADER.size or len(came) < HEADER.size + HEADER.unpack_from(came)[2]:
            self._came = bytearray(came) if came is data else self._came
            return
        self._came = bytearray()
        kind: bytes = HEADER.unpack_from(came)[0]
        if not self._ready.done():
            self._ready.set_result((kind, bytes(came[HEADER.size :])))
        elif kind == b"!":  # the service's own fault: what a reward raises is answered there
            self._workers.take(self, Answer(500, 0, b'{"error":"the request could not be scored; see the log"}'))
            _log.error("a request failed: %r", pickle.loads(came[HEADER.size :]))  # noqa: S301 - from our own child
        else:
            status, rows = REPLY.unpack_from(came, HEADER.size)
            body = bytes(memoryview(came)[HEADER.size + REPLY.size :])
            self._workers.take(self, Answer(status, rows, body), last=kind == b"x")

    def connection_lost(self, _error: Exception | None) -> None:
        if not self._ready.done():
            self._ready.set_exception(ConnectionError())
        elif not self.leaving:
            self._workers.lose(self)

    def _tell(self, *parts: bytes) -> None:
        self.transport.writelines((HEADER.pack(b"?", 1, sum(map(len, parts))), *parts))


@dataclass(slots=True)
class Workers:
    """`size` worker processes that take jobs from one queue, in order."""

    composite: Composite
    size: int
    request_timeout: float
    restarts: int = 0
    _jobs: deque[Job] = field(default_factory=deque)
    _idle: list[_ServiceWorker] = field(default_factory=list)
    _running: list[_ServiceWorker] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)  # that put workers in the place of others
    _pickled: bytes = b""

    @property
    def alive(self) -> int:
        """The workers that are up."""
        return len(self._running)

    async def start(self) -> None:
        """Start every worker.

        Raises:
            ConfigError: the rewards cannot be loaded in another process.
        """
        self._pickled, _ = pickled(self.composite)
        self._idle = await asyncio.gather(*(self._first() for _ in range(self.size)))

    def put(self, job: Job, *, first: bool = False) -> None:
        """Have a job done; `first`, before those that wait."""
        if self._idle:
            self._idle.pop().do(job)
        elif first:
            self._jobs.appendleft(job)
        else:
            self._jobs.append(job)

    def take(self, worker: _ServiceWorker, answer: Answer, *, last: bool = False) -> None:
        """Take a worker's answer and give it the next job; `last`: it has a thread that hangs, and leaves."""
        job, worker.job = worker.job, None
        if last:
            self._replace(worker)
        else:
            self._next(worker)
        if job is not None:
            job.answered(answer)

    def lose(self, worker: _ServiceWorker) -> None:
        """Put another worker in place of one that has ended, and try its job again."""
        self._replace(worker, worker.job)

    def end_late(self, now: float) -> None:
        """End the workers that have had their job for too long at this time of the loop's."""
        for worker in list(self._running):
            if (job := worker.job) is not None and now - worker.since > self.request_timeout:
                self._replace(worker, now=True)
                job.answered(Answer(504, 0, b'{"error":"scoring took too long; its worker process was ended"}'))

    async def stop(self) -> None:
        """End the workers; jobs that are not done are answered 503."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for job in [*(worker.job for worker in self._running), *self._jobs]:
            if job is not None:
                job.answered(Answer(503, 0, b'{"error":"the service is shutting down"}'))
        await asyncio.gather(*(worker.end() for worker in self._running))

    def _next(self, worker: _ServiceWorker) -> None:
        while self._jobs:
            job = self._jobs.popleft()
            if not job.dropped:  # its client is there
                worker.do(job)
                return
        self._idle.append(worker)

    def _replace(self, worker: _ServiceWorker, job: Job | None = None, *, now: bool = False) -> None:
        """Put another worker in place of one; `job`: what that one had when it was lost."""
        worker.leaving = True
        self._running.remove(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        task = asyncio.create_task(self._start_again(worker, job, now=now))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _start_again(self, worker: _ServiceWorker, job: Job | None, *, now: bool) -> None:
        await worker.end(now=now)
        if job is not None:
            lost = how_it_ended(worker.process.returncode)
            _log.warning("%s while it scored a request (attempt %d)", lost, job.attempts)
            if job.attempts < _ATTEMPTS:
                self.put(job, first=True)
            else:
                job.answered(Answer(500, 0, dump_json({"error": f"{lost} on this request, {_ATTEMPTS} times"})))
        pause = 0.1
        while True:
            self.restarts += 1
            try:
                self._next(await self._spawn())
                return
            except (WorkerLost, ConfigError, OSError) as error:
                _log.error("a worker cannot be started again: %s; trying once more in %.1f s", error, pause)
                await asyncio.sleep(pause)
                pause = min(pause * 2, 10.0)

    async def _first(self) -> _ServiceWorker:
        lost: WorkerLost | None = None
        for _ in range(_STARTS):
            if lost is not None:
                self.restarts += 1
                _log.warning("%s while it started; starting another", lost)
            try:
                return await self._spawn()
            except WorkerLost as error:
                lost = error
        raise ConfigError(f"a worker process did not start, {_STARTS} times: {lost}")

    async def _spawn(self) -> _ServiceWorker:
        task = Task(f"{__package__}.worker:RequestScorer", "bytes", b"", environment=shared_by(self.size))
        worker = _ServiceWorker(task, self)
        try:
            await asyncio.wait_for(worker.start(self._pickled), START_SECONDS)
        except TimeoutError:
            await worker.end(now=True)
            raise ConfigError(f"a worker process did not start within {START_SECONDS:g} s") from None
        except BaseException:
            await worker.end(now=True)
            raise
        self._running.append(worker)
        return worker
