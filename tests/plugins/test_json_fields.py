"""The reward `json_fields`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grpo_rewards import get_reward

fields = get_reward("json_fields")
PERSON = {"name": "Ada Lovelace", "born": 1815, "tags": ["a", "b"]}


@pytest.mark.parametrize(
    ("found", "value"),
    [
        (PERSON, 1.0),
        ({"name": "ada  LOVELACE", "born": 1815.0, "tags": ["A", "b"]}, 1.0),
        ({**PERSON, "more": 1}, 1.0),
        ({"name": "Ada Lovelace", "born": 1816, "tags": ["a", "b"]}, 2 / 3),
        ({"name": "Ada Lovelace", "born": "1815", "tags": ["a"]}, 1 / 3),
        ({"born": True}, 0.0),
        ([PERSON], 0.0),
        ({}, 0.0),
    ],
)
def test_the_share_of_right_fields(found: Any, value: float) -> None:
    for text in (
        json.dumps(found),
        f"Here:\n```json\n{json.dumps(found)}\n```",
        f"<answer>{json.dumps(found)}</answer>",
    ):
        assert fields.one(text, answer=PERSON).value == pytest.approx(value)
        assert fields.one(text, answer=json.dumps(PERSON)).value == pytest.approx(value)


def test_surplus_fields_cost_what_is_asked() -> None:
    found = fields.with_(extra=0.25).one(json.dumps({**PERSON, "x": 1, "y": 2}), answer=PERSON)
    assert found.value == pytest.approx(0.5)
    assert "2 further fields" in found.reason


@pytest.mark.parametrize("text", ["", "no json", '{"a": 1, "a": 2}', '{"a": NaN}', "[" * 1000])
def test_what_is_no_json_gets_0_with_the_reason(text: str) -> None:
    found = fields.one(text, answer=PERSON)
    assert (found.value, found.status) == (0.0, "scored")
    assert found.reason


@pytest.mark.parametrize("answer", ["", "[1]", "{}", {}, "{"])
def test_a_reference_that_is_no_object_does_not_apply(answer: Any) -> None:
    assert fields.one(json.dumps(PERSON), answer=answer).status == "not_applicable"
    assert fields.check_row is not None
    assert "JSON object" in str(fields.check_row(answer=answer))
