"""HumanEval, EvoEval, BigCodeBench and other sets with test code: the column `test`.

Text that defines ``check(candidate)`` is given `entry_point`; a test file, or classes of ``unittest`` in the program's own namespace (BigCodeBench: ``TestCases`` about
``task_func``), is run by pytest. BigCodeBench's tests have a minute at least, as its own
runner is patient too. A prompt that begins the function completes a bare body.
"""

from __future__ import annotations

from dataclasses import replace

from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


_BIGCODEBENCH, _PATIENCE = "task_func", 60.0


def read(row: DataRow) -> Suite:
    """Read the column `test`."""
    suite = row.tests(row.get("test"))
    return replace(suite, patience=_PATIENCE) if suite.entry_point == _BIGCODEBENCH else suite
