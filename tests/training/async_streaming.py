"""TRL's asynchronous rollout loop on scripted generations: what is scored when, with and without streaming.

Usage: ``async_streaming.py FOLDER streaming|plain``. The loop is TRL's own (queues, groups, advantages); vLLM alone is
absent: a turn's text comes from a script, the last of each group later than the others. Prints each sample's metrics and, in
order, what happened: ``scored TEXT`` and ``generated TEXT``.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from accelerate import PartialState
from grpo_rewards_adapters.trl.asynchronous import StreamsRollouts
from trl.experimental.async_grpo import async_rollout_worker as worker

from grpo_rewards import Composite, reward

GROUPS, SIZE = 3, 4
happened: list[str] = []


@reward
def right(completion: str, answer: str) -> float:
    """Say when it is called."""
    happened.append(f"scored {completion}")
    scored[completion].set()
    return float(completion.endswith(answer))


@reward.group
def variety(completions: list[str]) -> list[float]:
    """Compare a group."""
    return [len(set(completions)) / len(completions)] * len(completions)


class Scripted(worker._AsyncRolloutLoop):
    """Generates from a script: the last rollout of a group waits until another one has been scored, where that can be."""

    drawn = 0

    async def _generate_one(self, prompt: Any, tool_dict: Any, tools: Any, group_id: int = 0) -> Any:
        place, Scripted.drawn = Scripted.drawn % SIZE, Scripted.drawn + 1
        text = f"{group_id}: {place}"
        if place == SIZE - 1 and isinstance(self, StreamsRollouts):
            await asyncio.wait_for(asyncio.to_thread(scored[f"{group_id}: 0"].wait), 30)
        happened.append(f"generated {text}")
        sequence = SimpleNamespace(input_ids=[1], completion_mask=[1], old_log_probs=[0.0])
        return [{"role": "assistant", "content": text}], [1, 2, place], [sequence], 0, 0, None


class Streaming(StreamsRollouts, Scripted):
    """The same with streaming."""


class Sink(list[Any]):
    """The queue that the trainer reads: ends the loop when everything is there."""

    qsize = list.__len__

    def put_nowait(self, sample: Any) -> None:
        self.append(sample)
        if len(self) == GROUPS * SIZE:
            loop._stop_event.set()


async def run() -> None:
    """Run the loop's two halves, without the session for vLLM."""
    stop = loop._stop_event
    await asyncio.gather(loop._generate_loop(stop_event=stop), loop._score_loop(stop_event=stop))


if __name__ == "__main__":
    import threading

    PartialState()
    scored = {f"{group}: {place}": threading.Event() for group in range(100) for place in range(SIZE)}
    composite = Composite({"rewards": {"right": {"use": right}, "variety": {"use": variety, "weight": 0.5}}})
    rows = [{"prompt": [{"role": "user", "content": "pick"}], "answer": "2"} for _ in range(GROUPS)]
    kind = Streaming if sys.argv[2] == "streaming" else Scripted
    value = multiprocessing.Value
    stand_ins: dict[str, Any] = {
        "processing_class": SimpleNamespace(response_template="none"),
        "rollout_buffer": Sink(),
        "reward_funcs": [composite],
    }
    loop = kind(
        model_name="none", dataset=rows, eos_token_ids=[0], **stand_ins,
        model_version_value=value("i", 0), heartbeat_value=value("d", 0.0), failed_event=multiprocessing.Event(),
        exception_info_queue=multiprocessing.Queue(), metrics_queue=multiprocessing.Queue(), num_generations=SIZE,
        max_inflight_tasks=SIZE,
    )  # fmt: skip
    asyncio.run(run())
    samples: Any = loop.rollout_buffer
    told = {
        "rewards": [[s.completion[0]["content"], s.metrics["reward"], s.advantage] for s in samples],
        "happened": happened,
    }
    (Path(sys.argv[1]) / f"{sys.argv[2]}.json").write_text(json.dumps(told))
    os._exit(0)  # the queues' feeders
