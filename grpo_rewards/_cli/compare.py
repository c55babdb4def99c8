"""``grpo-rewards compare``: two configurations, or two scored files, on the same rows."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grpo_rewards._cli.sources import is_config
from grpo_rewards._cli.tables import cell, number, show_table
from grpo_rewards.errors import printable

if TYPE_CHECKING:
    from grpo_rewards._compare.comparison import Figures, RowChange


def compare(
    places: Annotated[
        list[str],
        typer.Argument(
            metavar="A B [ROWS]",
            help="Two scored files; or two configurations (.yaml, preset/NAME; or with -c) and the rows to score.",
        ),
    ],
    config: Annotated[
        list[Path] | None,
        typer.Option("--config", "-c", help="A configuration; given twice, it stands for A and B."),
    ] = None,
    top: Annotated[int, typer.Option(min=0, help="Rows shown, largest change first.")] = 10,
    seed: Annotated[int, typer.Option(help="Of the resampling.")] = 0,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit 1 when a row's reward changed.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print everything as JSON, every changed row included.")
    ] = False,
) -> None:
    """Compare two scorings of the same rows: which rows changed and why, ranks, advantages, significance.

    Example: grpo-rewards compare old.yaml new.yaml completions.jsonl
    """
    from grpo_rewards._cli.app import FINDINGS
    from grpo_rewards._compare.comparison import compare as compare_sides
    from grpo_rewards._compare.sides import read_side, score_sides

    a, b, rows = _sides([*map(str, config or ()), *places], len(config or ()))
    configured = [is_config(path) for path in (a, b)]
    # a recorded score beside one made now may come of other versions of the rewards
    if any(configured) and not all(configured):
        raise typer.BadParameter("give two configurations, or two scored files, not one of each", param_hint="A B")
    if all(configured):
        if rows is None:
            raise typer.BadParameter("two configurations need the rows to score: compare A B ROWS", param_hint="ROWS")
        from grpo_rewards._composition import load

        one, two = score_sides([(str(path), load(path)) for path in (a, b)], rows, warn=_warn)
    elif rows is not None:
        raise typer.BadParameter(
            f"{a} and {b} hold scores already; ROWS goes with two configurations", param_hint="ROWS"
        )
    else:
        one, two = read_side(a), read_side(b)
    found = compare_sides(one, two, seed=seed)
    if as_json:
        _write(found.summary, found.changed)
    else:
        _show(found.summary, found.changed[:top])
    if exit_code and found.summary["rows_changed"]:
        raise typer.Exit(FINDINGS)


def _write(summary: Figures, changed: Sequence[RowChange]) -> None:
    """Print everything as one JSON object, row by row: the changed ones need not fit in memory."""
    import orjson

    write = sys.stdout.buffer.write
    head = orjson.dumps({**summary, "changed": []}, option=orjson.OPT_INDENT_2)
    write(head.removesuffix(b"]\n}"))  # `changed` is the last key, and empty here
    for place, entry in enumerate(changed):
        # line breaks stand between values alone: within a string JSON escapes them
        text = orjson.dumps(entry, option=orjson.OPT_INDENT_2).replace(b"\n", b"\n    ")
        write((b",\n    " if place else b"\n    ") + text)
    write(b"\n  ]\n}\n" if changed else b"]\n}\n")


def _sides(given: list[str], configs: int) -> tuple[Path, Path, str | None]:
    if configs not in (0, 2):
        raise typer.BadParameter("give it twice, once for A and once for B", param_hint="--config")
    if not 2 <= len(given) <= 3:
        raise typer.BadParameter(f"expected A B or A B ROWS, not {len(given)} of them", param_hint="A B [ROWS]")
    return Path(given[0]), Path(given[1]), given[2] if len(given) == 3 else None


def _warn(text: str) -> None:
    typer.echo(f"warning: {text}", err=True)


def _show(summary: Figures, changed: Sequence[RowChange]) -> None:
    reward, advantages = summary["reward"], summary["advantages"]
    say = typer.echo
    say(f"A: {summary['a']}\nB: {summary['b']}")
    say(f"{summary['rows']:,} rows in {summary['groups']:,} groups; the reward of {summary['rows_changed']:,} changed")
    for side in ("a", "b"):
        if summary[f"only_in_{side}"]:
            say(f"{summary[f'only_in_{side}']:,} rows are only in {side.upper()} and are left out")
        if reward[f"no_reward_in_{side}"]:
            say(f"{reward[f'no_reward_in_{side}']:,} rows have no reward in {side.upper()}")
    spread = reward["interval_95"]
    between = f", 95 % interval {spread[0]:+.4g} to {spread[1]:+.4g}" if spread is not None else ""
    say(
        f"reward: mean {number(reward['mean_a'])} to {number(reward['mean_b'])}, "
        f"difference {number(reward['difference'])}{between}, p = {number(reward['p_value'])} "
        f"({reward['groups_up']:,} groups up, {reward['groups_down']:,} down)"
    )
    say(f"ranks: Kendall {number(reward['kendall'])}, Spearman {number(reward['spearman'])}; "
        f"within groups Kendall {number(advantages['kendall_within_groups'])}")  # fmt: skip
    say(
        f"advantages: correlation {number(advantages['correlation'])}, mean change "
        f"{number(advantages['mean_absolute_change'])}, {advantages['rows_that_change_sign']:,} rows change sign; groups: "
        f"{advantages['groups_that_gain_signal']:,} gain signal, {advantages['groups_that_lose_signal']:,} lose it, "
        f"{advantages['groups_with_another_best']:,} have another best completion"
    )
    columns = {
        "rows_changed": "changed", "value_changed": "value", "weight_changed": "weight", "gate_changed": "gate",
        "status_changed": "status", "main_cause": "main cause", "share_of_change": "share", "mean_a": "mean A",
        "mean_b": "mean B", "kendall": "Kendall", "spearman": "Spearman",
    }  # fmt: skip
    rows = []
    for name, figures in summary["components"].items():
        mark = {"a": " (only A)", "b": " (only B)"}.get(figures["in"], "")
        rows.append((name + mark, *(cell(key, figures[key]) for key in columns)))
    show_table(("component", *columns.values()), rows, left=("component",))
    for entry in changed:
        place = f"row {entry['row']}" + (f".{entry['index']}" if "index" in entry else "")
        say(f"{place}: {number(entry['a'])} to {number(entry['b'])}, {_end(entry['completion'])!r}")
        for name in entry["by"]:
            part = entry["components"][name]
            sides = [
                f"{side} {number(cell['value'])} × {cell['weight']:g} × gate {cell['gate']:g}"
                + (f" ({_end(cell['reason'])})" if cell["reason"] else "")
                for side, cell in (("A", part["a"]), ("B", part["b"]))
                if cell is not None
            ]
            say(f"    {name} {part['change']:+.4g}: {'; '.join(sides) or 'clip or method of the total'}")


def _end(text: str) -> str:
    """Return the end of a text, where a completion has its answer, as one line."""
    return printable(text[-100:])
