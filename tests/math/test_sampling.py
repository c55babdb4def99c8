"""Equality of expressions with kinks, against ground truth: random piecewise-linear and root expressions with an exact normal form."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import pytest
from grpo_rewards_plugins.math.grading import grade
from hypothesis import given, settings
from hypothesis import strategies as st

Normal = tuple[tuple[tuple[Fraction, Fraction], ...], Fraction, Fraction]

_CENTRES = st.sampled_from([0, 1, -1, 5, 7, -7, 10, -12, 50, -99, 1000, -123456, 10**8])
_WEIGHTS = st.sampled_from([1, 2, 3, -1, -2, 5])


def _linear(centre: int) -> str:
    return "x" if not centre else f"x{-centre:+d}"


def _spelled(weight: int, centre: int, way: str) -> tuple[str, dict[Fraction, Fraction], Fraction, Fraction]:
    """One term: its text, its share of each ``|x - c|``, of x, and its constant."""
    c, w = Fraction(centre), Fraction(weight)
    inner = _linear(centre)
    sign = f"{weight:+d}"
    if way == "abs":
        return f"{sign}|{inner}|", {c: w}, Fraction(0), Fraction(0)
    if way == "mirrored":
        return f"{sign}\\left|{centre}-x\\right|", {c: w}, Fraction(0), Fraction(0)
    if way == "doubled":
        return f"{sign}\\cdot\\frac{{|2x{-2 * centre:+d}|}}{{2}}", {c: w}, Fraction(0), Fraction(0)
    if way == "root":
        return f"{sign}\\sqrt{{({inner})^2}}", {c: w}, Fraction(0), Fraction(0)
    if way == "expanded":
        return f"{sign}\\sqrt{{x^2{-2 * centre:+d}x+{centre * centre}}}", {c: w}, Fraction(0), Fraction(0)
    if way == "fourth":
        return f"{sign}\\sqrt[4]{{({inner})^4}}", {c: w}, Fraction(0), Fraction(0)
    if way == "max":
        return f"{sign}\\max(x, {centre})", {c: w / 2}, w / 2, w * c / 2
    if way == "min":
        return f"{sign}\\min(x, {centre})", {c: -w / 2}, w / 2, w * c / 2
    if way == "plain":  # what a policy writes that forgets the bars
        return f"{sign}({inner})", {}, w, -w * c
    assert way == "turned"
    return f"{sign}({centre}-x)", {}, -w, w * c


_WAYS = st.sampled_from(["abs", "mirrored", "doubled", "root", "expanded", "fourth", "max", "min", "plain", "turned"])
_TERMS = st.lists(st.tuples(_WEIGHTS, _CENTRES, _WAYS), min_size=1, max_size=4)


def _built(terms: list[tuple[int, int, str]]) -> tuple[str, Normal]:
    text, slope, constant = "", Fraction(0), Fraction(0)
    shares: defaultdict[Fraction, Fraction] = defaultdict(Fraction)
    for term in terms:
        piece, share, more, rest = _spelled(*term)
        text += piece
        for centre, weight in share.items():
            shares[centre] += weight
        slope, constant = slope + more, constant + rest
    return text.removeprefix("+"), (tuple(sorted((c, w) for c, w in shares.items() if w)), slope, constant)


@settings(max_examples=150)
@given(_TERMS, _TERMS)
def test_two_random_expressions(gold: list[tuple[int, int, str]], answer: list[tuple[int, int, str]]) -> None:
    (one, normal), (other, their_normal) = _built(gold), _built(answer)
    verdict = grade(one, other)
    assert verdict.equal == (normal == their_normal), (one, other, verdict)


@settings(max_examples=150)
@given(_TERMS, st.data())
def test_one_expression_in_other_spellings(gold: list[tuple[int, int, str]], data: st.DataObject) -> None:
    """Of each term another spelling: mostly the same function, or one that is the same on one side of its kink only."""
    answer = [(weight, centre, data.draw(_WAYS)) for weight, centre, _ in data.draw(st.permutations(gold))]
    (one, normal), (other, their_normal) = _built(gold), _built(answer)
    verdict = grade(one, other)
    assert verdict.equal == (normal == their_normal), (one, other, verdict)


@settings(max_examples=60)
@given(_CENTRES, st.sampled_from([1, 2, -3, 10]), _WEIGHTS, st.booleans())
def test_two_letters(centre: int, slope: int, weight: int, root: bool) -> None:
    inner = f"x{slope:+d}y{-centre:+d}"
    gold = f"{weight}\\sqrt{{({inner})^2}}" if root else f"{weight}|{inner}|"
    assert grade(gold, f"{weight}\\left|-({inner})\\right|").equal
    for wrong in (
        f"{weight}({inner})",
        f"{-weight}({inner})",
        f"{weight}|{inner}+1|",
        f"{weight}|x|{weight * slope:+d}|y|",
    ):
        assert not grade(gold, wrong).equal, (gold, wrong)


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("|x+7|", "x+7"), ("|x-10|", "10-x"), ("\\sqrt{x^2+20x+100}", "x+10"), ("|x|", "x"), ("|x^2-5000|", "5000-x^2"),
        ("||x|-50|", "50-|x|"), ("\\max(x,y)", "x"), ("|x-y|", "y-x"), ("|e^x-10^9|", "10^9-e^x"), ("|\\ln x - 20|", "20-\\ln x"),
        ("\\operatorname{sgn}(x)", "1"), ("|x^3-8|", "x^3-8"), ("|x-\\pi|", "x-\\pi"), ("|a|b", "a|b|"),
    ],
)  # fmt: skip
def test_far_kinks_are_found(gold: str, answer: str) -> None:
    assert not grade(gold, answer).equal
    assert not grade(answer, gold).equal


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("\\sqrt{x^2}", "|x|"), ("\\sqrt{a^2b}", "|a|\\sqrt{b}"), ("\\max(x,y)", "\\frac{x+y+|x-y|}{2}"), ("|x||y|", "|xy|"),
        ("|x|^2", "x^2"), ("\\sqrt{x^4+2x^2+1}", "x^2+1"), ("|x-3|+|x+3|", "|x+3|+|3-x|"), ("\\frac{\\sqrt{x}}{x}", "\\frac{1}{\\sqrt{x}}"),
        ("|e^x|", "e^x"), ("\\min(x,1)", "1-\\max(1-x,0)"), ("\\ln|x+\\sqrt{x^2-1}|", "\\ln|\\sqrt{x^2-1}+x|"),
    ],
)  # fmt: skip
def test_equal_expressions_with_kinks(gold: str, answer: str) -> None:
    assert grade(gold, answer).equal
