"""The rewards `xml_format`, `integer` and `exact`: what each gives, and that no text breaks them."""

from __future__ import annotations

import multiprocessing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_rewards import Outcome, Reward, get_reward
from grpo_rewards.errors import SettingsError

GOOD = "<reasoning>\none\n\ntwo\n</reasoning>\n<answer>\n4\n</answer>\n"
INLINE = "<reasoning>one</reasoning> <answer>4</answer>"
THINK = {"tags": ["think", "answer"]}


@pytest.mark.parametrize(
    ("settings", "text", "value"),
    [
        ({"mode": "strict"}, GOOD, 1.0),
        ({"mode": "strict"}, GOOD.strip(), 1.0),
        ({"mode": "strict"}, GOOD.replace("\n", "\r\n"), 1.0),
        ({"mode": "strict"}, GOOD.replace("g>\n", "g> \n") + "<|im_end|>\n<|endoftext|>", 1.0),
        ({"mode": "strict"}, GOOD + "<|im_end|>x", 0.0),
        ({"mode": "strict"}, INLINE, 0.0),
        ({"mode": "strict", "layout": "blocks"}, INLINE, 1.0),
        ({"mode": "strict"}, "So: " + GOOD, 0.0),
        ({"mode": "strict"}, GOOD + "Done.", 0.0),
        ({"mode": "strict"}, GOOD + GOOD, 0.0),
        ({"mode": "soft"}, "So: " + INLINE + " Done.", 1.0),
        ({"mode": "soft"}, "<answer>4</answer><reasoning>one</reasoning>", 0.0),
        ({"mode": "soft"}, "<reasoning><answer>4</answer></reasoning>", 0.0),
        ({"mode": "soft"}, "<reasoning>one<answer>4</answer>", 0.0),
        ({"mode": "soft"}, "<reasoning>one</reasoning><answer></answer>", 0.0),
        ({"mode": "soft", "min_chars": 0}, "<reasoning>one</reasoning><answer></answer>", 1.0),
        ({"mode": "soft"}, "<reasoning>\u200b\0</reasoning><answer> \u2800\u3164\ufeff</answer>", 0.0),
        ({"mode": "soft", "min_chars": {"reasoning": 21}}, INLINE.replace("one", "one" + "\u200b" * 20), 0.5),
        ({"mode": "soft", "min_chars": {"reasoning": 21}}, INLINE, 0.5),
        ({"mode": "soft", "prefix": "<think>", **THINK}, "so</think>\n<answer>4</answer>", 1.0),
        ({"mode": "soft", **THINK}, "so</think>\n<answer>4</answer>", 0.0),
        ({"mode": "count"}, GOOD, 0.5),
        ({"mode": "count"}, INLINE, 0.5),
        ({"mode": "count"}, "<reasoning>one<answer>4</answer>", 0.375),
        ({"mode": "count"}, "<reasoning><answer>4</answer></reasoning>", 0.375 - 0.012),  # </reasoning> trails
        ({"mode": "count"}, "nothing", 0.0),
        ({"mode": "count"}, GOOD + "x" * 100, 0.4),
        ({"mode": "count"}, GOOD + "x" * 1_000_000, 0.25),
        ({"mode": "count"}, "<answer>" * 100_000, 0.0),
        ({"mode": "count"}, "<reasoning></reasoning><answer></answer>", 0.0),
        ({"mode": "count"}, "<reasoning>one</reasoning><answer>\n</answer>", 0.25),
    ],
)
def test_xml_format(settings: dict[str, object], text: str, value: float) -> None:
    full = 0.5 if settings["mode"] == "count" else 1.0
    outcome = get_reward("xml_format").with_(**settings).one(text)
    assert outcome.value == pytest.approx(value)
    assert outcome.reason.startswith("each tag stands once, in order") is (value == full)


@pytest.mark.parametrize(
    "settings",
    [
        {"tags": []},
        {"tags": ["a", "a"]},
        {"tags": ["<a>"]},
        {"per_tag": 0.3},
        {"min_chars": {"think": 3}},
        {"thin": 2.0},
    ],
)
def test_xml_format_refuses_settings_that_do_not_fit(settings: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        get_reward("xml_format").with_(**settings)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (GOOD, 1.0), ("18", 1.0), ("-5", 1.0), ("#### 1,000", 1.0), ("−5", 1.0), ("so \\boxed{7}", 1.0), ("<answer>7", 1.0),
        ("18.0", 0.0), ("²", 0.0), ("$18", 0.0), ("1,00", 0.0), ("", 0.0), ("<answer>six</answer>", 0.0),
    ],
)  # fmt: skip
def test_integer(text: str, value: float) -> None:
    outcome = get_reward("integer").one(text)
    assert outcome.value == value
    assert outcome.reason.endswith(" is written as an integer") is (value == 1.0)


@pytest.mark.parametrize(
    ("text", "gold", "value"),
    [
        (GOOD, "4", 1.0), ("18", "18.0", 1.0), ("18.0", "18", 1.0), ("<answer>$1,000</answer>", "1000", 1.0),
        ("<answer>18</answer>", 18, 1.0), ("<answer>0.3</answer>", 0.1 + 0.2, 1.0), ("3/4", "0.75", 1.0),
        ("#### 18", "She sells 9 and 9.\n#### 18", 1.0), ("<answer>\\boxed{5}</answer>", "\\boxed{5}", 1.0),
        ("<answer>Paris.</answer>", "paris", 1.0), ("\u201cParis\u201d", "Paris", 1.0), ("it\u2019s", "it's", 1.0), ("\\boxed{\\text{Paris}}", "Paris", 1.0),
        ("\\text{Paris} or \\text{Lyon}", "Paris", 0.0), ("\\boxed{\\text{Lyon}}", "Paris", 0.0), ("<answer>Paris</answer>", ["Lyon", "Paris"], 1.0),
        ("<answer>3</answer><answer>4</answer>", "4", 1.0), ("-5", "\N{MINUS SIGN}5", 1.0),
        ("<answer>Pa\u200bris\ufeff</answer>", "Paris", 1.0), ("Paris", "Paris\u200e", 1.0), ("4\u2060", 4, 1.0), ("1914\u20131918", "1914-1918", 1.0), ("\u200b", "4", 0.0),
        ("<answer>19</answer>", "18", 0.0), ("1000000007", "1000000008", 0.0), ("2+2", "4", 0.0), ("", "4", 0.0),
        ("1e999999999", "1e99", 0.0), ("9" * 1_000_000, "9", 0.0), ("18 or 19", "18", 0.0), ("1/0", "1", 0.0),
    ],
)  # fmt: skip
def test_exact(text: str, gold: object, value: float) -> None:
    outcome = get_reward("exact").one(text, answer=gold)
    assert outcome.value == value
    assert (" equals " in outcome.reason) is (value == 1.0)


@pytest.mark.parametrize(
    "gold",
    [None, "", " ", "\u200b\ufeff", float("nan"), float("inf"), [], [None], ["4", None], [["4"]], {"value": "4"}, b"4"],
)
def test_exact_refuses_what_no_answer_can_equal(gold: object) -> None:
    exact = get_reward("exact")
    assert exact.one("4", answer=gold).status == "not_applicable"
    assert gold is None or exact.row_problem({"answer": gold})


def test_exact_settings() -> None:
    exact = get_reward("exact")
    assert exact.with_(tolerance=0.01).one("3.14", answer="3.1415").value == 1.0
    assert exact.with_(ignore_case=False).one("paris", answer="Paris").value == 0.0
    assert exact.with_(place="boxed").one("4", answer="4").value == 0.0
    assert exact.one("4", answer=None).status == "not_applicable"


def test_chat_and_plain_completions_score_alike() -> None:
    chat = [[{"role": "assistant", "content": GOOD}]]
    for name in ("xml_format", "integer", "exact"):
        scorer = get_reward(name)
        assert (
            scorer(completions=chat, prompts=["p"], answer=["4"]) == scorer(completions=[GOOD], answer=["4"]) == [1.0]
        )


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=200))
def test_no_text_breaks_a_reward(text: str) -> None:
    for name in ("xml_format", "integer", "exact"):
        outcome = get_reward(name).one(text, answer="4")
        assert outcome.status == "scored", outcome
        assert outcome.value is not None


def _score(scorer: Reward) -> Outcome:
    return scorer.one(GOOD, answer="4")


def test_each_scores_in_a_spawned_process() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        scorers = [get_reward("xml_format").with_(mode="count"), get_reward("integer"), get_reward("exact")]
        assert [outcome.value for outcome in pool.map(_score, scorers)] == [0.5, 1.0, 1.0]
