"""verifiers 0.1: a real ``Rubric`` scores a group with our functions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import verifiers as vf
from datasets import Dataset
from grpo_rewards_adapters.single import ScoringStopped
from grpo_rewards_adapters.verifiers import rubric_arguments
from hostile import BROKEN, GROUPS, RIGHT

from grpo_rewards import Composite
from grpo_rewards.errors import PluginError


def scored(config: Composite | str, texts: list[str]) -> list[Any]:
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


def test_whatever_breaks_survivors_are_as_in_groups_without_it(hostile_config: Callable[..., str]) -> None:
    config = hostile_config()
    for group in (*GROUPS, ("down",), ("4",)):
        states = scored(config, [*group])
        alive = [row for row, text in enumerate(group) if text in RIGHT]
        alone = [2.0 * RIGHT[group[row]] for row in alive]
        for row, state in enumerate(states):
            wanted = 2.0 * RIGHT[group[row]] - sum(alone) / len(alone) if row in alive else 0.0
            assert state["advantage"] == pytest.approx(wanted, abs=1e-12)
            assert state["metrics"]["valid"] == float(row in alive)


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_plugin_stops_the_run_by_its_name(hostile_config: Callable[..., str], text: str) -> None:
    """verifiers would make an Exception of a reward 0 for all its group, and go on."""
    with pytest.raises(ScoringStopped, match=r"PluginError: component 'it'.*row 1") as stopped:
        scored(hostile_config(plugin="raise"), ["4", text, "5"])
    assert isinstance(stopped.value.__cause__, PluginError)
    with pytest.raises(ScoringStopped, match="2 values for 3 completions"):
        scored(hostile_config("short", plugin="raise"), ["4", text, "5"])


def test_a_list_of_the_wrong_length_teaches_nothing(hostile_config: Callable[..., str]) -> None:
    states = scored(hostile_config("short"), ["4", "5", "4"])
    assert [(state["advantage"], state["metrics"]["valid"]) for state in states] == [(0.0, 0.0)] * 3


def test_a_missing_column_stops_the_run_in_its_own_words() -> None:
    composite = Composite({"rewards": {"exact": {"use": "exact", "columns": {"answer": "solution"}}}})
    with pytest.raises(ScoringStopped, match=r"ColumnError: .*'solution'"):
        scored(composite, ["4", "5"])


def test_verifiers_own_run_ends_with_it(hostile_config: Callable[..., str]) -> None:
    """Through its environment, which keeps what a rollout raises as an Exception."""
    rows = [{"prompt": [{"role": "user", "content": "2+2?"}], "answer": "4", "info": {}, "example_id": 0}] * 2

    class Said(vf.SingleTurnEnv):
        """Its model always says what breaks the plugin."""

        async def rollout(self, *given: Any) -> Any:
            state = await self.init_state(*given)
            state.update(completion=[{"role": "assistant", "content": "raise"}], trajectory=[])
            return state

    rubric = vf.Rubric(**rubric_arguments(hostile_config(plugin="raise")))
    client = vf.ClientConfig(api_base_url="http://127.0.0.1:1/v1")  # never asked
    env = Said(dataset=Dataset.from_list(rows), rubric=rubric)
    with pytest.raises(ScoringStopped, match="a bug in the plugin"):
        asyncio.run(env.run_group(rows, client=client, model="m", sampling_args={}))
