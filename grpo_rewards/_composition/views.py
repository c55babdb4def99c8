"""What a person looks at in a notebook: a row explained, a table or a composite as small HTML, frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from grpo_rewards._contract.display import block, cut, shown_number, table
from grpo_rewards._contract.text import completion_text

if TYPE_CHECKING:
    from grpo_rewards._composition.composite import Composite
    from grpo_rewards._composition.table import ScoreTable

_ROWS, _COLUMNS, _CHARACTERS = 10, 8, 4_000  # what is shown of a table, and of a text


class Explanation(dict[str, Any]):
    """One row explained: `ScoreTable.row` with the row's ``prompt`` and ``completion``; printed, it says how the reward came about."""

    def lines(self) -> list[str]:
        """The reward, then value × weight × gate of each component with its reason and details."""
        found = [f"reward {'none' if self['reward'] is None else format(self['reward'], '.6g')}"]
        if "left_out" in self:
            found.append(f"  left out: {cut(self['left_out'], 400)}")
        for name, part in self["components"].items():
            value, status = part["value"], part["status"]
            if value is None:
                sum_ = status
            else:
                sum_ = f"{value:.6g} × {part['weight']:g} × gate {part['gate']:g} = {part['contribution']:.6g}"
                sum_ += "" if status == "scored" else f" ({status})"
            found.append(f"  {name:<12} {sum_}" + (f"   {cut(part['reason'], 400)}" if part["reason"] else ""))
            if details := part.get("details"):
                text = ", ".join(f"{key} {value}" for key, value in details.items())
                found.append(f"  {'':<12} {cut(text, 400)}")
        return found

    @property
    def texts(self) -> dict[str, str]:
        """The prompt and the completion as plain text, where the row has them."""
        return {name: _text(self[name]) for name in ("prompt", "completion") if self.get(name) is not None}

    def __str__(self) -> str:
        texts = [f"{name}: {cut(text, _CHARACTERS)}" for name, text in self.texts.items()]
        return "\n".join([*texts, *self.lines()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        rows = []
        for name, part in list(self["components"].items())[:100]:  # a notebook keeps all that it shows
            figures = (part["value"], part["weight"], part["gate"], part["contribution"])
            rows.append((name, *map(shown_number, figures), part["status"], cut(part["reason"], 400)))
        texts = "".join(block(name, cut(text, _CHARACTERS)) for name, text in self.texts.items())
        head = ("component", "value", "weight", "gate", "contribution", "status", "reason")
        left_out = f"; left out: {cut(self['left_out'], 400)}" if "left_out" in self else ""
        return (
            f"{texts}<div><b>{escape('reward ' + shown_number(self['reward']) + left_out)}</b></div>{table(head, rows)}"
        )


def _text(given: object) -> str:
    """A prompt or completion, a text or a list of messages, as text."""
    if isinstance(given, str):
        return given
    if isinstance(given, list) and all(isinstance(one, Mapping) for one in given):
        if len(given) == 1:
            return completion_text(given)
        return "\n".join(f"{one.get('role', '')}: {one.get('content', '')}" for one in given)
    return str(given)


def html_of_table(scores: ScoreTable) -> str:
    """The figures per component, then the first rows with value and reason."""
    names = list(scores.components)[:_COLUMNS]
    stats = scores.stats()
    keys = ("weight", "n", "mean", "group_std", "rejected", "timeout", "unavailable", "error")
    figures = [(name, *(shown_number(stats[name].get(key)) for key in keys)) for name in names]
    rows = []
    for index in range(min(len(scores), _ROWS)):
        row = scores[index]
        parts = [row["components"][name] for name in names]
        cells = []
        for part in parts:
            why = part["reason"] or ("" if part["value"] is not None else part["status"])
            cells.append(f"{shown_number(part['value'])} {cut(why, 80)}")
        rows.append((str(index), shown_number(row["reward"]), cut(row.texts.get("completion", ""), 200), *cells))
    more = len(scores.components) - len(names)
    hidden = [f"{len(scores) - len(rows):,} more rows"] if len(scores) > len(rows) else []
    hidden += [f"{more:,} more components"] if more else []
    note = f"<div>{', '.join(hidden)}: table[i], table.to_pandas(), table.report()</div>" if hidden else ""
    title = f"<div><b>{escape(scores.summary)}</b></div>"
    return title + table(("component", *keys), figures) + table(("row", "reward", "completion", *names), rows) + note


def html_of_composite(composite: Composite) -> str:
    """Its components with weights, conditions and columns."""
    rows = []
    for one in composite.components[:100]:
        config = composite.config.rewards[one.name]
        extra = {
            key: value for key, value in config.model_dump(exclude_unset=True).items() if key not in ("use", "weight")
        }
        where = f"{one.reward.name} ({one.reward.source} {one.reward.version})"
        rows.append(
            (one.name, f"{one.weight:g}", where, ", ".join(one.columns), cut(repr(extra) if extra else "", 400))
        )
    more = f"<div>{len(composite.components) - 100:,} more</div>" if len(composite.components) > 100 else ""
    return table(("component", "weight", "reward", "columns", "settings"), rows) + more


def columns_of(scores: ScoreTable) -> dict[str, Sequence[object]]:
    """The table as columns: prompt, completion, reward, ``left_out``, and per component value, weighted share, status, reason."""
    size = range(len(scores))
    found: dict[str, Sequence[object]] = {}
    if scores.batch is not None:
        if scores.batch.prompts is not None:
            found["prompt"] = [None if prompt is None else _text(prompt) for prompt in scores.batch.prompts]
        found["completion"] = [_text(completion) for completion in scores.batch.completions]
    found["reward"] = scores.rewards()
    found["left_out"] = [scores.left_out.get(row) for row in size]
    for name, outcomes in scores.components.items():
        found[f"{name}.value"] = scores.values(name)
        found[f"{name}.status"] = scores.statuses(name)
        found[f"{name}.reason"] = [outcome.reason for outcome in outcomes]
    return found
