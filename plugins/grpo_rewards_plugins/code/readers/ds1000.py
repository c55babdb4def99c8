"""DS-1000: `code_context`, which runs the program's text within its own tests.

Such a row is refused: ``test_execution`` takes the program as text and runs it in the process that judges, where a program
could answer for its tests.
"""

from __future__ import annotations

from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.row import Row
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: Row) -> Suite | None:
    """Refuse the row."""
    raise SuiteProblem("the tests of DS-1000 run the program's text themselves, which no isolated test can")
