"""Weights by step: schedules of one component, stages of the run, and what may not be written."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_rewards import Composite, reward
from grpo_rewards.errors import ConfigError


@reward(range=(0.0, 1.0))
def one(completion: str) -> float:
    return 1.0


@reward(range=(0.0, 1.0))
def half(completion: str) -> float:
    return 0.5


def at(composite: Composite, step: int | None) -> dict[str, float]:
    return composite.session.weights_at(step)


def scheduled(**schedule: Any) -> Composite:
    return Composite({"rewards": {"one": {"use": one, "weight": schedule}}})


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ({"schedule": "linear", "start": 0, "end": 2, "until": 10}, {0: 0.0, 5: 1.0, 10: 2.0, 99: 2.0, None: 2.0}),
        ({"schedule": "linear", "start": 1, "end": 0, "begin": 4, "until": 8}, {0: 1.0, 4: 1.0, 5: 0.75, 8: 0.0}),
        (
            {"schedule": "cosine", "start": 1, "end": 0, "until": 8},
            {0: 1.0, 2: (1 + math.sqrt(0.5)) / 2, 4: 0.5, 6: (1 - math.sqrt(0.5)) / 2, 8: 0.0, None: 0.0},
        ),
        (
            {"schedule": "step", "start": 1, "at": {20: 3, 10: 2}},
            {0: 1.0, 9: 1.0, 10: 2.0, 19: 2.0, 20: 3.0, None: 3.0},
        ),
    ],
)
def test_a_schedule_moves_as_its_equation_says(schedule: dict[str, Any], expected: dict[int | None, float]) -> None:
    composite = scheduled(**schedule)
    for step, weight in expected.items():
        assert at(composite, step)["one"] == pytest.approx(weight, abs=1e-12), step


@given(st.sampled_from(["linear", "cosine"]), st.floats(-4, 4), st.floats(-4, 4), st.integers(0, 300))
def test_a_schedule_stays_between_its_ends(kind: str, start: float, end: float, step: int) -> None:
    weight = at(scheduled(schedule=kind, start=start, end=end, begin=20, until=200), step)["one"]
    assert min(start, end) - 1e-9 <= weight <= max(start, end) + 1e-9


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ({"schedule": "linear", "start": 1, "end": 0}, "needs end .* and until"),
        ({"schedule": "cosine", "start": 1, "until": 9}, "needs end .* and until"),
        ({"schedule": "linear", "start": 1, "end": 0, "begin": 9, "until": 9}, "must come after begin"),
        ({"schedule": "step", "start": 1}, "needs at"),
        ({"schedule": "step", "start": 1, "at": {3: 1}, "end": 2}, "takes start and at"),
        ({"schedule": "linear", "start": 1, "end": 0, "until": 3, "at": {3: 1}}, "takes end and until, not at"),
        ({"schedule": "linear", "begin": 0, "end": 0, "until": 3}, "start: this key is required"),
        ({"schedule": "linear", "strat": 0, "start": 1, "end": 0, "until": 3}, "did you mean 'start'"),
        ({"schedule": "linear", "start": 1, "end": float("nan"), "until": 3}, "finite"),
        ({"schedule": "exponential", "start": 1, "end": 0, "until": 3}, r"\.schedule: .*not .exponential"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused_at_its_place(schedule: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=r"rewards\.one\.weight.*" + message):
        scheduled(**schedule)


def test_stages_replace_weights_for_their_steps_and_training_follows() -> None:
    composite = Composite(
        {
            "rewards": {"one": {"use": one, "weight": 2.0}, "half": half},
            "stages": [{"until": 10, "weights": {"one": 0.0, "half": 4.0}}, {"until": 20, "weights": {"half": 0.0}}],
        }
    )
    assert [at(composite, step) for step in (0, 9, 10, 19, 20, None)] == [
        {"one": 0.0, "half": 4.0},
        {"one": 0.0, "half": 4.0},
        {"one": 2.0, "half": 0.0},
        {"one": 2.0, "half": 0.0},
        {"one": 2.0, "half": 1.0},
        {"one": 2.0, "half": 1.0},
    ]
    state = SimpleNamespace(global_step=0, stateful_callbacks={})
    found = []
    for step in (0, 9, 10, 20):
        state.global_step = step
        found.append(composite(completions=["x"], trainer_state=state)[0])
    assert found == [2.0, 2.0, 2.0, 2.5]
    assert composite.score([{"completion": "x"}]).rewards() == [2.5]


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([{"weights": {}}, {"until": 3}], "only the last stage may lack 'until'"),
        ([{"until": 5}, {"until": 5}], "must come after 5"),
        ([{"until": 5, "weights": {"onee": 1}}], r"stages\.0\.weights.*did you mean 'one'"),
        ([{"until": 0}], r"stages\.0\.until"),
    ],
)
def test_stages_that_cannot_be_are_refused(stages: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Composite({"rewards": {"one": one}, "stages": stages})


def test_a_component_that_counts_in_a_stage_alone_blanks_rows_when_it_is_down() -> None:
    from grpo_rewards import Outcome

    @reward
    def down(completion: str) -> Any:
        return Outcome(None, "unavailable", "gone")

    config: dict[str, Any] = {
        "rewards": {"one": one, "down": {"use": down, "weight": 0}},
        "errors": {"max_infra_rate": 1.0},
    }
    assert Composite(config)(completions=["x"]) == [1.0]
    assert Composite({**config, "stages": [{"until": 5, "weights": {"down": 1}}]})(completions=["x"]) == [None]


def test_a_caller_that_tells_no_step_is_warned_once_that_weights_stay(caplog: pytest.LogCaptureFixture) -> None:
    moving = scheduled(schedule="linear", start=0, end=2, until=10)
    for _ in range(2):
        assert moving(completions=["x"]) == [2.0]
    Composite({"rewards": {"one": one}})(completions=["x"])
    assert [record.message for record in caplog.records if "no step is known" in record.message] != []
    assert len(caplog.records) == 1


def test_some_components_alone_keep_no_weights_of_the_others() -> None:
    config: dict[str, Any] = {
        "rewards": {"one": {"use": one, "weight": 2}, "half": half},
        "stages": [{"until": 5, "weights": {"one": 3, "half": 4}}, {"weights": {"half": 5}}],
        "adapt": {"method": "threshold", "components": ["half"]},
    }
    alone = Composite(config).only(["one"])
    assert (at(alone, 0), at(alone, 9), alone.config.adapt) == ({"one": 3}, {"one": 2}, None)
    assert Composite(config).only(["half"]).config.adapt is not None


def test_a_gate_counts_where_what_it_gates_has_a_weight_in_a_stage_alone() -> None:
    gated = {"use": one, "weight": 0, "gate": {"component": "half", "at_least": 1}}
    config: dict[str, Any] = {"rewards": {"half": {"use": half, "weight": 0}, "gated": gated}}
    assert "half" not in Composite(config).counting
    assert "half" in Composite({**config, "stages": [{"weights": {"gated": 1}}]}).counting
