"""rStar-Coder: `inputs` and `outputs`, lists as JSON, with `test_case_type`, `func_name` and `class_name`.

With a function's name the tests are calls with one JSON value per line.
"""

from __future__ import annotations

from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: DataRow) -> Suite | None:
    """Read the columns `inputs` and `outputs`."""
    return row.without("inputs", "outputs").tests({"inputs": row.data("inputs"), "outputs": row.data("outputs")})
