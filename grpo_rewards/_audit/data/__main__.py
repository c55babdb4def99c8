"""Writes the table of checks into the documentation's page on the audit of data, in the checks' own words."""

from __future__ import annotations

import re
from pathlib import Path

from grpo_rewards._audit.data.checks import CHECKS

PAGE = Path(__file__).parents[3] / "docs" / "audit-data.md"
_TABLE = re.compile(r"(?<=\n\| mark \| what it finds \|\n\|---\|---\|\n)(?:\|.*\n)*")


def page(now: str) -> str:
    """Return the page `now` with a line for each check from its docstring."""
    lines = [f"| `{name}` | {' '.join((check.__doc__ or '').split())} |\n" for name, check in CHECKS.items()]
    return _TABLE.sub(lambda _table: "".join(lines), now, count=1)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
