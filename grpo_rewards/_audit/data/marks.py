"""Rows with their marks: a copy of the data with one more column, which `score` and `train` can leave rows out by."""

from __future__ import annotations

from pathlib import Path

from grpo_rewards._audit.data.prompts import digest, task_of
from grpo_rewards._audit.data.report import DataReport
from grpo_rewards._scoring.reading import dump_json, open_source
from grpo_rewards._scoring.reading.marked import FIT, MARK, UNKNOWN
from grpo_rewards._scoring.reading.rows import check_output

__all__ = ["write_marked"]


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
