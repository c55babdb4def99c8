"""The reward `countdown`: what counts as a solution, what breaks a rule, and that no text runs or explodes."""

from __future__ import annotations

from fractions import Fraction

import pytest
from grpo_rewards_plugins.arithmetic import ArithmeticProblem, read_expression
from hypothesis import given
from hypothesis import strategies as st

from grpo_rewards import get_reward
from grpo_rewards.errors import SettingsError

NUMBERS = [3, 7, 8]


@pytest.mark.parametrize(
    "answer",
    [
        "(7 - 3) * 8", "8*(7-3)", "(7-3)×8", "(7 − 3) · 8", "(7-3) x 8", r"(7-3) \times 8", r"\left(7-3\right)\cdot 8",
        "(7-3)*8 = 32", "(7-3)*8=32.0", "32 = (7-3)*8", "(7−3)∗8", r"$(7-3)\times 8 = 32$", r"\boxed{(7-3) * 8}", "[7-3]*8", "{(7-3)} * 8", "`(7-3)*8`",
        "-(3-7)*8", "((((7-3))))*8", "\n(7 -\n 3) * 8\n", r"\[ (7-3) \times 8 \]", "(7.0-3)*8.",
    ],
)  # fmt: skip
def test_a_solution_scores_1(answer: str) -> None:
    outcome = get_reward("countdown").one(
        f"<think>3, 7 and 8?</think>\n<answer>{answer}</answer>", numbers=NUMBERS, target=32
    )
    assert outcome.value == 1.0, outcome


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("(7 - 3) * 7", "7 is used 2 times"), ("7 * 3 + 8", "makes 29"), ("4 * 8", "4 is not among"), ("32", "32 is not among"),
        ("(7-3)*8 = 33", "says 33"), ("33 = (7-3)*8", "says 33"), ("32 = 32", "32 is not among"), ("(7-3)*8 = 4*8 = 32", "more than one ="), ("(7-3)*8 = 4*8", "after = only"),
        ("(7-3)", "8 is not used"), ("8/(7-7)", "7 is used 2"), ("3**7-8", "not arithmetic"), ("7//3*8", "not arithmetic"),
        ("3^7*8", "not arithmetic"), ("7 3 8", "operator is missing"), ("(7-3)8", "operator is missing"), ("(7-3*8", "breaks off"),
        ("7-3)*8", "operator is missing"), ("(7-3]*8", "closed by"), ("", "empty"), ("no idea", "not arithmetic"), ("7²", "not arithmetic"),
        ("__import__('os').getpid()", "not arithmetic"), ("(7-3)*8 or (3+7)*8", "not arithmetic"), (r"\frac{7", "breaks off"),
        (r"\frac 7 3", "braces"), ("+", "breaks off"), ("７+3+8", "not arithmetic"), ("9" * 900 + "*9", "too long"),
    ],
)  # fmt: skip
def test_anything_else_scores_0_and_says_why(answer: str, reason: str) -> None:
    outcome = get_reward("countdown").one(f"<answer>{answer}</answer>", numbers=NUMBERS, target=32)
    assert (outcome.value, outcome.status) == (0.0, "scored")
    assert reason in outcome.reason


@pytest.mark.parametrize(
    ("numbers", "target", "answer"),
    [
        ([1, 3, 4, 6], 24, "6/(1-3/4)"), ([5, 5, 5, 1], 24, "5*(5-1/5)"), ([0.1, 0.2], 0.3, "0.1+0.2"), ("3, 7, 8", "32", "(7-3)*8"),
        ("[3 7 8]", 32.0, "(7-3)*8"), ((3, 7, 8), 32, "(7-3)*8"),
        ([1000, 1], 1001, "1,000+1"),
    ],
)  # fmt: skip
def test_values_are_exact_and_columns_may_be_text(numbers: object, target: object, answer: str) -> None:
    assert get_reward("countdown").one(f"<answer>{answer}</answer>", numbers=numbers, target=target).value == 1.0


def test_division_by_zero_is_a_miss() -> None:
    outcome = get_reward("countdown").one("<answer>1/(2-2)</answer>", numbers=[1, 2, 2], target=1)
    assert outcome.value == 0.0
    assert "divides by zero" in outcome.reason


def test_settings() -> None:
    countdown = get_reward("countdown")
    data = {"numbers": NUMBERS, "target": 4}
    assert countdown.one("<answer>7-3</answer>", **data).value == 0.0
    assert countdown.with_(use="any").one("<answer>7-3</answer>", **data).value == 1.0
    assert countdown.with_(use="any").one("<answer>7-3+3-3</answer>", **data).value == 0.0
    assert countdown.with_(partial=0.1).one("<answer>7-3+8</answer>", **data).value == 0.1
    assert countdown.with_(partial=0.1).one("<answer>seven</answer>", **data).value == 0.0
    assert countdown.with_(tag="equation", use="any").one("<equation>7-3</equation>", **data).value == 1.0
    assert countdown.with_(place="tag").one("7-3+8", **data).value == 0.0
    with pytest.raises(SettingsError):
        countdown.with_(partial=2)


@pytest.mark.parametrize(
    ("numbers", "target"),
    [
        ([], 3),
        ([1, "x"], 3),
        ([1], "x"),
        ([True], 1),
        ([1] * 101, 3),
        (["9" * 500], 1),
        ([-8, 3], -24),
        (["1/2", 8], 4),
    ],
)
def test_columns_that_are_no_task_do_not_apply(numbers: object, target: object) -> None:
    countdown = get_reward("countdown")
    assert countdown.one("<answer>1</answer>", numbers=numbers, target=target).status == "not_applicable"
    assert countdown.check_row is not None
    assert countdown.check_row(numbers=numbers, target=target)
    assert countdown.check_row(numbers=NUMBERS, target=32) is None


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "<answer>" + "-" * 900 + "1",
        "<answer>" + "(" * 900,
        "<answer>" * 100_000,
        "<answer>" + "1+" * 499 + "1",
    ],
)
def test_hostile_expressions_score_0(text: str) -> None:
    outcome = get_reward("countdown").one(text, numbers=NUMBERS, target=32)
    assert (outcome.value, outcome.status) == (0.0, "scored")


def _joined(
    left: tuple[str, Fraction | None], sign: str, right: tuple[str, Fraction | None]
) -> tuple[str, Fraction | None]:
    (a, x), (b, y) = left, right
    text = f"({a}{sign}{b})"
    if x is None or y is None or (sign == "/" and not y):
        return text, None
    return text, {"+": x + y, "-": x - y, "*": x * y}[sign] if sign != "/" else x / y


@given(
    st.recursive(
        st.integers(0, 99).map(lambda number: (str(number), Fraction(number))),
        lambda parts: st.builds(_joined, parts, st.sampled_from("+-*/"), parts),
        max_leaves=12,
    )
)
def test_values_are_those_of_the_tree(tree: tuple[str, Fraction | None]) -> None:
    text, value = tree
    if value is None:
        with pytest.raises(ArithmeticProblem, match="zero"):
            read_expression(text).value()
    else:
        assert read_expression(text).value() == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("2+3*4", 14), ("2-3-4", -5), ("8/4/2", 1), ("2*3+4", 10), ("-2*3", -6), ("2*-3", -6), (r"\frac{1+2}{6}*2", 1)],
)
def test_precedence(text: str, value: int) -> None:
    assert read_expression(text).value() == value
