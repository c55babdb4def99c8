"""The reward `multiple_choice`: a letter in any dress, golds of any kind, no hedges."""

from __future__ import annotations

from typing import Any

import pytest

from grpo_rewards import get_reward
from grpo_rewards.errors import SettingsError

CITIES = ["Paris", "Lyon", "Vitamin C", "None of the above"]


@pytest.mark.parametrize(
    "text",
    [
        "B", "b", "(B)", "[b]", "B.", "B)", "**B**", "`B`", "**B.**", "$B$", "\\boxed{B}", "\\boxed{\\text{B}}", "#### B", "\\text{(B)}",
        "<answer>B</answer>", "<answer>\n(B)\n</answer>", "<answer>B", "<answer>B) Lyon</answer>", "<answer>B: Lyon</answer>",
        "<answer>Option B</answer>", "<answer>The answer is B.</answer>", "<answer>The correct answer is **(B)** Lyon.</answer>",
        "A is tempting, but the answer is B.", "Answer: B", "So the final answer is: (B)", "The answer is A. No: the answer is B",
        "Let me think.\nA is wrong.\n\nB", "<think>A or C</think> <answer>B</answer>", "<answer>B. A dog is in it</answer>",
        "<answer>B is correct</answer>", "Ｂ", "So the answer is B because it is larger.", "<answer>B since a dog is</answer>",
        "<answer>B. I am sure</answer>", "the answer is B - a fine town", "<answer>B. Lyon, which I like</answer>",
        "I'd choose B because A is wrong", "The correct option is B, not A.", "I would go with B) a dog", "It's B.", "B (not A)", "B, neither A nor C",
        "The answer is B since A, C and D are false.", "Rather than A, I pick B.", "A is clearly wrong, so B", "B and not A", "B is right and A is wrong",
        "B rather than A", "A, C, and D are all wrong, so B", "A and C are both wrong, so B",
        "The correct answer is B. Options A and C are too small", "The answer is B. A and C are too small, and D is too large.", "B. (A) is off by a factor of 2.",
        "The answer is B, since A and C are too small.", "<answer>B. Option A ignores friction; option C has the wrong sign.</answer>",
    ],
)  # fmt: skip
def test_the_right_letter(text: str) -> None:
    assert get_reward("multiple_choice").one(text, answer="B").value == 1.0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("A​", "A is not B"), ("A", "A is not B"), ("<answer>A</answer> B", "A is not B"), ("A or B", "hedge"), ("B or C", "hedge"), ("B, C", "hedge"),
        ("<answer>B/C</answer>", "hedge"), ("<answer>B and D</answer>", "hedge"), ("<answer>(B) or (C)</answer>", "hedge"),
        ("<answer>B. Lyon or C. Nice</answer>", "hedge"), ("<answer>B, maybe C</answer>", "hedge"), ("B, but C is possible", "hedge"), ("B, or else C", "hedge"), ("B; alternatively C", "hedge"), ("The answer is B or C.", "hedge"),
        ("<answer>B (or C)</answer>", "hedge"), ("<answer>B; C</answer>", "hedge"), ("B or C is the answer", "hedge"), ("B, or c would do", "hedge"),
        ("<answer>B or A is right</answer>", "hedge"), ("<answer>B) or C)</answer>", "hedge"),
        ("B, if not C", "hedge"), ("B, if A is wrong", "hedge"), ("B, not A, but C", "hedge"), ("I'd choose B or C because A is wrong", "hedge"), ("B, but C is not wrong", "hedge"),
        ("B is wrong", "not a choice"), ("A is right and B is wrong", "A is not B"), ("B, if A and C is wrong", "hedge"), ("Not B", "not a choice"), ("A, C and B are wrong", "not a choice"), ("The answer is neither B nor C", "not a choice"), ("C or B is wrong", "not a choice"),
        ("The answer is B. Option C works too.", "hedge"), ("The answer is B. A is also correct.", "hedge"), ("The answer is B. Actually C.", "hedge"),
        ("The answer is B. C is my second guess.", "hedge"), ("The answer is B and C are too small.", "hedge"),
        ("<answer>B. But the answer could be A</answer>", "hedge"), ("<answer>B C</answer>", "not a choice"), ("<answer>AB</answer>", "not a choice"),
        ("<answer>ABCD</answer>", "not a choice"), ("<answer>A B C D</answer>", "not a choice"), ("<answer></answer>", "empty"), ("", "empty"),
        ("<answer>Z</answer>", "not a choice"), ("<answer>both</answer>", "not a choice"), ("<answer>Be careful</answer>", "not a choice"),
        ("I do not know", "not a choice"), ("the answer is a dog", "not a choice"), ("<answer>" + "B " * 5000 + "</answer>", "characters"),
    ],
)  # fmt: skip
def test_other_letters_and_hedges(text: str, reason: str) -> None:
    outcome = get_reward("multiple_choice").one(text, answer="B")
    assert (outcome.value, outcome.status) == (0.0, "scored")
    assert reason in outcome.reason


@pytest.mark.parametrize("gold", ["B", "b", "(B)", "B.", 1, "Lyon", " lyon "])
def test_golds(gold: object) -> None:
    scorer = get_reward("multiple_choice")
    for text in ("B", "<answer>Lyon</answer>", "<answer>B) Lyon</answer>"):
        assert scorer.one(text, answer=gold, choices=CITIES).value == 1.0
    for text in ("A", "<answer>Paris</answer>", "<answer>B) Paris</answer>", "<answer>E</answer>"):
        assert scorer.one(text, answer=gold, choices=CITIES).value == 0.0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A: Paris, because it is the capital", 1.0), ("The answer is Paris (A).", 1.0), ("I choose option A: Paris", 1.0), ("Paris since it is in the north", 1.0),
        ("Paris (B)", 0.0), ("Paris, or Lyon", 0.0), ("I choose option A: Lyon", 0.0), ("Paris: (A) or (B)", 0.0), ("Paris and Lyon", 0.0), ("Paris is wrong", 0.0),
        ("Paris rather than Lyon", 1.0), ("Lyon is wrong, so Paris", 1.0), ("Paris, not Lyon", 1.0), ("Lyon rather than Paris", 0.0), ("Paris is wrong, so Lyon", 0.0),
        ("Lyon is wrong", 0.0), ("Paris, if Lyon is wrong", 0.0), ("Paris is larger than Lyon", 0.0), ("Vitamin C and Lyon are wrong, so Paris", 1.0),
    ],
)  # fmt: skip
def test_an_option_by_its_text(text: str, value: float) -> None:
    assert get_reward("multiple_choice").one(text, answer="A", choices=CITIES).value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A) Paris\nB) Lyon\nC) Vitamin C\nD) None of the above", 0.0), ("**C.** Vitamin C\n\n**D.** None of the above\n", 0.0),
        ("A) Paris\nB) Lyon\nC) Vitamin C\nD) None of the above\n\nD", 1.0), ("A) Paris is wrong.\nD) None of the above", 1.0),
        ("So it is none of them.\nD) None of the above", 1.0), ("D) None of the above", 1.0),
    ],
)  # fmt: skip
def test_the_options_once_more_are_no_choice(text: str, value: float) -> None:
    assert get_reward("multiple_choice").one(text, answer="D", choices=CITIES).value == value


def test_texts_with_letters_in_them_are_no_hedges() -> None:
    scorer = get_reward("multiple_choice")
    assert scorer.one("<answer>C. Vitamin C</answer>", answer="C").value == 1.0
    assert scorer.one("<answer>A. Vitamin C</answer>", answer="A", choices=["Vitamin C", "Iron"]).value == 1.0
    assert scorer.one("<answer>None of the above</answer>", answer="D", choices=CITIES).value == 1.0
    assert scorer.one("A", answer="A", choices={"text": ["x", "y"], "label": ["A", "B"]}).value == 1.0
    numbered = {"text": ["2", "1"], "label": ["1", "2"]}  # is 1 the first, the second, or the index of the second?
    for gold in ("1", 1):
        assert scorer.one("B", answer=gold, choices=numbered).status == "not_applicable"
        assert "called 1, 2, not A, B" in (scorer.row_problem({"answer": gold, "choices": numbered}) or "")


@pytest.mark.parametrize(
    "choices",
    ['["Paris", "Lyon"]', {"A": "Paris", "B": "Lyon"}, {"B": "Lyon", "A": "Paris"}, '{"A": "Paris", "B": "Lyon"}',
     ["A. Paris", "B. Lyon"], ["(A) Paris", "(B) Lyon"], ["A) Paris", "B) Lyon"]],
)  # fmt: skip
def test_options_as_data_sets_write_them(choices: Any) -> None:
    scorer = get_reward("multiple_choice")
    for gold in ("B", "Lyon", "B. Lyon"):
        assert scorer.row_problem({"answer": gold, "choices": choices}) is None
        for text in ("B", "<answer>Lyon</answer>", "B. Lyon", "The answer is (B) Lyon."):
            assert scorer.one(text, answer=gold, choices=choices).value == 1.0, (gold, text)
        for text in ("A", "<answer>Paris</answer>", "<answer>B) Paris</answer>", "C"):
            assert scorer.one(text, answer=gold, choices=choices).value == 0.0, (gold, text)


@pytest.mark.parametrize("choices", ["['Paris', 'Lyon']", {"first": "Paris"}, [{"key": "A", "value": "Paris"}], 4])
def test_options_that_cannot_be_read_are_named(choices: Any) -> None:
    scorer = get_reward("multiple_choice")
    assert scorer.one("A", answer="A", choices=choices).status == "not_applicable"
    assert "choices must be a list" in (scorer.row_problem({"answer": "A", "choices": choices}) or "")


@pytest.mark.parametrize("gold", ["", "Nice", "AB", 4, -1, True, 1.5])
def test_golds_that_are_no_option_do_not_apply(gold: object) -> None:
    scorer = get_reward("multiple_choice")
    assert scorer.one("A", answer=gold, choices=CITIES).status == "not_applicable"
    assert scorer.check_row is not None
    assert scorer.check_row(answer=gold, choices=CITIES)
    assert scorer.check_row(answer="B", choices=CITIES) is None


def test_settings() -> None:
    scorer = get_reward("multiple_choice")
    assert scorer.with_(letters="ABCD").one("E", answer="A").reason.endswith("A to D")
    assert scorer.with_(place="tag").one("B", answer="B").value == 0.0
    for letters in ("", "A1", "AA", "Aa", "É"):
        with pytest.raises(SettingsError):
            scorer.with_(letters=letters)
