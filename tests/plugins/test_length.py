"""The reward `length`: its modes, its unit, its bounds."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from grpo_rewards import get_reward
from grpo_rewards.errors import SettingsError

length = importlib.import_module("grpo_rewards_plugins.length")


@pytest.mark.parametrize(
    ("settings", "n", "value"),
    [
        ({}, 400, 1.0), ({}, 200, 1.0), ({}, 100, 0.5), ({}, 0, 0.0), ({}, 700, 0.5), ({}, 10**6, 0.0),
        ({"mode": "ideal", "target": 20, "band": 40}, 20, 0.0), ({"mode": "ideal", "target": 20, "band": 40}, 30, -0.25),
        ({"mode": "ideal", "target": 20}, 10**6, -1.0),
        ({"mode": "longer"}, 100, 0.25), ({"mode": "longer"}, 10**6, 1.0),
        ({"mode": "soft_overlong", "max_length": 100, "cache": 20}, 80, 0.0),
        ({"mode": "soft_overlong", "max_length": 100, "cache": 20}, 90, -0.5),
        ({"mode": "soft_overlong", "max_length": 100, "cache": 20}, 100, -1.0),
        ({"mode": "soft_overlong", "max_length": 100, "cache": 20}, 101, -1.0),
    ],
)  # fmt: skip
def test_length_counts_tokens_where_there_are_ids_and_characters_elsewhere(
    settings: dict[str, object], n: int, value: float
) -> None:
    length = get_reward("length").with_(**settings)
    in_tokens = length.one("text", completion_ids=[1] * n)
    in_characters = length.one("x" * n)
    assert in_tokens.value == in_characters.value == pytest.approx(value)
    assert f"{n} tokens" in in_tokens.reason
    assert f"{n} characters" in in_characters.reason


@pytest.mark.parametrize(
    "settings",
    [{"band": 0}, {"target": 0}, {"mode": "soft_overlong", "max_length": 10, "cache": 20}, {"mode": "short"}],
)
def test_length_refuses_settings_that_do_not_fit(settings: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        get_reward("length").with_(**settings)


@pytest.mark.parametrize(
    ("n", "right", "wrong"), [(0, 1.0, -1.0), (50, 0.75, -0.75), (100, 0.5, -0.5), (101, 0.5, -0.5), (200, 0.5, -0.5), (10**6, 0.5, -0.5)]
)  # fmt: skip
def test_cosine_depends_on_correctness_and_does_not_turn_back(n: int, right: float, wrong: float) -> None:
    cosine = get_reward("length").with_(mode="cosine", max_length=100)
    ids = [1] * n
    for correct, value in ((True, right), (1.0, right), (False, wrong), (0, wrong)):
        assert cosine.one("4", completion_ids=ids, correct=correct).value == pytest.approx(value)
    assert cosine.one("<answer>4</answer>", completion_ids=ids, answer="4.0").value == pytest.approx(right)
    assert cosine.one("<answer>5</answer>", completion_ids=ids, answer=4).value == pytest.approx(wrong)
    assert cosine.one("4", completion_ids=ids, answer=4, correct=False).value == pytest.approx(wrong)


def test_cosine_does_not_apply_without_correctness() -> None:
    cosine = get_reward("length").with_(mode="cosine")
    lacking: list[dict[str, Any]] = [{}, {"correct": None}, {"answer": None}, {"answer": []}, {"correct": float("nan")}]
    for columns in lacking:
        outcome = cosine.one("4", **columns)
        assert outcome.status == "not_applicable"
        assert "correct or answer" in outcome.reason


def test_cells_that_cannot_be_read_are_named() -> None:
    cosine = get_reward("length").with_(mode="cosine")
    unread = cosine.one("4", correct="yes", answer="4")
    assert (unread.status, unread.reason) == ("not_applicable", "correct must be true, false or a number, not 'yes'")
    assert cosine.one("4", correct=float("nan"), answer="4").value == pytest.approx(1.0, abs=0.01)
    ids: Any = "[1, 2, 3]"  # a column that went through CSV
    assert "no list of token ids" in get_reward("length").one("4", completion_ids=ids).reason


def test_falling_back_to_characters_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    length._say_characters.cache_clear()
    reward = get_reward("length")
    assert "tokens" in reward.one("1234", completion_ids=[1]).reason
    assert caplog.messages == []
    for _ in range(2):
        assert "characters (no completion_ids)" in reward.one("1234").reason
    assert caplog.messages == ["length counts characters: the rows have no completion_ids"]
