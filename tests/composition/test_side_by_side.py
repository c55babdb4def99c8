"""Components run side by side: each waits for the others, which none could do that ran before or after them."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from grpo_rewards import Composite, reward

SIDES = 3


def waiting(barrier: threading.Barrier, number: int) -> object:
    @reward.batch(range=(0.0, 1.0), name=f"side_{number}")
    def side(completions: list[str]) -> list[float]:
        barrier.wait(timeout=60)  # raises where the others do not come
        return [1.0 / (number + 1)] * len(completions)

    return side


@pytest.mark.parametrize("in_training", [True, False])
@pytest.mark.parametrize("expanded", [True, False])
def test_components_of_a_reward_call_run_side_by_side(in_training: bool, expanded: bool) -> None:
    barrier = threading.Barrier(SIDES)
    composite = Composite({"rewards": {f"side_{n}": waiting(barrier, n) for n in range(SIDES)}})
    call = {"prompts": ["p"] * 4, "completions": ["a", "b", "c", "d"]}
    if in_training:
        call["trainer_state"] = SimpleNamespace(global_step=0, stateful_callbacks={})
    found = [part(**call) for part in composite.components()] if expanded else [composite(**call)]
    assert [sum(column) for column in zip(*found, strict=True)] == pytest.approx([1 + 1 / 2 + 1 / 3] * 4)
