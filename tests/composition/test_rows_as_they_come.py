"""Batch-style rewards hand in row by row: past `batch_timeout` only the rows that are not finished count for nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from grpo_rewards_sandbox import SandboxUnavailable, open_sandbox

from grpo_rewards import Composite, Outcome, get_reward, reward
from grpo_rewards._contract import Batch

SINE = "\\sum_{n=1}^{\\infty} \\frac{\\sin(n^{2}%+d)}{n^{2}+\\ln n}"
"""A sum that no rung of `math` can settle, so that each pair runs into its own deadline, after the batch's: not much, since it goes on while other tests run."""


def late(composite: Composite, **columns: list[Any]) -> tuple[list[int], list[float | None]]:
    """The rows that were not finished within the batch timeout, and the values of all."""
    table = composite.evaluate(Batch.from_call(**columns), timeout=composite.config.errors.batch_timeout)
    (outcomes,) = table.components.values()
    rows = [row for row, outcome in enumerate(outcomes) if "batch_timeout" in outcome.details]
    assert all(outcomes[row].status == "unavailable" for row in rows)
    return rows, [outcome.value for outcome in outcomes]


@pytest.mark.slow
def test_math_loses_the_rows_that_hang_and_no_other() -> None:
    composite = Composite({"rewards": {"math": {"params": {"timeout": 25}}}, "errors": {"batch_timeout": 20}})
    get_reward("math").one("\\boxed{\\lim_{x\\to0}\\frac{\\sin x}{x}}", answer="1")  # the worker has imported sympy
    hanging = [0, 1, 2, 9, 30, 31, 62, 63]
    gold = [SINE % row if row in hanging else str(row) for row in range(64)]
    said = [f"The answer is \\boxed{{{SINE % (row + 100) if row in hanging else row - row % 2}}}" for row in range(64)]
    rows, values = late(composite, completions=said, answer=gold)
    assert rows == hanging
    assert [values[row] for row in range(64) if row not in hanging] == [
        float(row % 2 == 0) for row in range(64) if row not in hanging
    ]


@pytest.mark.slow
def test_code_loses_the_rows_that_hang_and_no_other() -> None:
    try:
        open_sandbox("auto", workers=1).close()
    except SandboxUnavailable as error:
        pytest.skip(f"this machine cannot isolate code: {error}")
    settings = {"timeout": 35, "workers": 2}
    composite = Composite({"rewards": {"code": {"params": settings}}, "errors": {"batch_timeout": 30}})
    hanging = [0, 1, 2, 31, 40, 63]
    loop = "def f(x):\n    n = {}\n    while True:\n        n += x"
    said = [loop.format(row) if row in hanging else f"def f(x):\n    return x + {row % 2}" for row in range(64)]
    rows, values = late(composite, completions=said, tests=[["assert f(1) == 2"]] * 64)
    assert rows == hanging
    assert [values[row] for row in range(64) if row not in hanging] == [
        float(row % 2) for row in range(64) if row not in hanging
    ]


# ------------------------------------------------------------------------------------------------ the contract


@reward.batch
def backwards(completions: list[str]) -> Iterator[tuple[int, float]]:
    """The last row first."""
    for row in reversed(range(len(completions))):
        yield row, float(completions[row])


def outcomes_of(rows: Any) -> list[Outcome]:
    """The outcomes of three rows, of a reward that yields what is given."""

    @reward.batch(range=(0.0, 1.0))
    def yields(completions: list[str]) -> Iterator[Any]:
        for item in rows if len(completions) > 1 else [(0, 0.5)]:
            if isinstance(item, Exception):
                raise item
            yield item

    return yields.outcomes(Batch(["a", "b", "c"]))


def test_rows_may_come_in_any_order() -> None:
    assert backwards(completions=["1", "2", "3"]) == [1.0, 2.0, 3.0]


def test_a_row_takes_the_time_since_the_one_before() -> None:
    @reward.batch
    def slow(completions: list[str]) -> Iterator[tuple[int, float]]:
        for row in range(len(completions)):
            time.sleep(0.05 * row)
            yield row, 0.0

    begun = time.perf_counter()
    seconds = [outcome.seconds or 0.0 for outcome in slow.outcomes(Batch(["a", "b", "c"]))]
    assert seconds[1] > 0.04
    assert seconds[2] > 0.09
    assert sum(seconds) < time.perf_counter() - begun


@pytest.mark.parametrize(
    ("rows", "statuses", "words"),
    [
        ([(0, 1.0), (1, 2.0), (2, None)], ["scored", "error", "not_applicable"], "outside its declared range"),
        ([(0, 1.0)], ["scored", "error", "error"], "1 values for 3 completions"),
        ([(0, 1.0), (0, 1.0)], ["scored", "error", "error"], "yielded tuple (0, 1.0)"),
        ([(0, 1.0), (3, 1.0)], ["scored", "error", "error"], "from 0 to 2"), ([1.0], ["error", "error", "error"], "not (row, value)"),
        ([([], 1.0)], ["error", "error", "error"], "not (row, value)"),
    ],
)  # fmt: skip
def test_a_reward_that_yields_what_it_may_not_is_to_blame(rows: Any, statuses: list[str], words: str) -> None:
    found = outcomes_of(rows)
    assert [outcome.status for outcome in found] == statuses
    assert any(words in outcome.reason for outcome in found)


def test_a_reward_that_raises_midway_is_asked_again_for_the_rest_row_by_row() -> None:
    @reward.batch
    def three(completions: list[str]) -> Iterator[tuple[int, float]]:
        for row, text in enumerate(completions):
            if text == "b":
                raise ValueError(text)
            yield row, 1.0

    found = three.outcomes(Batch(["a", "b", "c"]))
    assert [outcome.status for outcome in found] == ["scored", "error", "scored"]
    assert "ValueError: b" in found[1].reason
    assert not found[1].details.get("whole_batch")


def test_what_was_not_begun_is_taken_back_at_the_deadline() -> None:
    ended, begun = threading.Event(), []

    @reward.batch
    def queue(completions: list[str]) -> Iterator[tuple[int, float]]:
        try:
            for row in range(len(completions)):
                begun.append(row)
                time.sleep(0.2)
                yield row, 1.0
        finally:
            ended.set()

    composite = Composite({"rewards": {"queue": {"use": queue}}, "errors": {"batch_timeout": 0.5}})
    rows, values = late(composite, completions=[str(row) for row in range(20)])
    assert values[0] == 1.0
    assert rows == list(range(rows[0], 20))
    assert ended.wait(5)
    assert len(begun) < 6
