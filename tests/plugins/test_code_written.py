"""JSON that keeps the text of its parts: it holds the same values as JSON read by any other reader, and texts of those values."""

import json
from typing import Any

import pytest
from grpo_rewards_plugins.cells import Cells, from_json
from grpo_rewards_plugins.code.shapes.written import Parts, from_json_with_texts, written
from hypothesis import given
from hypothesis import strategies as some

from grpo_rewards import get_reward
from grpo_rewards.types import Batch

_VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False) | some.text(),
    lambda parts: some.lists(parts) | some.dictionaries(some.text(max_size=2), parts),
)
_LAYOUTS = some.sampled_from([{}, {"separators": (",", ":")}, {"indent": 1}])


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *((1, True), (1, 1.0), (0.0, -0.0), ("1", 1), (None, "None"), ([1], (1,)), ([], {}), ([[1], 2], [[1, 2]]), ([1, [2]], [[2], 1])),
        *(({"a": 1, "b": 2}, {"b": 1, "a": 2}), ({"a": {"b": 1}}, {"a": {}, "b": 1}), (["a", "b"], {"a": "b"})),
    ],
)  # fmt: skip
def test_cells_are_the_same_where_values_and_types_are(one: Any, other: Any) -> None:
    """Of what Python calls equal, too; what has been changed since is another."""
    assert Cells.of({"x": one}) == Cells.of({"x": json.loads(json.dumps(one)) if type(one) is not tuple else one})
    assert Cells.of({"x": one}) != Cells.of({"x": other})
    held = [one]
    before = Cells.of({"x": held})
    held.append(other)
    assert before != Cells.of({"x": held})


@pytest.mark.parametrize("cell", [bytearray(b"x"), [object()], {1: 2}, [0] * 100_000])
def test_cells_of_other_kinds_are_read_each_time(cell: object) -> None:
    assert Cells.of({"x": cell}) is None


def test_a_large_row_that_was_seen_is_judged_by_its_own_tests() -> None:
    """Rows that differ in one of many tests, in turns."""
    tests = {"fn_name": "f", "inputs": [[n, "x" * 50] for n in range(2000)], "outputs": [*range(2000)]}
    other = {**tests, "outputs": [*range(1999), 0]}
    rows = [{"input_output": json.dumps(one), "completion": "```python\ndef f(n, x):\n    return n\n```"} for one in (tests, other)]  # fmt: skip
    code = get_reward("code").with_(sandbox="local", workers=1)
    values = [outcome.value for row in (*rows, *rows) for outcome in code.outcomes(Batch.from_rows([row]))]
    assert values == [1.0, 0.0, 1.0, 0.0]
