"""The report about a table of scores, which a notebook shows in place."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from html import escape
from pathlib import Path

from grpo_rewards._composition import ScoreTable
from grpo_rewards._report.writing import write_report
from grpo_rewards._scoring.chunks import Sample
from grpo_rewards._scoring.reading.rows import dump_json
from grpo_rewards._scoring.scored import scored_line
from grpo_rewards.errors import InputError


@dataclass(frozen=True, slots=True)
class ReportPage:
    """The report's page; a notebook shows it in place."""

    page: str
    path: Path | None

    def __repr__(self) -> str:
        return f"<Report {self.path or 'in memory'}, {len(self.page) / 1e6:.1f} MB>"

    def _repr_html_(self) -> str:
        page = escape(self.page, quote=True)
        # the page's scripts run without the notebook's origin: completions are hostile text
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="width:100%;height:720px;border:1px solid #8888"></iframe>'


def page_of(scores: ScoreTable, out: Path | None, title: str) -> ReportPage:
    """Return the report about a table, written to `out` where one is given."""
    batch = scores.batch
    if batch is None:
        raise InputError("a report needs the completions, and this table was not made by Composite.score")
    groups = {row: group for group, rows in enumerate(scores.groups) for row in rows}
    columns = {
        **batch.columns,
        **({} if batch.prompts is None else {"prompt": batch.prompts}),
        "completion": batch.completions,
    }
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "scored.jsonl"), out or Path(folder, "report.html")
        with source.open("wb") as file:
            for row in batch.rows:
                raw = dump_json({name: values[row] for name, values in columns.items()})
                sample = Sample(row + 1, None, groups.get(row, row), raw, cells=False)
                file.write(scored_line(sample, scores.row(row)))
        write_report(source, target, title=title)
        return ReportPage(target.read_text(encoding="utf-8"), out)
