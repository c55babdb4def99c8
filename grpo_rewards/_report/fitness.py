"""What an audit of data found, as ``grpo-rewards audit DATA --json`` prints it, for a section of the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["KIND", "CheckResult", "Fitness", "Found", "fitness"]

KIND = "data audit"
"""The ``kind`` of such a JSON."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one check found in one row of the data, by its number there."""

    row: int
    check: str
    component: str
    reason: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check: what it looks for, the rows that it found something in, and the first of its findings."""

    name: str
    what: str
    rows: int
    found: tuple[Found, ...]


@dataclass(frozen=True, slots=True)
class Fitness:
    """Whether data is fit to train on. `marked` rows of `rows` have findings; `strength` counts rows by tenths of mutants."""

    file: str
    rows: int
    completions: int
    marked: int
    unknown: int
    checks: tuple[CheckResult, ...]
    strength: tuple[int, ...]
    broken: tuple[str, ...]


_SHOWN = 200  # findings of a check


def fitness(audit: Mapping[str, Any]) -> Fitness:
    """Read an audit of data.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    findings = [
        Found(int(one["row"]), str(one["check"]), str(one["component"]), str(one["reason"]))
        for one in audit["findings"]
    ]
    return Fitness(
        file=str(audit["file"]),
        rows=int(audit["rows"]),
        completions=int(audit["completions"]),
        marked=len({one.row for one in findings}),
        unknown=len(audit["unavailable"]),
        checks=tuple(
            CheckResult(
                str(name),
                str(said["what"]),
                int(said["rows"]),
                tuple([one for one in findings if one.check == name][:_SHOWN]),
            )
            for name, said in audit["checks"].items()
        ),
        strength=tuple(int(count) for count in audit["strength"]),
        broken=tuple(str(text) for text in audit["broken"]),
    )
