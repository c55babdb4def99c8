"""MBPP+ as it is on the hub: `test`, a script that holds all inputs and results, beside the few asserts of `test_list`.

All of `test` has to pass; `test_list` alone would let through what the further inputs are there to find.
"""

from __future__ import annotations

from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: DataRow) -> Suite | None:
    """Read the column `test`, where it is a script."""
    test = row.get("test")
    return row.tests(test) if isinstance(test, str) else None
