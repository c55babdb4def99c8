"""``grpo-rewards report``: one page about a file of scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["report"]


def _weights(given: list[str]) -> dict[str, float]:
    weights = {}
    for item in given:
        name, sign, value = item.rpartition("=")
        try:
            if not (sign and name):
                raise ValueError
            weights[name] = float(value)
        except ValueError:
            raise typer.BadParameter(f"expected NAME=NUMBER, not {item!r}", param_hint="--weight") from None
    return weights


def report(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SCORED...",
            help="Scored JSONL, a completions parquet or a training output folder; several stand side by side.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="The page's title; the file's name without it.")] = None,
    weight: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=NUMBER", help="A reward's weight, for parquet, which records none. Repeatable."),
    ] = None,
    max_rows: Annotated[int, typer.Option(min=0, help="Rows that the browser of completions holds.")] = 100_000,
    max_text: Annotated[int, typer.Option(min=200, help="Characters kept of each prompt and completion.")] = 6_000,
    max_size: Annotated[
        float, typer.Option(metavar="MB", min=1, help="Size of the page; texts that do not fit are left out.")
    ] = 10,
    audit: Annotated[
        Path | None, typer.Option(metavar="JSON", help="What `audit --json` printed; the page shows its cheats.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON on stdout.")] = False,
) -> None:
    """Write one self-contained HTML page: distributions, groups, correlations, training curves, every completion.

    Two or more sources are set side by side, with the rows whose reward changed against the first.

    Example: grpo-rewards report scored.jsonl -o report.html
    """
    from grpo_rewards._report import PageLimits, write_report

    limits = PageLimits(rows=max_rows, characters=max_text, bytes=int(max_size * 1e6))
    written = write_report(sources, out, title=title, weights=_weights(weight or []), limits=limits, audit=audit)
    if as_json:
        import json

        figures = {
            "path": str(written.path), "bytes": written.size, "rows": written.rows, "rows_shown": written.shown,
            "groups": written.groups, "flat_groups": written.flat_groups, "warnings": list(written.warnings),
        }  # fmt: skip
        typer.echo(json.dumps(figures))
        return
    typer.echo(f"{written.path}: {written.rows:,} rows, {written.size / 1e6:.1f} MB", err=True)
    for warning in written.warnings:
        typer.echo(f"warning: {warning}", err=True)
