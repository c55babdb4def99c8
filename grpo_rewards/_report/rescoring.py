"""Rows of a source scored now, with another composition, or completed with the columns of the data they were made from."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grpo_rewards._composition import Composite
from grpo_rewards._report.reading import completion_files, open_report_source, scored_rows
from grpo_rewards._report.rows import ReportRow, ReportSource
from grpo_rewards._scoring import score_file
from grpo_rewards._scoring.reading import open_source as open_rows
from grpo_rewards._scoring.reading.joining import JoinedData
from grpo_rewards.errors import InputError


@dataclass(frozen=True, slots=True)
class Rescoring:
    """What is done to the rows of every source before they are shown.

    `composite` scores them now, in place of the scores that they came with; `join` is a file with the columns that they
    lack, found by the column `on`.
    """

    composite: Composite | None = None
    join: Path | None = None
    on: str = "prompt"

    def open(self, path: Path, weights: Mapping[str, float] | None, folder: Path) -> ReportSource:
        """Open a source of a report with this done; rows that are scored now are kept in `folder`, which is made.

        Raises:
            InputError: a file cannot be read, or a row of `join` cannot be told from another.
            ColumnError: a column that the composite needs is missing.
        """
        if self.composite is not None:
            folder.mkdir()
            return self._scored(path, folder, self.composite)
        source = open_report_source(path, weights=weights)
        if self.join is not None:
            return self._joined(source, JoinedData(open_rows(self.join), self.on))
        return source

    def _scored(self, path: Path, folder: Path, composite: Composite) -> ReportSource:
        files_given = completion_files(path)
        if not files_given:
            raise InputError("holds no completions/*.parquet to score", source=str(path))
        notes: list[str] = []
        files = []
        for number, file in enumerate(files_given):
            scored = folder / f"{number}.jsonl"
            run = score_file(file, composite, out=scored, join=self.join, on=self.on, warn=notes.append)
            files.append(scored)
            if run.malformed:
                notes.append(
                    f"{run.malformed:,} rows of {file.name} were malformed and are not here: {run.problems[0]}"
                )
        note = "The rewards were scored now, by the composition given; those that the rows came with are not shown."
        return ReportSource(
            path.resolve().name, "rows scored now", _chained(files), None, (*dict.fromkeys(notes), note)
        )

    def _joined(self, source: ReportSource, data: JoinedData) -> ReportSource:
        notes = list(source.notes)

        def completed() -> Iterator[ReportRow]:
            alone = 0
            for row in source.rows:
                value: object = row.prompt if self.on == "prompt" else row.columns.get(self.on)
                found = data.columns_of(value)
                alone += isinstance(found, str)
                # a row without its data stays, with what it has
                yield row if isinstance(found, str) else dataclasses.replace(row, columns={**found, **row.columns})
            if alone:
                notes.append(f"{alone:,} rows have no row of {data.name} that is known to be theirs by {self.on!r}.")

        return dataclasses.replace(source, rows=completed(), notes=notes)


def _chained(files: list[Path]) -> Iterator[ReportRow]:
    """The rows of scored files; a group is of one file, and lines count on."""
    # lines and groups of the first file stay as they are, since mostly there is one
    lines = 0
    for number, file in enumerate(files):
        last = 0
        for row in scored_rows(file):
            last = max(last, row.line)
            yield dataclasses.replace(row, line=lines + row.line, group=f"{number}:{row.group}") if number else row
        lines += last
