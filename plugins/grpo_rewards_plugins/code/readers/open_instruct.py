"""open-instruct and rLLM: `ground_truth`, with `dataset` ``code`` or ``code_stdio``, or with `data_source`.

A list, its JSON, or the packed form of it: assert statements, or tests ``{input, output}`` as in LiveCodeBench. Rows of other
tasks have an answer there, and do not apply.
"""

from __future__ import annotations

from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.row import DataRow, opened
from grpo_rewards_plugins.code.shapes.packed import is_packed
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: DataRow) -> Suite | None:
    """Read the column `ground_truth`."""
    tests = row.data("ground_truth")
    if isinstance(tests, str) and not is_packed(tests):
        raise SuiteProblem(f"the ground truth is no list of tests: {tests[:60]!r}")
    if (
        isinstance(tests, list)
        and len(tests) == 1
        and isinstance(tests[0], str)
        and not tests[0].lstrip().startswith("assert")
    ):
        # some files have the JSON of all tests as the only text of a list
        tests = opened(tests[0])
    return row.tests(tests)
