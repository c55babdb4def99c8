"""A tier of Ray actors that evaluate the components of live batches: `connection`, `actor` (in an actor), `nodes`, `tier` (the caller's side)."""

from grpo_rewards._tier.connection import ON_A_NODE, connect
from grpo_rewards._tier.settings import TierSettings
from grpo_rewards._tier.tier import ComponentRows, Tier

__all__ = ["ON_A_NODE", "ComponentRows", "Tier", "TierSettings", "connect"]
