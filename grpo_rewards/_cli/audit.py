"""``grpo-rewards audit``: tries to cheat the configured rewards, or asks whether data is fit to train on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grpo_rewards._cli.sources import (
    HOW,
    ColumnOption,
    ParamOption,
    composite_from_options,
    find_config,
    is_config,
    one_config,
)
from grpo_rewards._cli.tables import show_table
from grpo_rewards.errors import printable

if TYPE_CHECKING:
    from grpo_rewards._audit.auditing import AuditReport, Earned
    from grpo_rewards._audit.data.report import DataReport
    from grpo_rewards._composition import Composite


def audit(
    subject: Annotated[
        Path | None,
        typer.Argument(
            metavar="[CONFIG|DATA]", help="A composition to cheat (.yaml, preset/NAME), or data to look through."
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="Rows to cheat the composition on; built-in ones without it."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", "-c", help="The composition to cheat, or beside DATA the one it is meant for; else as in score."
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="A component, or for DATA an installed reward. Repeatable."),
    ] = None,
    param: ParamOption = None,
    column: ColumnOption = None,
    rows: Annotated[int | None, typer.Option(min=1, help="Prompts to try: 10 of FILE, all of DATA without it.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where the rows of DATA go with their marks, as JSONL.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Try to cheat the rewards of a composition, or ask whether data is fit to train on; exit 1 for findings.

    CONFIG: empty, echo, many answers, tags, padding, code that leaves early; a cheat pays when it earns more than an honest
    wrong answer. DATA: stubs must fail and the row's own reference pass, its small changes fail, verdicts stay the same, no
    answer stands in the prompt. Exit 3 where a sandbox or service was down, or nothing could be tried.

    Example: grpo-rewards audit rewards.yaml, or grpo-rewards audit train.jsonl -o marked.jsonl
    """
    from grpo_rewards.errors import ConfigError

    if subject is None or is_config(subject):
        composition = find_config(one_config(subject, config))
        if composition is None:
            raise ConfigError(f"nothing to audit: {HOW}, or name a file of data")
        for given, option in ((param, "--param"), (column, "--column"), (out, "--out")):
            if given:
                raise typer.BadParameter("goes with DATA, and this is a composition", param_hint=option)
        _of_config(composition, file, only, rows, as_json)
    elif file is not None:
        raise typer.BadParameter("one file of data at a time; its composition is given with -c", param_hint="FILE")
    else:
        named = only or find_config(config) is not None
        _of_data(subject, composite_from_options(config, only, param, column) if named else None, rows, out, as_json)


def _of_config(config: Path, file: Path | None, only: list[str] | None, rows: int | None, as_json: bool) -> None:
    from grpo_rewards._audit.auditing import audit as run_audit
    from grpo_rewards._audit.cases import cases_of_file, sample_cases
    from grpo_rewards._cli.app import ENVIRONMENT, FINDINGS
    from grpo_rewards._composition import load

    composite = load(config)
    if only:
        composite = composite.only(only)
    cases = sample_cases(composite) if file is None else cases_of_file(composite, file, limit=rows or 10)
    report = run_audit(composite, cases)
    if as_json:
        import json

        typer.echo(json.dumps(_plain(report), indent=2))
    else:
        _show(report)
    if not report.earned:
        typer.echo("nothing could be tried: no cheat was scored beside an honest answer, so nothing is known", err=True)
    # what was found stands though something else could not be tried
    if report.wins or report.broken:
        raise typer.Exit(FINDINGS)
    if report.untried or not report.earned:
        raise typer.Exit(ENVIRONMENT)


def _of_data(data: Path, composite: Composite | None, rows: int | None, out: Path | None, as_json: bool) -> None:
    import sys

    from grpo_rewards._audit.data.report import write_marked
    from grpo_rewards._audit.data.running import audit_data
    from grpo_rewards._cli.app import ENVIRONMENT, FINDINGS

    def progress(done: int, position: int, size: int | None) -> None:
        share = f" ({position / size:.0%})" if size else ""
        # back to the line's beginning: the next count is written over this one
        typer.echo(f"\r{done:,} rows{share}", err=True, nl=False)

    report = audit_data(data, composite, limit=rows, **({"progress": progress} if sys.stderr.isatty() else {}))
    fit = write_marked(data, out, report) if out is not None else None
    if as_json:
        import orjson

        # bytes: a reason may hold what the terminal's encoding has no letter for
        sys.stdout.buffer.write(orjson.dumps(report.plain(), option=orjson.OPT_INDENT_2) + b"\n")
    else:
        _show_data(report)
    if fit is not None:
        typer.echo(f"{fit:,} rows are fit: --leave-out any trains and scores on them alone ({out})", err=True)
    if report.findings or report.broken:
        raise typer.Exit(FINDINGS)
    if report.unavailable:
        raise typer.Exit(ENVIRONMENT)


def _show_data(report: DataReport) -> None:
    rows = []
    for name, count in report.counts.items():
        # sorted: what a later row of the same prompt shows of an earlier one comes late
        first = next((one for one in sorted(report.findings, key=lambda one: one.row) if one.check == name), None)
        shown = f"{report.file}:{first.row}: {first.reason}" if first is not None else ""
        rows.append((name, f"{count:,}", f"{count / report.rows:.1%}", _printable(shown)))
    show_table(("check", "rows", "share", "the first"), rows, left=("check",), text="the first")
    for text in report.broken:
        typer.echo(f"finding: {_printable(text, 400)}", err=True)
    if report.unavailable:
        reason = next(iter(report.unavailable.values()))
        typer.echo(f"not tried: {len(report.unavailable):,} rows: {_printable(reason, 400)}", err=True)
    tried = ", ".join(f"{count:,} by {name}" for name, count in report.tried.items()) or "none"
    marked = len(report.marks())
    typer.echo(
        f"{report.rows:,} rows, judged {tried}; {report.completions:,} completions in {report.seconds:.1f} s; "
        f"{f'{marked:,} rows have findings' if marked else 'nothing found'}",
        err=True,
    )


def _plain(report: AuditReport) -> dict[str, object]:
    return {
        "cases": report.cases,
        "completions": report.completions,
        "findings": [_entry(one) for one in report.wins],
        "broken": report.broken,
        "untried": report.untried,
        "notes": report.notes,
        "attacks": [_entry(one) for one in report.earned],
    }


def _entry(one: Earned) -> dict[str, object]:
    return {
        "attack": one.attack, "what": one.what, "case": one.case, "reward": one.reward, "honest_wrong": one.honest,
        "right": one.right, "pays": one.wins, "tried": one.tried, "components": one.parts,
        "completion": one.completion[:4000], "characters": len(one.completion),
    }  # fmt: skip


def _show(report: AuditReport) -> None:
    rows = []
    for one in report.worst():
        right = "" if one.right is None else f"{one.right:.4g}"
        verdict = "PAYS" if one.wins else "no gain"
        rows.append((one.attack, f"{one.reward:.4g}", f"{one.honest:.4g}", right, verdict, one.what))
    titles = ("cheat", "earned", "honest wrong", "right", "verdict", "what it does")
    show_table(titles, rows, left=("cheat", "verdict"), text="what it does")
    shown: set[str] = set()
    for one in report.wins:
        if one.attack in shown:
            continue
        shown.add(one.attack)
        others = sum(other.attack == one.attack for other in report.wins) - 1
        more = f", and on {others} more" if others else ""
        typer.echo(
            f"\nfinding: {one.attack} ({one.what}) earns {one.reward:.4g}, an honest wrong answer {one.honest:.4g}"
        )
        typer.echo(f"  on {one.case}{more}; {len(one.completion):,} characters: {_printable(one.completion)}")
        for name, part in sorted(one.parts.items(), key=lambda item: -item[1]["more_than_honest"]):
            if part["contribution"]:
                typer.echo(
                    f"    {name} paid {part['contribution']:+.4g} ({part['more_than_honest']:+.4g} beside honest): "
                    f"{_printable(part['reason']) or part['status']}"
                )
    for text in report.broken:
        typer.echo(f"finding: {_printable(text, 400)}", err=True)
    for text in report.untried:
        typer.echo(f"not tried: {_printable(text, 400)}", err=True)
    # each case may say the same
    for text in dict.fromkeys(report.notes):
        typer.echo(f"note: {text}", err=True)
    paid = f"{len(report.wins)} times a cheat beats an honest wrong answer" if report.wins else "no cheat pays"
    broken = f", {len(report.broken)} break something" if report.broken else ""
    typer.echo(f"{report.completions:,} completions on {report.cases} rows: {paid}{broken}", err=True)


def _printable(text: str, most: int = 160) -> str:
    """Return text of a completion as one line that a terminal shows and does not obey."""
    text = text.replace("\n", "⏎")
    # cut first: a cheat may be megabytes long
    text = printable(text[: most + 1])
    return text if len(text) <= most else text[:most] + "…"
