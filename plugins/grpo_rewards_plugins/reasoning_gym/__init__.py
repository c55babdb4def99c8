"""reasoning-gym's scorers behind a guard: in workers without rights, and nothing of an answer is evaluated."""

from .reward import reasoning_gym

__all__ = ["reasoning_gym"]
