"""Codeforces of open-r1: `official_tests`, a list of ``{input, output}``.

`generated_checker` decides where it is there (called with the files of input, right answer and output, it prints 1 or 0).
`official_tests_complete` false (the site cuts long tests), an `interaction_format`, and `executable` false are refused;
``input_mode: file`` means ``input.txt`` and ``output.txt``. `time_limit` is in seconds for one test, `language` what programs are
asked in. The further tests of the set's parquet files (`generated_tests` says how many) are not in the row.
"""

from __future__ import annotations

from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: DataRow) -> Suite | None:
    """Read the column `official_tests`."""
    if row.columns.get("executable") is False:
        raise SuiteProblem("the task cannot be run (column 'executable')")
    return row.tests(row.data("official_tests"))
