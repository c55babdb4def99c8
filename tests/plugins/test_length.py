"""The reward `length`: its modes, its unit, its bounds."""

from __future__ import annotations

import pytest

from grpo_rewards import get_reward
from grpo_rewards.errors import SettingsError


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


@pytest.mark.parametrize("settings", [{"band": 0}, {"target": 0}, {"max_length": 10, "cache": 20}, {"mode": "short"}])
def test_length_refuses_settings_that_do_not_fit(settings: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        get_reward("length").with_(**settings)
