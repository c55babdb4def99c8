"""KodCode: `test`, a test file for pytest that begins with ``from solution import f``.

Where a file imports nothing from ``solution``, what is tested is what `test_info` names.
"""

from __future__ import annotations

from collections.abc import Mapping

from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: DataRow) -> Suite | None:
    """Read the column `test`."""
    info = row.data("test_info")
    first = info[0] if isinstance(info, list) and info else info
    name = first.get("function_name") if isinstance(first, Mapping) else None
    known = row if name is None or row.get("entry_point") is not None else row.having(entry_point=name)
    return known.tests(row.get("test"), format="pytest")
