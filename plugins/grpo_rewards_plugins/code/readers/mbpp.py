"""MBPP: `test_list`, a list of assert statements, with `test_setup_code` (or `test_imports`) before them."""

from __future__ import annotations

from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: DataRow) -> Suite | None:
    """Read the column `test_list`."""
    return row.tests(row.get("test_list"))
