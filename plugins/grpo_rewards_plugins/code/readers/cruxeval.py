"""CRUXEval: `code`, `input`, `output`; the answer says what the function returns.

Answer and output are literals, compared without running anything. The answer stands in ``[ANSWER]``, in the tag, or is the
whole text; of ``f(...) == value`` the value counts. An answer that calls the function again is no literal, so wrong.
"""

from __future__ import annotations

from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.shapes import literal
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: DataRow) -> Suite | None:
    """Read the column `output`, where there is a column `input`, which is empty for a function of no arguments."""
    if "input" not in row.columns:
        return None
    return literal.suite(str(row.get("output")))
