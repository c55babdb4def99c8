"""The workers as the service sees them: one job each at a time, started again when they die."""

from __future__ import annotations

import asyncio
import logging
import pickle
from dataclasses import dataclass, field
from typing import cast

from grpo_rewards import Composite
from grpo_rewards.errors import ConfigError
from grpo_rewards.slots import shared_by
from grpo_rewards.workers import HEADER, START_SECONDS, Task, WorkerLost, WorkerProcess, how_it_ended, pickled
from grpo_rewards_adapters.server.worker import REPLY

__all__ = ["Answer", "Workers"]

_log = logging.getLogger(__name__)
_STARTS = 3  # a worker that is killed while it starts is started again; what ends three is not chance
_ATTEMPTS = 2  # a job whose worker dies is tried once more; what kills two workers is the job


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, rows and JSON of a job; `last` says that the worker has a thread that hangs, and leaves."""

    status: int
    rows: int
    body: bytes
    last: bool = False


@dataclass(slots=True)
class _Job:
    kind: bytes
    body: bytes
    done: asyncio.Future[Answer]
    attempts: int = 0


class _Link(asyncio.Protocol):
    """This end of a worker's line, for one question at a time; a stream's reader takes the loop two turns more for each."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self._came = bytearray()
        self._answer: asyncio.Future[tuple[bytes, bytes]] | None = None
        self._ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def ask(self, *parts: bytes) -> asyncio.Future[tuple[bytes, bytes]]:
        """Send a message in parts; the kind and body of the next one that comes, or ConnectionError."""
        self._answer = asyncio.get_running_loop().create_future()
        if self._ended:
            self._answer.set_exception(ConnectionError())
        else:
            self.transport.writelines((HEADER.pack(b"?", 1, sum(map(len, parts))), *parts))
        return self._answer

    def data_received(self, data: bytes) -> None:
        self._came += data
        if len(self._came) < HEADER.size:
            return
        kind, _, length = HEADER.unpack_from(self._came)
        if len(self._came) < HEADER.size + length:
            return
        body = bytes(memoryview(self._came)[HEADER.size :])
        self._came = bytearray()
        if self._answer is not None and not self._answer.done():
            self._answer.set_result((kind, body))

    def connection_lost(self, _error: Exception | None) -> None:
        self._ended = True
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionError())


class _ServiceWorker(WorkerProcess):
    """A worker that an event loop asks."""

    async def start(self, composite: bytes) -> None:
        """Have it load the rewards.

        Raises:
            ConfigError: they cannot be loaded there.
            WorkerLost: it ended.
        """
        _, self._link = await asyncio.get_running_loop().create_connection(_Link, sock=self.line)
        kind, body = await self._ask(composite)
        if kind == b"!":
            raise pickle.loads(body)  # noqa: S301 - from our own child

    async def do(self, job: _Job) -> Answer:
        """Have a job done. Raises `WorkerLost` where it ended."""
        kind, body = await self._ask(job.kind, job.body)
        status, rows = REPLY.unpack_from(body)
        return Answer(status, rows, body[REPLY.size :], kind == b"x")

    async def _ask(self, *parts: bytes) -> tuple[bytes, bytes]:
        try:
            return await self._link.ask(*parts)
        except ConnectionError:
            raise await self._lost() from None

    async def _lost(self) -> WorkerLost:
        await self.end()
        return WorkerLost(how_it_ended(self.process.returncode))

    async def end(self, *, now: bool = False) -> None:
        """Let it end by itself, unless it is to end `now`."""
        self._link.transport.abort()
        await asyncio.to_thread(self.kill if now else self.stop)


@dataclass(slots=True)
class Workers:
    """`size` worker processes that take jobs from one queue, in order."""

    composite: Composite
    size: int
    request_timeout: float
    restarts: int = 0
    alive: int = 0
    _jobs: asyncio.Queue[_Job] = field(default_factory=asyncio.Queue)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _running: list[_ServiceWorker] = field(default_factory=list)
    _pickled: bytes = b""

    async def start(self) -> None:
        """Start every worker.

        Raises:
            ConfigError: the rewards cannot be loaded in another process.
        """
        self._pickled, _ = pickled(self.composite)
        first = await asyncio.gather(*(self._first() for _ in range(self.size)))
        self._tasks = [asyncio.create_task(self._work(worker)) for worker in first]

    async def do(self, kind: bytes, body: bytes) -> Answer:
        """Have a job done."""
        job = _Job(kind, body, asyncio.get_running_loop().create_future())
        self._jobs.put_nowait(job)
        return await job.done

    async def stop(self) -> None:
        """End the workers; jobs that are not done are answered 503."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        while not self._jobs.empty():
            job = self._jobs.get_nowait()
            if not job.done.done():
                job.done.set_result(Answer(503, 0, b'{"error":"the service is shutting down"}'))
        await asyncio.gather(*(worker.end() for worker in self._running))

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
        worker = _ServiceWorker(
            Task(f"{__package__}.worker:RequestScorer", "bytes", b"", environment=shared_by(self.size))
        )
        try:
            await asyncio.wait_for(worker.start(self._pickled), START_SECONDS)
        except TimeoutError:
            await worker.end(now=True)
            raise ConfigError(f"a worker process did not start within {START_SECONDS:g} s") from None
        except ConfigError:
            await worker.end()
            raise
        self._running.append(worker)
        self.alive += 1
        return worker

    async def _work(self, worker: _ServiceWorker) -> None:
        current: _ServiceWorker | None = worker
        while True:
            job = await self._jobs.get()
            if job.done.cancelled():  # its client has gone
                continue
            while not job.done.done():
                if current is None:
                    current = await self._again()
                job.attempts += 1
                try:
                    async with asyncio.timeout(self.request_timeout):
                        answer = await current.do(job)
                except TimeoutError:
                    await self._end(current, now=True)
                    current = None
                    answer = Answer(504, 0, b'{"error":"scoring took too long; its worker process was ended"}')
                except WorkerLost as lost:
                    await self._end(current)
                    current = None
                    _log.warning("%s while it scored a request (attempt %d)", lost, job.attempts)
                    if job.attempts < _ATTEMPTS:
                        continue
                    text = f'{{"error":"{lost} on this request, {_ATTEMPTS} times"}}'
                    answer = Answer(500, 0, text.encode())
                if not job.done.done():  # its client may have gone meanwhile
                    job.done.set_result(answer)
                if answer.last and current is not None:
                    await self._end(current)
                    current = None

    async def _end(self, worker: _ServiceWorker, *, now: bool = False) -> None:
        self._running.remove(worker)
        self.alive -= 1
        await worker.end(now=now)

    async def _again(self) -> _ServiceWorker:
        """Start a worker in place of one that died, however often it takes."""
        pause = 0.1
        while True:
            self.restarts += 1
            try:
                return await self._spawn()
            except (WorkerLost, ConfigError, OSError) as error:
                _log.error("a worker cannot be started again: %s; trying once more in %.1f s", error, pause)
                await asyncio.sleep(pause)
                pause = min(pause * 2, 10.0)
