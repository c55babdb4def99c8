"""``grpo-rewards doctor``: what this machine has, what is wrong with it, and what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["doctor"]

_MARKS = {"ok": "ok", "note": "note", "problem": "PROBLEM", "broken": "BROKEN"}


def doctor(
    config: Annotated[
        Path | None, typer.Argument(metavar="[CONFIG]", help="A composition, to see that its rewards answer here.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Look at the environment, plugins, sandbox, Docker, GPU and TRL; exit 1 for problems, 3 where something cannot work.

    Example: grpo-rewards doctor rewards.yaml
    """
    import logging

    from grpo_rewards._cli.app import ENVIRONMENT, FINDINGS
    from grpo_rewards._composition import load
    from grpo_rewards._doctor import examine, examine_config

    logging.getLogger("grpo_rewards._registry").setLevel(logging.ERROR)  # the findings say it
    findings = list(examine())
    if config is not None:
        findings += examine_config(load(config))
    if as_json:
        entries = [{"topic": one.topic, "level": one.level, "text": one.text, "action": one.action} for one in findings]
        typer.echo(json.dumps({"findings": entries}, indent=2))
    else:
        for one in findings:
            typer.echo(f"{_MARKS[one.level]:8} {one.topic}: {one.text}")
            if one.action:
                typer.echo(f"{'':8} -> {one.action}")
    levels = {one.level for one in findings}
    if "problem" in levels:
        raise typer.Exit(FINDINGS)
    if "broken" in levels:
        raise typer.Exit(ENVIRONMENT)
