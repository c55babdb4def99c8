"""Each scaler by its equation, and what holds for all: warm-up, smoothing, bounds, generation batches of training only."""

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
def good(completion: str, a: float) -> float:
    return a


@reward(range=(-1.0, 1.0))
def tone(completion: str, b: float) -> float:
    return b


def adaptive(method: str, *, weights: tuple[float, float] = (1.0, 1.0), **adapt: Any) -> Composite:
    return Composite(
        {
            "rewards": {"good": {"use": good, "weight": weights[0]}, "tone": {"use": tone, "weight": weights[1]}},
            "adapt": {"method": method, "warmup": 0, "ema": 0.0, **adapt},
        }
    )


class Run:
    """Calls a composite as a trainer would, batch by batch."""

    def __init__(self, composite: Composite) -> None:
        self.composite = composite
        self.state = SimpleNamespace(global_step=0, stateful_callbacks={})
        self.metrics: dict[str, float] = {}

    def batch(self, a: list[float], b: list[float] | None = None) -> list[float | None]:
        b = [0.0] * len(a) if b is None else b
        found = self.composite(
            prompts=["p"] * len(a), completions=["x"] * len(a), a=a, b=b,
            trainer_state=self.state, log_metric=self.metrics.__setitem__,
        )  # fmt: skip
        self.state.global_step += 1
        return found

    @property
    def weights(self) -> dict[str, float]:
        return self.composite.session.weights


def test_fixed_changes_nothing() -> None:
    run = Run(adaptive("fixed", weights=(1.5, -0.5)))
    for _ in range(5):
        run.batch([0.0, 0.0], [1.0, -1.0])
    assert run.weights == {"good": 1.5, "tone": -0.5}


def test_threshold_raises_what_fails_and_lowers_what_succeeds() -> None:
    run = Run(adaptive("threshold"))
    run.batch([0.0, 0.5], [1.0, 0.8])  # rates 0.25 and 0.95 on the scales of the ranges
    assert run.weights == pytest.approx({"good": 1.2, "tone": 0.9})
    run.batch([0.5, 0.5], [0.0, 0.0])  # both within the band
    assert run.weights == pytest.approx({"good": 1.2, "tone": 0.9})


def test_a_batch_is_scored_with_the_weights_from_before_it() -> None:
    run = Run(adaptive("threshold"))
    assert run.batch([0.0, 0.2], [1.0, 1.0]) == pytest.approx([1.0, 1.2])
    assert run.metrics["grpo_rewards/good/weight"] == 1.0
    assert run.batch([0.0, 0.2], [1.0, 1.0]) == pytest.approx([0.9, 0.9 + 0.24])
    assert run.metrics["grpo_rewards/good/weight"] == pytest.approx(1.2)


def test_signal_follows_the_spread_against_its_peak() -> None:
    run = Run(adaptive("signal", bounds=[0.1, 4.0]))
    run.batch([0.0, 0.0], [0.0, 0.0])
    assert run.weights == {"good": 1.0, "tone": 1.0}  # nothing has spread yet: nothing is known
    run.batch([0.0, 1.0], [-1.0, 1.0])
    run.batch([0.5, 1.0], [0.0, 1.0])
    assert run.weights == pytest.approx({"good": 0.5, "tone": 0.5})
    run.batch([1.0, 1.0], [0.0, 2.0 / 3.0])
    assert run.weights == pytest.approx({"good": 0.1, "tone": 1.0 / 3.0})  # saturated: at the lower bound


def test_signal_has_a_power_and_a_floor() -> None:
    run = Run(adaptive("signal", power=2.0, floor=0.4))
    run.batch([0.0, 1.0], [-1.0, 1.0])
    run.batch([0.25, 1.0], [0.0, 1.0])
    assert run.weights == pytest.approx({"good": 0.75**2, "tone": 0.4})


def test_target_is_a_clipped_dual_variable() -> None:
    run = Run(adaptive("target", target={"good": 0.9}, step=0.5, bounds=[0.0, 1.3]))
    run.batch([0.5, 0.5])
    assert run.weights == pytest.approx({"good": 1.2, "tone": 1.0})
    run.batch([0.0, 0.0])
    assert run.weights["good"] == pytest.approx(1.3)  # the bound
    assert run.composite.session.at_bound("good")
    run.batch([1.0, 1.0])
    assert run.weights["good"] == pytest.approx(1.25)  # it turns back at once, no wind-up
    for _ in range(40):
        run.batch([1.0, 1.0])
    assert run.weights["good"] == 0.0


def test_nothing_moves_during_the_warm_up_and_figures_are_smoothed() -> None:
    run = Run(adaptive("threshold", warmup=3, ema=0.5))
    for _ in range(3):
        run.batch([0.0, 0.0])
        assert run.weights == {"good": 1.0, "tone": 1.0}
    run.batch([1.0, 1.0])  # smoothed 0.5: inside the band
    assert run.weights["good"] == 1.0
    run.batch([1.0, 1.0])  # 0.75
    assert run.weights["good"] == 1.0
    run.batch([1.0, 1.0])  # 0.875
    assert run.weights["good"] == pytest.approx(0.9)


@pytest.mark.slow
@given(
    st.sampled_from(["threshold", "signal", "target"]),
    st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=4), min_size=1, max_size=30),
    st.floats(0.25, 2.0),
)
def test_weights_stay_within_their_bounds_whatever_happens(method: str, batches: list[Any], weight: float) -> None:
    run = Run(adaptive(method, weights=(weight, -weight), bounds=[0.2, 2.5]))
    for values in batches:
        run.batch(values, values)
        assert 0.2 - 1e-12 <= run.weights["good"] <= 2.5 + 1e-12
        assert -2.5 - 1e-12 <= run.weights["tone"] <= -0.2 + 1e-12


def test_only_the_named_components_move_and_a_shadow_stays_one() -> None:
    run = Run(adaptive("threshold", components=["tone"], weights=(1.0, 0.0)))
    for _ in range(3):
        run.batch([0.0, 0.0], [-1.0, -1.0])
    assert run.weights == {"good": 1.0, "tone": 0.0}


def test_evaluation_moves_nothing() -> None:
    composite = adaptive("threshold")

    class Trainer:
        model = SimpleNamespace(training=False)

        def log_metric(self, name: str, value: float) -> None:
            pass

    state = SimpleNamespace(global_step=3, stateful_callbacks={})
    composite(prompts=["p"], completions=["x"], a=[0.0], b=[0.0], trainer_state=state, log_metric=Trainer().log_metric)
    assert composite.session.weights == {"good": 1.0, "tone": 1.0}
    assert state.stateful_callbacks == {}


def test_scoring_offline_moves_nothing() -> None:
    composite = adaptive("threshold")
    composite.score([{"completion": "x", "a": 0.0, "b": 0.0}] * 4)
    composite(completions=["x"], a=[0.0], b=[0.0])
    assert composite.session.weights == {"good": 1.0, "tone": 1.0}


@pytest.mark.parametrize(
    ("adapt", "message"),
    [
        ({"method": "treshold"}, r"adapt\.method: there is no adaptation method 'treshold'; did you mean 'threshold'"),
        ({"method": "threshold", "lwo": 0.1}, "adapt: .*no setting 'lwo'; did you mean 'low'"),
        ({"method": "threshold", "low": "x"}, "adapt: .*low"),
        (
            {"method": "threshold", "low": 0.9, "high": 0.2},
            r"adapt: method 'threshold': low \(0\.9\) is above high \(0\.2\)",
        ),
        ({"method": "threshold", "bounds": [2, 1]}, r"adapt\.bounds: the lower bound comes first"),
        ({"method": "threshold", "bounds": [-1, 1]}, r"adapt\.bounds: .*0 or more"),
        ({"method": "threshold", "ema": 1.0}, r"adapt\.ema"),
        ({"method": "threshold", "components": ["god"]}, r"adapt\.components: .*did you mean 'good'"),
        ({}, r"adapt\.method: this key is required"),
    ],
)
def test_a_wrong_adaptation_names_its_place(adapt: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Composite({"rewards": {"good": good}, "adapt": adapt})


def test_stage_weights_are_what_adaptation_multiplies() -> None:
    composite = Composite(
        {
            "rewards": {"good": good},
            "stages": [{"until": 1, "weights": {"good": 3.0}}],
            "adapt": {"method": "threshold", "warmup": 0, "ema": 0.0},
        }
    )
    run = Run(composite)
    run.batch([0.0, 0.0])
    assert composite.session.weights_at(0)["good"] == pytest.approx(3.6)
    assert composite.session.weights_at(1)["good"] == pytest.approx(1.2)
    assert math.isclose(run.state.stateful_callbacks["grpo_rewards"]["adapted"]["good"]["factor"], 1.2)
