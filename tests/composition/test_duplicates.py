"""Identical rows are asked for once, and only where that cannot change anything."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_rewards import Composite, reward


def counting(style: str = "row", **kinds: Any) -> tuple[Any, list[Any]]:
    seen: list[Any] = []
    if style == "row":

        @reward(range=(0.0, 99.0))
        def measure(completion: str, answer: str = "", *, factor: float = 1.0) -> float:
            seen.append((completion, answer))
            return factor * (len(completion) + len(str(answer)))

        return measure, seen

    @reward.batch(range=(0.0, 99.0))
    def several(completions: list[str]) -> list[float]:
        seen.extend(completions)
        return [float(completions.count(text)) for text in completions]

    return several, seen


def test_a_row_reward_is_asked_once_for_equal_completions_and_columns() -> None:
    measure, seen = counting()
    composite = Composite({"rewards": {"measure": measure}})
    found = composite(completions=["a", "a", "bb", "a"], answer=["1", "1", "1", "22"])
    assert found == [2.0, 2.0, 3.0, 3.0]
    assert seen == [("a", "1"), ("bb", "1"), ("a", "22")]
    table = composite.score([{"completion": "a", "answer": "1"}] * 3)
    assert table.copies == {"measure": 2}


def test_a_column_that_is_not_read_makes_no_difference() -> None:
    measure, seen = counting()
    Composite({"rewards": {"measure": measure}})(completions=["a", "a"], answer=["1", "1"], other=[1, 2])
    assert len(seen) == 1


@pytest.mark.parametrize("pair", [(1, True), (1, 1.0), (0.0, -0.0), ("1", 1), ([1], (1,)), ({"a": 1}, {"a": 1.0})])
def test_values_that_compare_equal_but_are_not_the_same_are_kept_apart(pair: tuple[Any, Any]) -> None:
    seen: list[Any] = []

    @reward
    def look(completion: str, value: Any) -> float:
        seen.append(value)
        return 0.0

    Composite({"rewards": {"look": look}})(completions=["a", "a"], value=list(pair))
    assert len(seen) == 2


def test_a_value_without_content_to_compare_is_a_row_of_its_own() -> None:
    measure, seen = counting()
    Composite({"rewards": {"measure": measure}})(completions=["a", "a"], answer=[object(), object()])
    assert len(seen) == 2


def test_a_batch_reward_of_a_user_sees_every_row() -> None:
    several, seen = counting("batch")
    assert Composite({"rewards": {"several": several}})(completions=["a", "a", "b"]) == [2.0, 2.0, 1.0]
    assert seen == ["a", "a", "b"]


def test_a_group_reward_sees_every_row() -> None:
    seen: list[list[str]] = []

    @reward.group
    def share(completions: list[str]) -> list[float]:
        seen.append(list(completions))
        return [completions.count(text) / len(completions) for text in completions]

    found = Composite({"rewards": {"share": share}})(prompts=["p", "p", "q"], completions=["a", "a", "a"])
    assert found == [1.0, 1.0, 1.0]
    assert seen == [["a", "a"], ["a"]]


def test_where_a_component_applies_to_some_rows_copies_are_found_among_those() -> None:
    measure, seen = counting()
    composite = Composite({"rewards": {"measure": {"use": measure, "when": {"column": "task", "equals": "m"}}}})
    found = composite(completions=["a", "a", "a"], answer=["", "", ""], task=["m", "c", "m"])
    assert found == [1.0, None, 1.0]
    assert seen == [("a", "")]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["", "x", None])), min_size=1, max_size=10))
def test_sharing_changes_no_value(rows: list[tuple[str, str | None]]) -> None:
    measure, _ = counting()
    composite = Composite({"rewards": {"measure": measure}})
    together = composite.score([{"completion": c, "answer": a} for c, a in rows]).rewards()
    assert together == [composite.score([{"completion": c, "answer": a}]).rewards()[0] for c, a in rows]


def test_components_run_side_by_side() -> None:
    meeting = threading.Barrier(2, timeout=30)

    def meet(completion: str) -> float:
        meeting.wait()
        return 1.0

    composite = Composite({"rewards": {"one": reward(meet), "two": reward(meet)}})
    assert composite(completions=["x"]) == [2.0]  # one after another would never meet
