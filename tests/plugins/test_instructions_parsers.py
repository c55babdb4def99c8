"""The parsers of `instructions` against the plain way to say the same, and on any text."""

from __future__ import annotations

import json
import re

import pytest
from grpo_rewards_plugins.cells import RowProblem
from grpo_rewards_plugins.instructions.checks import classic, rlvr
from grpo_rewards_plugins.instructions.patterns import count_of, found, pieces
from grpo_rewards_plugins.instructions.rows import read_row
from grpo_rewards_plugins.instructions.sentences import ruled
from hypothesis import assume, given, settings
from hypothesis import strategies as st

MARKED = st.lists(st.sampled_from(["*", "**", "-", "[", "]", "<<", ">>", "<", ">", "\n", " ", "\t", "a", "b", "é", "\x1c", "\r", ".", '"']), max_size=25).map("".join)  # fmt: skip


def _how_many(check: object, text: str, name: str) -> int:
    """The number that a check compares, found by asking for each."""
    return next(n for n in range(99) if not check(text, **{name: n + 1}))  # type: ignore[operator]


@given(MARKED)
@settings(max_examples=300)
def test_placeholders_bullets_and_titles_are_what_the_patterns_find(text: str) -> None:
    assert _how_many(classic.number_placeholders, text, "num_placeholders") == len(re.findall(r"\[.*?\]", text))
    bullets = len(re.findall(r"^\s*\*[^\*].*$", text, re.M)) + len(re.findall(r"^\s*-.*$", text, re.M))
    assert classic.number_bullet_lists(text, num_bullets=bullets)
    titles = re.findall(r"<<[^\n]+>>", text)
    assert classic.title(text) == any(title.lstrip("<").rstrip(">").strip() for title in titles)


@given(st.lists(st.sampled_from(["go", "far", " ", "  ", "\n", "x"]), max_size=20).map("".join))
@settings(max_examples=300)
def test_phrases_are_what_the_pattern_finds(text: str) -> None:
    assert rlvr._finds("go", "far", text) == re.findall(r"go .*? far", text)


@given(
    st.text(st.sampled_from("abAB .\\$*+?()[]{}|^é"), min_size=1, max_size=6),
    st.text(st.sampled_from("abAB .$*+"), max_size=20),
)
@settings(max_examples=300)
def test_a_rows_pattern_is_a_pattern_where_it_is_one(pattern: str, text: str) -> None:
    assume(text or "\\B" not in pattern)  # re finds no \\B in an empty text before Python 3.14, regex does
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
    except (re.error, FutureWarning):
        return
    assert found(pattern, text) == (compiled.search(text) is not None)
    assert count_of(pattern, text) == len(re.findall(compiled, text))
    assert pieces(pattern, text) == len(re.split(pattern, text))


@given(st.text(st.sampled_from('Dr. eg!?"”1\n. AU') | st.characters(), max_size=60))
@settings(max_examples=300)
def test_cutting_sentences_loses_nothing_but_white_space(text: str) -> None:
    text = text.replace("\x00", "").replace("\x01", "")
    kept = "".join(sorted("".join(ruled(text)).split()))
    assert sorted("".join(kept.split())) == sorted("".join(text.split()))


SENTENCES = [  # as open-instruct cuts them
    ("Dr. Who met Mr. X at 3.5 p.m. He left.", ("Dr. Who met Mr. X at 3.5 p.m. He left.",)),
    ("See example.com. Then go!", ("See example.com.", "Then go!")),
    ('He said "no." Then he left', ('He said "no".', "Then he left")),
    ("Wait... what?", ("Wait...", "what?")),
    ("A Ph.D. from Foo Inc. They know", ("A Ph.D. from Foo Inc", "They know")),
]


@pytest.mark.parametrize(("text", "sentences"), SENTENCES, ids=[text for text, _ in SENTENCES])
def test_sentences_of_the_substitutions(text: str, sentences: tuple[str, ...]) -> None:
    assert ruled(text) == sentences


VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just("punctuation:no_comma"),
                      lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["instruction_id", "kwargs", "a"]), inner, max_size=3))  # fmt: skip


@given(VALUES, VALUES, st.sampled_from([json.dumps, repr, lambda value: value]))
@settings(max_examples=300)
def test_any_cell_is_read_or_named(ids: object, kwargs: object, write: object) -> None:
    for cells in ((write(ids), write(kwargs), None), (None, None, write(ids))):  # type: ignore[operator]
        try:
            checks = read_row(*cells, mend=False)
        except RowProblem:
            continue
        assert checks is None or all(check.id == "punctuation:no_comma" for check in checks)
