"""One search for the final answer serves every reward: the same treatment of reasoning, end tokens, boxes and tags."""

from __future__ import annotations

from typing import Any

import pytest
from grpo_rewards_plugins.answers import extract, final_text, find_answer

from grpo_rewards import get_reward

REWARDS: dict[str, dict[str, Any]] = {
    "math": {"answer": "8"},
    "exact": {"answer": "8"},
    "integer": {},
    "countdown": {"numbers": [8], "target": 8},
}
PAID = [
    "\\boxed{8}",
    "<think>no</think>\\boxed{8}",
    "<answer>8</answer><|im_end|>",
    "#### 8</s>",
    "so \\boxed{8",
    "<answer>8",
    "8<|endoftext|>",
    "```python\nprint('\\boxed{9}')\n```\n\\boxed{8}",
    "\\boxed{8}\n\nQuestion: and then?\n\\boxed{9}",
]
NOT_PAID = [
    "<think>\\boxed{8}",
    "<think>a</think> so <think>\\boxed{8}",
    "8 " * 40,
    "\\boxed{8} " * 40,
    "",
    "```python\nprint('\\boxed{8}')\n```",
]


@pytest.mark.parametrize("name", REWARDS)
def test_every_reward_finds_the_same_answer(name: str) -> None:
    reward = get_reward(name)
    assert [reward.one(text, **REWARDS[name]).value for text in PAID] == [1.0] * len(PAID)
    assert [reward.one(text, **REWARDS[name]).value for text in NOT_PAID] == [0.0] * len(NOT_PAID)


def test_a_choice_is_found_by_the_same_rules() -> None:
    reward = get_reward("multiple_choice")
    for text in (
        "\\boxed{B}",
        "<think>A</think>The answer is B<|im_end|>",
        "The correct option is B.\n\nA is wrong.",
        "The answer is B.\n```python\nprint('The answer is C')\n```",
        "The answer is B.\n\nQ: and then?\nThe answer is C.",
    ):
        assert reward.one(text, answer="B").value == 1.0
    for text in ("<think>\\boxed{B}", "B " * 40):
        assert reward.one(text, answer="B").value == 0.0


def test_boxes_side_by_side_are_no_choice_of_the_reader() -> None:
    assert get_reward("exact").one("\\boxed{7} or \\boxed{8}", answer="8").value == 0.0


def test_the_older_name_of_the_box() -> None:
    assert find_answer("x \\boxed{4}", place="boxed") == find_answer("x \\boxed{4}", place="box") == "4"
    assert find_answer("x 4", place="box") is None


def test_the_tag_has_the_name_that_is_given() -> None:
    assert extract("<final>5</final> 6", order=("tag",), tag="final").text == "5"


def test_code_in_the_tag_is_the_answer_where_it_is_asked_for() -> None:
    assert (
        get_reward("regex")
        .with_(allow=["def f"], place="tag")
        .one("<answer>```python\ndef f(): ...\n```</answer>")
        .value
        == 1.0
    )


def test_formats_see_the_reasoning_as_it_is() -> None:
    assert get_reward("regex").with_(allow=["^<think>"]).one("<think>a").value == 1.0


def test_what_counts_as_the_final_text() -> None:
    assert final_text("<think>a</think>b<|im_end|>").strip() == "b"
    assert final_text("10" + "0" * 40) == "10" + "0" * 40
    assert final_text("so it is 7 " + "7 " * 30) == ""
