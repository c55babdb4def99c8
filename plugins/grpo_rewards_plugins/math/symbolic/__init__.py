"""The last rung: sympy, in worker processes that are killed at their deadline."""

from .pool import Pool, SymbolicTimeout, shared_pool

__all__ = ["Pool", "SymbolicTimeout", "shared_pool"]
