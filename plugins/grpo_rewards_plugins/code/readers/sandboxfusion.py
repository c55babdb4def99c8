"""SandboxFusion's CommonOJ and its copies of other sets: `test`, JSON of ``{input: {stdin}, output: {stdout}}``.

`labels` may name the language; names of files other than ``stdin`` and ``stdout`` are refused. AutoEval's rows (``test`` with ``code``
that holds ``#<INSERT>``) run the program within their own text and are refused. Rows with test code go to the other families.
"""

from __future__ import annotations

from collections.abc import Mapping

from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.row import Row
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: Row) -> Suite | None:
    """Read the column `test` where it holds values."""
    cell = row.data("test")
    if isinstance(cell, Mapping) and "code" in cell:
        raise SuiteProblem("the tests run the program within their own text (#<INSERT>), which no isolated test can")
    return row.tests(cell) if isinstance(cell, list | Mapping) else None
