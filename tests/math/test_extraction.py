"""Which text is the answer, and by which rule."""

import pytest
from grpo_rewards_plugins.math.extraction import extract, gold_text

FOUND = [
    ("so \\boxed{\\frac{1}{2}} it is", "\\frac{1}{2}", "box"),
    ("first \\boxed{1}, no: it is really \\boxed{2}", "2", "box"),
    ("\\boxed{\\boxed{7}}", "7", "box"),
    ("x = \\boxed 7", "7", "box"),
    ("<think>\\boxed{9}</think> The answer is 4.", "4", "phrase"),
    ("<answer>The answer is 42</answer>", "42", "tag"),
    ("<answer> $\\frac12$ </answer>", "\\frac12", "tag"),
    ("\\boxed{1}\n#### 18", "18", "hash"),
    ("#### 18\nso \\boxed{1}", "1", "box"),
    ("work\n#### Step 3: add\nwork\nA: 18", "18", "phrase"),
    # behind its answer it goes on with a question of its own
    ("Question: a?\nAnswer: 24\n\nQuestion: b?\nAnswer: 72", "24", "phrase"),
    ("The answer is 5. The answer is clear.", "5", "phrase"),
    ("Answer: $\\frac{3}{4}$", "\\frac{3}{4}", "phrase"),
    ("The answer is $3$ or $4$.", "3 \\text{or} 4", "phrase"),
    ("The correct answer is **A**.", "A", "phrase"),
    ("The answer is 18. Wait, no: 19.", "19", "number"),
    ("The answer is 7 * 4 = 28 bottles.", "28", "phrase"),
    ("It is \\boxed{20}. No, it is not \\boxed{24}.", "20", "box"),
    ("Final Answer: The largest $n$ is 34.", "34", "phrase"),
    ("so **42** it is, my friend", "42", "bold"),
    ("We add.\nx = 5", "x = 5", "line"),
    ("It follows that $x = 5$, as claimed", "x = 5", "segment"),
    ("She sold 9 of them, so she had 18 left.", "18", "number"),
    ("A. Because B is not valid", "A", "letter"),
    ("I cannot say", "I cannot say", "text"),
    ("so \\boxed{\\frac{1}{2}", "\\frac{1}{2", "box"),
    ("\\boxed{1} or rather \\boxed{42", "42", "box"),
    ("The answer is Paris.", "Paris", "phrase"),
    ("答案是42", "42", "phrase"),
    ("Ответ: 42", "42", "phrase"),
    ("A resposta é 42.", "42", "phrase"),
    ("The answer is 42, not 43.", "42", "phrase"),
    ("So it is 3.14.", "3.14", "number"),
    ("$a$ and \\[b = 2\\] so", "b = 2", "segment"),
    ("so \\boxed{44}. We check our answer: $17\\cdot 44 = 748$.", "44", "box"),
    ("so their sum is \\boxed{0}, and the solutions are $1,-1$.", "0", "box"),
    ("\\boxed{3}. Final answer: 5", "5", "phrase"),
    ("We put our answer into \\boxed{}: \\boxed{5}", "5", "box"),
]  # fmt: skip


@pytest.mark.parametrize(("completion", "text", "rule"), FOUND)
def test_the_answer_is_found_and_the_rule_named(completion: str, text: str, rule: str) -> None:
    found = extract(completion)
    assert (found.text, found.rule) == (text, rule)


@pytest.mark.parametrize(
    "completion",
    [
        *("", "<think>it is 42", "<think>x</think>", "a\nb", "one\nNot B.", "one\neither A or B"),
        # two statements, a doubt, a condition, a question, a plan, and no form that says a value
        *(
            "She sold 9 of them and had 18 left.",
            "She may have 18 left.",
            "If she stays, she has 18 left.",
            "Has she 18 left?",
        ),
        *(
            "First, we divide by 18.",
            "She started with 18.",
            "If so, she has 18 left.",
            "18?",
            "She may have 18 left." + " " * 400,
        ),
        # a fact, a clause in words, an empty tag, a box that is only supposed
        *(
            "There are 52 weeks in a year.",
            "She runs 18 miles.\nShe is the fastest.",
            "<answer></answer>15",
            "If x = 3 then we would get \\boxed{24}",
        ),
        # a mark whose sentence doubts, denies or supposes it, or that is taken back
        *(
            "Maybe the answer is 18.",
            "It is not true" + ", for one reason or another" * 20 + ", that the answer is 18.",
            "If she stays, the answer is 18.",
            "Perhaps\n18",
            "Final answer: She may have 18 left.",
        ),
    ],
)
def test_nothing_is_found(completion: str) -> None:
    assert extract(completion).text is None


def test_neighbouring_boxes_join_and_a_hedge_is_marked() -> None:
    assert extract("$\\boxed{1}$ and $\\boxed{2}$").parts == ("1", "2")
    hedge = extract("\\boxed{3} or \\boxed{4}")
    assert hedge.hedged
    assert hedge.text == "3 or 4"
    assert extract("\\boxed{42} is what I thought first, but it is \\boxed{-42}").parts == ("-42",)
    assert extract("\\boxed{4}, so \\boxed{4}").text == "4"


def test_the_order_is_a_setting() -> None:
    assert extract("\\boxed{1} #### 2", order=("box",)).text == "1"
    assert extract("7 is $x$", order=("number", "segment")).rule == "number"
    assert extract("it is 7", order=("box",)).text is None


GOLDS = [
    ("$\\frac{1}{2}$", "\\frac{1}{2}"), ("\\boxed{24}", "24"), ("a\nb <<1+1=2>>\n#### 18", "18"), ("$125$ miles", "125 \\text{miles}"),
    ("x \\in \\boxed{[0,7)}.", "x \\in [0,7)"), ("18", "18"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "text"), GOLDS)
def test_the_gold_in_a_reference(given: str, text: str) -> None:
    assert gold_text(given) == text
