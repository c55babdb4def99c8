"""The built-in session and groups, TRL's, registered through the same door as anyone's."""

from __future__ import annotations

from grpo_rewards import Composite, hookimpl
from grpo_rewards.types import RewardCall, Session


@hookimpl
def open_session(composite: Composite, call: RewardCall) -> Session | None:
    """Open a session for a call of TRL's trainers, which is known by its state or its functions that log."""
    if all(call.get(name) is None for name in ("trainer_state", "log_metric", "log_extra")):
        return None
    from grpo_rewards_adapters.trl.session import TrlSession

    return TrlSession(composite, call)


@hookimpl
def group_size(call: RewardCall) -> int | None:
    """Return the size of the groups of TRL's trainers, for a reward that is called without a composite."""
    from grpo_rewards_adapters.trl.trainer import group_size

    return group_size(call)
