"""``grpo-rewards score``: every completion of a file, component by component, with reasons."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grpo_rewards._cli.sources import (
    ColumnOption,
    ConfigOption,
    JoinOption,
    OnlyOption,
    OnOption,
    ParamOption,
    composite_from_options,
    config_and_file,
)
from grpo_rewards._cli.tables import cell, show_table

if TYPE_CHECKING:
    from grpo_rewards._scoring import Progress, Run


def score(
    first: Annotated[
        Path, typer.Argument(metavar="FILE", help="JSONL, CSV (each also .gz, .zst) or parquet; - is stdin.")
    ],
    second: Annotated[
        Path | None, typer.Argument(metavar="[CONFIG]", help="The composition, before or behind FILE; or with -c.")
    ] = None,
    config: ConfigOption = None,
    only: OnlyOption = None,
    param: ParamOption = None,
    column: ColumnOption = None,
    join: JoinOption = None,
    on: OnOption = "prompt",
    out: Annotated[str | None, typer.Option("--out", "-o", help="Where scored rows go, as JSONL; - is stdout.")] = None,
    resume: Annotated[
        bool, typer.Option(help="Go on with an unfinished output; score again what was left out.")
    ] = False,
    force: Annotated[bool, typer.Option(help="Start again over an output that is there.")] = False,
    workers: Annotated[int, typer.Option(min=0, help="Worker processes; 0 and 1 score in this one.")] = 1,
    executor: Annotated[
        str, typer.Option(help="Where to score: local, or ray (the cluster of RAY_ADDRESS, else one started here).")
    ] = "local",
    leave_out: Annotated[
        list[str] | None,
        typer.Option(
            "--leave-out", metavar="MARK", help="Rows that 'audit DATA -o' marked so, or any mark. Repeatable."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
) -> None:
    """Score a file of completions and sum up per component; exit 1 when rows were malformed or cannot be judged, or a plugin broke.

    Rows hold completion (or completions, messages, response), perhaps prompt, and the columns that rewards need.

    Example: grpo-rewards score completions.jsonl -c rewards.yaml -o scored.jsonl --workers 2
    """
    from grpo_rewards._cli.app import ENVIRONMENT, FINDINGS
    from grpo_rewards._doctor.weights import asked_in_vain
    from grpo_rewards._scoring import score_file
    from grpo_rewards._scoring.reading import open_source
    from grpo_rewards._scoring.reading.joining import joined

    if out == "-" and as_json:
        raise typer.BadParameter("-o - and --json both print to stdout; give one of them", param_hint="--json")
    config, rows_file = config_and_file(first, second, config)
    if rows_file is None:
        raise typer.BadParameter(f"{first} is a configuration; name the file of rows beside it", param_hint="FILE")
    file = str(rows_file)
    composite = composite_from_options(config, only, param, column)
    conditions = any(component.when is not None for component in composite.components)
    # a second reading, for conditions alone; a pipe cannot be read twice
    rows = joined(open_source(file), join, on) if conditions and Path(file).is_file() else None
    warned: list[str] = []

    def warn(text: str) -> None:
        warned.append(text)
        typer.echo(f"warning: {text}", err=True)

    for text in asked_in_vain(composite, rows):  # before the first row, which may cost money
        warn(text)
    with _progress() as progress:
        run = score_file(
            file,
            composite,
            out=Path(out) if out not in (None, "-") else None,
            write=sys.stdout.buffer.write if out == "-" else None,
            resume=resume,
            force=force,
            workers=workers,
            executor=executor,
            join=join,
            on=on,
            leave_out=leave_out or (),
            progress=progress,
            warn=warn,
        )
    if as_json:
        import orjson

        sys.stdout.buffer.write(orjson.dumps(run.summary, option=orjson.OPT_INDENT_2, default=str) + b"\n")
    else:
        _show(run, to_stderr=out == "-")
    _print_counts(run, warned)
    # findings before outages: --resume mends the one and not the other
    if run.malformed or run.broken or run.refused:
        raise typer.Exit(FINDINGS)
    if run.unavailable:
        raise typer.Exit(ENVIRONMENT)


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """A bar with rate and time left on a terminal, nothing in a pipe."""
    # rich would write its control codes into a log
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("scoring"), BarColumn(), TextColumn("{task.fields[rows]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("scoring", total=None, rows="")

        def update(done: int, position: int, size: int | None) -> None:
            # the first report may come within the clock's resolution
            elapsed = bar.tasks[0].elapsed or 1e-9
            bar.update(task, total=size, completed=position, rows=f"{done:,} rows, {done / elapsed:,.0f}/s")

        yield update


_COLUMNS = {
    "weight": "weight", "n": "n", "mean": "mean", "group_std": "group std", "zero_std_groups": "flat groups",
    "not_applicable": "n/a", "rejected": "rejected", "timeout": "timeout", "unavailable": "unavailable",
    "error": "error", "p95_seconds": "p95",
}  # fmt: skip


def _show(run: Run, *, to_stderr: bool) -> None:
    found = run.statistics.summary()
    figures = {**found["components"], "reward": found["reward"]}
    rows = [(name, *(cell(key, row.get(key)) for key in _COLUMNS)) for name, row in figures.items()]
    titles = ("component", *_COLUMNS.values())
    show_table(titles, rows, left=("component",), bold="reward", to_stderr=to_stderr)


def _print_counts(run: Run, warned: Sequence[str]) -> None:
    counts = [f"{run.rows:,} rows in {run.seconds:.1f} s"]
    if run.resumed:
        counts.append(f"{run.resumed:,} of them from an earlier run")
    if run.left_out:
        counts.append(f"{run.left_out:,} left out by their marks")
    if run.malformed:
        counts.append(f"{run.malformed:,} malformed, kept in {run.side_file}")
    if run.broken:
        counts.append(f"{run.broken:,} on which a plugin broke")
    if run.refused:
        counts.append(f"{run.refused:,} with tests or a reference that cannot be judged by")
    if run.unavailable:
        counts.append(f"{run.unavailable:,} left out (sandbox or service down; --resume tries them again)")
    typer.echo("; ".join(counts), err=True)
    for problem in (text for text in run.problems if text not in warned):  # a warning has said the others
        typer.echo(f"  {problem}", err=True)
