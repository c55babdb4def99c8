"""NeMo Gym: ``verifier_metadata.unit_tests``, a mapping of ``{inputs, outputs, fn_name?}``.

With ``fn_name`` the tests are calls with one JSON value per line.
"""

from __future__ import annotations

from collections.abc import Mapping

from grpo_rewards_plugins.cells import is_blank
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: DataRow) -> Suite | None:
    """Read the unit tests of the row's metadata."""
    cell = row.data("verifier_metadata")
    tests = cell.get("unit_tests") if isinstance(cell, Mapping) else None
    if is_blank(tests):
        raise SuiteProblem("the column verifier_metadata holds no unit_tests")
    return row.tests(tests)
