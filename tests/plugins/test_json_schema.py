"""The reward `json_schema`: strict JSON, its places, its bounds, and schemas that are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from grpo_rewards_plugins.blocks import fenced_blocks
from grpo_rewards_plugins.documents import read_document
from hypothesis import given
from hypothesis import strategies as st

from grpo_rewards import get_reward
from grpo_rewards.errors import SettingsError

PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": "^[A-Z]"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
GOOD = '{"name": "Ada", "age": 36}'


@pytest.mark.parametrize(
    ("settings", "text", "value", "reason"),
    [
        ({}, GOOD, 1.0, ""), ({}, f"\n {GOOD}\n", 1.0, ""), ({}, f"Here:\n```json\n{GOOD}\n```\nDone.", 1.0, ""),
        ({}, f"```\n[1\n```\n~~~json\n{GOOD}\n~~~", 1.0, ""), ({}, f"<think>```json\n[]\n```</think><answer>{GOOD}</answer>", 1.0, ""),
        ({}, f"<answer>\n```json\n{GOOD}\n```\n</answer>", 1.0, ""), ({}, f"```json\n{GOOD}", 1.0, ""),
        ({}, f"<think>\n{{}}\n</think>\n{GOOD}", 1.0, ""), ({}, f"<think>\n```json\n{GOOD}\n```", 0.0, "empty"), ({}, f"{GOOD}<|im_end|>", 1.0, ""),
        ({}, f"```json\n{GOOD}```\nDone.", 1.0, ""), ({"schema": {"multipleOf": 0.01}}, "19.99", 1.0, ""),
        ({"schema": {"multipleOf": 0.01}}, "19.995", 0.25, "multiple"), ({"schema": {"multipleOf": 2}}, "1e300", 1.0, ""),
        ({"place": "block"}, GOOD, 0.0, "no JSON found"), ({"place": "tag", "tag": "json"}, f"<json>{GOOD}</json>", 1.0, ""),
        ({"place": "text"}, f"```\n{GOOD}\n```", 0.0, "not JSON"), ({}, f"Here it is: {GOOD}", 0.0, "not JSON"),
        ({}, '{"name": "Ada"}', 0.25, "'age' is a required"), ({}, '{"name": "ada", "age": 1}', 0.25, "$.name: 'ada' does not match"),
        ({}, '{"name": "Ada", "age": 1, "x": 2}', 0.25, "'x' is not allowed"), ({}, '{"name": "Ada", "age": -1}', 0.25, "$.age"),
        ({"parsed": 0.0}, "{}", 0.0, "required"), ({}, '{"name": "Ada", "age": 1, "age": 2}', 0.0, "'age' stands twice"),
        ({}, '{"name": "Ada", "age": NaN}', 0.0, "NaN is not JSON"), ({}, "-Infinity", 0.0, "not JSON"), ({}, "1e999", 0.0, "too large"),
        ({}, f"[{'9' * 5000}]", 0.0, "digits"), ({}, "", 0.0, "empty"), ({}, "{'name': 'Ada'}", 0.0, "line 1, column 2"), ({}, GOOD + GOOD, 0.0, "Extra"),
        ({"max_chars": 10}, GOOD, 0.0, "more than 10"), ({"max_depth": 2, "schema": {}}, "[[1]]", 1.0, ""),
        ({"max_depth": 2, "schema": {}}, "[[[1]]]", 0.0, "nested"), ({"max_chars": 1_000_000}, "[" * 500_000, 0.0, "nested"),
        ({"schema": {"uniqueItems": True}}, "[1, 2, 1.0]", 0.25, "twice"), ({"schema": {"uniqueItems": True}}, "[1, true, 0, false]", 1.0, ""),
        ({"schema": {"patternProperties": {"^x": {"type": "null"}}, "additionalProperties": {"type": "array"}}}, '{"x1": null, "y": []}', 1.0, ""),
        ({"schema": {"patternProperties": {"^x": {"type": "null"}}}}, '{"x1": 1}', 0.25, "null"), ({}, f"\ufeff{GOOD}", 1.0, ""),
        # marks of a chat in a text of the document end neither the reasoning nor the turn
        ({}, '{"name": "A </think> b", "age": 1}', 1.0, ""), ({}, '<think>x</think>{"name": "A </think> b", "age": 1}', 1.0, ""),
        ({}, '{"name": "A <think> b", "age": 1}', 1.0, ""), ({}, '<answer>{"name": "A <think>b</think>", "age": 1}</answer><|im_end|>', 1.0, ""),
        ({}, '{"name": "A </s> <|im_end|>", "age": 1}', 1.0, ""), ({}, '```json\n{"name": "A </think> </think>", "age": 1}\n```\nDone.', 1.0, ""),
        ({}, f"<think>```json\n{GOOD}\n```</think> I cannot say.", 0.0, "not JSON"), ({}, f"{GOOD}</think>", 0.0, "empty"),
        ({}, '<think>{"name": "A </think> b", "age": 1}</think> No.', 0.0, "not JSON"),
        ({}, '<think>\n```json\n{"name": "A </think> b", "age": 1}\n```\n</think> No.', 0.0, "not JSON"),
    ],
)  # fmt: skip
def test_json_schema(settings: dict[str, Any], text: str, value: float, reason: str) -> None:
    outcome = get_reward("json_schema").with_(**{"schema": PERSON, **settings}).one(text)
    assert outcome.value == value
    assert reason in outcome.reason
    assert (outcome.reason in ("the schema accepts the JSON", "the JSON is valid")) is (value == 1.0)


def test_reasons_are_one_printable_line_whatever_the_keys() -> None:
    scorer = get_reward("json_schema").with_(schema={"additionalProperties": {"enum": [1]}})
    for key in ("a\nb", "\ud800", "\0", "k" * 5000):
        reason = scorer.one(json.dumps({key: "\n\ud800" * 500})).reason
        assert reason.isprintable()
        assert len(reason) < 400


def test_recursive_schemas_are_followed_within_bounds() -> None:
    tree = {"$ref": "#/$defs/t", "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}}
    scorer = get_reward("json_schema").with_(schema=tree)
    assert scorer.one("[[], [[]]]").value == 1.0
    assert scorer.one("[[], [1]]").value == 0.25


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"pattern": "^(a|aa)+$"}, json.dumps("a" * 50_000 + "b")),
        ({"patternProperties": {"^(a|aa)+$": False}}, json.dumps({"a" * 50_000 + "b": 1})),
        ({"$ref": "#/$defs/t", "$defs": {"t": {"anyOf": [{"items": {"$ref": "#/$defs/t"}, "type": "array"}] * 2}}}, "[" * 60 + "1" + "]" * 60),
    ],
)  # fmt: skip
def test_a_check_without_end_is_stopped(schema: dict[str, Any], text: str) -> None:
    outcome = get_reward("json_schema").with_(schema=schema, timeout=0.1).one(text)
    assert (outcome.value, outcome.status) == (0.0, "timeout")


@pytest.mark.parametrize(
    "text",
    [
        "[" + "{}," * 30_000 + "{}]",
        "[" + "[]," * 30_000 + "1]",
        '"' + '\\"' * 40_000,
        '"' * 100_000,
        "`" * 100_000,
        "```\n" * 25_000,
    ],
)
def test_hostile_documents_are_scored(text: str) -> None:
    assert get_reward("json_schema").with_(schema={"uniqueItems": True}).one(text).status == "scored"


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "person"}, "not a JSON schema"), ({"$ref": "https://example.com/a.json"}, "within the schema"),
        ({"$ref": "#/$defs/none"}, "leads nowhere"), ({"$ref": "#"}, "without end"), ({"pattern": "("}, "is not a 'regex'"),
        ({"patternProperties": {"a": True}, "unevaluatedProperties": False}, "not supported"), ({"const": {1, 2}}, "plain JSON"),
    ],
)  # fmt: skip
def test_schemas_that_are_refused(schema: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        get_reward("json_schema").with_(schema=schema)


DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(max_size=3), parts, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(DOCUMENTS)
def test_whatever_json_writes_is_read_back(document: Any) -> None:
    assert read_document(json.dumps(document), max_chars=10_000, max_depth=64) == document


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("no", []), ("```py\na\n```", [("a", "py", True)]), ("```\na\n```\nb\n~~~ JSON x\nc\n~~~", [("a", "", True), ("c", "json", True)]),
        ("````\n```\na\n```\n````", [("```\na\n```", "", True)]), ("```python\na\n", [("a\n", "python", False)]), ("a ``` b", []),
        ("```sql\na\nb```  \nc", [("a\nb", "sql", True)]), ("```py\n'```'\n```", [("'```'", "py", True)]),
        ("```py\r\na\r\n```\r\n", [("a\r", "py", True)]), ("```\na\n```python\nb\n```", [("a\n```python\nb", "", True)]), ("    ```\na", []),
    ],
)  # fmt: skip
def test_fenced_blocks(text: str, blocks: list[tuple[str, str, bool]]) -> None:
    assert [(block.text, block.language, block.closed) for block in fenced_blocks(text)] == blocks
