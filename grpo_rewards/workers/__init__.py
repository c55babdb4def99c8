"""Worker processes: they do one job at a time, are killed at a deadline, and are replaced when they die.

For what can hang, can take its process along, or must not hold any rights. `Pool` for jobs from any thread, `WorkerProcess` for one
process; `program` is what runs in it.
"""

from grpo_rewards.workers.pickling import pickled, unpickled
from grpo_rewards.workers.pool import Pool
from grpo_rewards.workers.process import (
    HEADER,
    START_SECONDS,
    Task,
    WorkerLost,
    WorkerProcess,
    WorkerTimeout,
    how_it_ended,
)

__all__ = [
    "HEADER",
    "START_SECONDS",
    "Pool",
    "Task",
    "WorkerLost",
    "WorkerProcess",
    "WorkerTimeout",
    "how_it_ended",
    "pickled",
    "unpickled",
]
