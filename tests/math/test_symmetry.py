"""Whether two texts are the same does not depend on which of them is the gold, but for the asymmetries that docs/math.md names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from grpo_rewards_plugins.math.grading import grade
from hypothesis import given, settings
from hypothesis import strategies as st

FOLDER = Path(__file__).parent
# A decimal is matched to its digits where it is the gold; a gold's choice letter is found before an option's text; an answer's
# hedge between two forms of one value, its broken chain, its percent sign on a share and its closed infinity count against it.
DOCUMENTED = re.compile(r"\d[.,]\d|\bor\b|=.*=|%|\\infty\]|\(?[A-J]\)|\\overline\{\d|^[a-zA-Z]$")


def pairs(name: str) -> list[tuple[str, str]]:
    lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split(" | ", 2)[1:] for line in lines if line[:1] in ("T", "F")]
    return [(one, other) for one, other in rows if not DOCUMENTED.search(one) and not DOCUMENTED.search(other)]


@pytest.mark.parametrize("name", ["quantities", "forms", "pairs"])
def test_both_ways_round(name: str) -> None:
    chosen = pairs(name)
    assert len(chosen) > 100
    assert [(one, other) for one, other in chosen if grade(one, other).equal != grade(other, one).equal] == []


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


@settings(max_examples=300, deadline=None)
@given(ANSWERS, ANSWERS)
def test_two_random_answers(one: str, other: str) -> None:
    there, back = grade(one, other), grade(other, one)
    assert there.equal == back.equal, (one, other, there, back)


@settings(max_examples=100, deadline=None)
@given(ANSWERS)
def test_an_answer_is_itself(one: str) -> None:
    assert grade(one, f"{one} ").equal
    assert grade(one, f"\\displaystyle {one}.").equal
