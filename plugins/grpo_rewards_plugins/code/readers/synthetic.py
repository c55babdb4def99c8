"""SYNTHETIC-1 and -2, verifiable-coding-problems: `verification_info` with ``{language, test_cases}``.

The cell is a mapping, JSON, or Python's own notation. A test is ``{type: stdin_stdout | function_call, fn_name, input, output}``;
``language`` is what programs are asked in, `time_limit` and `memory_limit` may stand there too. Rows of code output prediction have ``ground_truth`` in place of tests: the answer,
JSON of ``{"output": ...}``, is compared with it and nothing is run.
"""

from __future__ import annotations

from collections.abc import Mapping

from grpo_rewards_plugins.cells import is_blank
from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.shapes import literal
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]

_LIMITS = ("time_limit", "memory_limit")


def read(row: DataRow) -> Suite | None:
    """Read the column `verification_info`."""
    info = row.data("verification_info")
    if not isinstance(info, Mapping):
        raise SuiteProblem(f"the column verification_info is no mapping: {str(info)[:60]!r}")
    truth = info.get("ground_truth")
    if not is_blank(truth) and is_blank(info.get("test_cases")):
        return literal.suite(str(truth))
    known = row.without("metadata")
    if any(not is_blank(info.get(name)) for name in _LIMITS):
        known = known.having(**{name: info[name] for name in _LIMITS if not is_blank(info.get(name))})
        info = {name: value for name, value in info.items() if name not in _LIMITS}
    return known.tests(info)
