"""What is kept of earlier grades, and what is logged where the ladder breaks."""

from __future__ import annotations

import logging
import tracemalloc

import pytest
from grpo_rewards_plugins.math import grading
from grpo_rewards_plugins.math.grades import Grade, GradeCache
from grpo_rewards_plugins.math.grading import grade


def test_the_cache_is_bounded_by_bytes() -> None:
    cache = GradeCache(limit=1 << 20)
    for at in range(5_000):
        cache.put(("x" * 900, f"{at}", 1.0, 0.0, True), Grade(False, "some rule"))
        assert cache.bytes <= 1 << 20
    assert 100 < len(cache) < 1_200
    assert cache.get(("x" * 900, "4999", 1.0, 0.0, True)) is not None
    assert cache.get(("x" * 900, "0", 1.0, 0.0, True)) is None
    cache.put(("y" * 20_000, "large", 1.0, 0.0, True), Grade(True, "some rule"))
    assert cache.get(("y" * 20_000, "large", 1.0, 0.0, True)) is None


def test_the_bytes_that_are_counted_are_those_that_are_used() -> None:
    cache = GradeCache(limit=4 << 20)
    tracemalloc.start()
    for at in range(20_000):
        cache.put((f"gold {at}" * 10, f"answer {at}" * 10, 1.0, 0.0, True), Grade(False, f"rule {at}"))
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 1.3 * cache.limit


@pytest.mark.parametrize(
    "text", ["\\binom{2", "\\binom", "binom(2)", "\\frac{1", "\\log_", "\\max()", "\\begin{cases} 1", "\\text{ m}^"]
)
def test_broken_texts_reach_no_log(text: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert not grade("x+1", text).equal
        assert not grade(text, "x+1").equal
    assert caplog.records == []


def test_a_broken_ladder_is_logged_seldom_and_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise IndexError("as a defect of ours would")

    monkeypatch.setattr(grading, "_slow", broken)
    with caplog.at_level(logging.WARNING):
        for at in range(400):
            assert grade("x+1", f"y+{at}").status == "open"
    assert 0 < len(caplog.records) <= 3
    assert all(record.exc_info is None for record in caplog.records)
