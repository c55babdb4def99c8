"""LiveCodeBench v1 to v6: `public_test_cases` and `private_test_cases`, together all tests of the row.

Both are JSON lists of ``{input, output, testtype: stdin | functional}``, or base64 of zlib of pickle: read without running any
of it, up to 256 MiB. Functional tests call ``metadata.func_name`` with one JSON value per line. For ``weighted`` scores the
public tests are one part, the private ones another.
"""

from __future__ import annotations

from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.code.row import DataRow
from grpo_rewards_plugins.code.shapes.packed import is_packed, unpacked
from grpo_rewards_plugins.code.shapes.parts import in_parts
from grpo_rewards_plugins.code.suite import Suite

__all__ = ["read"]


def read(row: DataRow) -> Suite | None:
    """Read both columns of tests."""
    public, private = (_cases(row, name) for name in ("public_test_cases", "private_test_cases"))
    # without its columns: a row that has further tests than those that are read would be refused
    suite = row.without("private_test_cases", "public_test_cases").tests([*public, *private])
    return in_parts(suite, len(public))


def _cases(row: DataRow, name: str) -> list[object]:
    cell = row.data(name)
    if cell is None:
        return []
    cell = unpacked(cell) if isinstance(cell, str) and is_packed(cell) else cell
    if not isinstance(cell, list):
        raise SuiteProblem(f"the column {name} holds no list of tests: {str(cell)[:60]!r}")
    return cell
