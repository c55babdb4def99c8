"""What TRL's asynchronous trainer does in its spawned child: unpickle the rewards, score groups side by side.

Usage: ``async_scoring.py REWARDS.pickle``, which prints per group each reward function's values and the advantages.
The scoring is TRL's own; only vLLM, which would have made the completions, is absent.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from accelerate import PartialState
from trl.experimental.async_grpo.async_rollout_worker import RolloutGroup, _AsyncRolloutLoop


def group(number: int, texts: list[str]) -> Any:
    """One prompt's completions as the worker collects them."""
    sequence = SimpleNamespace(input_ids=[1], completion_mask=[1], old_log_probs=[0.0])
    prompt = [{"role": "user", "content": f"{number} + 1 ="}]
    given: dict[str, Any] = {
        "prompts": [prompt] * len(texts),
        "completions": [[{"role": "assistant", "content": text}] for text in texts],
        "completions_ids": [[1, 2, 3]] * len(texts),
        "reward_kwargs": {"answer": [str(number + 1)] * len(texts)},
        "tool_call_counts": [0] * len(texts), "tool_failure_counts": [0] * len(texts),
        "completions_sequences": [[sequence]] * len(texts), "env_rewards": [None] * len(texts),
        "group_id": number, "model_version": 0,
        "prompt": prompt, "prompt_ids": [1], "completions_logprobs": [[0.0] * 3] * len(texts),  # before TRL 1.8
        "tool_mask": [[1] * 3] * len(texts),
    }  # fmt: skip
    fields = RolloutGroup.__dataclass_fields__
    made = RolloutGroup.__new__(RolloutGroup)
    for name in fields:
        setattr(made, name, given.get(name))
    return made


async def score(rewards: list[Any]) -> list[dict[str, Any]]:
    """Score three groups at once, as the worker's tasks do, and return TRL's own metrics per completion."""
    loop = _AsyncRolloutLoop.__new__(_AsyncRolloutLoop)
    loop.reward_funcs = rewards
    loop.reward_func_names = [f.__name__ for f in rewards]
    loop._env_reward_types = []
    groups = [group(n, [f"<answer>{n + 1}</answer>", f"<answer>{n}</answer>", f"{n + 1}"]) for n in range(3)]
    found = await asyncio.gather(*(loop._score_group(one) for one in groups))
    return [{"metrics": s.metrics, "advantage": s.advantage} for part in found for s in part]


if __name__ == "__main__":
    PartialState()  # TRL's logger wants it
    print(json.dumps(asyncio.run(score(pickle.loads(Path(sys.argv[1]).read_bytes())))))  # noqa: S301
