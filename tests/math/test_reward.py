"""The reward `math` as a trainer calls it."""

import asyncio
import threading
from typing import Any

import pytest
from grpo_rewards_plugins.math.symbolic import FUNCTION
from grpo_rewards_plugins.workers import shared_pool

from grpo_rewards import get_reward
from grpo_rewards._contract import Batch, Outcome, evaluate
from grpo_rewards.errors import SettingsError
from grpo_rewards.slots import slots


def score(completions: list[Any], answers: list[Any], **settings: Any) -> list[Outcome]:
    reward = get_reward("math").with_(**settings) if settings else get_reward("math")
    found = evaluate(reward, Batch.from_call(completions=completions, answer=answers))
    return [outcome for outcome in found if outcome is not None]


def test_values_and_reasons() -> None:
    right, wrong, several = score(
        ["It is \\boxed{0.5}", "It is \\boxed{0.3}", "\\boxed{3} or \\boxed{4}"], ["1/2", "1/2", "4"]
    )
    assert (right.value, wrong.value, several.value) == (1.0, 0.0, 0.0)
    assert right.reason == "'0.5' (by box) is '1/2': exact numbers"
    assert "is not" in wrong.reason


@pytest.mark.parametrize("gold", [18, 18.0, "18", "$18$", "\\boxed{18}", "She sells...\n#### 18", "18 apples"])
def test_golds_in_any_form(gold: Any) -> None:
    assert [o.value for o in score(["A: 18", "A: 19"], [gold, gold])] == [1.0, 0.0]


@pytest.mark.parametrize("gold", [None, "", float("nan"), [1], "\\frac{", True, "nan", "N/A", "null"])
def test_a_gold_that_cannot_be_read_does_not_apply(gold: Any) -> None:
    (found,) = score(["\\boxed{18}"], [gold])
    assert (found.value, found.status) == (None, "not_applicable")
    assert found.reason
    check = get_reward("math").check_row
    assert check is not None
    assert check(answer=gold)


def test_no_answer_is_rejected() -> None:
    (found,) = score(["first\nsecond"], ["4"])
    assert (found.value, found.status) == (0.0, "rejected")


def test_drop_in_for_accuracy_reward_with_chat_completions() -> None:
    reward = get_reward("math").with_columns(answer="solution") if hasattr(get_reward("math"), "with_columns") else None
    if reward is None:
        reward = get_reward("math")
        reward = reward._copy(columns={"answer": "solution"})
    chat = [
        [{"role": "assistant", "content": "so \\boxed{\\frac12}"}],
        [{"role": "assistant", "content": "so \\boxed{2}"}],
    ]
    assert reward(completions=chat, solution=["$\\frac{1}{2}$"] * 2) == [1.0, 0.0]


def test_what_was_extracted_is_in_the_details() -> None:
    (found,) = score(["It is \\boxed{0.5}"], ["1/2"])
    assert dict(found.details) == {"extracted": "0.5", "rule": "box"}


def test_exact_and_countdown_say_what_they_extracted_too() -> None:
    for text, gold in (("<answer>18</answer>", "18"), ("<answer>18</answer>", "19")):
        (found,) = evaluate(get_reward("exact"), Batch.from_call(completions=[text], answer=[gold]))
        assert found is not None
        assert found.details["extracted"] == "18"
    for text in ("3*8", "3+8", "3+9", "3+"):
        batch = Batch.from_call(completions=[f"<answer>{text}</answer>"], numbers=[[3, 8]], target=[24])
        (found,) = evaluate(get_reward("countdown"), batch)
        assert found is not None
        assert found.details["extracted"] == text


PARTS = [("1,2,4", "1,2,3", 2 / 3), ("(1,3)", "(1,2)", 0.5), ("(2,1)", "(1,2)", 0.0), ("3,1,2", "1,2,3", 1.0), ("1,2,3,4", "1,2,3", 0.75),
         ("5", "7", 0.0), ("x=1,y=3", "x=1,y=2", 0.5)]  # fmt: skip


@pytest.mark.parametrize(("answer", "gold", "part"), PARTS)
def test_partial_credit_is_off_unless_asked_for(answer: str, gold: str, part: float) -> None:
    assert score([f"\\boxed{{{answer}}}"], [gold])[0].value == float(part == 1)
    assert score([f"\\boxed{{{answer}}}"], [gold], partial=True)[0].value == pytest.approx(part)


TOLERATED = [("1/3", "0.333", 0.01, True), ("\\pi", "3.14", 0.001, True), ("\\pi", "3.14", 1e-4, False), ("5", "5.1", 0.01, False),
             ("(1,2)", "(1,2.001)", 0.01, True), ("x", "y", 0.5, False), ("0", "0.001", 0.5, False)]  # fmt: skip


@pytest.mark.parametrize(("gold", "answer", "tolerance", "equal"), TOLERATED)
def test_a_tolerance_is_a_share_of_the_gold(gold: str, answer: str, tolerance: float, equal: bool) -> None:
    assert score([f"\\boxed{{{answer}}}"], [gold], tolerance=tolerance)[0].value == float(equal)
    assert score([f"\\boxed{{{answer}}}"], [gold])[0].value == 0.0


def test_settings_are_checked() -> None:
    with pytest.raises(SettingsError):
        get_reward("math").with_(tolerance=1.5)
    with pytest.raises(SettingsError):
        get_reward("math").with_(timeout=0.0)
    with pytest.raises(SettingsError):
        get_reward("math").with_(places=("boxx",))


def test_from_threads_and_an_event_loop() -> None:
    results: list[list[Outcome]] = []

    def work() -> None:
        results.append(score(["\\boxed{\\lim_{x\\to0}\\frac{\\sin x}{x}}", "\\boxed{2}"], ["1", "1"]))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    async def inside() -> None:
        await asyncio.to_thread(work)

    asyncio.run(inside())
    assert [[o.value for o in found] for found in results] == [[1.0, 0.0]] * 4


@pytest.mark.slow
def test_pairs_that_need_sympy_are_asked_of_as_many_workers_as_there_are_slots() -> None:
    series = "\\sum_{n=1}^{\\infty} \\frac{\\sin(n^{2}%+d)}{n^{2}+\\ln n}"  # nothing settles it, so each takes all of its time
    pool = shared_pool(FUNCTION)
    pool.close()
    said, gold = [f"\\boxed{{{series % (row + 100)}}}" for row in range(4)], [series % row for row in range(4)]
    outcomes = score(said, gold, timeout=0.3)
    assert [outcome.status for outcome in outcomes] == ["timeout"] * 4
    assert len(pool._idle) == min(4, slots())  # another one is begun only while the others are busy
