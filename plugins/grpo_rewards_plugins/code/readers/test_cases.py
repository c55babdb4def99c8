"""AceCode, HardTests, CodeContests+ and CodeContests-O: the columns `test_cases` or `corner_cases`.

A list of assert statements is AceCode's: what is tested has the name that they call. A list of ``{input, output}`` is that of
the others, judged by ``output_judging_function`` (a column, or in ``test_cases_kit``; it says True or False of input, output and
answer) or by a `checker` in C++ with testlib where the row has one.
"""

from __future__ import annotations

from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: DataRow) -> Suite | None:
    """Read the column `test_cases`, or `corner_cases`."""
    cell = row.data("test_cases")
    return row.tests(row.data("corner_cases") if cell is None else cell)
