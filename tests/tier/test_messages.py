"""What goes to an actor and comes back."""

from __future__ import annotations

import pytest

from grpo_rewards import Outcome, get_reward
from grpo_rewards._composition.duplicates import columns_read
from grpo_rewards._contract import Batch
from grpo_rewards._tier.messages import counted, pack_outcomes, pack_rows, unpack_outcomes, unpack_rows
from grpo_rewards._tier.tier import Tier

TEXTS = ["one", "two"]


def test_rows_that_several_components_read_go_once() -> None:
    math = Batch(TEXTS, columns={"answer": ["1", "2"]})
    length = Batch(TEXTS, completion_ids=[[1], [2, 3]])
    timeout, parts = unpack_rows(pack_rows(2.5, [("math", math), ("length", length), ("format", Batch(TEXTS))]))
    assert timeout == 2.5
    assert [name for name, _ in parts] == ["math", "length", "format"]
    (_, one), *others = parts
    assert all(batch is one for _, batch in others)
    assert (one.completions, one.completion_ids, one.columns) == (TEXTS, [[1], [2, 3]], {"answer": ["1", "2"]})


@pytest.mark.parametrize(
    "other",
    [
        Batch(TEXTS[:1], columns={"answer": ["1"]}),
        Batch(TEXTS, columns={"answer": [1, "2"]}),
        Batch(["one", "three"], columns={"answer": ["1", "2"]}),
        Batch(TEXTS, columns={"answer": ["1", "2"]}, grouping=[0, 0]),
    ],
)
def test_other_rows_go_by_themselves(other: Batch) -> None:
    mine = Batch(TEXTS, columns={"answer": ["1", "2"]})
    _, ((_, one), (_, two)) = unpack_rows(pack_rows(None, [("a", mine), ("b", other)]))
    assert one == mine
    assert two == other


def test_outcomes_come_back_as_they_were() -> None:
    parts: list[tuple[list[Outcome | None], float]] = [
        ([Outcome(0.5, "scored", "half", {"found": [1]}, 0.25), None, Outcome(None, "unavailable", "down")], 1.5),
        ([Outcome(-1.0, "timeout", "late", {}, 2.0)], 0.5),
    ]
    assert unpack_outcomes(pack_outcomes(parts)) == parts


@pytest.mark.parametrize(("rows", "arguments"), [(1000, range(2, 30)), (10_000, range(1, 2))])
def test_long_messages_go_along_with_the_call(rows: int, arguments: range) -> None:
    texts = [f"{n}: the answer is {n} and not {n + 1}" * 10 for n in range(rows)]
    message = pack_rows(None, [("math", Batch(texts, columns={"answer": list(texts)}))])
    assert len(message) in arguments
    assert (
        all(len(part) < 100_000 for part in message) or len(message) == 1
    )  # else each goes through Ray's object stores
    _, ((_, batch),) = unpack_rows(message)
    assert (batch.completions, batch.columns) == (texts, {"answer": texts})
    parts = [([Outcome(n / 1000, "scored", text, {}, 0.5) for n, text in enumerate(texts)], 1.0)]
    assert len(pack_outcomes(parts)) < sum(map(len, texts)) / 3
    assert unpack_outcomes(pack_outcomes(parts)) == parts


def test_of_token_ids_that_are_only_counted_the_number_is_sent() -> None:
    message = pack_rows(None, [("length", Batch(TEXTS, completion_ids=counted([[7] * 5000, []])))])
    assert len(message[0]) < 1000
    _, ((_, batch),) = unpack_rows(message)
    assert batch.completion_ids is not None
    assert list(map(len, batch.completion_ids)) == [len(batch.completion_ids[row]) for row in range(2)] == [5000, 0]  # type: ignore[arg-type]
    odd = [[7], None]
    assert counted(odd) is odd
    assert columns_read(get_reward("length")) == frozenset({"answer", "correct", "len(completion_ids)"})


@pytest.mark.parametrize(("name", "taken"), [("math", True), ("code", True), ("diversity", True), ("judge", False)])
def test_what_needs_a_processor_is_sent_away(name: str, taken: bool) -> None:
    assert Tier.takes(get_reward(name)) is taken
