"""A run's state: saved with the trainer's, taken up again to the last bit, refused when the reward is another."""

from __future__ import annotations

import json
import pickle
import random
from types import SimpleNamespace
from typing import Any

import pytest
from grpo_rewards_adapters.trl import HealthCallback
from grpo_rewards_adapters.trl.session import STATE_KEY

from grpo_rewards import Composite, reward
from grpo_rewards.errors import ResumeError


@reward(range=(0.0, 1.0))
def good(completion: str, a: float) -> float:
    return a


@reward(range=(0.0, 1.0))
def tone(completion: str, b: float) -> float:
    return b


def composite(method: str = "threshold", normalize: str = "running", weight: float = 1.0, **more: Any) -> Composite:
    return Composite(
        {
            "rewards": {"good": {"use": good, "weight": weight}, "tone": tone},
            "adapt": {"method": method, "warmup": 2, "ema": 0.7},
            "combine": {"normalize": normalize},
            **more,
        }
    )


def new_state() -> SimpleNamespace:
    return SimpleNamespace(global_step=0, stateful_callbacks={})


class Trainer:
    """What a session looks at for callbacks: the owner of ``log_metric``."""

    def __init__(self, callbacks: list[Any]) -> None:
        self.callback_handler = SimpleNamespace(callbacks=callbacks)

    def log_metric(self, name: str, value: float) -> None:
        """Log nowhere."""


def train(built: Composite, state: Any, steps: range, **more: Any) -> list[list[float | None]]:
    """One batch per step; the data depend on the step alone."""
    found = []
    for step in steps:
        state.global_step = step
        values = random.Random(step)
        a, b = ([values.random() ** 3 for _ in range(4)] for _ in "ab")
        found.append(built(prompts=["p", "p", "q", "q"], completions=["x"] * 4, a=a, b=b, trainer_state=state, **more))
    return found


@pytest.mark.parametrize("method", ["threshold", "signal", "target"])
@pytest.mark.parametrize("normalize", ["none", "running"])
def test_a_resumed_run_equals_the_uninterrupted_one_to_the_last_bit(method: str, normalize: str) -> None:
    whole, state = composite(method, normalize), new_state()
    uninterrupted = train(whole, state, range(12))
    killed, killed_state = composite(method, normalize), new_state()
    train(killed, killed_state, range(6))
    saved = json.dumps(killed_state.stateful_callbacks)
    resumed, resumed_state = composite(method, normalize), new_state()
    resumed_state.stateful_callbacks = json.loads(saved)
    assert train(resumed, resumed_state, range(6, 12)) == uninterrupted[6:]
    assert resumed.session.weights == whole.session.weights
    assert whole.session.weights != {"good": 1.0, "tone": 1.0}
    assert resumed_state.stateful_callbacks == state.stateful_callbacks


def test_a_new_run_with_the_same_composite_starts_afresh() -> None:
    built = composite()
    first = train(built, new_state(), range(8))
    assert train(built, new_state(), range(8)) == first


def test_the_state_crosses_into_another_process() -> None:
    built, state = composite(), new_state()
    train(built, state, range(6))
    copy, saved = pickle.loads(pickle.dumps((built, built.session.state())))  # noqa: S301
    copy.session.restore(saved)
    assert copy.session.weights == built.session.weights
    assert copy.session.state() == built.session.state()


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"weight": 3.0}, r"config\.rewards\.good\.weight: 1\.0 -> 3\.0"),
        ({"method": "signal"}, r"config\.adapt\.method: 'threshold' -> 'signal'"),
        ({"errors": {"max_infra_rate": 0.5}}, r"config\.errors\.max_infra_rate: 0\.2 -> 0\.5"),
    ],
)
def test_a_changed_configuration_is_refused_with_the_difference(changed: dict[str, Any], line: str) -> None:
    state = new_state()
    train(composite(), state, range(6))
    with pytest.raises(ResumeError, match=line):
        train(composite(**changed), state, range(6, 7))
    tolerant = composite(**changed)
    trainer = Trainer([HealthCallback(tolerant, accept_changes=True)])
    assert len(train(tolerant, state, range(6, 7), log_metric=trainer.log_metric)) == 1


def test_another_plugin_version_is_refused() -> None:
    state = new_state()
    train(composite(), state, range(6))
    saved = state.stateful_callbacks[STATE_KEY]
    saved["plugins"] = {**saved["plugins"], "tone": saved["plugins"]["tone"].replace("unversioned", "0.0.1")}
    with pytest.raises(ResumeError, match=r"plugins\.tone: .*0\.0\.1.* -> .*unversioned"):
        train(composite(), state, range(6, 7))


def test_a_component_that_was_added_or_removed_is_named() -> None:
    state = new_state()
    train(composite(), state, range(3))
    smaller = Composite({"rewards": {"good": good, "other": tone}})
    with pytest.raises(ResumeError, match=r"(?s)rewards\.other: \(absent\) ->.*rewards\.tone: .* -> \(absent\)"):
        train(smaller, state, range(3, 4))


def test_a_state_of_an_unknown_format_is_refused() -> None:
    state = new_state()
    state.stateful_callbacks = {STATE_KEY: {"format": 99}}
    with pytest.raises(ResumeError, match="format 99"):
        train(composite(), state, range(1))
