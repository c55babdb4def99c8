"""The reward `repetition`."""

from __future__ import annotations

import pytest

from grpo_rewards import get_reward


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("", 0, 0), ("two words", 0, 0), ("one two three four five", 0, 0), ("a b c a b c", -0.25, -0.25),
        ("word " * 1000, -1, -0.99), ("a" * 1_000_000, -1, -0.99), ("好" * 1000, -1, -0.99),
    ],
)  # fmt: skip
def test_repetition_is_the_share_of_repeated_trigrams(text: str, low: float, high: float) -> None:
    outcome = get_reward("repetition").one(text)
    assert outcome.value is not None
    assert low <= outcome.value <= high
    assert bool(outcome.reason) is (outcome.value < 0)
