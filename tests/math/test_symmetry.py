"""Whether two texts are the same does not depend on which of them is the gold, but for the asymmetries that docs/math.md names."""

from __future__ import annotations

import re

import pytest
from grpo_rewards_plugins.math.grading import grade
from hypothesis import given, settings
from hypothesis import strategies as st

from .table_rows import ANSWER_TABLES, rows

_DECIMAL = re.compile(r"-?\d*[.,]\d+")
_CLOSED_INFINITY = re.compile(r"\\infty\s*\]|\[\s*-\\infty")
_OR = re.compile(r"\bor\b")
_OPTION = re.compile(r"\W*(?:\\text(?:bf)?\{)?\(?([A-J])[).:].*")


def documented(gold: str, answer: str) -> bool:
    """Is a pair one of those that docs/math.md says are read in one direction?"""
    pair = (gold, answer)
    return (
        len([text for text in pair if _DECIMAL.fullmatch(text)]) == 1  # decimal gold, decimal comma
        or (all(_DECIMAL.fullmatch(text) for text in pair) and ("," in gold) != ("," in answer))
        or gold.rstrip("\\%") == answer.rstrip("\\%")  # a percent sign on a share
        or bool(_OR.search(gold)) != bool(_OR.search(answer))  # one value in several forms
        or (gold.count("=") > 1)
        or (answer.count("=") > 1)  # a chain that contradicts itself
        or bool(_CLOSED_INFINITY.search(gold)) != bool(_CLOSED_INFINITY.search(answer))
        or (bool(_OPTION.fullmatch(gold)) != bool(_OPTION.fullmatch(answer)) and 1 in (len(gold), len(answer)))
    )


@pytest.mark.slow
@pytest.mark.parametrize("origin", ["quantities by hand", "forms by hand", "pairs by hand", "hold-out 1", "hold-out 2"])
def test_both_ways_round(origin: str) -> None:
    chosen = [(row.gold, row.answer) for name in ANSWER_TABLES for row in rows(name) if row.origin == origin]
    assert len(chosen) > 200
    turned = [pair for pair in chosen if grade(*pair).equal != grade(*pair[::-1]).equal]
    assert [pair for pair in turned if not documented(*pair)] == []
    assert len(turned) < len(chosen) // 70  # what is documented is rare


_NUMBERS = st.sampled_from(
    ["1", "2", "-3", "\\frac{1}{2}", "\\sqrt{2}", "\\sqrt{8}", "\\pi", "2\\sqrt{2}", "100", "1{,}200", "1200", "12"]
)
_EXPRESSIONS = st.sampled_from(["x", "x+1", "1+x", "|x|", "x^2", "\\sqrt{x^2}", "2x", "xy", "yx", "\\max(x,1)"])
_UNITS = st.sampled_from(
    [
        "",
        "\\text{ m}",
        "\\text{ cm}",
        "\\,\\mathrm{m}",
        " m",
        "\\text{ N}",
        "\\text{ kg m/s}^2",
        "^\\circ",
        "\\text{ apples}",
    ]
)
_VALUES = st.one_of(_NUMBERS, _EXPRESSIONS, st.builds("{}{}".format, _NUMBERS, _UNITS))
_SEVERAL = st.lists(_VALUES, min_size=2, max_size=3, unique=True)
_NAMES = st.sampled_from(["x", "y", "f(x)", "f'(x)", "\\sin B", "\\cos B", "P(A)", "P(B)", "AB", "BA", "a_1"])
ANSWERS = st.one_of(
    _VALUES,
    st.builds(", ".join, _SEVERAL),
    st.builds(lambda parts: "\\{" + ",".join(parts) + "\\}", _SEVERAL),
    st.builds(lambda parts: "(" + ", ".join(parts) + ")", _SEVERAL),
    st.builds("[{},{})".format, _NUMBERS, _NUMBERS),
    st.builds("x > {}".format, _NUMBERS),
    st.builds("({},\\infty)".format, _NUMBERS),
    st.builds("{} = {}".format, _NAMES, _VALUES),
)


@pytest.mark.slow
@settings(max_examples=300)
@given(ANSWERS, ANSWERS)
def test_two_random_answers(one: str, other: str) -> None:
    there, back = grade(one, other), grade(other, one)
    assert there.equal == back.equal, (one, other, there, back)


@settings(max_examples=100)
@given(ANSWERS)
def test_an_answer_is_itself(one: str) -> None:
    assert grade(one, f"{one} ").equal
    assert grade(one, f"\\displaystyle {one}.").equal
