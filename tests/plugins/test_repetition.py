"""The reward `repetition`."""

from __future__ import annotations

import importlib.util
import re
import sys

import pytest
from grpo_rewards_plugins import words
from grpo_rewards_plugins.words import ngrams, split_words
from hypothesis import given
from hypothesis import strategies as st

from grpo_rewards import get_reward

needs_numpy = pytest.mark.skipif(importlib.util.find_spec("numpy") is None, reason="numpy is not installed")


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
    assert outcome.reason.startswith(("none of", "shorter than")) is (outcome.value == 0)


WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,24}")
PIECES = st.sampled_from(
    [" ", "\n", "\x00", "\x1c", "\u00a0", "\u3000", "word", "abcdefgh", "a" * 23, "ẞ", "İ", "好", "か", "한", "“q”", "𠀋", "\u200b"]
)  # fmt: skip


@given(st.lists(PIECES).map("".join) | st.text())
def test_words_found_by_splitting_are_those_of_the_pattern(text: str) -> None:
    assert split_words(text) == WORD.findall(text.casefold())


@needs_numpy
@given(st.lists(PIECES).map("".join) | st.text(), st.integers(1, 4))
def test_ngrams_counted_by_hash_are_those_of_the_words(text: str, size: int) -> None:
    from grpo_rewards_plugins import word_hashes

    found = split_words(text)
    expected = max(0, len(found) - size + 1), len(set(ngrams(found, size)))
    assert word_hashes.count_distinct(text, size) == words.count_distinct(text, size) == expected


@needs_numpy
@pytest.mark.parametrize("piece", ["a", "好", "İs ", "word ", "x" * 23 + " "])
def test_ngrams_of_a_long_text_are_those_of_its_words(piece: str) -> None:
    text = "".join(f"{piece}{number % 4999}{' ' * (number % 3)}" for number in range(9000))
    found = split_words(text)
    assert words.count_distinct(text, 3) == (len(found) - 2, len(set(ngrams(found, 3))))


def test_without_numpy_a_long_text_is_counted_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grpo_rewards_plugins.word_hashes", None)
    words._hashed.cache_clear()
    try:
        assert words._hashed() is None
        assert get_reward("repetition").one("word " * 5000).value == pytest.approx(-4997 / 4998)
    finally:
        words._hashed.cache_clear()
