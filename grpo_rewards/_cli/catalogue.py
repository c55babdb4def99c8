"""``grpo-rewards list`` and ``schema``: what is installed, and what a configuration may say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from grpo_rewards._cli.sources import named_rewards

if TYPE_CHECKING:
    from grpo_rewards._contract import Reward

_COLUMNS = 4  # that are shown of a reward; `explain` has all


def list_(
    presets: Annotated[bool, typer.Option("--presets", help="List whole compositions instead: preset/NAME.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the installed rewards, and what is wrong with plugins; exit 1 when something is.

    Example: grpo-rewards list --presets
    """
    from grpo_rewards._cli.app import FINDINGS
    from grpo_rewards._registry import registry

    if presets:
        _list_presets(as_json=as_json)
        return
    found = registry()
    rewards = sorted(found.rewards.items())
    problems = [f"plugin {p.label} {p.version}: {text}" for p in found.plugins for text in p.problems]
    # a name that two plugins give is no fault of either, and yet somebody loses
    problems += found.duplicates
    if as_json:
        typer.echo(json.dumps({"rewards": [entry_of(reward) for _, reward in rewards], "problems": problems}, indent=2))
    else:
        from rich.console import Console
        from rich.table import Table

        table = Table(box=None, pad_edge=False, header_style="bold")
        for title in ("reward", "range", "columns", "from", "version", "what it rewards"):
            table.add_column(
                title, overflow="fold" if title == "what it rewards" else "ellipsis", no_wrap=title == "reward"
            )
        for name, reward in rewards:
            low_high = "" if reward.range is None else "{:g} … {:g}".format(*reward.range)
            names = [*reward.required_columns, *(f"[{column}]" for column in reward.optional_columns)]
            more = f" and {len(names) - _COLUMNS} more" if len(names) > _COLUMNS else ""
            columns = ", ".join(names[:_COLUMNS]) + more
            values = (name, low_high, columns, reward.source, reward.version, reward.summary)
            table.add_row(*(value.replace("[", r"\[") for value in values))  # rich takes [name] for markup
        console = Console()
        if not console.is_terminal:
            console.width = 200  # in a pipe rich would cut at 80
        console.print(table)
        for problem in problems:
            typer.echo(f"problem: {problem}", err=True)
    if problems:
        raise typer.Exit(FINDINGS)


def _list_presets(*, as_json: bool) -> None:
    from grpo_rewards._presets import list_presets

    entries = [
        {
            "name": preset.reference,
            "summary": preset.summary,
            "components": list(preset.config().rewards),
            "source": preset.source,
            "path": str(preset.path),
        }
        for preset in list_presets()
    ]
    if as_json:
        typer.echo(json.dumps(entries, indent=2))
        return
    width = max((len(str(entry["name"])) for entry in entries), default=0)
    for entry in entries:
        typer.echo(f"{entry['name']:<{width}}  {entry['summary']}")


def entry_of(reward: Reward) -> dict[str, object]:
    """Return what is said of an installed reward as JSON."""
    return {
        "name": reward.name,
        "range": reward.range,
        "style": reward.style,
        "required_columns": list(reward.required_columns),
        "optional_columns": list(reward.optional_columns),
        "source": reward.source,
        "version": reward.version,
        "summary": reward.summary,
    }


def schema(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="A reward, for the schema of its settings.", autocompletion=named_rewards
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As every command has it; a schema is JSON anyway.")] = False,
) -> None:
    """Print the JSON schema of a configuration (for editors), or of a reward's settings.

    Example: grpo-rewards schema > rewards.schema.json
    """
    if name is not None:
        from grpo_rewards._registry import get_reward

        found = get_reward(name).settings_schema()
    else:
        from grpo_rewards._composition import Config

        found = Config.model_json_schema()
    typer.echo(json.dumps(found, indent=2))
