"""What counts as the text of a completion."""

from __future__ import annotations

import pytest

from grpo_rewards import completion_text

A = "assistant"


@pytest.mark.parametrize(
    ("completion", "text"),
    [
        ("plain", "plain"),
        ("", ""),
        ([], ""),
        ([{"role": A, "content": "one"}], "one"),
        ([{"content": "no role"}], "no role"),
        ({"role": A, "content": "bare message"}, "bare message"),
        ([{"role": A, "content": "call"}, {"role": "tool", "content": "42"}], "call"),
        ([{"role": A, "content": "call"}, {"role": "tool", "content": "42"}, {"role": A, "content": "end"}], "end"),
        ([{"role": A, "content": None, "tool_calls": []}], ""),
        (
            [{"role": A, "content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]}],
            "ab",
        ),
        ([{"role": "tool", "content": "only"}], ""),
        (({"role": A, "content": "tuple"},), "tuple"),
    ],
)
def test_the_last_assistant_message_counts(completion: object, text: str) -> None:
    assert completion_text(completion) == text


@pytest.mark.parametrize("completion", [None, 3, ["text"], [["nested"]], b"bytes", [{"role": A, "content": 3}]])
def test_other_shapes_are_refused(completion: object) -> None:
    with pytest.raises(TypeError, match="must be a string or a list"):
        completion_text(completion)
