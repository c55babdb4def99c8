"""Workers with jobs ahead: none waits for long behind another, and none is lost with the worker that has it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from grpo_rewards import Composite

pytest.importorskip("uvicorn")
from grpo_rewards_adapters.server.workers import Answer, Workers

REWARDS = '''
import re, time
from grpo_rewards import reward

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


def test_a_job_that_holds_its_process_costs_itself_only(tmp_path: Path) -> None:
    async def do(workers: Workers) -> list[Answer]:
        return await asyncio.gather(*(workers.do(b"s", body(text)) for text in ("hang", 0, 0, 0)))

    hung, *others = with_workers(tmp_path, 1, 0.5, do)
    assert hung.status == 504
    assert [(one.status, one.rows) for one in others] == [(200, 1)] * 3


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
