"""A parser that reads a repeated prompt once returns what one that reads every row returns."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_rewards._scoring.reading.lines import RowParser
from grpo_rewards._scoring.reading.rows import parse_object

LONG = "x" * 80
CHAT = [{"role": "system", "content": LONG, "completion": 1}, {"role": "user", "content": ', "completion": {"a": 1}'}]
PROMPTS = [
    LONG,
    LONG + "é\n",
    LONG + '", "completion": "',
    CHAT,
    [*CHAT, {"n": 1}],
    [*CHAT, {"n": True}],
    [],
    1.5,
    None,
    {"a": LONG},
]
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda parts: st.one_of(st.lists(parts, max_size=3), st.dictionaries(st.text(max_size=3), parts, max_size=3)),
    max_leaves=5,
)
names = st.sampled_from(["completion", "prompt", "answer", 'quo"te', ""])
rows = st.lists(
    st.tuples(
        st.sampled_from(PROMPTS),
        st.lists(st.tuples(names, values), max_size=3),
        st.booleans(),
        st.sampled_from(["", "}", ",}", "]"]),
    ),
    min_size=2,
    max_size=8,
)


def line(prompt: Any, parts: list[tuple[str, Any]], compact: bool, broken: str) -> bytes:
    """A row that begins with its prompt; a name may come twice, and the end may be broken."""
    comma, colon = (",", ":") if compact else (", ", ": ")
    members = [
        json.dumps(name) + colon + json.dumps(value, separators=(comma, colon))
        for name, value in [("prompt", prompt), *parts]
    ]
    return ("{" + comma.join(members) + (broken or "}")).encode()


def outcome(parse: Any, raw: bytes) -> str:
    try:
        return repr(parse(raw))
    except ValueError as error:
        return f"ValueError: {error}"


@pytest.mark.slow
@given(rows)
def test_every_row_is_read_as_it_is_alone(found: list[Any]) -> None:
    parser = RowParser()
    for raw in (line(*row) for row in found):
        assert outcome(parser.parse, raw) == outcome(parse_object, raw)


@pytest.mark.parametrize("prompt", [LONG, [{"role": "user", "content": LONG}]])
@pytest.mark.parametrize("compact", [True, False])
def test_rows_of_a_group_get_one_object_for_their_prompt(prompt: Any, compact: bool) -> None:
    parser = RowParser()
    found = [parser.parse(line(prompt, [("completion", number)], compact, "")) for number in range(6)]
    assert [row["completion"] for row in found] == list(range(6))
    assert len({id(row["prompt"]) for row in found[2:]}) == 1


@given(st.lists(st.sampled_from([LONG + "a", LONG + "b", LONG + "c"]), max_size=12))
def test_a_prompt_that_comes_back_is_its_own(prompts: list[str]) -> None:
    parser = RowParser()
    assert [parser.parse(line(prompt, [("completion", 1)], False, ""))["prompt"] for prompt in prompts] == prompts
