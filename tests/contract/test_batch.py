"""The rows of a call as columns: who is in whose group, and what is left when rows are picked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from grpo_rewards import reward
from grpo_rewards._contract import Batch
from grpo_rewards.errors import InputError

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
    for columns in (None, {"answer"}):
        assert batch.select(range(1, 3), columns=columns) == batch.select([1, 2], columns=columns)


def test_renamed_columns_are_added_and_groups_stay() -> None:
    batch = Batch(["w", "x"], prompts=["a", "b"], columns={"solution": [1, 2], "answer": [8, 9]}, grouping=[0, 0])
    renamed = batch.renamed({"answer": "solution", "question": "prompt", "missing": "nowhere"})
    assert renamed.columns == {"solution": [1, 2], "answer": [1, 2], "question": ["a", "b"]}
    assert renamed.groups == [[0, 1]]
    assert batch.columns["answer"] == [8, 9]


class Image:
    """As a picture of a data set: read anew for each row, never equal to another."""

    size, mode = (1, 2), "L"

    def __init__(self, pixels: bytes) -> None:
        self.pixels = pixels

    def tobytes(self) -> bytes:
        return self.pixels


def called(prompts: list[Any] | None, size: int = 8, **columns: Any) -> Batch:
    return Batch.from_call(completions=["x"] * size, prompts=prompts, trainer_state=object(), **columns)


@pytest.mark.parametrize("prompts", [["same"] * 8, [[{"content": object()}] for _ in range(8)], None])
def test_a_trainers_groups_are_its_blocks_whatever_the_prompts(prompts: list[Any] | None) -> None:
    assert called(prompts).in_groups_of(4).groups == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert called(prompts, group_id=[0] * 8).in_groups_of(4).groups == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert called(prompts).in_groups_of(4).select([1, 6, 7]).groups == [[0], [1, 2]]


def test_a_reward_alone_is_told_its_groups_by_the_trainer_behind_the_functions_that_log() -> None:
    class Trainer:
        num_generations = 4
        num_generations_eval = 2
        model = SimpleNamespace(training=True)

        def log_metric(self, name: str, value: float) -> None: ...

    @reward.group
    def members(completions: list[str]) -> list[float]:
        return [float(len(completions))] * len(completions)

    def sizes() -> list[float | None]:
        return members(completions=["x"] * 8, prompts=["same"] * 8, log_metric=trainer.log_metric)

    trainer = Trainer()
    assert sizes() == [4.0] * 8
    trainer.model.training = False
    assert sizes() == [2.0] * 8


@pytest.mark.parametrize(
    ("batch", "why"),
    [
        (called(["p"] * 6, 6).in_groups_of(4), "no whole number of groups of 4.*other processes"),
        (called(None), "neither a column group_id nor prompts"),
        (called(["p"] * 6 + ["q"] * 2), "not equally many"),
        (Batch(["x", "y"]), "neither a column group_id nor prompts"),
        (Batch(["x", "y"], prompts=[[object()], [object()]]), "holds a object, which is equal to itself alone"),
    ],
)
def test_groups_that_cannot_be_known_are_refused_by_name(batch: Batch, why: str) -> None:
    assert batch.groups == [[row] for row in range(len(batch))]
    with pytest.raises(InputError, match=f"the reward 'r' compares.*{why}.*group_id"):
        batch.check_groups("the reward 'r'")
    Batch(batch.completions, batch.prompts, columns={"group_id": [0] * len(batch)}).check_groups("it")


def test_prompts_with_images_are_equal_by_their_content() -> None:
    def prompt(pixels: bytes) -> list[dict[str, Any]]:
        return [{"role": "user", "content": [{"type": "image", "image": Image(pixels)}]}]

    batch = Batch(["w", "x", "y", "z"], [prompt(b"ab"), prompt(b"ab"), prompt(b"cd"), prompt(b"ab")])
    assert batch.groups == [[0, 1, 3], [2]]
    assert not batch.ungrouped


def test_the_one_prompt_of_a_group_beside_its_prompts_is_no_column() -> None:
    """So TRL's asynchronous trainer calls before 1.8; the prompt may have as many messages as the group has rows."""
    prompt = [{"role": "system", "content": "add"}, {"role": "user", "content": "1 + 1"}]
    for size in (2, 3):
        batch = Batch.from_call(completions=["x"] * size, prompt=prompt, prompts=[prompt] * size, answer=["2"] * size)
        assert batch.column("prompt") == [prompt] * size
        assert batch.groups == [list(range(size))]
        assert "prompt" not in batch.columns
