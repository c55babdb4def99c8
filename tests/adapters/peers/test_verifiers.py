"""verifiers 0.4: a task whose reward and metrics are plugged by import path, scored by verifiers itself."""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
from collections.abc import Callable

import pytest
import verifiers.v1 as vf
from hostile import BROKEN, LOST, RIGHT
from verifiers.v1.errors import TaskError

import grpo_rewards
from grpo_rewards import reward


class Data(vf.TaskData):
    """A row of a task set."""

    answer: str


class Sum(vf.Task[Data, vf.State, vf.TaskConfig]):
    """A task without rewards of its own."""


PLUGGED = vf.TaskConfig(
    rewards={"composite": {"fn": "grpo_rewards_adapters.verifiers:composite_reward"}},
    metrics={"components": {"fn": "grpo_rewards_adapters.verifiers:component_metrics"}},
)


def unscored(text: str, config: vf.TaskConfig = PLUGGED) -> tuple[Sum, vf.Trace]:
    task = Sum(Data(prompt="2+2?", answer="4"), config)
    nodes = [
        vf.MessageNode(message=vf.UserMessage(content="2+2?")),
        vf.MessageNode(parent=0, message=vf.AssistantMessage(content=text), sampled=True),
    ]
    agent = vf.AgentInfo(config=vf.AgentConfig())
    return task, vf.Trace(task=vf.TraceTask(type="Sum", data=task.data), agent=agent, nodes=nodes)


def rollout(text: str) -> vf.Trace:
    task, trace = unscored(text)
    try:
        asyncio.run(task.score(trace))
    except TaskError as error:
        trace.record_error(error)  # as its rollout does
    else:
        trace.ok = True
    return trace


def test_a_rollout_gets_the_composites_reward_and_metrics(config: str) -> None:
    right, wrong = rollout("4"), rollout("5")
    assert (right.reward, wrong.reward) == (2.0, 0.0)
    assert right.metrics == {"valid": 1.0, "component_right": 1.0, "applies_right": 1.0}
    assert not wrong.has_error
    assert all(found.agent.trainable for found in (right, wrong))


def test_a_rollout_without_a_reward_has_an_error_and_no_reward(config: str) -> None:
    lost = rollout("down")
    assert lost.has_error
    assert math.isnan(lost.reward)
    assert not lost.agent.trainable
    assert lost.metrics["valid"] == 0.0
    assert "no route to service" in lost.errors[0].message
    assert lost.stop_condition == "task_error"


def test_whatever_breaks_is_an_error_and_no_reward(hostile_default: Callable[..., None]) -> None:
    hostile_default()
    for text in (*LOST, *RIGHT):
        found = rollout(text)
        assert found.has_error is (text in LOST), text
        assert found.metrics["valid"] == float(text in RIGHT)
        if text in RIGHT:
            assert found.reward == 2.0 * RIGHT[text]
        else:
            assert math.isnan(found.reward)
        assert found.agent.trainable is (text in RIGHT)


@pytest.mark.parametrize("first", ["metrics", "rewards"])
def test_a_rollout_whose_scoring_runs_out_of_time_has_no_reward(monkeypatch: pytest.MonkeyPatch, first: str) -> None:
    """verifiers cancels the functions then, and neither fails the trace nor takes 0 from it."""
    scoring, over = threading.Event(), threading.Event()

    @reward
    def slow(completion: str) -> float:
        scoring.set()
        over.wait()
        return 1.0

    monkeypatch.setitem(
        vars(grpo_rewards), "composite_reward", grpo_rewards.Composite({"rewards": {"it": {"use": slow}}})
    )
    config = PLUGGED if first == "metrics" else PLUGGED.model_copy(update={"metrics": {}})
    task, trace = unscored("4", config)

    async def cut() -> None:
        running = asyncio.ensure_future(task.score(trace))
        await asyncio.to_thread(scoring.wait)
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        over.set()

    asyncio.run(cut())
    trace.record_timeout("scoring")  # as its rollout does
    assert math.isnan(trace.reward)
    assert not trace.agent.trainable


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_plugin_is_an_error_by_its_name(hostile_default: Callable[..., None], text: str) -> None:
    hostile_default(plugin="raise")
    found = rollout(text)
    assert found.has_error
    assert math.isnan(found.reward)
    assert "PluginError: component 'it'" in found.errors[0].message
    hostile_default("short", plugin="raise")
    assert "0 values for 1 completions" in rollout(text).errors[0].message
