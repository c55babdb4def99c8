"""APPS and TACO: the column `input_output`, JSON of ``{inputs, outputs, fn_name?}``.

With ``fn_name`` the tests are calls: arguments as a list per test, the result in a list of one where that holds for every
test of the row. Without it they are programs' inputs and outputs, as text or as lists of lines. A row whose cell is empty
has nothing to test with. `time_limit` is the limit of one test. Display text that no program can read ("N = 5", as in rows
from GeeksforGeeks) is refused. LeetCodeDataset has a column of this name too: see ``leetcode``.
"""

from __future__ import annotations

from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.readers import leetcode
from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: DataRow) -> Suite | None:
    """Read the column `input_output`."""
    cell = row.data("input_output")
    if isinstance(cell, list) and leetcode.is_examples(cell):
        return leetcode.examples(row, cell)
    if isinstance(cell, str):
        raise SuiteProblem(f"the column input_output is no JSON: {cell[:60]!r}")
    return row.tests(cell)
