"""The reward `diversity`: one value per completion of a group."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_rewards import get_reward


def score(texts: list[str], **settings: object) -> list[float | None]:
    return get_reward("diversity").with_(**settings)(completions=texts, prompts=["p"] * len(texts))


@pytest.mark.parametrize(
    ("settings", "texts", "values"),
    [
        ({}, ["a b c", "a b c"], [0, 0]), ({}, ["a b c", "d e f"], [1, 1]), ({}, ["a b c", "A B d"], [0.5, 0.5]),
        ({}, ["a b a b c", "x y"], [1, 1]), ({}, ["a b", "c"], [1, 0]), ({}, ["a", "a", "b"], [0.5, 0.5, 1]), ({}, ["", ""], [0, 0]),
        ({}, ["a b c"], [None]), ({"ngram": 1}, ["a b", "a c"], [0.5, 0.5]),
        ({"mode": "texts"}, ["a  b", "A b", "c", "d"], [2 / 3, 2 / 3, 1, 1]), ({"mode": "texts"}, ["a"] * 4, [0, 0, 0, 0]),
        ({"mode": "answers"}, ["so <answer>4</answer>", "well <answer> 4. </answer>", "#### 5"], [0.5, 0.5, 1]),
    ],
)  # fmt: skip
def test_diversity(settings: dict[str, object], texts: list[str], values: list[float | None]) -> None:
    assert score(texts, **settings) == [value if value is None else pytest.approx(value) for value in values]


def test_groups_do_not_see_each_other() -> None:
    texts = ["a b", "c d", "a b", "c d"]
    assert get_reward("diversity")(completions=texts, prompts=["p", "p", "q", "q"]) == [1.0] * 4
    assert get_reward("diversity")(completions=texts, prompts=["p", "q", "p", "q"]) == [0.0] * 4


@given(st.lists(st.text("ab c", max_size=8), min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_order_within_the_group_does_not_matter(texts: list[str], random: object) -> None:
    order = list(range(len(texts)))
    random.shuffle(order)  # type: ignore[attr-defined]
    for mode in ("ngrams", "texts", "answers"):
        values = score(texts, mode=mode)
        assert score([texts[place] for place in order], mode=mode) == [values[place] for place in order]
