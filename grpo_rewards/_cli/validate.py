"""``grpo-rewards validate``: a configuration, or data against it, before anything is spent."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grpo_rewards._cli.sources import ConfigOption, OnlyOption, composite_for, find_config

if TYPE_CHECKING:
    from grpo_rewards._composition import Composite

__all__ = ["validate"]

_SHOWN = 20


def validate(
    file: Annotated[
        Path, typer.Argument(metavar="CONFIG|FILE", help="A configuration (.yaml, preset/NAME), or a file of rows.")
    ],
    config: ConfigOption = None,
    only: OnlyOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Check a configuration, or a file's rows: malformed lines, columns, chat format, groups, golds that cannot be read.

    The configuration may be one of grpo-rewards train: then its arguments, batches, data and prompts are looked at.
    Exit 1 when there is something to mend.

    Example: grpo-rewards validate completions.jsonl -c rewards.yaml
    """
    from grpo_rewards._cli.app import FINDINGS
    from grpo_rewards._presets import is_preset

    if file.suffix.lower() in (".yaml", ".yml") or is_preset(str(file)):
        found = _of_config(file)
    else:
        composite = composite_for(config, only) if only or find_config(config) is not None else None
        found = _of_rows(file, composite)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        for key, value in found.items():
            if key != "findings":
                typer.echo(f"{key}: {value}")
        for finding in found["findings"]:
            typer.echo(f"finding: {finding}")
        typer.echo("nothing to mend" if not found["findings"] else f"{found['total_findings']} to mend")
    if found["findings"]:
        raise typer.Exit(FINDINGS)


def _of_config(file: Path) -> dict[str, Any]:
    from grpo_rewards._composition import load

    if file.is_file() and _is_training(file):
        from grpo_rewards._cli.train import checked

        return checked(file)
    composite = load(file)
    components = {
        c.name: f"{c.weight:g} × {c.reward.source}:{c.reward.name} {c.reward.version}" for c in composite.components
    }
    columns = list(composite.required_columns)
    return {"components": components, "columns": columns, "total_findings": 0, "findings": []}


def _is_training(file: Path) -> bool:
    """Whether a configuration is one of ``grpo-rewards train``: it names a model and data."""
    from grpo_rewards._composition.config import read_yaml

    data = read_yaml(file)
    return isinstance(data, dict) and {"model", "dataset"} <= set(data)


class _Findings:
    """What is wrong, counted, the first of it in words."""

    def __init__(self) -> None:
        self.total = 0
        self.shown: list[str] = []

    def add(self, text: str) -> None:
        self.total += 1
        if len(self.shown) < _SHOWN:
            self.shown.append(text)


def _of_rows(file: Path, composite: Composite | None) -> dict[str, Any]:
    from grpo_rewards._scoring.chunks import Pace, make_chunks
    from grpo_rewards._scoring.reading import open_source

    findings = _Findings()
    source = open_source(file)
    rows = groups = 0
    sizes: Counter[int] = Counter()
    kinds: Counter[str] = Counter()
    columns: Counter[str] = Counter()
    for chunk in make_chunks(source, Pace(start=256), warn=findings.add):
        for row in chunk.malformed:
            findings.add(f"{source.name}:{row.number}: {row.problem}")
        members = Counter(sample.group for sample in chunk.samples)
        sizes.update(members.values())
        groups += len(members)
        for sample in chunk.samples:
            rows += 1
            kinds["text" if isinstance(sample.data["completion"], str) else "chat"] += 1
            columns.update(name for name, value in sample.data.items() if value is not None)
            if composite is not None:
                _check_row(composite, sample.data, f"{source.name}:{sample.row}", findings)
    if len(kinds) > 1:
        findings.add(f"{source.name}: {kinds['text']} completions are text and {kinds['chat']} are chat; use one form")
    if len(sizes) > 1:
        spread = ", ".join(f"{count} of {size}" for size, count in sorted(sizes.items())[:5])
        findings.add(f"{source.name}: groups differ in size ({spread}); GRPO compares groups of one size")
    if not rows:
        findings.add(f"{source.name}: holds no rows")
    return {
        "rows": rows,
        "groups": groups,
        "completions": ", ".join(kinds),
        "columns": {name: count for name, count in sorted(columns.items()) if name not in ("completion", "prompt")},
        "total_findings": findings.total,
        "findings": findings.shown,
    }


def _check_row(composite: Composite, data: dict[str, Any], where: str, findings: _Findings) -> None:
    for component in composite.components:
        if component.when is not None and not component.when.holds(data.get(component.when.column)):
            continue
        missing = [name for name in component.reward.required_columns if data.get(name) is None]
        for name in missing:
            findings.add(f"{where}: column {name!r}, which component {component.name!r} needs, is missing or empty")
        check = component.reward.check_row
        if check is None or missing:
            continue
        asked = {
            parameter.name: data.get(component.reward.columns.get(parameter.name, parameter.name), parameter.default)
            for parameter in component.reward.shape.data
            if parameter.column is not None
        }
        wanted = check.__code__.co_varnames[: check.__code__.co_argcount]
        if problem := check(**{name: asked[name] for name in wanted if name in asked}):
            findings.add(f"{where}: {component.name}: {problem}")
