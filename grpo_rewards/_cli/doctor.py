"""``grpo-rewards doctor``: what this machine has, what is wrong with it, and what to do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grpo_rewards._cli.sources import HOW, ConfigOption, config_and_file, find_config

if TYPE_CHECKING:
    from grpo_rewards._doctor.checks import Finding

_MARKS = {"ok": "ok", "note": "note", "problem": "PROBLEM", "broken": "BROKEN"}
_MEND = "mend it; 'grpo-rewards validate' looks again at this alone"


def doctor(
    first: Annotated[
        Path | None,
        typer.Argument(
            metavar="[CONFIG]",
            help="A composition, to see that its rewards answer here, or one of grpo-rewards train; or with -c.",
        ),
    ] = None,
    second: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Rows that the composition is to score, looked through.")
    ] = None,
    config: ConfigOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Look at the environment, plugins, sandbox, Docker, GPU and TRL; exit 1 for problems, 3 where something cannot work.

    Example: grpo-rewards doctor rewards.yaml completions.jsonl
    """
    import logging

    from grpo_rewards._cli.app import ENVIRONMENT, FINDINGS
    from grpo_rewards._doctor.checks import examine

    placed, file = config_and_file(first, second, config)
    found = find_config(placed)
    if file is not None and found is None:
        raise typer.BadParameter(f"rows are checked against a composition: {HOW}", param_hint="FILE")
    logging.getLogger("grpo_rewards._registry").setLevel(logging.ERROR)  # the findings say it
    findings = list(examine())
    if found is not None:
        findings += _of_config(found, file)
    if as_json:
        typer.echo(json.dumps({"findings": [asdict(one) for one in findings]}, indent=2))
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


def _of_config(config: Path, file: Path | None) -> list[Finding]:
    from grpo_rewards._cli.train import checked_recipe
    from grpo_rewards._cli.validate import is_recipe
    from grpo_rewards._composition import load
    from grpo_rewards._doctor.checks import examine_config
    from grpo_rewards._doctor.rows import examine_rows
    from grpo_rewards._doctor.weights import idle_weights
    from grpo_rewards.errors import GrpoRewardsError

    findings = []
    if is_recipe(config):
        try:
            ready = checked_recipe(config)
        except GrpoRewardsError as error:
            # what cannot be read is a finding here, and the rest is still looked at
            return _findings_of("training run", [str(error)], 1, {})
        composite = ready.composite
        findings += _findings_of("training run", ready.findings, len(ready.findings), ready.figures)
    else:
        composite = load(config)
    findings += examine_config(composite)
    if file is None:
        if idle := idle_weights(composite):
            findings += _findings_of("configuration", idle, len(idle), {})
    else:
        try:
            found = examine_rows(file, composite)
        except GrpoRewardsError as error:
            return [*findings, *_findings_of("data", [str(error)], 1, {})]
        findings += _findings_of(
            "data", found["findings"], found["total_findings"], {"rows": found["rows"], "groups": found["groups"]}
        )
    return findings


def _findings_of(topic: str, problems: list[str], total: int, figures: Mapping[str, object]) -> list[Finding]:
    """What a check has found, each of the first problems by itself; without any, the figures."""
    from grpo_rewards._doctor.checks import Finding

    if not problems:
        return [Finding(topic, "ok", "; ".join(f"{name}: {value}" for name, value in figures.items()))]
    found = [Finding(topic, "problem", text, _MEND) for text in problems]
    if total > len(problems):
        found.append(Finding(topic, "problem", f"and {total - len(problems)} more", _MEND))
    return found
