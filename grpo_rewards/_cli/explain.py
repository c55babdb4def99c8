"""``grpo-rewards explain``: what a reward wants, or how one row came by its reward."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated

import typer

from grpo_rewards._cli.catalogue import entry_of
from grpo_rewards._cli.sources import (
    ConfigOption,
    JoinOption,
    OnlyOption,
    OnOption,
    composite_from_options,
    find_config,
    named_rewards,
    one_config,
)

if TYPE_CHECKING:
    from grpo_rewards._composition.views import Explanation

_CHARACTERS = 4_000  # shown of a prompt and of a completion


def explain(
    what: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE#ROW",
            help="A reward, preset/NAME, or a row of a file by its line number.",
            autocompletion=named_rewards,
        ),
    ],
    placed: Annotated[
        Path | None, typer.Argument(metavar="[CONFIG]", help="The composition to score a row with; or with -c.")
    ] = None,
    config: ConfigOption = None,
    only: OnlyOption = None,
    join: JoinOption = None,
    on: OnOption = "prompt",
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Explain a reward (its documentation, columns, settings), or a row: value x weight x gate, each with its reason.

    A preset is shown as the YAML that it is, ready to be copied.

    A row of a scored file, or of a trainer's completions, is explained from its record, unless a configuration is given.

    Example: grpo-rewards explain completions.jsonl#17 -c rewards.yaml
    """
    from grpo_rewards._presets import is_preset

    config = one_config(placed, config)
    file, mark, row = what.rpartition("#")  # from the right: a file's name may hold a # itself
    if is_preset(what):
        _explain_preset(what, as_json=as_json)
    elif mark and row.isdigit():
        _explain_row(file, int(row), config, only, join, on, as_json=as_json)
    elif mark and Path(file).is_file():
        raise typer.BadParameter(f"{file}#ROW: ROW is a line number from 1, not {row!r}", param_hint="NAME|FILE#ROW")
    else:
        _explain_reward(what, as_json=as_json)


def _explain_reward(name: str, *, as_json: bool) -> None:
    from grpo_rewards._contract.signature import REQUIRED
    from grpo_rewards._registry import get_reward

    reward = get_reward(name)
    settings = {
        item.name: {
            "type": inspect.formatannotation(item.annotation),
            **({} if item.default is REQUIRED else {"default": item.default}),
        }
        for item in reward.shape.settings
    }
    if as_json:
        entry = {**entry_of(reward), "settings": settings, "documentation": reward.documentation}
        typer.echo(json.dumps(entry, indent=2, default=repr))
        return
    typer.echo(f"{reward.name}  ({reward.source} {reward.version}, {reward.style} style)\n")
    typer.echo(reward.__doc__, nl=False)


def _explain_preset(reference: str, *, as_json: bool) -> None:
    from grpo_rewards._composition import load
    from grpo_rewards._presets import find_preset

    preset = find_preset(reference)
    columns = list(load(reference).required_columns)
    if as_json:
        entry = {
            "name": preset.reference, "source": preset.source, "summary": preset.summary, "path": str(preset.path),
            "required_columns": columns, "yaml": preset.text,
        }  # fmt: skip
        typer.echo(json.dumps(entry, indent=2))
        return
    typer.echo(preset.text.rstrip())
    # to stderr, so that stdout is the file
    typer.echo(f"{preset.reference} of {preset.source}; columns needed: {', '.join(columns) or 'none'}", err=True)


def _explain_row(
    file: str, number: int, config: Path | None, only: list[str] | None, join: Path | None, on: str, *, as_json: bool
) -> None:
    from grpo_rewards._contract.display import cut

    records = _records(file, number, config, only, join, on)
    if as_json:
        typer.echo(json.dumps(records, indent=2, default=str))
        return
    for record in records:
        index = f" completion {record['index']}" if "index" in record else ""
        lines = record.lines()
        typer.echo("\n".join([f"{file}#{number}{index}: {lines[0]}", *lines[1:]]))
        for name, text in record.texts.items():
            typer.echo(f"  {name}:\n{indent(cut(text, _CHARACTERS), '    ')}")


def _records(
    file: str, number: int, config: Path | None, only: list[str] | None, join: Path | None, on: str
) -> list[Explanation]:
    """The scores of a row's completions: recorded ones, or made now among the row's whole group."""
    from grpo_rewards._composition.views import Explanation
    from grpo_rewards._contract.shapes import SCORES, scores_in
    from grpo_rewards._scoring.chunks import Pace, batch_of, checked, make_chunks
    from grpo_rewards._scoring.reading import open_source
    from grpo_rewards._scoring.reading.joining import joined
    from grpo_rewards._scoring.reading.shapes import read_shape
    from grpo_rewards._scoring.scored import scores_of
    from grpo_rewards.errors import InputError

    # counted apart from lines: parquet has ordinals, and empty lines of JSONL are no rows
    rows, last = 0, 0
    row = None
    for row in open_source(file).rows():
        rows, last = rows + 1, row.number
        if last >= number:
            break
    if row is None or last != number:
        found = (
            "they are counted from 1"
            if number == 0
            else f"line {number} is empty"
            if last > number
            else f"the file has {rows:,} rows, the last is {last}"
        )
        raise InputError(f"there is no row {number}: {found}", source=file)
    if row.data is None:
        raise InputError(row.problem, source=file, line=number)
    if config is None and not only:
        if SCORES in row.data:
            shaped = read_shape(row.data, cells=False).samples[0]
            return [Explanation({**scores_in(row.data), **_texts(shaped)})]
        if logged := _logged(file, row.number, row.data):
            return [logged]
        if find_config(None) is None:
            raise InputError(
                "this row holds no recorded scores; give -c rewards.yaml or --only NAME", source=file, line=number
            )
    composite = composite_from_options(config, only)
    # one group at a time, so that no other row is scored for this one
    # opened anew: what was read to find the row is gone
    source = joined(open_source(file), join, on)
    chunks = make_chunks(source, Pace(start=1, most=1), warn=lambda _text: None)
    for chunk in checked(chunks, composite, source, file):
        for malformed in chunk.malformed:
            if malformed.number == number:
                raise InputError(malformed.problem, source=file, line=number)
        if any(sample.row == number for sample in chunk.samples):
            table = composite.score(batch_of(chunk.samples, composite.required_columns))
            return [
                Explanation({**scores_of(sample, table.row(position)), **_texts(sample.data)})
                for position, sample in enumerate(chunk.samples)
                if sample.row == number
            ]
    raise InputError(f"there is no row {number}", source=file)


def _logged(file: str, number: int, data: Mapping[str, object]) -> Explanation | None:
    """What a trainer's log holds of a row: values (gates and clips are in them), weights and reasons; None in other files."""
    from grpo_rewards._composition.views import Explanation
    from grpo_rewards._report.reading import open_report_source
    from grpo_rewards._scoring.reading.rows import PARQUET, format_suffix

    # JSONL with a record has been explained; a trainer logs parquet
    if format_suffix(Path(file)) not in PARQUET:
        return None
    row = next(islice(open_report_source(Path(file)).rows, number - 1, None))
    if not any(f"{name}_reason" in data for name in row.parts):
        return None
    parts = {
        name: {
            "value": part.value,
            "weight": part.weight,
            "gate": 1.0,
            "contribution": part.contribution,
            "status": part.status,
            "reason": part.reason,
        }
        for name, part in row.parts.items()
    }
    return Explanation({"row": number, "reward": row.reward, "components": parts, **_texts(dict(data))})


def _texts(data: dict[str, object]) -> dict[str, object]:
    return {name: data[name] for name in ("prompt", "completion") if data.get(name) is not None}
