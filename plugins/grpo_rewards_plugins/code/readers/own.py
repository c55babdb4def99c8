"""This package's own columns, which DeepCoder has too: `tests`, in any of the shapes that all data sets share.

Read are lists of ``{input, output}`` (also ``stdin``, ``expected_output``, ``outputs``), ``{inputs: [...], outputs: [...]}``, lists of
statements, text that defines ``check(candidate)``, and test files for pytest; all of them as JSON too. Tests with the name of a
function (``fn_name``, ``func_name``; in the tests, in their ``metadata``, or in the row's column ``metadata``) are calls, as in
DeepCoder's configurations ``lcbv5``, ``taco`` and ``primeintellect``. Functional tests without a name are refused; so are lists of
unequal length, which other readers fill up. A column `subtasks`, ``[{points, tests}]`` with the places or names of tests, says what the
score ``weighted`` pays for: a subtask counts as its worst test.
"""

from __future__ import annotations

from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: DataRow) -> Suite | None:
    """Read the column `tests`."""
    return row.tests(row.get("tests"))
