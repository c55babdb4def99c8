"""The contract suite passes for rewards that keep the contract and fails for each way to break it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from grpo_rewards import get_reward, reward
from grpo_rewards._contract import Reward
from grpo_rewards.testing import RewardContract

TESTS = [name for name in vars(RewardContract) if name.startswith("test_")]
ROWS = (
    {"prompt": "p", "completion": "<answer>\nB\n</answer>", "answer": "B"},
    {"prompt": "p", "completion": "C", "answer": "B"},
    {"prompt": "q", "completion": "B", "answer": "C"},
)


class TestExact(RewardContract):
    reward = "exact"
    rows = ROWS


class TestDiversity(RewardContract):
    reward = "diversity"
    rows = ROWS


class TestRegex(RewardContract):
    reward = get_reward("regex")
    settings = {"allow": ["B"]}  # noqa: RUF012
    rows = ROWS


_turn = itertools.count()


@reward(range=(0, 1))
def moody(completion: str) -> float:
    """Different each time."""
    return (next(_turn) % 7) / 7


@reward.batch(range=(0, 1))
def jealous(completions: list[str]) -> list[float]:
    """Looks at its neighbours."""
    return [float(position == 0) for position in range(len(completions))]


@reward(range=(0, 1))
def strict(completion: str, answer: str | None = None) -> float:
    """Wants an answer."""
    return float(completion == answer.strip())  # type: ignore[union-attr]


@reward(range=(0, 1))
def touchy(completion: str) -> float:
    """Breaks on nothing."""
    return 1.0 / (1 + len(completion.strip())) if completion.strip() else 1 / len(completion.strip())


@reward
def undeclared(completion: str) -> float:
    """No range"""
    return 1.0


@reward(range=(0, 1))
def excessive(completion: str) -> float:
    """Beyond its range."""
    return 2.0


@reward(range=(0, 1))
def raw(completion: str, messages: list) -> float:  # type: ignore[type-arg]
    """Another value for one and the same text."""
    return 1.0


@reward.batch(range=(0, 1))
def formal(completions: list) -> list[float]:  # type: ignore[type-arg]
    """Text pays and messages do not."""
    return [float(isinstance(completion, str)) for completion in completions]


def _local() -> Reward:
    @reward(range=(0, 1))
    def inner(completion: str) -> float:
        """Not at the top level."""
        return 1.0

    return inner


@pytest.mark.parametrize(
    ("broken", "caught"),
    [
        (moody, "test_it_repeats_itself"),
        (jealous, "test_a_row_alone_equals_the_row_in_a_batch"),
        (jealous, "test_the_order_of_rows_does_not_matter"),
        (strict, "test_columns_may_be_none"),
        (touchy, "test_hostile_texts_are_scored"),
        (undeclared, "test_it_is_declared"),
        (excessive, "test_it_scores_its_rows"),
        (formal, "test_chat_is_scored_like_text"),
        (_local(), "test_it_pickles_into_another_process"),
    ],
    ids=lambda case: case if isinstance(case, str) else case.name,
)
def test_each_way_to_break_the_contract_is_caught(broken: Any, caught: str) -> None:
    suite = type("Suite", (RewardContract,), {"reward": broken, "rows": ROWS})
    with pytest.raises(Exception):  # noqa: B017 - whatever the rule raises fails the plugin's test
        getattr(suite(), caught)()


def test_the_suite_names_its_rules() -> None:
    assert len(TESTS) >= 11
    assert all(getattr(RewardContract, name).__doc__ for name in TESTS)
