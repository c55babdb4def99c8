"""TRL's asynchronous trainer: each rollout is scored as it is finished, not when the last one of its group is.

The trainer asks for a group's rewards once all its rollouts are there. By then those of the earlier ones have been found, and
the call waits for the last one's. Imports ``trl.experimental.async_grpo``, so it is imported by nobody else here.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

from trl.experimental.async_grpo.async_rollout_worker import _AsyncRolloutLoop

from grpo_rewards import Composite
from grpo_rewards.errors import ConfigError
from grpo_rewards.types import Part, Stream

_OWN = ("prompt", "completion", "completion_ids")


def stream_rollouts(trainer: Any) -> None:
    """Have an ``AsyncGRPOTrainer`` score its rollouts as they are finished. Call it before ``trainer.train()``.

    Raises:
        ConfigError: the trainer runs a rollout worker of another kind, which has a loop of its own, or TRL is older than 1.10.
    """
    if "group_id" not in inspect.signature(_AsyncRolloutLoop._generate_one).parameters:
        raise ConfigError(
            f"the rollout loop of TRL {version('trl')} does not say to which group a rollout belongs, so rollouts cannot be scored "
            f"before their group is there; pip install -U 'trl>=1.10', or leave stream_rollouts out: groups are scored then"
        )
    worker = trainer.rollout_worker
    if worker is None:  # another rank's
        return
    if getattr(worker, "_loop_cls", None) is not _AsyncRolloutLoop:
        raise ConfigError(
            f"{type(worker).__name__} does not run TRL's own rollout loop; let its loop class inherit from "
            f"grpo_rewards_adapters.trl.asynchronous.StreamsRollouts"
        )
    # the class, for the worker makes its loop in a process that it spawns later
    worker._loop_cls = StreamingRolloutLoop


class StreamsRollouts:
    """What a rollout loop needs to score rollouts as they are finished; stands before TRL's loop among the bases."""

    reward_funcs: list[Any]

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        found = (f.composite if isinstance(f, Part) else f for f in self.reward_funcs)
        # the parts of one composite share its stream: a row is scored once for all of them
        composites = {id(composite): composite for composite in found if isinstance(composite, Composite)}
        self._streams: list[Stream] = [composite.stream() for composite in composites.values()]
        self._rows: dict[int, tuple[dict[str, object], int]] = {}

    def _repeat_iterator(self) -> Iterator[tuple[int, dict[str, object]]]:
        for group, row in super()._repeat_iterator():  # type: ignore[misc]
            # counts how often a group is begun, so that its row goes with the last of its rollouts
            self._rows[group] = (row, self._rows.get(group, (row, 0))[1] + 1)
            yield group, row

    async def _generate_one(self, prompt: Any, tool_dict: Any, tools: Any, group_id: int = 0) -> Any:
        found = await super()._generate_one(prompt, tool_dict=tool_dict, tools=tools, group_id=group_id)  # type: ignore[misc]
        row, left = self._rows.pop(group_id)
        if left > 1:
            self._rows[group_id] = (row, left - 1)
        columns = {name: value for name, value in row.items() if name not in _OWN}
        for stream in self._streams:
            stream.begin({**columns, "prompt": prompt, "completion": found[0], "completion_ids": found[1]})
        return found


class StreamingRolloutLoop(StreamsRollouts, _AsyncRolloutLoop):
    """TRL's rollout loop, scoring rollouts as they are finished."""
