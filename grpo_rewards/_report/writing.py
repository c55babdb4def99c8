"""From a file of scores to a page on disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grpo_rewards._report.analysis import analyse
from grpo_rewards._report.bodies import Bodies, PageLimits, index_json, packed, plain_text
from grpo_rewards._report.columns import Columns
from grpo_rewards._report.findings import findings
from grpo_rewards._report.page.rendering import Page, render
from grpo_rewards._report.reading import open_source
from grpo_rewards.errors import InputError

__all__ = ["PageLimits", "Written", "write_report"]


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: where, its size in bytes, the rows read, those that the browser shows, and the warnings."""

    path: Path
    size: int
    rows: int
    shown: int
    groups: int
    flat_groups: float | None
    warnings: tuple[str, ...]


def write_report(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    title: str | None = None,
    weights: Mapping[str, float] | None = None,
    limits: PageLimits | None = None,
) -> Written:
    """Write the report of `source` to `out`, atomically: a page that was there stays until the new one is whole.

    The rows are read once. Memory holds about 100 bytes and a preview of each, never their texts, which are packed to
    a temporary file beside `out`.

    Raises:
        InputError: `source` cannot be read, or holds no rows and no training log; or `out` cannot be written.
    """
    given = Path(source)
    target = Path(out)
    if not target.parent.is_dir():
        raise InputError("its folder does not exist; create it first", source=str(target))
    if target.is_dir():
        raise InputError("is a folder; give the page's file name", source=str(target))
    opened = open_source(given, weights=weights)
    columns = Columns()
    with tempfile.TemporaryFile("w+", encoding="ascii", dir=target.parent, newline="\n") as file:
        bodies = Bodies(file, limits or PageLimits())
        for row in opened.rows:
            completion = plain_text(row.completion)
            columns.add(row, len(completion))
            bodies.add(row, completion)
        bodies.flush()
        columns.finish()
        if not len(columns) and (opened.training is None or not opened.training.points):
            raise InputError("holds no rows", source=str(given))
        analysis = analyse(columns)
        found = findings(opened, analysis)
        index = packed(index_json(bodies, columns, analysis.centred, analysis.normalised))
        page = Page(title or opened.title, opened, analysis, found, bodies, index)
        size = _write(target, page)
    return Written(
        path=target,
        size=size,
        rows=len(columns),
        shown=len(bodies),
        groups=analysis.groups,
        flat_groups=analysis.reward.flat,
        warnings=tuple(f"{item.about}: {item.text}" for item in found if item.level == "warning"),
    )


def _write(target: Path, page: Page) -> int:
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with open(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            for piece in render(page):
                file.write(piece)
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return target.stat().st_size
