"""The arithmetic of composition holds for any rows, any order, any batching."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_rewards import Composite, reward

VALUES = st.one_of(st.none(), st.floats(-1, 1))
WEIGHTS = st.integers(-16, 16).map(lambda quarters: quarters / 4)


@reward(range=(-1.0, 1.0))
def first(completion: str, a: float | None) -> float | None:
    return a


@reward(range=(-1.0, 1.0))
def second(completion: str, b: float | None) -> float | None:
    return b


@reward.batch(range=(-1.0, 1.0))
def third(completions: list[str], c: list[float | None]) -> list[float | None]:
    return c


ROWS = st.lists(
    st.fixed_dictionaries({"completion": st.text(max_size=3), "a": VALUES, "b": VALUES, "c": VALUES}),
    min_size=1,
    max_size=12,
)


def composite(weights: tuple[float, float, float] = (1.0, 0.5, 2.0), **more: Any) -> Composite:
    rewards: dict[str, Any] = {
        "first": {"use": first, "weight": weights[0]},
        "second": {"use": second, "weight": weights[1], "clip": [-0.5, 0.5]},
        "third": {"use": third, "weight": weights[2], "gate": {"component": "first", "at_least": 0.0}},
    }
    return Composite({"rewards": rewards, **more})


@given(ROWS, st.randoms())
def test_a_rows_reward_does_not_depend_on_its_neighbours_or_their_order(
    rows: list[dict[str, Any]], random: Any
) -> None:
    built = composite()
    together = built.score(rows).rewards()
    assert [built.score([row]).rewards()[0] for row in rows] == together
    order = list(range(len(rows)))
    random.shuffle(order)
    assert built.score([rows[i] for i in order]).rewards() == [together[i] for i in order]


@given(ROWS)
def test_training_and_offline_give_the_same_number(rows: list[dict[str, Any]]) -> None:
    built = composite()
    call = {name: [row[name] for row in rows] for name in ("a", "b", "c")}
    trained = built(prompts=["p"] * len(rows), completions=[row["completion"] for row in rows], **call)
    assert trained == built.score(rows).rewards()


@given(ROWS, st.tuples(WEIGHTS, WEIGHTS, WEIGHTS), st.sampled_from([-2.0, -1.0, 0.5, 3.0]))
def test_the_sum_is_linear_in_the_weights(
    rows: list[dict[str, Any]], weights: tuple[float, float, float], factor: float
) -> None:
    base = composite(weights).score(rows).rewards()
    scaled = composite(tuple(factor * weight for weight in weights)).score(rows).rewards()  # type: ignore[arg-type]
    for one, other in zip(base, scaled, strict=True):
        assert (one is None) == (other is None)
        assert one is None or other is None or math.isclose(other, factor * one, rel_tol=1e-9, abs_tol=1e-9)


@given(ROWS)
def test_the_sum_is_what_the_explanation_adds_up_to(rows: list[dict[str, Any]]) -> None:
    table = composite().score(rows)
    for index, row in enumerate(rows):
        explained = table.row(index)
        parts = explained["components"]
        contributions = [part["contribution"] for part in parts.values() if part["contribution"] is not None]
        total = explained["reward"]
        assert (total is None) == (not contributions)
        assert total is None or math.isclose(total, sum(contributions), abs_tol=1e-12)
        for name, column in (("first", "a"), ("second", "b")):
            assert (parts[name]["value"] is None) == (row[column] is None)
        assert (parts["third"]["value"] is None) == (row["c"] is None or row["a"] is None)  # its gate looks at a
        if row["b"] is not None:
            assert parts["second"]["value"] == min(max(row["b"], -0.5), 0.5)
        gate_is_open = row["a"] is not None and row["a"] >= 0.0
        assert parts["third"]["gate"] == float(gate_is_open)


@given(ROWS)
def test_the_mean_divides_by_the_weights_that_applied(rows: list[dict[str, Any]]) -> None:
    sums = composite().score(rows).rewards()
    means = composite(combine={"method": "weighted_mean"}).score(rows).rewards()
    for row, total, mean in zip(rows, sums, means, strict=True):
        applied = sum(weight for weight, name in ((1.0, "a"), (0.5, "b")) if row[name] is not None)
        applied += 2.0 * (row["c"] is not None and row["a"] is not None)  # its gate looks at a
        assert (total is None) == (mean is None) == (applied == 0)
        assert mean is None or total is None or math.isclose(mean, total / applied, abs_tol=1e-12)


@given(ROWS)
def test_the_total_stays_within_its_clip(rows: list[dict[str, Any]]) -> None:
    free = composite().score(rows).rewards()
    clipped = composite(combine={"clip": [-0.25, 0.75]}).score(rows).rewards()
    assert clipped == [None if value is None else min(max(value, -0.25), 0.75) for value in free]


@given(ROWS)
def test_a_shadow_changes_nothing_but_is_scored(rows: list[dict[str, Any]]) -> None:
    with_shadow = composite((1.0, 0.5, 0.0)).score(rows)
    without = composite((1.0, 0.5, 2.0)).only(["first", "second"]).score(rows)
    assert with_shadow.rewards() == without.rewards()
    expected = [None if row["a"] is None else row["c"] for row in rows]
    assert [outcome.value for outcome in with_shadow.components["third"]] == expected


@pytest.mark.parametrize(
    ("when", "applies"),
    [
        ({"column": "task", "equals": "code"}, [False, True, False]),
        ({"column": "task", "any_of": ["code", "math"]}, [True, True, False]),
        ({"column": "task", "present": True}, [True, True, False]),
        ({"column": "task", "present": False}, [False, False, True]),
    ],
)
def test_when_restricts_a_component_to_some_rows(when: dict[str, Any], applies: list[bool]) -> None:
    built = Composite({"rewards": {"first": {"use": first, "when": when}}})
    rows = [{"completion": "x", "a": 0.5, "task": task} for task in ("math", "code", None)]
    table = built.score(rows)
    assert table.rewards() == [0.5 if wanted else None for wanted in applies]
    skipped = {outcome.status for outcome, wanted in zip(table.components["first"], applies, strict=True) if not wanted}
    assert skipped <= {"not_applicable"}


def test_statistics_are_per_component_and_group() -> None:
    rows = [
        {"completion": "x", "prompt": p, "a": a, "b": 1.2 / 2, "c": None}
        for p, a in (("p", 0.0), ("p", 1.0), ("q", 1.0), ("q", 1.0))
    ]
    stats = composite().score(rows).stats()
    assert stats["first"]["mean"] == 0.75
    assert stats["first"]["zero_std_groups"] == 0.5
    assert math.isclose(stats["first"]["group_std"], math.sqrt(0.5) / 2)  # type: ignore[arg-type]
    assert stats["second"]["zero_std_groups"] == 1.0
    assert (stats["third"]["n"], stats["third"]["mean"], stats["third"]["not_applicable"]) == (0, None, 4)
