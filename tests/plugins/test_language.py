"""The reward `language`: the share of letters in the expected script."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import pytest
from grpo_rewards_plugins.characters import holds
from grpo_rewards_plugins.language import _pattern
from hypothesis import given
from hypothesis import strategies as st

from grpo_rewards import get_reward


@pytest.mark.parametrize(
    ("script", "text", "value"),
    [
        ("latin", "Let us see: 2+2=4.", 1.0), ("latin", "Größe, naïve, Łódź", 1.0), ("latin", "ab好的", 0.5), ("latin", "2 + 2 = 4", 1.0),
        ("latin", " \n", 0.0), ("latin", "привет", 0.0), ("cyrillic", "Привет, мир", 1.0), ("han", "答案是四", 1.0), ("han", "答案 is", 0.5),
        ("japanese", "答えは四です", 1.0), ("han", "です", 0.0), ("korean", "답은 넷이다", 1.0), ("greek", "άλφα", 1.0), ("hebrew", "שלום", 1.0),
        ("arabic", "مرحبا", 1.0), ("devanagari", "नमस्ते", 1.0), ("thai", "สวัสดี", 1.0), ("latin", "x² + ½ ≤ ℓ, x ∈ ℝ: \ufb01ne", 1.0),
        ("latin", "\u200b\n", 0.0), ("japanese", "𝐇ello", 0.0), ("japanese", "ｶﾀｶﾅ", 1.0), ("latin", "a" * 500_000 + "好" * 500_000, 0.5),
    ],
)  # fmt: skip
def test_language(script: str, text: str, value: float) -> None:
    outcome = get_reward("language").with_(script=script).one(text)
    assert outcome.value == pytest.approx(value)
    assert outcome.reason.startswith("no letter is of another script") is (value == 1.0)


def told_apart(text: str, script: Any) -> tuple[list[str], list[str]]:
    """The letters of a text, and those of another script."""
    own = _pattern(script)
    letters = [char for char in re.findall(r"[^\W\d_]", text) if char.isalpha() or own.match(char)]
    return letters, [one for one in letters if not own.match(one) and not own.match(unicodedata.normalize("NFKC", one))]


def test_a_long_text_counts_as_its_pattern_does() -> None:
    every = "".join(map(chr, range(0x110000)))  # with surrogates and what stands beyond the table
    for text in (every[:0x10000], every):
        for script in ("latin", "han", "greek"):
            letters, foreign = told_apart(text, script)
            outcome = get_reward("language").with_(script=script).one(text)
            assert outcome.value == 1 - len(foreign) / len(letters)
            assert (
                outcome.reason == f"{len(foreign)} of {len(letters)} letters are not {script}, such as {foreign[0]!r}"
            )


PIECES = st.sampled_from(["a", "Z", "9", "_", " ", "é", "好", "п", "α", "²", "٣", "ª", "\u0301", "\ud800", "𠀋", "ﬁ"])


@given(st.sampled_from(["latin", "han", "greek", "japanese"]), st.lists(PIECES).map("".join) | st.text())
def test_the_share_is_that_of_single_letters(script: str, text: str) -> None:
    letters, foreign = told_apart(text, script)
    outcome = get_reward("language").with_(script=script).one(text)
    if not holds(text):
        assert outcome.value == 0.0
    elif not foreign:
        assert outcome.value == 1.0
    else:
        assert outcome.value == 1 - len(foreign) / len(letters)
        assert outcome.reason == f"{len(foreign)} of {len(letters)} letters are not {script}, such as {foreign[0]!r}"
