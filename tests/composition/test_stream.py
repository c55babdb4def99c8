"""Rows one by one as they come: when each is done, what it is worth, what is not evaluated again."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from grpo_rewards import Composite, reward
from grpo_rewards.errors import ColumnError, InfrastructureError, InputError, PluginError

ROWS = [{"prompt": f"p{n // 4}", "completion": f"{n % 3} of {n // 8}", "answer": "1 of 0"} for n in range(24)]


class Counted:
    """Rewards that say what they were called with, and one that waits until it may go on."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.go = threading.Event()

    def composite(self, **more: Any) -> Composite:
        @reward
        def exactly(completion: str, answer: str) -> float:
            self.calls.append(completion)
            if completion == "wait":
                self.go.wait(30)
            if completion == "break":
                raise RuntimeError("it broke")
            return float(completion == answer)

        @reward.batch
        def lengths(completions: list[str]) -> list[float]:
            self.calls.append(tuple(completions))
            return [float(len(completion)) for completion in completions]

        @reward.group
        def variety(completions: list[str]) -> list[float]:
            self.calls.append(tuple(completions))
            return [len(set(completions)) / len(completions)] * len(completions)

        lengths.rowwise = True  # type: ignore[attr-defined]
        rewards = {
            "exactly": {"use": exactly},
            "lengths": {"use": lengths, "weight": 0.1, "gate": {"component": "exactly", "at_least": 1}},
        }
        return Composite(
            {"rewards": {**rewards, **more.pop("rewards", {"variety": {"use": variety, "weight": 0.5}})}, **more}
        )


def test_a_stream_gives_what_the_batch_gives_and_the_batch_evaluates_nothing_again() -> None:
    counted = Counted()
    composite = counted.composite()
    found = {row.place: row for row in composite.stream(ROWS, group_size=4)}
    assert sorted(found) == list(range(24))
    streamed, calls = [found[place].reward for place in range(24)], len(counted.calls)
    table = composite.score(ROWS)
    assert table.rewards() == streamed
    assert len(counted.calls) == calls
    assert streamed == Counted().composite().score(ROWS).rewards()
    assert found[1].row == ROWS[1]
    assert found[1].table.row(0)["components"]["exactly"]["value"] == 1.0


def test_identical_rows_are_evaluated_once() -> None:
    counted = Counted()
    composite = counted.composite(rewards={})
    assert {found.reward for found in composite.stream([{"completion": "1", "answer": "1"}] * 50)} == {1.1}
    assert counted.calls.count("1") == 1


def test_a_row_is_done_while_another_one_hangs_and_the_batch_waits_for_what_is_under_way() -> None:
    counted = Counted()
    composite = counted.composite(rewards={})
    with composite.stream() as stream:
        slow = stream.submit({"completion": "wait", "answer": "1"})
        assert stream.submit({"completion": "1", "answer": "1"}).result(30).reward == 1.1
        assert not slow.done()
        asked: list[Any] = []
        batch = threading.Thread(
            target=lambda: asked.append(composite.score([{"completion": "wait", "answer": "1"}]).rewards())
        )
        batch.start()
        counted.go.set()
        batch.join(30)
        assert (slow.result(30).reward, asked, counted.calls.count("wait")) == (0.0, [[0.0]], 1)


def test_rows_that_are_late_are_unavailable_and_never_zero() -> None:
    counted = Counted()
    composite = counted.composite(rewards={}, errors={"batch_timeout": 0.5})
    with composite.stream() as stream:
        found = stream.submit({"completion": "wait", "answer": "1"}).result(30)
        assert found.reward is None
        assert "batch_timeout = 0.5" in found.table.left_out[0]
        assert stream.submit({"completion": "1", "answer": "1"}).result(30).reward == 1.1
    counted.go.set()


def test_the_failure_policy_holds() -> None:
    with pytest.raises(PluginError, match="it broke"):
        list(Counted().composite(rewards={}).stream([{"completion": "break", "answer": "1"}]))
    composite = Counted().composite(rewards={}, errors={"plugin": "drop_row"})
    rows = [{"completion": "break", "answer": str(n)} for n in range(3)]
    with pytest.raises(InfrastructureError, match=r"max_infra_rate"):
        list(composite.stream(rows))


def test_what_broke_is_asked_again_in_the_batch() -> None:
    counted = Counted()
    composite = counted.composite(rewards={}, errors={"plugin": "drop_row", "max_infra_rate": 1})
    rows = [{"completion": "break", "answer": "1"}]
    assert [found.reward for found in composite.stream(rows)] == [None]
    assert composite.score(rows).rewards() == [None]
    assert counted.calls.count("break") == 2


@pytest.mark.parametrize("kind", ["plain", "asynchronous"])
def test_async_for_takes_rows_of_both_kinds(kind: str) -> None:
    async def generated() -> AsyncIterator[dict[str, Any]]:
        for row in ROWS:
            await asyncio.sleep(0)
            yield row

    async def collect() -> dict[int, float | None]:
        stream = Counted().composite().stream(ROWS if kind == "plain" else generated(), group_size=4, ahead=8)
        return {found.place: found.reward async for found in stream}

    found = asyncio.run(collect())
    assert [found[place] for place in range(24)] == Counted().composite().score(ROWS).rewards()


def test_a_group_that_is_never_complete_is_scored_when_no_more_rows_come() -> None:
    rewards = [found.reward for found in Counted().composite().stream(ROWS[:6], group_size=4)]
    assert len(rewards) == 6
    assert Counter(rewards) == Counter(Counted().composite().score(ROWS[:6]).rewards())


def test_no_more_rows_than_asked_for_are_taken_ahead() -> None:
    counted = Counted()
    drawn = 0

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal drawn
        for _ in range(40):
            drawn += 1
            yield {"completion": "wait", "answer": str(drawn)}

    stream = iter(counted.composite(rewards={}).stream(rows(), ahead=5))
    taker = threading.Thread(target=lambda: list(stream))
    taker.start()
    taker.join(0.3)
    assert drawn <= 6
    counted.go.set()
    taker.join(30)
    assert drawn == 40


def test_what_a_stream_cannot_do_is_said() -> None:
    composite = Counted().composite()
    with pytest.raises(InputError, match="give group_size"):
        list(composite.stream(ROWS))
    with pytest.raises(InputError, match=r"ahead \(2\)"):
        composite.stream(ROWS, group_size=4, ahead=2)
    with pytest.raises(InputError, match="1 or more, not 0"):
        composite.stream(ROWS, group_size=0)
    with pytest.raises(ColumnError, match="answer"):
        list(composite.stream([{"completion": "1"}], group_size=1))
    with composite.stream(group_size=1) as stream:
        pass
    with pytest.raises(InputError, match="closed"):
        stream.submit({"completion": "1", "answer": "1"})
