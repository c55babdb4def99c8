"""Workers with jobs ahead: none waits for long behind another, and none is lost with the worker that has it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from grpo_rewards import Composite

pytest.importorskip("uvicorn")
from grpo_rewards_adapters.server.worker import LATE, REPLY
from grpo_rewards_adapters.server.workers import Answer, Workers, _Job

REWARDS = '''
import pathlib, re, time
from grpo_rewards import reward

if pathlib.Path(__file__).with_name("slow").exists():
    time.sleep(60)

@reward(range=(0, 1))
def waits(completion: str) -> float:
    """Sleeps, or keeps every thread of its process waiting."""
    if completion == "hang":
        re.match("(a+)+$", "a" * 60 + "b")
    time.sleep(float(completion))
    return 1.0
'''


def body(*completions: object) -> bytes:
    return json.dumps({"rows": [{"completion": str(text)} for text in completions]}).encode()


def with_workers(folder: Path, size: int, patience: float, do: Any) -> Any:
    """Run a test's coroutine with workers that already know that jobs are short."""
    (folder / "waiting.py").write_text(REWARDS)
    composite = Composite({"rewards": {"waits": {"use": "./waiting.py:waits"}}}, base=folder)

    async def run() -> Any:
        workers = Workers(composite, size, patience)
        await workers.start()
        for _ in range(100):
            await workers.do(b"s", body(0))
        try:
            return await do(workers)
        finally:
            await workers.stop()

    return asyncio.run(run())


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2])
def test_a_long_job_keeps_no_short_ones_waiting_that_another_worker_could_do(tmp_path: Path, size: int) -> None:
    async def do(workers: Workers) -> list[float]:
        began = time.monotonic()

        async def one(seconds: float) -> float:
            assert (await workers.do(b"s", body(seconds))).status == 200
            return time.monotonic() - began

        return await asyncio.gather(*(one(seconds) for seconds in (3.0, 0, 0, 0, 0, 0, 0, 0)))

    long, *short = with_workers(tmp_path, size, 60.0, do)
    assert long >= 3.0
    assert max(short) < 2.0 if size == 2 else min(short) >= 3.0


@pytest.mark.slow
def test_a_job_that_holds_its_process_costs_itself_only(tmp_path: Path) -> None:
    async def do(workers: Workers) -> list[Answer]:
        return await asyncio.gather(*(workers.do(b"s", body(text)) for text in ("hang", 0, 0, 0)))

    # longer than the first job of a new worker takes on a busy machine
    hung, *others = with_workers(tmp_path, 1, 4.0, do)
    assert hung.status == 504
    assert [(one.status, one.rows) for one in others] == [(200, 1)] * 3


def children() -> set[int]:
    found: set[int] = set()
    for task in Path("/proc/self/task").glob("*/children"):
        found |= set(map(int, task.read_text().split()))
    return found


def test_a_worker_that_is_still_starting_ends_with_the_service(tmp_path: Path) -> None:
    before = children()

    async def do(workers: Workers) -> None:
        (tmp_path / "slow").touch()
        (first,) = children() - before
        os.kill(first, signal.SIGKILL)
        async with asyncio.timeout(60):
            while not children() - before - {first}:
                await asyncio.sleep(0.01)

    with_workers(tmp_path, 1, 60.0, do)
    assert children() == before


@pytest.mark.slow
def test_workers_that_are_killed_under_load_lose_no_request(start: Any) -> None:
    server = start("--workers", 2)
    until = time.monotonic() + 3

    def client(_: int) -> list[int]:
        statuses = []
        while time.monotonic() < until:
            statuses.append(server.score("4", "5")[0])
        return statuses

    with ThreadPoolExecutor(16) as pool:
        clients = [pool.submit(client, number) for number in range(16)]
        children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
        for worker in children.read_text().split():
            time.sleep(0.7)
            os.kill(int(worker), signal.SIGKILL)
        statuses = [status for one in clients for status in one.result()]
    assert set(statuses) == {200}
    assert len(statuses) > 50


class _Asked:
    """A worker that only notes what it is given."""

    def __init__(self) -> None:
        self.jobs: deque[Any] = deque()
        self.began = 0.0
        self.given: list[Any] = []

    def give(self, job: Any) -> None:
        self.jobs.append(job)
        self.given.append(job)
        job.worker = self

    async def end(self, *, now: bool = False) -> None:
        del now


def _asked(count: int, do: Any) -> None:
    async def run() -> None:
        workers = Workers(Composite({"rewards": {"length": {"use": "length"}}}), 1, 60.0)
        worker: Any = _Asked()
        loop = asyncio.get_running_loop()
        for number in range(count):
            worker.give(_Job(number, b"s", b"", loop.create_future()))
        workers._running.append(worker)
        do(workers, worker)
        for _ in range(3):
            await asyncio.sleep(0)  # what is to be called soon
        await workers.stop()
        assert workers._watch is None or workers._watch.cancelled()

    asyncio.run(run())


def test_jobs_that_came_too_late_come_back_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def do(workers: Workers, worker: Any) -> None:
        late = list(worker.jobs)
        monkeypatch.setattr(Workers, "_hand_out", lambda _self: None)
        for _ in late:
            workers._replied(worker, b"=", REPLY.pack(LATE, 0))
        assert list(workers._queue) == late

    _asked(3, do)


def test_a_job_that_was_taken_back_is_not_what_ended_its_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    def do(workers: Workers, worker: Any) -> None:
        taken, begun = worker.jobs
        taken.worker = None
        workers._queue_again([taken])
        monkeypatch.setattr(Workers, "_lose", lambda _self, _worker, job=None: blamed.append(job))
        workers._replied(worker, b"", b"")
        assert blamed == [begun]

    blamed: list[Any] = []
    _asked(2, do)


@pytest.mark.parametrize(("count", "naps"), [(1, []), (9, [pytest.approx(0.0072)]), (90, [pytest.approx(0.0144)])])
def test_the_event_loop_sleeps_only_while_every_worker_has_work_ahead(
    monkeypatch: pytest.MonkeyPatch, count: int, naps: list[float]
) -> None:
    def do(workers: Workers, _worker: Any) -> None:
        workers._usual = 0.001
        workers._hand_out()
        workers._hand_out()  # still one nap
        assert slept == []  # what is ready goes first

    slept: list[float] = []
    monkeypatch.setattr("grpo_rewards_adapters.server.workers.time.sleep", slept.append)
    _asked(count, do)
    assert slept == naps
