"""verifiers 0.1: a real ``Rubric`` scores a group with our functions."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import verifiers as vf
from grpo_rewards_adapters.verifiers import rubric_arguments


def scored(config: str, texts: list[str]) -> list[Any]:
    states = []
    for text in texts:
        row = {"prompt": [{"role": "user", "content": "2+2?"}], "answer": "4", "info": {}, "example_id": 0}
        state = vf.State(input=row)
        state.update(completion=[{"role": "assistant", "content": text}], trajectory=[], task={})
        states.append(state)
    asyncio.run(vf.Rubric(**rubric_arguments(config)).score_group(states))
    return states


@pytest.mark.parametrize("lost", [0, 1, 3])
def test_survivors_have_the_advantages_of_a_group_without_the_others(config: str, lost: int) -> None:
    texts = ["4", "5", "4", "5", "5"]
    states = scored(config, [*texts, *["down"] * lost])
    alone = scored(config, texts)
    for state, expected in zip(states, alone, strict=False):
        assert state["advantage"] == pytest.approx(expected["advantage"], abs=1e-12)
        assert state["reward"] == expected["reward"]
    for state in states[len(texts) :]:
        assert state["advantage"] == pytest.approx(0.0, abs=1e-12)
        assert state["metrics"]["valid"] == 0.0
        assert state["metrics"]["applies_right"] == 0.0


def test_a_group_without_any_reward_teaches_nothing(config: str) -> None:
    assert [state["advantage"] for state in scored(config, ["down"] * 3)] == [0.0] * 3
