"""Processes that answer questions and are killed at their deadline: for what can hang, or must not hold any rights."""

from .chunks import ask_all
from .pool import Pool, WorkerEnded, WorkerTimeout, shared_pool

__all__ = ["Pool", "WorkerEnded", "WorkerTimeout", "ask_all", "shared_pool"]
