"""``grpo-rewards audit``: tries to cheat the configured rewards, offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from grpo_rewards._audit import AuditReport, Earned

__all__ = ["audit"]


def audit(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="The composition to cheat.")],
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Rows to cheat on; built-in ones without it.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option("--only", metavar="NAME", help="A component. Repeatable.")] = None,
    rows: Annotated[int, typer.Option(min=1, help="Prompts of FILE to try.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Try to cheat the rewards: empty, echo, many answers, tags, padding, code that leaves early; exit 1 if one pays.

    A cheat pays when it earns more than an honest wrong answer. Exit 3 where a sandbox or service was down.

    Example: grpo-rewards audit rewards.yaml
    """
    from grpo_rewards._audit import audit as run_audit
    from grpo_rewards._audit import cases_of_file, sample_cases
    from grpo_rewards._cli.app import ENVIRONMENT, FINDINGS
    from grpo_rewards._composition import load

    composite = load(config)
    if only:
        composite = composite.only(only)
    cases = sample_cases(composite) if file is None else cases_of_file(composite, file, limit=rows)
    report = run_audit(composite, cases)
    if as_json:
        import json

        typer.echo(json.dumps(_plain(report), indent=2))
    else:
        _show(report)
    if report.wins or report.broken:
        raise typer.Exit(FINDINGS)
    if report.untried:
        raise typer.Exit(ENVIRONMENT)


def _plain(report: AuditReport) -> dict[str, Any]:
    return {
        "cases": report.cases,
        "completions": report.completions,
        "findings": [_entry(one) for one in report.wins],
        "broken": report.broken,
        "untried": report.untried,
        "notes": report.notes,
        "attacks": [_entry(one) for one in report.earned],
    }


def _entry(one: Earned) -> dict[str, Any]:
    return {
        "attack": one.attack, "what": one.what, "case": one.case, "reward": one.reward, "honest_wrong": one.honest,
        "right": one.right, "pays": one.wins, "tried": one.tried, "components": one.parts,
        "completion": one.completion[:4000], "characters": len(one.completion),
    }  # fmt: skip


def _show(report: AuditReport) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 200
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("cheat", "earned", "honest wrong", "right", "verdict", "what it does"):
        table.add_column(title, justify="right" if title in ("earned", "honest wrong", "right") else "left")
    for one in report.worst():
        right = "" if one.right is None else f"{one.right:.4g}"
        verdict = "PAYS" if one.wins else "no gain"
        table.add_row(one.attack, f"{one.reward:.4g}", f"{one.honest:.4g}", right, verdict, one.what)
    console.print(table, markup=False)
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
    for text in dict.fromkeys(report.notes):
        typer.echo(f"note: {text}", err=True)
    paid = f"{len(report.wins)} times a cheat beats an honest wrong answer" if report.wins else "no cheat pays"
    broken = f", {len(report.broken)} break something" if report.broken else ""
    typer.echo(f"{report.completions:,} completions on {report.cases} rows: {paid}{broken}", err=True)


def _printable(text: str, most: int = 160) -> str:
    """Return text of a completion as one line that a terminal shows and does not obey."""
    text = text.replace("\n", "⏎")
    text = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text[: most + 1])
    return text if len(text) <= most else text[:most] + "…"
