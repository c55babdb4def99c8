"""CodeContests: `public_tests`, `private_tests` and `generated_tests`, together all tests of the row.

Each is a mapping of lists ``{input: [...], output: [...]}`` or a list of ``{input, output}``. `time_limit` (``{seconds, nanos}``)
is the limit of one test, `input_file` and `output_file` name the files of tasks that have no standard input and output. The set has no checkers: a task
with several right answers has one of them here. For ``weighted`` scores the public tests are one part, the others another.
"""

from __future__ import annotations

from collections.abc import Mapping

from grpo_rewards_plugins.cells import is_blank
from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.shapes.pairs import cases_of
from grpo_rewards_plugins.code.shapes.parts import in_parts
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]

_COLUMNS = ("public_tests", "private_tests", "generated_tests")


def read(row: DataRow) -> Suite | None:
    """Read all columns of tests."""
    if not any(isinstance(row.data(name), list | Mapping) for name in _COLUMNS):
        return None  # open-r1/codeforces has a number in generated_tests
    public, *others = (_cases(row, name) for name in _COLUMNS)
    suite = row.tests([*public, *(case for cases in others for case in cases)])
    return in_parts(suite, len(public))


def _cases(row: DataRow, name: str) -> list[object]:
    cell = row.data(name)
    if not isinstance(cell, list | Mapping) or (
        isinstance(cell, Mapping) and all(is_blank(part) for part in cell.values())
    ):
        return []
    return list(cases_of(cell))
