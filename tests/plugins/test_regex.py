"""The reward `regex`: what is allowed, denied and paid for, and that a slow pattern is stopped."""

from __future__ import annotations

import pytest

from grpo_rewards import get_reward
from grpo_rewards.errors import SettingsError

THINK = r"^<think>.*?</think>\s*<answer>.*?</answer>$"


@pytest.mark.parametrize(
    ("settings", "text", "value"),
    [
        ({"allow": [THINK]}, "<think>one\ntwo</think>\n<answer>4</answer>", 1.0),
        ({"allow": [THINK], "dot_all": False}, "<think>one\ntwo</think>\n<answer>4</answer>", 0.0),
        ({"allow": [THINK]}, "So: <think>one</think><answer>4</answer>", 0.0),
        ({"allow": ["a", "b"]}, "xa", 0.0), ({"allow": ["a", "b"]}, "xab", 1.0),
        ({"allow": ["a", "b"], "need": "any"}, "xb", 1.0), ({"allow": ["a", "b"], "need": "any"}, "x", 0.0),
        ({"allow": ["A"]}, "a", 0.0), ({"allow": ["A"], "ignore_case": True}, "a", 1.0),
        ({"deny": ["bad"]}, "good", 1.0), ({"deny": ["bad"]}, "a bad one", 0.0), ({"deny": ["bad"]}, "a b\u200bad one", 0.0), ({"deny": ["\u00e9t\u00e9"]}, "e\u0301te\u0301", 0.0), ({"allow": ["^a.b$"]}, "a\u200bb", 1.0), ({"allow": ["a"], "deny": ["bad"]}, "a bad one", 0.0),
        ({"penalties": {"um": 0.1}}, "well", 0.0), ({"penalties": {"um": 0.1}}, "um, um", -0.2),
        ({"penalties": {"um": 0.1}}, "um " * 100_000, -0.5), ({"penalties": {"u": 0.4, "m": 0.4}}, "um", -0.5),
        ({"allow": ["a"], "penalties": {"um": 0.1}}, "a um", 0.9), ({"penalties": {"um": 3.0}, "max_penalty": 1}, "um", -1.0),
        ({"penalties": {"": 0.001}}, "x" * 100_000, -0.5), ({"penalties": {"x": 0.0}}, "x", 0.0),
        ({"allow": ["^4$"], "place": "tag"}, "<answer>4</answer>", 1.0), ({"allow": ["4"], "place": "tag"}, "4", 0.0),
    ],
)  # fmt: skip
def test_regex(settings: dict[str, object], text: str, value: float) -> None:
    outcome = get_reward("regex").with_(**settings).one(text)
    assert outcome.value == pytest.approx(value)
    assert outcome.status == "scored"
    full = 1.0 if "allow" in settings or "deny" in settings else 0.0
    assert (outcome.reason == "every pattern is kept") is (value == full)


def test_a_search_without_end_is_stopped() -> None:
    slow = get_reward("regex").with_(allow=["(a|aa)+$"], timeout=0.05)
    outcome = slow.one("a" * 100_000 + "b")
    assert (outcome.value, outcome.status) == (0.0, "timeout")
    outcome = slow.with_(penalties={"b": 0.1}).one("a" * 100_000 + "b")
    assert (outcome.value, outcome.status) == (-0.5, "timeout")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "at least one"), ({"allow": ["("]}, "not a regular expression"), ({"penalties": {"a": -1}}, "0 or more"),
        ({"penalties": {"a": float("inf")}}, "finite"), ({"allow": ["a"], "max_penalty": 2}, "max_penalty"),
        ({"allow": ["a"], "timeout": 0}, "timeout"), ({"allow": "a"}, "list"),
    ],
)  # fmt: skip
def test_settings_that_do_not_fit(settings: dict[str, object], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        get_reward("regex").with_(**settings).complete()
