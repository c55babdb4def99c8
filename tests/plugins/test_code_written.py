"""JSON that keeps the text of its parts: it holds the same values as JSON read by any other reader, and texts of those values."""

import json
from typing import Any

import pytest
from grpo_rewards_plugins.cells import from_json
from grpo_rewards_plugins.code.shapes.written import Parts, from_json_with_texts, written
from hypothesis import given
from hypothesis import strategies as some

_VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False) | some.text(),
    lambda parts: some.lists(parts) | some.dictionaries(some.text(max_size=2), parts),
)
_LAYOUTS = some.sampled_from([{}, {"separators": (",", ":")}, {"indent": 1}])


@given(_VALUES, _LAYOUTS)
def test_values_are_those_of_any_reader(value: object, layout: dict[str, Any]) -> None:
    """And each part's text, where one is kept, is what would be written of it."""
    text = json.dumps(value, **layout)
    found = from_json_with_texts(text)
    assert repr(found) == repr(from_json(text))
    lists: list[Any] = [found, *found.values()] if isinstance(found, dict) else [found]
    for parts in lists:
        for part, short in zip(parts, parts.written(), strict=True) if isinstance(parts, Parts) else ():
            assert short in ("", json.dumps(part, separators=(",", ":")))


@pytest.mark.parametrize(
    "text",
    [
        *(
            "{",
            "[",
            "{}",
            "[]",
            "[ ]",
            "[1,]",
            "[1,2]x",
            "[1, 2] ",
            "{1:2}",
            "[,1]",
            "[1,,2]",
            "[[],[]]",
            "[1]}",
            "{}x",
            "[1  ,2]",
        ),
        *('{"a":[1 ,2]}', '{"a":[1,', '{"a":1,}', '{"a":[],"a":[1]}', '{"a":[1]]}', '{"a"', '{"a":', '[1, "'),
    ],
)
def test_what_is_no_json_stays_text(text: str) -> None:
    """As with any reader."""
    assert from_json_with_texts(text) == from_json(text)


@pytest.mark.parametrize("text", ["-0", "[-0]", "1.50", "1e3", "true", '"a b"', "[NaN]", "\u0663"])
def test_a_text_that_may_be_written_otherwise_is_written_anew(text: str) -> None:
    """So that equal values have one text, and NaN is seen."""
    assert written(text) == ""
