"""An audit, as ``grpo-rewards audit --json`` prints it, for a section of the page: cheats, or findings in data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from grpo_rewards.errors import InputError

_SHOWN = 200  # findings of a check


class PaidPart(BaseModel):
    """What one component paid for a cheat, and why."""

    contribution: float | None = None
    reason: str = ""


class Cheat(BaseModel):
    """The best that one cheat got on one case, beside the best honest wrong answer there and a right one, if known."""

    attack: str = ""
    what: str = ""
    case: str = ""
    reward: float | None = None
    honest_wrong: float | None = None
    right: float | None = None
    pays: bool = False
    completion: str = ""
    components: dict[str, PaidPart] = Field(default_factory=dict)


class CheatAudit(BaseModel):
    """What an audit of a composition tried, and what could not be tried or broke."""

    attacks: list[Cheat]
    broken: list[str] = Field(default_factory=list)
    untried: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)

    @property
    def tried(self) -> list[Cheat]:
        """The cheats, those that pay first; within these the order is the audit's."""
        return sorted(self.attacks, key=lambda cheat: not cheat.pays)

    @property
    def paying(self) -> int:
        """The number of cheats that earn more than an honest wrong answer."""
        return sum(cheat.pays for cheat in self.attacks)

    @property
    def remarks(self) -> list[str]:
        """What went wrong, and what the audit says besides."""
        failed = [f"{kind}: {text}" for kind in ("broken", "untried") for text in getattr(self, kind)]
        return failed + self.notes


class RowFinding(BaseModel):
    """What one check found in one row of the data, by its number there."""

    row: int
    check: str
    component: str
    reason: str


class CheckResult(BaseModel):
    """What a check looks for, and how many rows it found something in."""

    what: str
    rows: int


class DataAudit(BaseModel):
    """Whether data is fit to train on. `strength` counts rows by tenths of the mutants that failed."""

    kind: Literal["data audit"]
    file: str
    rows: int
    completions: int
    findings: list[RowFinding]
    unavailable: list[object]
    checks: dict[str, CheckResult]
    strength: list[int]
    broken: list[str]

    @property
    def marked(self) -> int:
        """The number of rows with findings."""
        return len({one.row for one in self.findings})

    def found(self, check: str) -> list[RowFinding]:
        """The first findings of a check."""
        return [one for one in self.findings if one.check == check][:_SHOWN]


_AUDIT: TypeAdapter[DataAudit | CheatAudit] = TypeAdapter(DataAudit | CheatAudit)


def read_audit(path: Path) -> DataAudit | CheatAudit:
    """Read an audit of a composition, or of data.

    Raises:
        InputError: the file cannot be read, or is not an audit's JSON.
    """
    try:
        # by the standard library: a cheat may hold half of a surrogate pair, which pydantic's own reader refuses
        return _AUDIT.validate_python(json.loads(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        # of the form that the file nearly has: that the other's keys are missing says nothing
        nearest = min(error.errors(), key=lambda one: (one["type"] == "missing", -len(one["loc"])))
        problem = f"{'.'.join(map(str, nearest['loc'][1:]))}: {nearest['msg']}".removeprefix(": ")
    # a file of brackets alone nests deeper than Python recurses
    except (OSError, ValueError, RecursionError) as error:
        problem = str(error)
    raise InputError(f"expected what `grpo-rewards audit --json` prints: {problem}", source=str(path))
