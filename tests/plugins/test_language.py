"""The reward `language`: the share of letters in the expected script."""

from __future__ import annotations

import pytest

from grpo_rewards import get_reward


@pytest.mark.parametrize(
    ("script", "text", "value"),
    [
        ("latin", "Let us see: 2+2=4.", 1.0), ("latin", "Größe, naïve, Łódź", 1.0), ("latin", "ab好的", 0.5), ("latin", "2 + 2 = 4", 1.0),
        ("latin", " \n", 0.0), ("latin", "привет", 0.0), ("cyrillic", "Привет, мир", 1.0), ("han", "答案是四", 1.0), ("han", "答案 is", 0.5),
        ("japanese", "答えは四です", 1.0), ("han", "です", 0.0), ("korean", "답은 넷이다", 1.0), ("greek", "άλφα", 1.0), ("hebrew", "שלום", 1.0),
        ("arabic", "مرحبا", 1.0), ("devanagari", "नमस्ते", 1.0), ("thai", "สวัสดี", 1.0), ("latin", "a" * 500_000 + "好" * 500_000, 0.5),
    ],
)  # fmt: skip
def test_language(script: str, text: str, value: float) -> None:
    outcome = get_reward("language").with_(script=script).one(text)
    assert outcome.value == pytest.approx(value)
    assert bool(outcome.reason) is (value < 1.0)
