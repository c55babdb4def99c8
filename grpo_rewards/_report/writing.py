"""From files of scores to a page on disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grpo_rewards._report.analysis import analyse
from grpo_rewards._report.audits import read_audit
from grpo_rewards._report.bodies import Bodies, PageLimits, RunRows, index_json, packed, plain_text, twins
from grpo_rewards._report.columns import Columns
from grpo_rewards._report.findings import findings
from grpo_rewards._report.page.rendering import OVERHEAD, Page, render
from grpo_rewards._report.rescoring import Rescoring
from grpo_rewards._report.rows import ReportSource
from grpo_rewards._report.runs import ReportedRun
from grpo_rewards._scoring.reading.rows import check_output, digest
from grpo_rewards.errors import InputError

__all__ = ["PageLimits", "Written", "write_report"]

_MOST_RUNS = 8  # bars of more runs beside each other could not be told apart


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: where, its size in bytes, the rows read, those that the browser shows, and the warnings.

    `groups` and `flat_groups` (a share) are of the first run, where there are several.
    """

    path: Path
    size: int
    rows: int
    shown: int
    groups: int
    flat_groups: float | None
    warnings: tuple[str, ...]


def write_report(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    title: str | None = None,
    weights: Mapping[str, float] | None = None,
    limits: PageLimits | None = None,
    audit: str | os.PathLike[str] | None = None,
    rescoring: Rescoring | None = None,
) -> Written:
    """Write the report of `source` to `out`, atomically: a page that was there stays until the new one is whole.

    Several sources stand side by side, the others held against the first. `audit` is what ``grpo-rewards audit --json``
    printed; its cheats, or its findings in data, get a section. `rescoring` scores the rows anew, or gives them the columns of
    a data set. The rows are read once. Memory holds about 100 bytes and a preview of each, never
    their texts, which are packed to a temporary file beside `out`.

    Raises:
        InputError: a source cannot be read, or holds no rows and no training log; or `out` cannot be written.
    """
    given = [Path(source)] if isinstance(source, str | os.PathLike) else [Path(one) for one in source]
    target = Path(out)
    if not 1 <= len(given) <= _MOST_RUNS:
        raise InputError(f"expected 1 to {_MOST_RUNS} sources, not {len(given)}", source=str(target))
    check_output(target)
    limits = limits or PageLimits()
    audited = None if audit is None else read_audit(Path(audit))
    rescoring = rescoring or Rescoring()
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryFile("w+", encoding="ascii", dir=target.parent, newline="\n") as file,
    ):
        opened = [rescoring.open(path, weights, Path(folder) / str(i)) for i, path in enumerate(given)]
        bodies = Bodies(file, limits)
        read = [
            # every run gets the same part of the page
            _read(one, path, name, bodies, limits.rows // len(given), compared=len(given) > 1)
            for one, path, name in zip(opened, given, _names(opened, given), strict=True)
        ]
        bodies.flush()
        analyses = [analyse(rows.columns) for rows in read]
        runs = [
            ReportedRun(rows.name, one, analysis, findings(one, analysis), rows)
            for rows, one, analysis in zip(read, opened, analyses, strict=True)
        ]
        same = twins(read) if len(read) > 1 else []
        index = packed(index_json(bodies, read, same))
        # the figures of every row come first; texts get what these leave
        bodies.fit(limits.bytes - len(index) - OVERHEAD)
        named = title or (opened[0].title if len(opened) == 1 else ", ".join(run.name for run in runs))
        size = _write(target, Page(named, runs, bodies, index, same, audited))
    return Written(
        path=target,
        size=size,
        rows=sum(len(rows.columns) for rows in read),
        shown=len(bodies),
        groups=analyses[0].groups,
        flat_groups=analyses[0].reward.flat,
        warnings=tuple(
            f"{item.about}: {item.text}" if len(runs) == 1 else f"{run.name}: {item.about}: {item.text}"
            for run in runs for item in run.findings if item.level == "warning"
        ),
    )  # fmt: skip


def _names(opened: Sequence[ReportSource], given: Sequence[Path]) -> list[str]:
    """Return a name for each run: its file's, with its folder where two are called alike."""
    titles = [source.title for source in opened]
    return [
        title if titles.count(title) == 1 else f"{path.resolve().parent.name}/{title}"
        for title, path in zip(titles, given, strict=True)
    ]


def _read(source: ReportSource, path: Path, name: str, bodies: Bodies, most: int, *, compared: bool) -> RunRows:
    """Read one source: figures of every row, texts of the first `most`."""
    columns = Columns()
    contents: list[bytes] = []
    prompts: list[bytes] = []
    for row in source.rows:
        completion = plain_text(row.completion)
        position = columns.add(row, len(completion))
        if position < most:
            bodies.add(row, completion)
        if compared:
            if position < most:
                contents.append(digest([row.prompt, row.completion]))
            # the first row of a group speaks for its prompt
            if columns.group_count > len(prompts):
                prompts.append(digest(row.prompt))
    columns.finish()
    if not len(columns) and (source.training is None or not source.training.points):
        raise InputError("holds no rows", source=str(path))
    return RunRows(name, columns, min(len(columns), most), contents, prompts)


def _write(target: Path, page: Page) -> int:
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        # a completion may hold half of a surrogate pair, which UTF-8 has no bytes for
        with open(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            for piece in render(page):
                file.write(piece)
        # mkstemp makes a file for its owner alone; a page gets what any other new file would
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(target)
    except BaseException:  # Ctrl-C too: no torn page stays beside the old one
        temporary.unlink(missing_ok=True)
        raise
    return target.stat().st_size
