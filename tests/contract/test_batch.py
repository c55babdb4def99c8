"""The rows of a call as columns: who is in whose group, and what is left when rows are picked."""

from __future__ import annotations

from typing import Any

import pytest

from grpo_rewards._contract import Batch

CHAT = [{"role": "user", "content": "2+2?"}]


@pytest.mark.parametrize(
    ("given", "groups"),
    [
        ({}, [[0], [1], [2], [3]]),
        ({"prompts": ["a", "b", "a", "b"]}, [[0, 2], [1, 3]]),
        ({"prompts": [CHAT, [*CHAT], "2+2?", [*CHAT]]}, [[0, 1, 3], [2]]),
        ({"prompts": ["a", "a", "a", "b"], "columns": {"group_id": [1, 2, 1, 2]}}, [[0, 2], [1, 3]]),
        ({"prompts": ["a"] * 4, "columns": {"group_id": [1] * 4}, "grouping": ["x", "x", "y", "y"]}, [[0, 1], [2, 3]]),
    ],
    ids=["nothing", "prompts", "chat prompts", "group_id before prompts", "grouping before all"],
)
def test_groups_are_told_by_the_strongest_key(given: dict[str, Any], groups: list[list[int]]) -> None:
    assert Batch(["w", "x", "y", "z"], **given).groups == groups


def test_picked_rows_keep_every_column_and_their_groups() -> None:
    batch = Batch(
        ["w", "x", "y", "z"],
        prompts=["a", "a", "b", "b"],
        completion_ids=[[1], [2], [3], [4]],
        columns={"answer": [1, 2, 3, 4]},
        grouping=["p", "q", "p", "q"],
    )
    picked = batch.select([2, 0, 3])
    assert (picked.completions, picked.prompts) == (["y", "w", "z"], ["b", "a", "b"])
    assert (picked.completion_ids, picked.columns) == ([[3], [1], [4]], {"answer": [3, 1, 4]})
    assert picked.groups == [[0, 1], [2]]


def test_renamed_columns_are_added_and_groups_stay() -> None:
    batch = Batch(["w", "x"], prompts=["a", "b"], columns={"solution": [1, 2], "answer": [8, 9]}, grouping=[0, 0])
    renamed = batch.renamed({"answer": "solution", "question": "prompt", "missing": "nowhere"})
    assert renamed.columns == {"solution": [1, 2], "answer": [1, 2], "question": ["a", "b"]}
    assert renamed.groups == [[0, 1]]
    assert batch.columns["answer"] == [8, 9]
