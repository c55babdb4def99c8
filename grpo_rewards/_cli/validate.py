"""``grpo-rewards validate``: a configuration, or data against it, before anything is spent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from grpo_rewards._cli.sources import (
    HOW,
    ConfigOption,
    OnlyOption,
    composite_from_options,
    config_and_file,
    find_config,
)


def validate(
    first: Annotated[
        Path | None,
        typer.Argument(metavar="[CONFIG]", help="A configuration (.yaml, preset/NAME); or with -c."),
    ] = None,
    second: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Rows to look through, alone or for the configuration.")
    ] = None,
    config: ConfigOption = None,
    only: OnlyOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Check a configuration, or a file's rows: malformed lines, columns, chat format, groups, golds and tests that cannot
    be read, conditions that no row meets, weights that cannot matter.

    The configuration may be one of grpo-rewards train: then its arguments, batches, data and prompts are looked at.
    Exit 1 when there is something to mend.

    Example: grpo-rewards validate rewards.yaml completions.jsonl
    """
    from grpo_rewards._doctor.rows import examine_rows
    from grpo_rewards.errors import ConfigError

    config, file = config_and_file(first, second, config)
    if file is None:
        asked = find_config(config)
        if asked is None:
            raise ConfigError(f"nothing to validate: {HOW}, or name a file of rows")
        found = _of_config(asked, only)
    else:
        composite = composite_from_options(config, only) if only or find_config(config) is not None else None
        found = examine_rows(file, composite)
    show(found, as_json=as_json)


def show(found: dict[str, Any], *, as_json: bool) -> None:
    """Print figures and findings, and exit with 1 where there is something to mend."""
    from grpo_rewards._cli.app import FINDINGS

    if as_json:
        typer.echo(json.dumps(found, indent=2, default=str))
    else:
        for key, value in found.items():
            if key != "findings":
                typer.echo(f"{key}: {value}")
        for finding in found["findings"]:
            typer.echo(f"finding: {finding}")
        typer.echo("nothing to mend" if not found["findings"] else f"{found['total_findings']} to mend")
    if found["findings"]:
        raise typer.Exit(FINDINGS)


def _of_config(file: Path, only: list[str] | None) -> dict[str, Any]:
    from grpo_rewards._composition import load
    from grpo_rewards._doctor.weights import idle_weights

    # its rewards stand within, and its data and batches can be wrong beside them
    if is_recipe(file):
        from grpo_rewards._cli.train import checked

        return checked(file)
    composite = load(file).only(only) if only else load(file)
    components = {
        c.name: f"{c.weight:g} × {c.reward.source}:{c.reward.name} {c.reward.version}" for c in composite.components
    }
    columns = list(composite.required_columns)
    findings = idle_weights(composite)
    return {"components": components, "columns": columns, "total_findings": len(findings), "findings": findings}


def is_recipe(file: Path) -> bool:
    """Whether a configuration is a file of ``grpo-rewards train``: it names a model and data."""
    from grpo_rewards._composition.config import read_yaml

    if not file.is_file():
        return False
    data = read_yaml(file)
    return isinstance(data, dict) and {"model", "dataset"} <= set(data)
