"""HumanEval, EvoEval, BigCodeBench and other sets with test code: the column `test`.

Text that defines ``check(candidate)`` is given `entry_point`; a test file, or classes of ``unittest`` in the program's own namespace (BigCodeBench: ``TestCases`` about
``task_func``), is run by pytest. A prompt that begins the function completes a bare body.
"""

from __future__ import annotations

from grpo_rewards_plugins.code.row import Row
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: Row) -> Suite | None:
    """Read the column `test`."""
    return row.tests(row.get("test"))
