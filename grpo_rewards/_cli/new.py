"""``grpo-rewards new``: an installable plugin with tests that pass at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The distribution: grpo-rewards-tone, say.")],
    into: Annotated[Path, typer.Option(help="The folder to make it in.")] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
) -> None:
    """Write a plugin: a reward, its tests with the whole contract, an entry point, an example.

    Example: grpo-rewards new grpo-rewards-tone
    """
    from grpo_rewards._scaffold import write_plugin

    folder, written = write_plugin(name, into)
    if as_json:
        typer.echo(json.dumps({"folder": str(folder), "files": [str(path) for path in written]}, indent=2))
        return
    for path in written:
        typer.echo(str(path))
    typer.echo(f'next: cd {folder} && pip install -e ".[dev]" && python -m pytest', err=True)
