"""Questions to `grpo_rewards.workers`: many in few messages, from pools that rewards share, to processes without rights."""

from .chunks import ask_all, shared_pool, task_of

__all__ = ["ask_all", "shared_pool", "task_of"]
