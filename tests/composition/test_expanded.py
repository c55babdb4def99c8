"""The expanded form: one function per component for the trainer, one evaluation for all of them."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from grpo_rewards import Composite, Outcome, reward
from grpo_rewards.errors import PluginError


@reward(range=(0.0, 1.0))
def fine(completion: str) -> float:
    return 1.0


def built(**more: Any) -> tuple[Composite, Counter[str]]:
    calls: Counter[str] = Counter()

    @reward.batch(range=(0.0, 4.0))
    def size(completions: list[str]) -> list[float]:
        calls["size"] += 1
        return [float(len(text)) for text in completions]

    @reward.batch
    def shaky(completions: list[str]) -> list[Any]:
        calls["shaky"] += 1
        return [Outcome(None, "unavailable", "gone") if text == "down" else 0.5 for text in completions]

    rewards = {
        "size": {"use": size, "weight": 2.0, "clip": [0, 2]},
        "shaky": {"use": shaky, "weight": 0.5, "gate": {"component": "size", "at_least": 2}},
        "fine": {"use": fine, "weight": 0.0},
    }
    return Composite({"rewards": rewards, "errors": {"max_infra_rate": 1.0}, **more}), calls


def test_each_function_returns_its_component_clipped_and_gated_and_failures_blank_all() -> None:
    composite, calls = built()
    parts = composite.parts()
    assert [part.__name__ for part in parts] == ["size", "shaky", "fine"]
    completions = ["a", "abc", "down"]
    found = [part(prompts=["p"] * 3, completions=completions) for part in parts]
    assert found == [[1.0, 2.0, None], [0.0, 0.5, None], [1.0, 1.0, None]]
    assert calls == {"size": 1, "shaky": 1}
    assert composite(completions=completions) == [2.0, 4.25, None]


def test_a_new_batch_is_evaluated_anew_in_any_order_of_the_functions() -> None:
    composite, calls = built()
    parts = composite.parts()
    for step, order in enumerate(([0, 1, 2], [2, 1, 0], [1, 0, 2]), 1):
        completions = ["x" * step]
        found = {index: parts[index](completions=completions) for index in order}
        assert found[0] == [float(min(step, 2))]
        assert calls["size"] == step


def test_the_same_list_with_other_rows_or_columns_is_another_call() -> None:
    @reward(range=(0.0, 1.0))
    def right(completion: str, answer: str) -> float:
        return float(completion == answer)

    (part, _) = Composite({"rewards": {"right": right, "fine": fine}}).parts()
    completions = ["a", "b"]
    assert part(completions=completions, answer=["a", "a"]) == [1.0, 0.0]
    assert part(completions=completions, answer=["b", "b"]) == [0.0, 1.0]
    completions[0] = "b"
    assert part(completions=completions, answer=["b", "b"]) == [1.0, 1.0]


def test_the_list_is_fresh_each_time_and_the_components_stay_to_be_looked_at() -> None:
    composite, _ = built()
    assert composite.parts() is not composite.parts()
    assert [component.name for component in composite.components] == ["size", "shaky", "fine"]


def test_the_trainers_weights_are_set_by_name_wherever_its_list_has_them() -> None:
    composite, _ = built(stages=[{"until": 5, "weights": {"size": 7.0}}])

    class Trainer:
        model = SimpleNamespace(training=True)
        num_generations = 2

        def __init__(self) -> None:
            self.reward_func_names = ["mine", "fine", "shaky", "size"]
            self.reward_weights = [9.0, 9.0, 9.0, 9.0]
            self.metrics: dict[str, float] = {}

        def log_metric(self, name: str, value: float) -> None:
            self.metrics[name] = value

    trainer, state = Trainer(), SimpleNamespace(global_step=0, stateful_callbacks={})
    for part in composite.parts():
        part(completions=["a", "b"], trainer_state=state, log_metric=trainer.log_metric)
    assert trainer.reward_weights == [9.0, 0.0, 0.5, 7.0]
    assert "rewards/size/mean" not in trainer.metrics  # the trainer's own
    assert trainer.metrics["grpo_rewards/size/weight"] == 7.0
    state.global_step = 5
    composite.parts()[0](completions=["c", "d"], trainer_state=state, log_metric=trainer.log_metric)
    assert trainer.reward_weights == [9.0, 0.0, 0.5, 2.0]


def test_group_normalisation_is_left_to_the_trainer() -> None:
    composite, _ = built(combine={"normalize": "gdpo"})
    assert composite.parts()[0](prompts=["p", "p"], completions=["a", "abc"]) == [1.0, 2.0]


def test_a_failing_component_is_named_by_whichever_function_is_called_first() -> None:
    @reward
    def broken(completion: str) -> float:
        raise RuntimeError("boom")

    first, second = Composite({"rewards": {"fine": fine, "bad": broken}}).parts()
    for part in (first, second):
        with pytest.raises(PluginError, match=r"component 'bad'.*boom"):
            part(completions=["x"])
