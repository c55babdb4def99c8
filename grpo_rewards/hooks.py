"""What plugins registered, for rewards that can be extended by others."""

from __future__ import annotations

from grpo_rewards._registry import call_hook, registered

__all__ = ["call_hook", "registered"]
