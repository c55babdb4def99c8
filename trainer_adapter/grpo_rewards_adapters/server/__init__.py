"""An HTTP service that scores: our own shape, OpenRLHF's and NeMo Gym's, behind bearer tokens and a bounded queue."""

from __future__ import annotations

from grpo_rewards_adapters.server.settings import ServerSettings

__all__ = ["ServerSettings"]
