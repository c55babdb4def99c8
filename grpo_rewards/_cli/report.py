"""``grpo-rewards report``: one page about a file of scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grpo_rewards._cli.sources import JoinOption, OnlyOption, OnOption, composite_from_options, is_config, one_config


def _weights(given: list[str]) -> dict[str, float]:
    weights = {}
    for item in given:
        # from the right: a name may hold a =
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
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", help="Score the rows now with this composition: a file or preset/NAME."),
    ] = None,
    only: OnlyOption = None,
    join: JoinOption = None,
    on: OnOption = "prompt",
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
        Path | None, typer.Option(metavar="JSON", help="What `audit --json` printed: cheats, or findings in data.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON on stdout.")] = False,
) -> None:
    """Write one self-contained HTML page: distributions, groups, correlations, training curves, every completion.

    Two or more sources are set side by side, with the rows whose reward changed against the first. With -c or --only the
    rows are scored now; --join brings columns that a run did not log.

    Example: grpo-rewards report scored.jsonl -o report.html
    """
    from grpo_rewards._report import PageLimits, Rescoring, write_report

    # what was scored is never called so, and a configuration has no scores
    for placed in filter(is_config, sources):
        config = one_config(placed, config)
    sources = [source for source in sources if not is_config(source)]
    if not sources:
        raise typer.BadParameter("name what was scored beside the configuration", param_hint="SCORED...")
    if weight and (config or only):
        raise typer.BadParameter("the rows are scored now, with the weights of -c or --only", param_hint="--weight")
    composite = composite_from_options(config, only) if config or only else None
    again = Rescoring(composite, join, on)
    limits = PageLimits(rows=max_rows, characters=max_text, bytes=int(max_size * 1e6))
    written = write_report(
        sources, out, title=title, weights=_weights(weight or []), limits=limits, audit=audit, rescoring=again
    )
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
