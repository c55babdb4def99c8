"""`DataReport`: what an audit of data found, counted as it goes; and a copy of the rows with their marks."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from grpo_rewards._audit.data.checks import CHECKS
from grpo_rewards._audit.data.prompts import digest, task_of
from grpo_rewards._scoring.reading import open_source
from grpo_rewards._scoring.reading.marked import FIT, MARK, UNKNOWN
from grpo_rewards._scoring.reading.rows import check_output, dump_json

_BINS = 10
_REASON = 300


@dataclass(frozen=True, slots=True)
class RowFinding:
    """What one check found in one row: its number in the file (a line, in JSONL), the component, and why."""

    row: int
    check: str
    component: str
    reason: str


@dataclass(slots=True)
class DataReport:
    """What came of an audit of data.

    `rows` counts all rows, `tasks` those that differ in more than a completion, `tried` per component the tasks that it was
    tried on; `findings` are in the order of rows. `strengths` counts rows by the share of mutants that failed, in
    tenths. `unavailable` are rows on which a sandbox or service was down: nothing is known of them. `broken` says where a
    plugin broke.
    """

    file: str
    rows: int = 0
    tasks: int = 0
    completions: int = 0
    seconds: float = 0.0
    tried: Counter[str] = field(default_factory=Counter)
    findings: list[RowFinding] = field(default_factory=list)
    strengths: Counter[int] = field(default_factory=Counter)
    unavailable: dict[int, str] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    def add(self, row: int, check: str, component: str, reason: str) -> None:
        """Count a finding, on one line."""
        self.findings.append(RowFinding(row, check, component, " ".join(reason[:_REASON].split())))

    def judged(self, strength: float | None) -> None:
        """Count a row's strength."""
        if strength is not None:
            self.strengths[min(_BINS - 1, int(strength * _BINS))] += 1  # 1.0 belongs to the last tenth

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows that each check found something in."""
        found: dict[str, set[int]] = {name: set() for name in CHECKS}
        for one in self.findings:
            found[one.check].add(one.row)
        return {name: len(rows) for name, rows in found.items()}

    def marks(self) -> dict[int, str]:
        """The marks of every row that something was found in: names of checks, joined by a comma."""
        found: dict[int, dict[str, None]] = {}
        for one in self.findings:
            found.setdefault(one.row, {}).setdefault(one.check)
        return {row: ",".join(name for name in CHECKS if name in names) for row, names in found.items()}

    def plain(self) -> dict[str, object]:
        """The report as plain data; ``kind`` tells it from others."""
        return {
            "kind": "data audit",
            "version": 1,
            "file": self.file,
            "rows": self.rows,
            "tasks": self.tasks,
            "completions": self.completions,
            "seconds": round(self.seconds, 3),
            "tried": dict(self.tried),
            "checks": {
                name: {"rows": count, "what": " ".join((CHECKS[name].__doc__ or "").split())}
                for name, count in self.counts.items()
            },
            "strength": [self.strengths[number] for number in range(_BINS)],
            "findings": [asdict(one) for one in sorted(self.findings, key=lambda one: one.row)],
            "unavailable": [{"row": row, "reason": reason} for row, reason in self.unavailable.items()],
            "broken": self.broken,
        }


def write_marked(path: Path, out: Path, report: DataReport) -> int:
    """Write the rows of `path` to `out` as JSONL with the column ``audit``, and return how many are fit.

    The column holds ``fit``, or the names of the checks that found something, joined by commas. Rows that could not be judged
    are ``unknown``; lines that are no rows are left out. The file appears when it is whole.

    Raises:
        InputError: `out` is `path` itself or a folder, or its folder is not there.
    """
    check_output(out, path)
    marks, fit = report.marks(), 0
    before, mark = b"", FIT
    partial = out.with_name(out.name + ".partial")
    with partial.open("wb") as stream:
        for number, row in enumerate(open_source(path).rows(), 1):
            if number > report.rows:
                break
            if row.data is None:
                continue
            if (found := digest(task_of(row.data))) != before:  # rows of one task have the marks of its first
                before = found
                mark = marks.get(row.number) or (UNKNOWN if row.number in report.unavailable else FIT)
            fit += mark == FIT
            stream.write(dump_json({**row.data, MARK: mark}) + b"\n")
    partial.replace(out)
    return fit
