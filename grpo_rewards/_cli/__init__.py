"""The command line ``grpo-rewards``: one module per command."""

from grpo_rewards._cli.app import main

__all__ = ["main"]
