"""verifiers: a composite as rewards of a task, by import path (0.4), or as functions of a ``Rubric`` (0.1).

In 0.4 the configuration of a taskset names the functions::

    [env.taskset.task.rewards.composite]
    fn = "grpo_rewards_adapters.verifiers:composite_reward"
    [env.taskset.task.metrics.components]
    fn = "grpo_rewards_adapters.verifiers:component_metrics"

and for a ``Rubric`` of 0.1: ``vf.Rubric(**rubric_arguments("rewards.yaml"))``.
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from grpo_rewards import Composite
from grpo_rewards.errors import InfrastructureError
from grpo_rewards_adapters.single import (
    ScoredRow,
    filled_with_group_means,
    load_composite,
    score_rows,
    stopping,
)

__all__ = ["component_metrics", "composite_reward", "rubric_arguments"]

_Function = Callable[..., Awaitable[list[float]]]
_KEPT = 4096  # how many rollouts' or groups' verdicts are kept at hand


class _Memo:
    """The verdicts of what was scored lately, by the identity of the object that they are about."""

    def __init__(self) -> None:
        self._held: OrderedDict[int, tuple[object, asyncio.Future[list[ScoredRow]]]] = OrderedDict()

    async def scored(
        self, about: object, composite: Composite, rows: Callable[[], list[dict[str, object]]]
    ) -> list[ScoredRow]:
        """Return the verdicts on `about`, whose rows are one group; scored in a thread, by the first who asks."""
        held = self._held.get(id(about))
        # a future of a loop that has ended cannot be awaited in another
        if held is None or held[1].get_loop() is not asyncio.get_running_loop():
            made = rows()
            scoring = asyncio.to_thread(score_rows, composite, made, grouping=[0] * len(made))
            held = (about, asyncio.ensure_future(scoring))  # held, so that no other object gets its id meanwhile
            self._held[id(about)] = held
            while len(self._held) > _KEPT:
                self._held.popitem(last=False)
        # one who gives up waiting must not cancel the scoring that others wait for
        return await asyncio.shield(held[1])

    def forget(self, about: object) -> None:
        """Score `about` anew when it is asked for again."""
        self._held.pop(id(about), None)


# ------------------------------------------------------------------------------------------------ tasks (0.4)

_traces = _Memo()


async def composite_reward(task: object, trace: object) -> float:
    """Score a rollout with the composite of ``$GRPO_REWARDS_CONFIG``, else of ``./rewards.yaml``.

    Columns are the fields of the task's data; ``prompt`` is the messages before the first one that the model wrote, and
    the completion is the rest of the last branch.

    Raises:
        InfrastructureError: it has no reward. verifiers then records a ``TaskError`` on the trace, whose reward is NaN, and
            which is not ``agent.trainable``.
        ConfigError: a component compares whole groups.
    """
    with _left_out_unless_scored(trace):
        one = await _of_trace(task, trace)
        _traces.forget(trace)  # metrics were read before; a trace that is scored again is scored anew
        if one.reward is None:
            raise InfrastructureError(f"no reward for this rollout ({one.failure}): {one.reason}")
        return one.reward


async def component_metrics(task: object, trace: object) -> dict[str, float]:
    """Return ``valid``, and per component ``component_<name>`` and ``applies_<name>`` (0.0 or 1.0)."""
    with _left_out_unless_scored(trace):
        return (await _of_trace(task, trace)).numbers()


@contextmanager
def _left_out_unless_scored(trace: Any) -> Iterator[None]:
    """Keep a trace out of training unless what is within ends well.

    verifiers makes the reward of a trace that no function has scored 0, and of one whose scoring ran out of time it does
    not even say so: it has no error. NaN is no reward, and ``trainable`` is verifiers' own mark.
    """
    waiting = [name for name, reward in trace.rewards.items() if reward is None]
    trainable = trace.agent.trainable
    for name in waiting:
        trace.record_reward(name, math.nan)
    trace.agent.trainable = False
    yield
    trace.rewards.update(dict.fromkeys(waiting))
    trace.agent.trainable = trainable


async def _of_trace(task: Any, trace: Any) -> ScoredRow:
    composite = load_composite(None, trainer="a verifiers task")

    def rows() -> list[dict[str, object]]:
        data = {name: getattr(task, name) for name in type(task).model_fields}
        data.update(task.model_extra or {})
        nodes = trace.branches[-1].nodes if trace.branches else []
        first_answer = next((row for row, node in enumerate(nodes) if node.sampled), len(nodes))
        messages = _plain([node.message for node in nodes])
        return [{**data, "prompt": messages[:first_answer], "completion": messages[first_answer:]}]

    (one,) = await _traces.scored(trace, composite, rows)
    return one


# ------------------------------------------------------------------------------------------------ rubrics (0.1)


def rubric_arguments(config: Composite | str | None = None, *, gold: str = "answer") -> dict[str, object]:
    """Return ``funcs`` and ``weights`` for a verifiers ``Rubric``, which calls each with the lists of one group.

    The first function, weight 1, is the composite's reward with its clip, gates and weights; ``valid`` and each
    ``component_<name>`` and ``applies_<name>`` follow with weight 0, so they are metrics. verifiers takes only floats, and
    subtracts a group's mean: where there is no reward, the mean of the group's others stands in and ``valid`` is 0.0.
    Columns that rewards see: ``prompt``, ``task``, ``answer`` (also as `gold`), and the keys of ``info``.

    The functions raise `grpo_rewards_adapters.single.ScoringStopped`, which ends verifiers' run, where a plugin breaks its
    contract, too many rows could not be scored, or the configuration is wrong.
    """
    composite = load_composite(config)
    memo = _Memo()

    def function(name: str, read: Callable[[Sequence[ScoredRow]], list[float]]) -> _Function:
        async def reward(
            completions: list[object],
            prompts: list[object],
            answers: list[object],
            infos: list[object],
            tasks: list[object],
            states: list[object],
        ) -> list[float]:
            def rows() -> list[dict[str, object]]:
                made = []
                for row, (completion, given) in enumerate(zip(completions, infos, strict=True)):
                    info = dict(given) if isinstance(given, Mapping) else {}
                    own = {"answer": answers[row], "task": tasks[row], "prompt": prompts[row]}
                    made.append({gold: answers[row], **info, **own, "completion": _plain(completion)})
                return made

            with stopping():  # of an Exception verifiers makes 0 for the whole group
                return read(await memo.scored(states, composite, rows))  # the lists are made anew for each function

        reward.__name__ = reward.__qualname__ = name
        return reward

    def rewards(group: Sequence[ScoredRow]) -> list[float]:
        return filled_with_group_means(group, [range(len(group))])

    figures = ["valid", *(f"{kind}_{name}" for name in composite.weights for kind in ("component", "applies"))]
    funcs = [function("composite", rewards), *(function(name, partial(_numbers, name)) for name in figures)]
    return {"funcs": funcs, "weights": [1.0] + [0.0] * (len(funcs) - 1)}


def _numbers(name: str, group: Sequence[ScoredRow]) -> list[float]:
    return [one.numbers()[name] for one in group]


def _plain(completion: Any) -> Any:
    """Turn messages that are pydantic models into mappings."""
    if isinstance(completion, str):
        return completion
    return [dict(message) if isinstance(message, Mapping) else message.model_dump() for message in completion]
