"""PRIME and Eurus-2, verl's rows, code-r1, SkyRL: tests in ``reward_model.ground_truth`` or ``reward_spec.ground_truth``.

The text there is JSON: ``{inputs, outputs, fn_name?}`` (arguments as one text with a JSON value per line, or as lists as in
APPS), ``{assert_case: [...]}``, ``{functional: text}``, ``{pytest: text}``, or a list of LiveCodeBench's tests. Rows of other
tasks (`ability` is not code, or the ground truth is an answer) do not apply.
"""

from __future__ import annotations

from collections.abc import Mapping

from grpo_rewards_plugins.cells import is_blank
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.row import DataRow, opened
from grpo_rewards_plugins.code.shapes.packed import is_packed
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: DataRow) -> Suite | None:
    """Read what the row's grader is given."""
    for name in ("reward_model", "reward_spec"):
        cell = row.data(name)
        truth = cell.get("ground_truth") if isinstance(cell, Mapping) else None
        if not is_blank(truth):
            return _read(row, truth)
    raise SuiteProblem("the columns reward_model and reward_spec hold no ground_truth")


def _read(row: DataRow, truth: object) -> Suite:
    tests = opened(truth)
    ability = row.get("ability")
    if isinstance(ability, str) and ability.lower() not in ("code", "coding", "programming"):
        raise SuiteProblem(f"the row is of another task (column 'ability': {ability[:60]!r})")
    if isinstance(tests, str) and not is_packed(tests):
        raise SuiteProblem(f"the ground truth is no JSON of tests: {tests[:60]!r}")
    return row.tests(tests)
