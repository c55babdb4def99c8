"""Normalisation of components before they are summed: within groups (GDPO), and by running figures."""

from __future__ import annotations

import math
import statistics
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_rewards import Composite, reward
from grpo_rewards._composition.normalize import Running, standardised_in_groups


@reward(range=(-100.0, 100.0))
def large(completion: str, a: float | None) -> float | None:
    return a


@reward(range=(0.0, 1.0))
def small(completion: str, b: float) -> float:
    return b


def normalised(method: str, **combine: Any) -> Composite:
    return Composite(
        {
            "rewards": {"large": large, "small": {"use": small, "weight": 2.0}},
            "combine": {"normalize": method, **combine},
        }
    )


def call(composite: Composite, a: list[Any], b: list[float], prompts: list[str], **more: Any) -> list[float | None]:
    return composite(prompts=prompts, completions=["x"] * len(a), a=a, b=b, **more)


def test_gdpo_standardises_each_component_within_its_group() -> None:
    found = call(normalised("gdpo"), [0.0, 100.0, 5.0, 5.0], [0.0, 0.01, 1.0, 0.0], ["p", "p", "q", "q"])
    z = math.sqrt(0.5)  # (1 - 0.5) / std(0, 1), whatever the scale
    assert found == pytest.approx([-z - 2 * z, z + 2 * z, 2 * z, -2 * z], rel=2e-2)


def test_gdpo_leaves_out_what_does_not_apply_and_centres_on_the_rest() -> None:
    found = call(normalised("gdpo"), [None, 2.0, 4.0, None], [0.5] * 4, ["p"] * 4)
    assert found[0] == found[3] == 0.0
    assert found[1] == pytest.approx(-math.sqrt(0.5), rel=1e-3)
    assert found[2] == pytest.approx(math.sqrt(0.5), rel=1e-3)


def test_the_total_is_clipped_after_normalisation() -> None:
    found = call(normalised("gdpo", clip=[-1, 1]), [0.0, 100.0], [0.0, 1.0], ["p", "p"])
    assert found == [-1.0, 1.0]


@given(st.lists(st.floats(-50, 50), min_size=2, max_size=12))
def test_standardised_groups_have_mean_zero_and_deviation_one(values: list[float]) -> None:
    found = standardised_in_groups(values, [list(range(len(values)))])
    assert math.fsum(v for v in found if v is not None) == pytest.approx(0.0, abs=1e-6)
    deviation = statistics.stdev(values)
    if deviation > 0.1:
        assert statistics.stdev([v for v in found if v is not None]) == pytest.approx(1.0, rel=2e-3)


@pytest.mark.parametrize("value", [1.2, 0.2, 0.7, 1e6 + 0.1])
def test_a_constant_group_has_no_signal_however_its_value_rounds(value: float) -> None:
    assert standardised_in_groups([value] * 8, [list(range(8))]) == [0.0] * 8


@given(st.lists(st.lists(st.floats(-100, 100), max_size=6), min_size=1, max_size=8))
def test_running_figures_equal_those_of_all_values_together(batches: list[list[float]]) -> None:
    running = Running()
    for batch in batches:
        running.add([*batch, None])
    everything = [value for batch in batches for value in batch]
    assert running.count == len(everything)
    if everything:
        assert running.mean == pytest.approx(statistics.fmean(everything), abs=1e-9)
    if len(everything) > 1:
        assert running.deviation == pytest.approx(statistics.stdev(everything), abs=1e-6)
    assert Running(**asdict(running)) == running


def running(composite: Composite) -> Any:
    return composite.session.state()["running"]


def test_running_takes_in_training_batches_and_keeps_the_spread_between_groups() -> None:
    composite = normalised("running")
    state = SimpleNamespace(global_step=0, stateful_callbacks={})
    first = call(composite, [0.0, 10.0], [0.5, 0.5], ["p", "p"], trainer_state=state)
    assert first == pytest.approx([-math.sqrt(0.5), math.sqrt(0.5)], rel=1e-3)
    second = call(composite, [10.0, 10.0], [0.5, 0.5], ["q", "q"], trainer_state=state)
    mean, deviation = 7.5, 5.0  # of 0, 10, 10, 10
    assert second == pytest.approx([(10 - mean) / deviation] * 2, rel=1e-3)
    assert running(composite)["large"]["count"] == 4
    call(composite, [50.0, 90.0], [0.5, 0.5], ["r", "r"])  # no trainer: nothing is taken in
    assert running(composite)["large"]["count"] == 4


def test_scoring_offline_is_never_normalised() -> None:
    rows = [
        {"prompt": "p", "completion": "x", "a": 50.0, "b": 1.0},
        {"prompt": "p", "completion": "x", "a": 0.0, "b": 0.0},
    ]
    assert normalised("gdpo").score(rows).rewards() == [52.0, 0.0]
