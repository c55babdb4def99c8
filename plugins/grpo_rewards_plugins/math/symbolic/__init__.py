"""The last rung: sympy, in worker processes that are killed at their deadline."""

from __future__ import annotations

from grpo_rewards.workers import Pool, WorkerLost, WorkerTimeout
from grpo_rewards_plugins.workers import shared_pool

__all__ = ["FUNCTION", "decide_by_sympy"]

# times `seconds` on the clock at most: a busy machine changes no verdict
_PATIENCE = 5.0
FUNCTION = "grpo_rewards_plugins.math.symbolic.simplifying:answer"


def decide_by_sympy(
    gold: list[object], answer: list[object], *, seconds: float, pool: Pool | None = None
) -> tuple[bool | None, str]:
    """Decide two packed trees: equal, not, or None (open), and how.

    Raises:
        WorkerTimeout: it took longer than `seconds`.
    """
    try:
        equal, rule = (pool or shared_pool(FUNCTION)).ask([gold, answer], seconds=seconds, patience=_PATIENCE)
    except WorkerTimeout:
        raise
    except WorkerLost as lost:
        return None, str(lost)
    return equal, str(rule)
