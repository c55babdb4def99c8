"""verifiers: ``Rubric(**rubric_arguments("rewards.yaml"))``, one function per component, arguments by name."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from grpo_rewards import Composite
from grpo_rewards_adapters.single import Scored, composite_for, refuse_group_rewards, score_rows, stand_in

__all__ = ["rubric_arguments"]

_Function = Callable[..., Awaitable[float]]
_ROLLOUTS = 4096  # how many rollouts' verdicts are kept at hand


def rubric_arguments(
    config: Composite | str | None = None, *, gold: str = "answer", missing: float = 0.0
) -> dict[str, Any]:
    """Return ``funcs`` and ``weights`` for a verifiers ``Rubric``.

    The first function, weight 1, is the composite's reward with its clip, gates and weights; ``valid`` and each
    ``component_<name>`` and ``applies_<name>`` follow with weight 0, so they are metrics. verifiers takes only floats, and
    turns an exception into 0.0: where there is no reward, `missing` stands in and ``valid`` is 0.0. Columns that rewards
    see: ``prompt``, ``task``, ``answer`` (also as `gold`), and the keys of ``info``.

    Raises:
        ConfigError: a component compares whole groups.
    """
    composite = composite_for(config)
    refuse_group_rewards(composite, trainer="a verifiers rubric function")

    memo: OrderedDict[int, tuple[Any, asyncio.Future[list[Scored]]]] = OrderedDict()

    async def scored(completion: Any, prompt: Any, answer: Any, info: Any, task: Any) -> Scored:
        """Evaluate once per rollout; the functions of a rubric run one after another or side by side."""
        held = memo.get(id(completion))
        if held is None or held[1].get_loop() is not asyncio.get_running_loop():
            row = {gold: answer, **(dict(info) if isinstance(info, Mapping) else {})}
            row.update(answer=answer, task=task, prompt=prompt, completion=_plain(completion))
            # The completion is held, so that its id is not given to another while the entry lives.
            held = (completion, asyncio.ensure_future(asyncio.to_thread(score_rows, composite, [row])))
            memo[id(completion)] = held
            while len(memo) > _ROLLOUTS:
                memo.popitem(last=False)
        (one,) = await asyncio.shield(held[1])
        return one

    def function(name: str, read: Callable[[Scored], float]) -> _Function:
        async def reward(
            completion: Any, prompt: Any = None, answer: Any = "", info: Any = None, task: Any = None
        ) -> float:
            return read(await scored(completion, prompt, answer, info, task))

        reward.__name__ = reward.__qualname__ = name
        return reward

    funcs = [
        function("composite", lambda one: stand_in(one, missing)),
        function("valid", lambda one: float(one.valid)),
    ]
    for name in composite.weights:
        funcs.append(function(f"component_{name}", partial(_value, name)))
        funcs.append(function(f"applies_{name}", partial(_applies, name)))
    return {"funcs": funcs, "weights": [1.0] + [0.0] * (len(funcs) - 1)}


def _value(name: str, scored: Scored) -> float:
    value = scored.values[name]
    return 0.0 if value is None else value


def _applies(name: str, scored: Scored) -> float:
    return float(scored.values[name] is not None)


def _plain(completion: Any) -> Any:
    """Turn messages that are pydantic models into mappings."""
    if isinstance(completion, str):
        return completion
    return [message if isinstance(message, Mapping) else message.model_dump() for message in completion]
