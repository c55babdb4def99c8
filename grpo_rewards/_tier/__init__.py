"""A tier of Ray actors that evaluate the components of live batches: `connection`, `actor` (in an actor), `nodes`, `tier` (the caller's side)."""

from grpo_rewards._tier.connection import connect, pickled, unpickled
from grpo_rewards._tier.settings import TierSettings
from grpo_rewards._tier.tier import ComponentRows, Tier

__all__ = ["ComponentRows", "Tier", "TierSettings", "connect", "pickled", "unpickled"]
