"""The workers as the service sees them: one job each at a time, started again when they die."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import pickle
import socket
import sys
from dataclasses import dataclass, field

from grpo_rewards import Composite
from grpo_rewards.errors import ConfigError
from grpo_rewards.slots import shared_by
from grpo_rewards_adapters.server.worker import HEADER

__all__ = ["Response", "Workers"]

_log = logging.getLogger(__name__)
_START_TIMEOUT = 120.0
_STARTS = 3  # a worker that is killed while it starts is started again; what ends three is not chance
_ATTEMPTS = 2  # a job whose worker dies is tried once more; what kills two workers is the job


@dataclass(frozen=True, slots=True)
class Response:
    """Status, rows and JSON of a job; `last` says that the worker has a thread that hangs, and leaves."""

    status: int
    rows: int
    body: bytes
    last: bool = False


@dataclass(slots=True)
class _Job:
    kind: bytes
    body: bytes
    done: asyncio.Future[Response]
    attempts: int = 0


class _Died(Exception):
    """The worker's end of the line was closed; the text says how it ended."""


@dataclass(slots=True)
class _Worker:
    process: asyncio.subprocess.Process
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def ask(self, kind: bytes, body: bytes) -> Response:
        try:
            self.writer.writelines((HEADER.pack(kind, len(body), 0, 0), body))
            await self.writer.drain()
            told, length, status, rows = HEADER.unpack(await self.reader.readexactly(HEADER.size))
            return Response(status, rows, await self.reader.readexactly(length), told == b"x")
        except (asyncio.IncompleteReadError, ConnectionError):
            code = await self._ended()
            raise _Died(
                f"the worker process ended with {f'signal {-code}' if code < 0 else f'status {code}'}"
            ) from None

    async def stop(self) -> None:
        self.writer.close()
        await self._ended()

    async def _ended(self) -> int:
        """Wait for the process to end by itself, since its line is closed; kill it if it does not."""
        try:
            # wait_for cancels what it waits for, which is waited for again below
            return await asyncio.wait_for(asyncio.shield(self.process.wait()), 5.0)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
            return await self.process.wait()


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
    _running: list[_Worker] = field(default_factory=list)
    _pickled: bytes = b""

    async def start(self) -> None:
        """Start every worker.

        Raises:
            ConfigError: the rewards cannot be loaded in another process.
        """
        try:
            self._pickled = pickle.dumps(self.composite)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise ConfigError(f"the rewards cannot be sent to a worker process: {error}") from None
        first = await asyncio.gather(*(self._first() for _ in range(self.size)))
        self._tasks = [asyncio.create_task(self._work(worker)) for worker in first]

    async def do(self, kind: bytes, body: bytes) -> Response:
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
                job.done.set_result(Response(503, 0, b'{"error":"the service is shutting down"}'))
        await asyncio.gather(*(worker.stop() for worker in self._running))

    async def _first(self) -> _Worker:
        died: _Died | None = None
        for _ in range(_STARTS):
            if died is not None:
                self.restarts += 1
                _log.warning("%s while it started; starting another", died)
            try:
                return await self._spawn()
            except _Died as error:
                died = error
        raise ConfigError(f"a worker process did not start, {_STARTS} times: {died}")

    async def _spawn(self) -> _Worker:
        mine, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c",
                f"from grpo_rewards_adapters.server.worker import main; main({theirs.fileno()})",
                stdin=asyncio.subprocess.DEVNULL, pass_fds=(theirs.fileno(),),
                env={**os.environ, **shared_by(self.size), "PYTHONPATH": os.pathsep.join(os.path.abspath(place) for place in sys.path)},
            )  # fmt: skip
        reader, writer = await asyncio.open_connection(sock=mine, limit=1 << 22)
        worker = _Worker(process, reader, writer)
        try:
            started = await asyncio.wait_for(worker.ask(b"c", self._pickled), _START_TIMEOUT)
        except TimeoutError:
            process.kill()
            raise ConfigError(f"a worker process did not start within {_START_TIMEOUT:g} s") from None
        if started.status != 200:
            await worker.stop()
            raise ConfigError(
                f"the rewards cannot be loaded in a worker process: {started.body.decode(errors='replace')}"
            )
        self._running.append(worker)
        self.alive += 1
        return worker

    async def _work(self, worker: _Worker) -> None:
        current: _Worker | None = worker
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
                        answer = await current.ask(job.kind, job.body)
                except TimeoutError:
                    current.process.kill()
                    await self._lost(current)
                    current = None
                    answer = Response(504, 0, b'{"error":"scoring took too long; its worker process was ended"}')
                except _Died as died:
                    await self._lost(current)
                    current = None
                    _log.warning("%s while it scored a request (attempt %d)", died, job.attempts)
                    if job.attempts < _ATTEMPTS:
                        continue
                    text = f'{{"error":"{died} on this request, {_ATTEMPTS} times"}}'
                    answer = Response(500, 0, text.encode())
                if not job.done.done():  # its client may have gone meanwhile
                    job.done.set_result(answer)
                if answer.last and current is not None:
                    await self._lost(current)
                    current = None

    async def _lost(self, worker: _Worker) -> None:
        self._running.remove(worker)
        self.alive -= 1
        worker.writer.close()
        await worker.process.wait()

    async def _again(self) -> _Worker:
        """Start a worker in place of one that died, however often it takes."""
        pause = 0.1
        while True:
            self.restarts += 1
            try:
                return await self._spawn()
            except (_Died, ConfigError, OSError) as error:
                _log.error("a worker cannot be started again: %s; trying once more in %.1f s", error, pause)
                await asyncio.sleep(pause)
                pause = min(pause * 2, 10.0)
