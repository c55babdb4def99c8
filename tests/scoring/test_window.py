"""A window of rows under way in one process: nothing waits for a slow row, and the output is in order."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from grpo_rewards import Composite, reward
from grpo_rewards._scoring import score_file

ROWS = 120
LATE = 100  # far beyond the first chunk


def scored(path: Path, rewards: dict[str, Any], read: Any, **options: Any) -> list[dict[str, Any]]:
    out = path.with_name("out.jsonl")
    score_file(path, Composite({"rewards": rewards}), out=out, force=True, **options)
    return [row["grpo_rewards"] for row in read(out)]


@pytest.fixture
def rows(jsonl: Callable[..., Path]) -> Any:
    return jsonl({"completion": str(n)} for n in range(ROWS))


def test_the_first_row_may_wait_for_a_late_one_in_threads(
    rows: Any, read: Callable[[Path], list[dict[str, Any]]]
) -> None:
    reached = threading.Event()

    @reward(range=(0.0, ROWS), workers=4)
    def threaded(completion: str) -> float:
        if int(completion) == LATE:
            reached.set()
        if int(completion) == 0:
            assert reached.wait(60)  # it would not be, if the rows after the first chunk waited for it
        return float(completion)

    found = scored(rows, {"threaded": {"use": threaded}}, read)
    assert [row["reward"] for row in found] == [float(n) for n in range(ROWS)]


def test_the_first_row_may_wait_for_a_late_one_on_the_loop(
    rows: Any, read: Callable[[Path], list[dict[str, Any]]]
) -> None:
    reached: list[bool] = []

    @reward(range=(0.0, ROWS), workers=4)
    async def awaited(completion: str) -> float:
        if int(completion) == LATE:
            reached.append(True)
        for _ in range(6000 if int(completion) == 0 else 0):
            if reached:
                break
            await asyncio.sleep(0.01)
        else:
            assert int(completion) != 0
        return float(completion)

    found = scored(rows, {"awaited": {"use": awaited}}, read)
    assert [row["reward"] for row in found] == [float(n) for n in range(ROWS)]


def test_components_wait_beside_each_other_in_one_batch() -> None:
    together = threading.Barrier(2)

    def waiting(name: str) -> Any:
        @reward(range=(0.0, 1.0), name=name, workers=2)
        def meets(completion: str) -> float:
            together.wait(60)  # raises where the other one does not come
            return 1.0

        return meets

    composite = Composite({"rewards": {name: {"use": waiting(name)} for name in ("one", "other")}})
    assert composite.score([{"completion": "a"}]).rewards() == [2.0]


@pytest.mark.parametrize("style", ["threads", "tasks"])
def test_no_more_calls_than_workers_over_all_rows(
    rows: Any, read: Callable[[Path], list[dict[str, Any]]], style: str
) -> None:
    now, most, lock = [0], [0], threading.Lock()

    def count(step: int) -> None:
        with lock:
            now[0] += step
            most[0] = max(most[0], now[0])

    @reward(workers=3)
    def threaded(completion: str) -> float:
        count(1)
        threading.Event().wait(0.001)
        count(-1)
        return 0.0

    @reward(workers=3)
    async def awaited(completion: str) -> float:
        count(1)
        await asyncio.sleep(0.001)
        count(-1)
        return 0.0

    scored(rows, {"it": {"use": threaded if style == "threads" else awaited}}, read)
    assert most == [3]


def test_a_reward_that_does_not_wait_is_asked_in_this_thread_and_in_order(
    rows: Any, read: Callable[[Path], list[dict[str, Any]]]
) -> None:
    seen: list[tuple[threading.Thread, str]] = []

    @reward
    def plain(completion: str) -> float:
        seen.append((threading.current_thread(), completion))
        return 0.0

    @reward(workers=2)
    def threaded(completion: str) -> float:
        return 0.0

    scored(rows, {"threaded": {"use": threaded}, "plain": {"use": plain}}, read)
    assert seen == [(threading.main_thread(), str(n)) for n in range(ROWS)]


def test_ctrl_c_ends_the_run_and_begins_no_further_row(rows: Any, read: Callable[[Path], list[dict[str, Any]]]) -> None:
    begun: list[str] = []
    stop = threading.Event()

    @reward(workers=2)
    def threaded(completion: str) -> float:
        begun.append(completion)
        stop.wait(60)
        return 0.0

    @reward
    def interrupted(completion: str) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scored(rows, {"threaded": {"use": threaded}, "interrupted": {"use": interrupted}}, read)
    stop.set()
    for thread in threading.enumerate():
        if thread.name == "grpo-rewards-threaded":
            thread.join(60)
    assert len(begun) <= 2


@pytest.mark.slow
def test_a_slow_chunk_keeps_no_worker_process_from_those_behind_it(
    tmp_path: Path, jsonl: Callable[..., Path], cli: Callable[..., CompletedProcess[str]]
) -> None:
    (tmp_path / "meeting.py").write_text(
        "import pathlib, time\nfrom grpo_rewards import reward\n"
        "@reward\ndef meeting(completion: str) -> float:\n"
        "    mark = pathlib.Path('reached')\n"
        f"    if completion == '{ROWS * 4}':\n        mark.touch()\n"
        "    until = time.monotonic() + 60\n"
        "    while completion == '0' and not mark.exists():\n"
        "        assert time.monotonic() < until\n        time.sleep(0.01)\n"
        "    return 1.0\n"
    )
    jsonl({"completion": str(n)} for n in range(ROWS * 5))
    run = cli("score", "rows.jsonl", "--only", "./meeting.py:meeting", "-o", "out.jsonl", "--workers", 2)
    assert run.returncode == 0, run.stderr
