"""HumanEval-X: `task_id` (``CPP/0``), `prompt`, `declaration` and `test`; the program is prompt, completion and test in one text.

Python's rows are those of HumanEval. The others are judged as those of MultiPL-E: two programs that write values, of which the
sandbox compares them; what cannot be told apart (loops over the program's own results, helpers that compute what is expected) is
refused by name.
"""

from __future__ import annotations

from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.shapes import program
from grpo_rewards_plugins.code.shapes.columns import named_language
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: DataRow) -> Suite | None:
    """Read the columns of a program in one text."""
    language = named_language(str(row.get("task_id") or "").partition("/")[0])
    test = row.get("test")
    if language in ("", "python") or not isinstance(test, str):
        return row.tests(test)
    return program.suite(row, language, test)
