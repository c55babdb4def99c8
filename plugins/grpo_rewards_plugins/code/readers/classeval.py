"""ClassEval: `test`, classes of ``unittest`` in the program's own namespace, for the class `class_name`.

`import_statement` and the imports of `skeleton` go before the tests.
"""

from __future__ import annotations

from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: DataRow) -> Suite | None:
    """Read the column `test`."""
    skeleton = row.get("skeleton")
    known = row.having(code_prompt=skeleton) if isinstance(skeleton, str) and row.get("code_prompt") is None else row
    return known.tests(row.get("test"))
