"""What goes wrong is said once, with the remedy, and what goes right is not spoken of."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from grpo_rewards_adapters.trl.health import Health, HealthFinding, HealthLimits, rise
from hypothesis import given
from hypothesis import strategies as st

from grpo_rewards.types import ComponentFigures, Observation


def figures(**given: Any) -> ComponentFigures:
    known: dict[str, Any] = {
        "weight": 1.0, "n": 8, "mean": 0.5, "std": 0.4, "rate": 0.5, "group_std": 0.4, "flat_groups": 0.2, "rates": {},
        "seconds": 0.1, "p95_seconds": 0.01,
    }  # fmt: skip
    return ComponentFigures(**{**known, **given})


def seen(mean: float | None = 0.5, flat: float = 0.2, **components: ComponentFigures) -> Observation:
    components = components or {"math": figures(), "format": figures()}
    return Observation(components, 8, mean, 0.4, flat, 0.0, 0.0, 0, {}, [])


def watch(observations: list[Observation], **more: Any) -> list[HealthFinding]:
    health = Health(HealthLimits(window=10, long_window=40), **more)
    return [finding for observation in observations for finding in health.see(observation)]


def kinds(found: list[HealthFinding]) -> list[tuple[str, str]]:
    return [(finding.kind, finding.component) for finding in found]


def test_a_healthy_run_says_nothing() -> None:
    noise = random.Random(0)
    assert watch([seen(step / 60 + noise.gauss(0, 0.1)) for step in range(200)]) == []


@pytest.mark.parametrize(
    ("component", "kind", "words"),
    [
        ({"flat_groups": 1.0, "group_std": 0.0, "rate": 1.0}, "no_spread", "harder prompts"),
        ({"flat_groups": 1.0, "group_std": 0.0, "rate": 0.0}, "no_spread", "easier prompts"),
        ({"flat_groups": 0.97, "group_std": 0.01, "rate": 0.5}, "no_spread", "temperature"),
        ({"weight": 50.0}, "dominance", "normalize: gdpo"),
        ({"rates": {"unavailable": 0.1}}, "failures", "doctor"),
        ({"rates": {"error": 0.1}}, "failures", "doctor"),
        ({"rates": {"timeout": 0.5}}, "timeouts", "timeout"),
        ({"rates": {"rejected": 0.5}}, "extraction", "format problem"),
    ],
)
def test_each_trouble_is_named_once_with_its_remedy(component: dict[str, Any], kind: str, words: str) -> None:
    rising = [seen(step / 30, math=figures(**component), format=figures()) for step in range(30)]
    found = watch(rising)
    assert kinds(found) == [(kind, "math")]
    assert words in found[0].text
    assert found[0].key == f"grpo_rewards/health/{kind}/math"


def test_nothing_is_said_before_the_window_is_full() -> None:
    assert watch([seen(step, math=figures(rates={"timeout": 1.0})) for step in range(9)]) == []


def test_a_shadow_without_spread_is_no_trouble() -> None:
    shadow = figures(weight=0.0, flat_groups=1.0, group_std=0.0)
    assert watch([seen(step, math=figures(), format=figures(), shadow=shadow) for step in range(30)]) == []


def test_a_component_alone_cannot_dominate() -> None:
    assert watch([seen(step, math=figures(weight=50.0)) for step in range(30)]) == []


def test_one_that_has_been_learned_is_not_dominated() -> None:
    learned = figures(rate=0.97, group_std=0.02, flat_groups=0.8)
    assert watch([seen(step, math=figures(), format=learned) for step in range(30)]) == []


def test_a_weight_that_stays_at_its_bound_is_named() -> None:
    rising = [seen(step) for step in range(30)]
    assert kinds(watch(rising, at_bound=lambda name: name == "format")) == [("weight_at_bound", "format")]
    assert "adapt.bounds" in watch(rising, at_bound=lambda name: True)[0].text


@pytest.mark.parametrize("seed", range(5))
def test_a_reward_that_falls_or_stands_is_flat_and_one_that_rises_is_not(seed: int) -> None:
    noise = random.Random(seed)
    falling = [seen(0.5 - 0.01 * step + noise.gauss(0, 0.1)) for step in range(41)]
    rising = [seen(0.2 + 0.01 * step + noise.gauss(0, 0.1)) for step in range(120)]
    assert kinds(watch(falling)) == [("flat_reward", "")]
    assert watch([seen(0.5)] * 41)[0].kind == "flat_reward"
    assert watch(rising) == []


def test_a_solved_task_is_said_as_lack_of_spread_not_as_a_flat_reward() -> None:
    solved = figures(flat_groups=1.0, group_std=0.0, rate=1.0)
    assert {kind for kind, _ in kinds(watch([seen(1.0, flat=1.0, math=solved)] * 60))} == {"no_spread"}


def test_kl_that_blows_up_is_named_only_when_there_is_a_penalty() -> None:
    def hear(beta: float) -> list[HealthFinding]:
        health = Health(HealthLimits(window=10))
        return [f for kl in [0.02] * 10 + [7.0, 9.0] for f in health.see_logs({"kl": kl, "loss": 0.0}, beta=beta)]

    assert kinds(hear(0.04)) == [("kl", "")]
    assert hear(0.0) == []


def test_completions_cut_at_the_limit_are_named() -> None:
    health = Health(HealthLimits(window=10))
    found = [f for _ in range(12) for f in health.see_logs({"completions/clipped_ratio": 0.8, "loss": 0.0})]
    assert kinds(found) == [("cut", "")]
    assert "max_completion_length" in found[0].text
    calm = Health(HealthLimits(window=10))
    assert [f for _ in range(12) for f in calm.see_logs({"completions/clipped_ratio": None, "kl": None})] == []


@given(st.floats(-3, 3), st.floats(-10, 10), st.integers(3, 60))
def test_the_slope_of_a_line_is_found(slope: float, start: float, n: int) -> None:
    found, t = rise([start + slope * x for x in range(n)])
    assert found == pytest.approx(slope, abs=1e-6)
    assert t == 0.0 or abs(slope) < 1e-9 or math.copysign(1, t) == math.copysign(1, slope)


def test_the_t_statistic_is_that_of_least_squares() -> None:
    values = [1.0, 3.0, 2.0, 5.0, 4.0]  # residuals alternate, so no value is discounted
    slope, t = rise(values)
    rest = [value - 3.0 - slope * (x - 2) for x, value in enumerate(values)]
    error = math.sqrt(sum(r * r for r in rest) / 3 / 10)
    assert (slope, t) == pytest.approx((0.8, 0.8 / error))
