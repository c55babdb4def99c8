"""A reward called as TRL calls it, whatever style it was written in."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterator
from typing import Any

import pytest

from grpo_rewards import Outcome, Reward, reward
from grpo_rewards._contract import Batch
from grpo_rewards.errors import ColumnError, InfrastructureError, InputError, PluginError, SettingsError

CHAT = [
    [{"role": "assistant", "content": "four"}],
    [
        {"role": "assistant", "content": "let me look", "tool_calls": []},
        {"role": "tool", "content": "5"},
        {"role": "assistant", "content": "five"},
    ],
]
PLAIN = ["four", "five"]


def matches_one(completion: str, answer: str, ignore_case: bool) -> float:
    return float(completion.lower() == answer.lower() if ignore_case else completion == answer)


@reward(range=(0.0, 1.0))
def matches(completion: str, answer: str, *, ignore_case: bool = True) -> float:
    """The completion is the answer.

    More.
    """
    return matches_one(completion, answer, ignore_case)


@reward.batch(range=(0.0, 1.0))
def matches_batch(completions: list[str], answer: list[str], *, ignore_case: bool = True) -> list[float]:
    return [matches_one(c, a, ignore_case) for c, a in zip(completions, answer, strict=True)]


@reward.group(range=(0.0, 1.0))
def matches_group(completions: list[str], answer: list[str], *, ignore_case: bool = True) -> list[float]:
    return [matches_one(c, a, ignore_case) for c, a in zip(completions, answer, strict=True)]


@reward(range=(0.0, 1.0))
async def matches_async(completion: str, answer: str, *, ignore_case: bool = True) -> float:
    await asyncio.sleep(0)
    return matches_one(completion, answer, ignore_case)


@reward.batch(range=(0.0, 1.0))
async def matches_async_batch(completions: list[str], answer: list[str], *, ignore_case: bool = True) -> list[float]:
    await asyncio.sleep(0)
    return [matches_one(c, a, ignore_case) for c, a in zip(completions, answer, strict=True)]


@reward.group(range=(0.0, 1.0))
async def matches_async_group(completions: list[str], answer: list[str], *, ignore_case: bool = True) -> list[float]:
    await asyncio.sleep(0)
    return [matches_one(c, a, ignore_case) for c, a in zip(completions, answer, strict=True)]


STYLES = [matches, matches_batch, matches_group, matches_async, matches_async_batch, matches_async_group]


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
@pytest.mark.parametrize("completions", [CHAT, PLAIN], ids=["chat", "plain"])
@pytest.mark.parametrize("with_trainer", [True, False])
def test_every_style_answers_trls_call(style: Reward, completions: list[object], with_trainer: bool) -> None:
    trainer = {"trainer_state": object(), "log_extra": print, "log_metric": print} if with_trainer else {}
    call = {
        "prompts": ["p", "p"],
        "completions": completions,
        "completion_ids": [[1], [2, 3]],
        "answer": ["FOUR", "six"],
        "unused": [None, None],
    }
    assert style(**call, **trainer) == [1.0, 0.0]
    assert style.with_(ignore_case=False)(**call, **trainer) == [0.0, 0.0]


def test_a_function_written_for_trl_works_unchanged() -> None:
    seen = {}

    @reward.batch
    def trl_style(prompts, completions, **kwargs):  # type: ignore[no-untyped-def]
        seen.update(kwargs)
        return [len(completion[0]["content"]) for completion in completions]

    logged: dict[str, Any] = {}
    call = {"prompts": [1, 2], "completions": CHAT, "completion_ids": [[1], [2]], "answer": ["a", "b"]}
    assert trl_style(**call, trainer_state="state", log_extra=1, log_metric=logged.setdefault) == [4.0, 11.0]
    assert seen["answer"] == ["a", "b"]
    assert seen["completion_ids"] == [[1], [2]]
    assert seen["trainer_state"] == "state"
    assert seen["log_metric"] == logged.setdefault


def test_a_row_reward_gets_its_data_by_name() -> None:
    @reward
    def look(completion, messages, prompt, completion_ids, trainer_state, log_metric, extra, missing=7, **rest):  # type: ignore[no-untyped-def]
        log_metric("seen", 1.0)
        assert trainer_state is None
        return Outcome(
            1.0, reason=repr((completion, messages[-1]["role"], prompt, completion_ids, extra, missing, rest))
        )

    outcome = look.one("hi", prompt="say", completion_ids=[1, 2], extra="e", other="o")
    assert outcome.reason == repr(("hi", "assistant", "say", [1, 2], "e", 7, {"other": "o"}))


def test_batch_annotation_decides_between_texts_and_trls_objects() -> None:
    @reward.batch
    def texts(completions: list[str]) -> list[float]:
        return [float(isinstance(completion, str)) for completion in completions]

    @reward.batch
    def raw(completions) -> list[float]:  # type: ignore[no-untyped-def]
        return [float(isinstance(completion, list)) for completion in completions]

    assert texts(completions=CHAT) == raw(completions=CHAT) == [1.0, 1.0]


def test_a_group_reward_sees_one_prompt_at_a_time_whatever_the_order() -> None:
    @reward.group
    def share(completions: list[str]) -> list[float]:
        return [completions.count(completion) / len(completions) for completion in completions]

    assert share(prompts=["p", "q", "p", "q"], completions=["a", "a", "a", "b"]) == [1.0, 0.5, 1.0, 0.5]
    by_id = share(prompts=["p"] * 4, completions=["a", "a", "b", "b"], group_id=[1, 2, 1, 2])
    assert by_id == [0.5, 0.5, 0.5, 0.5]
    chat = [[{"role": "user", "content": "p"}]] * 2
    assert share(prompts=chat, completions=["a", "b"]) == [0.5, 0.5]


@pytest.mark.parametrize(
    ("returned", "value", "status"),
    [
        (0.25, 0.25, "scored"),
        (True, 1.0, "scored"),
        (1, 1.0, "scored"),
        (1.0 + 1e-12, 1.0, "scored"),
        (None, None, "not_applicable"),
        (Outcome(0.5, reason="half"), 0.5, "scored"),
        (Outcome(None, "rejected", "no answer"), -1.0, "rejected"),
        (Outcome(-0.5, "rejected"), -0.5, "rejected"),
        (Outcome(None, "timeout"), -1.0, "timeout"),
        (Outcome(None, "unavailable", "down"), None, "unavailable"),
        (float("nan"), None, "error"),
        (float("inf"), None, "error"),
        (1.5, None, "error"),
        ("1.0", None, "error"),
        ([1.0], None, "error"),
        (Outcome(7.0), None, "error"),
    ],
)
def test_what_a_reward_returns_becomes_an_outcome_that_keeps_the_contract(
    returned: object, value: float | None, status: str
) -> None:
    @reward(range=(-1.0, 1.0))
    def returning(completion: str) -> object:
        return returned

    outcome = returning.one("x")
    assert (outcome.value, outcome.status) == (value, status)
    if status == "error":
        with pytest.raises(PluginError) as caught:
            returning(completions=["x"])
        assert caught.value.row == 0


def test_array_results_are_taken() -> None:
    numpy = pytest.importorskip("numpy")

    @reward.batch(range=(0.0, 1.0))
    def arrays(completions: list[str]) -> object:
        return numpy.array([0.5] * len(completions), dtype=numpy.float32)

    @reward
    def scalar(completion: str) -> object:
        return numpy.float32(0.5)

    assert arrays(completions=["a", "b"]) == [0.5, 0.5]
    assert scalar(completions=["a"]) == [0.5]


def test_an_array_that_cannot_be_read_is_the_rewards_own_error() -> None:
    class Deleted:
        def tolist(self) -> list[float]:
            raise RuntimeError("array has been deleted")

    @reward.batch(range=(0.0, 1.0))
    def arrays(completions: list[str]) -> object:
        return Deleted()

    with pytest.raises(PluginError, match="array has been deleted"):
        arrays(completions=["a", "b"])


@pytest.mark.parametrize("style", [reward, reward.batch])
def test_an_exception_names_plugin_version_and_row(style: object) -> None:
    if style is reward:

        @reward
        def fragile(completion: str) -> float:
            return 1 / (completion != "bad")
    else:

        @reward.batch
        def fragile(completions: list[str]) -> list[float]:
            return [1 / (completion != "bad") for completion in completions]

    fragile.version = "1.2.3"
    with pytest.raises(PluginError, match=r"'fragile' 1\.2\.3 failed on row 2: it raised ZeroDivisionError") as caught:
        fragile(completions=["a", "b", "bad", "c"])
    assert caught.value.row == 2
    assert "1 / (completion" in caught.value.__notes__[0]
    outcomes = fragile.outcomes(Batch.from_call(completions=["a", "bad"]))
    assert [outcome.status for outcome in outcomes] == ["scored", "error"]


@pytest.mark.parametrize("values", [[1.0], [1.0, 1.0, 1.0], [], 1.0, "ab", None])
def test_a_batch_of_the_wrong_shape_is_refused(values: object) -> None:
    @reward.batch
    def short(completions: list[str]) -> object:
        return values

    with pytest.raises(PluginError, match="the whole batch") as caught:
        short(completions=["a", "b"])
    assert caught.value.row is None


def test_sys_exit_is_a_plugin_error_not_the_end_of_training() -> None:
    @reward
    def leaves(completion: str) -> float:
        raise SystemExit(0)

    with pytest.raises(PluginError, match="SystemExit"):
        leaves(completions=["a"])


def test_missing_columns_are_found_before_the_first_row() -> None:
    called = []

    @reward
    def needs(completion: str, solution: str) -> float:
        called.append(completion)
        return 1.0

    with pytest.raises(ColumnError, match=r"needs the column 'solution'.*did you mean 'solutions'") as caught:
        needs(prompts=["p"], completions=["a"], solutions=["x"])
    assert caught.value.missing == ("solution",)
    assert called == []
    assert needs.with_columns(solution="answer")(completions=["a"], answer=["x"]) == [1.0]
    with pytest.raises(ColumnError, match="'gold'"):
        needs.with_columns(solution="gold")(completions=["a"], solution=["x"])


def test_a_column_may_be_called_as_a_keyword_of_the_language() -> None:
    @reward
    def echo(completion: str, answer: str) -> float:
        return float(completion == answer)

    assert echo.with_columns(answer="class")(**{"completions": ["a"], "class": ["a"]}) == [1.0]


def test_an_error_that_cannot_be_written_is_the_plugins_too() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    @reward
    def mute(completion: str) -> float:
        raise MuteError

    assert mute.one("a").reason == "it raised MuteError: (its str raised RuntimeError)"


def test_prompt_may_be_read_as_a_column_and_columns_as_prompt() -> None:
    @reward
    def echo(completion: str, question: str) -> float:
        return float(completion == question)

    assert echo.with_columns(question="prompt")(prompts=["a"], completions=["a"]) == [1.0]


def test_a_required_column_that_is_none_in_a_row_does_not_apply_there() -> None:
    @reward
    def needs(completion: str, answer: str) -> float:
        return float(len(answer))

    @reward
    def copes(completion: str, answer: str | None) -> float:
        return float(answer is None)

    assert needs(completions=["a", "b"], answer=[None, "xy"]) == [None, 2.0]
    assert copes(completions=["a", "b"], answer=[None, "xy"]) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"completions": ["a", "b"], "answer": ["x"]}, "'answer' has 1 values for 2 completions"),
        ({"completions": ["a", "b"], "answer": "xy"}, "'answer' must be a list"),
        ({"completions": "ab", "answer": ["x", "y"]}, "'completions' must be a list"),
        ({"completions": ["a"], "prompts": ["p", "q"], "answer": ["x"]}, "'prompts' has 2 values"),
    ],
)
def test_columns_of_the_wrong_length_are_refused(call: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        matches(**call)


def test_an_empty_batch_is_fine() -> None:
    for style in STYLES:
        assert style(prompts=[], completions=[], answer=[]) == []


# ---------------------------------------------------------------------------------------------------- settings


def test_settings_are_validated_when_bound() -> None:
    @reward(check_settings=lambda settings: _ordered(settings["low"], settings["high"]))
    def band(completion: str, *, low: int = 0, high: int = 10, mode: str) -> float:
        return float(low <= len(completion) <= high)

    with pytest.raises(SettingsError, match=r"no setting 'hihg'; did you mean 'high'"):
        band.with_(hihg=3)  # type: ignore[call-arg]
    with pytest.raises(SettingsError, match=r"setting 'low'.*integer.*not 'x'"):
        band.with_(low="x")  # type: ignore[call-arg, arg-type]
    with pytest.raises(SettingsError, match="needs the setting 'mode'"):
        band(completions=["a"])
    with pytest.raises(SettingsError, match="low must not be above high"):
        band.with_(mode="m", low=11)
    bound = band.with_(mode="m", low="2")  # type: ignore[arg-type]
    assert bound.settings == {"mode": "m", "low": 2}
    assert bound(completions=["a", "abc"]) == [0.0, 1.0]
    assert band.settings == {}
    assert band.settings_schema()["required"] == ["mode"]


def _ordered(low: int, high: int) -> None:
    if low > high:
        raise ValueError("low must not be above high")


@pytest.mark.parametrize(
    ("decorate", "function", "message"),
    [
        (reward, lambda completions: 1, "use|rename|decorate"),
        (reward.batch, lambda completion: [1], "gets 'completions'"),
        (reward.group, lambda prompt, completions: [1], "gets 'prompts'"),
        (reward, lambda completion, *columns: 1, r"takes \*columns"),
        (functools.partial(reward, range=(1, 0)), None, "low < high"),
        (functools.partial(reward, range=3), None, "pair of numbers"),
    ],
)
def test_a_signature_that_does_not_fit_is_refused_with_what_to_write(decorate, function, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises((TypeError, ValueError), match=message):
        decorate(function) if function else decorate()(lambda completion: 1.0)


def test_what_a_reward_says_of_itself() -> None:
    assert matches.__name__ == matches.name == "matches"
    assert matches.summary == "The completion is the answer."
    assert matches.required_columns == ("answer",)
    assert matches.with_columns(answer="gold").required_columns == ("gold",)
    assert matches.defaults == {"ignore_case": True}
    assert matches.range == (0.0, 1.0)
    assert [style.style for style in STYLES] == ["row", "batch", "group"] * 2
    with pytest.raises(SettingsError, match="reads no column 'anwser'"):
        matches.with_columns(anwser="gold")


# ---------------------------------------------------------------------------------------------------- outcomes


def test_an_outcome_without_value_is_not_a_score() -> None:
    assert Outcome().status == "not_applicable"
    assert Outcome(None, "rejected").value is None
    for status in ("not_applicable", "unavailable", "error"):
        with pytest.raises(ValueError, match="has no value"):
            Outcome(0.0, status)
    with pytest.raises(ValueError, match="status must be one of"):
        Outcome(1.0, "fine")  # type: ignore[arg-type]


def test_async_rewards_run_inside_a_running_loop_and_side_by_side() -> None:
    running, most = 0, 0

    @reward(workers=4)
    async def counted(completion: str) -> float:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return 1.0

    async def inside() -> list[float | None]:
        return counted(completions=["a"] * 12)

    assert asyncio.run(inside()) == [1.0] * 12
    assert most == 4


DOWN = InfrastructureError("the checker is down")


@reward
def asks_row(completion: str) -> float:
    if completion == "five":
        raise DOWN
    return 1.0


@reward
async def asks_async(completion: str) -> float:
    if completion == "five":
        raise DOWN
    return 1.0


@reward.batch
def asks_and_yields(completions: list[str]) -> Iterator[tuple[int, float]]:
    yield 0, 1.0
    raise DOWN


@pytest.mark.parametrize("asks", [asks_row, asks_async, asks_and_yields])
def test_what_is_down_costs_the_rows_that_it_kept_from_a_verdict(asks: Reward) -> None:
    first, second = asks.outcomes(Batch(PLAIN))
    assert (first.value, first.status) == (1.0, "scored")
    assert (second.value, second.status, second.reason) == (None, "unavailable", "the checker is down")


def test_a_batch_is_not_asked_again_row_by_row_of_what_is_down() -> None:
    calls = []

    @reward.batch
    def asks(completions: list[str]) -> list[float]:
        calls.append(len(completions))
        raise DOWN

    assert [outcome.status for outcome in asks.outcomes(Batch(PLAIN))] == ["unavailable"] * 2
    assert calls == [2]
