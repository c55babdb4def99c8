"""The comparison itself: pure figures of paired rows."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NotRequired, TypedDict

from grpo_rewards._compare.ranking import kendall, spearman
from grpo_rewards._compare.sides import ComparedRow, ComponentScore, Side, pair_up
from grpo_rewards._compare.significance import interval, sign_flip
from grpo_rewards._compare.spool import Spool
from grpo_rewards._composition.normalize import standardised_in_groups
from grpo_rewards._composition.stats import mean, pearson

__all__ = ["COMBINATION", "Comparison", "compare"]

COMBINATION = "(combination)"
"""Stands for what no component explains: the clip of the total, or another way to combine."""

_SAME = 1e-9
_NONE = math.nan  # stands for no reward in arrays; a reward is a finite number


Figures = dict[str, Any]  # plain data for JSON and tables, by name


class ShownCell(TypedDict):
    """What a component said of a row on one side."""

    value: float | None
    weight: float
    gate: float
    contribution: float | None
    status: str
    reason: str


class PartChange(TypedDict):
    """How a component's part in a row's reward changed: by how much, and in what (value, weight, gate, status)."""

    change: float
    what: list[str]
    a: ShownCell | None
    b: ShownCell | None


class RowChange(TypedDict):
    """A row that differs; `by` names the components that changed, the one that moved the reward most first."""

    row: int
    index: NotRequired[int]
    group: str
    a: float | None
    b: float | None
    change: float | None
    reward_changed: bool
    by: list[str]
    components: dict[str, PartChange]
    completion: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two scorings side by side; `summary` is plain data, `changed` the rows that differ, largest change first.

    The rows stay on disk until they are asked for.
    """

    summary: Figures
    changed: Sequence[RowChange]


def compare(a: Side, b: Side, *, seed: int = 0) -> Comparison:
    """Compare two scorings of the same rows.

    Rows are paired by prompt and completion; groups are those of `a`. Rows without a reward on one side count as
    changed and stand outside of means, correlations and tests.

    Raises:
        InputError: the sides have no row in common.
    """
    mine, theirs = pair_up(a, b)
    names = dict.fromkeys((*a.components, *b.components))
    parts = {name: _Part() for name in (*names, COMBINATION)}
    changed: Spool[RowChange] = Spool()
    sizes, x, y = array("d"), array("d"), array("d")
    groups: dict[str, int] = {}
    group_of = array("q")
    rewards_changed = 0
    for place, other_place in zip(mine, theirs, strict=True):
        row, other = a.rows[place], b.rows[other_place]
        group_of.append(groups.setdefault(row.group, len(groups)))
        x.append(_NONE if row.reward is None else row.reward)
        y.append(_NONE if other.reward is None else other.reward)
        for name in names:
            parts[name].see(row.cells.get(name), other.cells.get(name))
        if (entry := _row_change(row, other)) is None:
            continue
        changed.append(entry)
        # rows that lack a reward on some side come first: no number says how much they changed
        sizes.append(-abs(entry["change"]) if entry["change"] is not None else -math.inf)
        rewards_changed += entry["reward_changed"]
        for name, part in entry["components"].items():
            parts[name].changed(part, main=entry["by"][:1] == [name] and entry["reward_changed"])
    changed.reorder(sorted(range(len(changed)), key=sizes.__getitem__))
    members = _members(group_of, len(groups))
    summary = {
        "a": a.name,
        "b": b.name,
        "rows": len(mine),
        "groups": len(groups),
        "only_in_a": len(a.rows) - len(mine),
        "only_in_b": len(b.rows) - len(mine),
        "rows_changed": rewards_changed,
        "rows_changed_in_a_component": len(changed),
        "reward": _reward(x, y, members, seed),
        "advantages": _advantages(x, y, members),
        "components": _components(a, b, parts, len(mine)),
    }
    return Comparison(summary, changed)


def _members(group_of: array[int], groups: int) -> Callable[[], Iterator[Sequence[int]]]:
    """What gives the places of each group's rows, group by group."""
    order = array("q", sorted(range(len(group_of)), key=group_of.__getitem__))
    sizes = Counter(group_of)
    ends = array("q", accumulate(sizes[group] for group in range(groups)))
    return lambda: (order[ends[group - 1] if group else 0 : ends[group]] for group in range(groups))


class _Part:
    """What one component said of all rows: its values on both sides, and how it changed."""

    def __init__(self) -> None:
        self.a, self.b, self.steps, self.moved = array("d"), array("d"), array("d"), array("d")
        self.both = array("d"), array("d")
        self.kinds: Counter[str] = Counter()
        self.main_cause = 0

    def see(self, one: ComponentScore | None, two: ComponentScore | None) -> None:
        """Take in a row."""
        mine = None if one is None or one.value is None else one.value * one.gate
        theirs = None if two is None or two.value is None else two.value * two.gate
        if mine is not None:
            self.a.append(mine)
        if theirs is not None:
            self.b.append(theirs)
        if mine is not None and theirs is not None:
            self.both[0].append(mine)
            self.both[1].append(theirs)
        if step := _contribution(two) - _contribution(one):  # zeros add nothing to the sum
            self.steps.append(step)

    def changed(self, part: PartChange, *, main: bool) -> None:
        """Take in that a row's outcome differs."""
        self.moved.append(abs(part["change"]))
        self.kinds.update(part["what"])
        self.main_cause += main


# ------------------------------------------------------------------------------------------------ rows


def _differ(x: float | None, y: float | None) -> bool:
    if x is None or y is None:
        return x is not y
    return abs(x - y) > _SAME


def _row_change(row: ComparedRow, other: ComparedRow) -> RowChange | None:
    """What differs in a row, component by component, or None."""
    parts: dict[str, PartChange] = {}
    explained = 0.0
    for name in dict.fromkeys((*row.cells, *other.cells)):
        one, two = row.cells.get(name), other.cells.get(name)
        step = _contribution(two) - _contribution(one)
        explained += step
        kinds = _kinds(one, two)
        if kinds:
            parts[name] = {"change": step, "what": kinds, "a": _shown(one), "b": _shown(two)}
    reward_changed = _differ(row.reward, other.reward)
    change = None
    if row.reward is not None and other.reward is not None:
        change = other.reward - row.reward
        if abs(change - explained) > 1e-6 and reward_changed:
            parts[COMBINATION] = {"change": change - explained, "what": ["combination"], "a": None, "b": None}
    if not parts and not reward_changed:
        return None
    by = sorted(parts, key=lambda name: -abs(parts[name]["change"]))
    found: RowChange = {
        "row": row.line,
        "group": row.group,
        "a": row.reward,
        "b": other.reward,
        "change": change,
        "reward_changed": reward_changed,
        "by": by,
        "components": parts,
        "completion": row.excerpt,
    }
    return found if row.index is None else {**found, "index": row.index}


def _contribution(cell: ComponentScore | None) -> float:
    return 0.0 if cell is None or cell.contribution is None else cell.contribution


def _kinds(one: ComponentScore | None, two: ComponentScore | None) -> list[str]:
    if one is None or two is None:
        return ["added" if one is None else "removed"]
    kinds = []
    if _differ(one.value, two.value):
        kinds.append("value")
    if _differ(one.weight, two.weight) and one.value is not None and two.value is not None:
        kinds.append("weight")
    if _differ(one.gate, two.gate):
        kinds.append("gate")
    if one.status != two.status:
        kinds.append("status")
    return kinds


def _shown(cell: ComponentScore | None) -> ShownCell | None:
    if cell is None:
        return None
    return {
        "value": cell.value, "weight": cell.weight, "gate": cell.gate, "contribution": cell.contribution,
        "status": cell.status, "reason": cell.reason,
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------ figures


def _correlations(x: Sequence[float], y: Sequence[float]) -> dict[str, float | None]:
    return {"kendall": kendall(x, y), "spearman": spearman(x, y)}


def _reward(x: array[float], y: array[float], members: Callable[[], Iterator[Sequence[int]]], seed: int) -> Figures:
    there = [p for p in range(len(x)) if x[p] == x[p] and y[p] == y[p]]  # nan is not equal to itself
    one, two = array("d", (x[p] for p in there)), array("d", (y[p] for p in there))
    sums, sizes = [], []
    for places in members():
        steps = [y[p] - x[p] for p in places if x[p] == x[p] and y[p] == y[p]]
        if steps:
            total = math.fsum(steps)
            sums.append(total if abs(total) > _SAME else 0.0)
            sizes.append(len(steps))
    return {
        "rows": len(one),
        "mean_a": mean(one),
        "mean_b": mean(two),
        "difference": math.fsum(sums) / len(one) if one else None,
        "interval_95": interval(sums, sizes, seed=seed),
        "p_value": sign_flip(sums, seed=seed) if sums else None,
        "groups_up": sum(value > 0 for value in sums),
        "groups_down": sum(value < 0 for value in sums),
        **_correlations(one, two),
        "no_reward_in_a": sum(value != value for value in x),
        "no_reward_in_b": sum(value != value for value in y),
    }


def _advantages_of(rewards: Sequence[float | None]) -> list[float]:
    """One group's advantages as TRL has them by default; 0 for rows without a reward."""
    found = standardised_in_groups(rewards, [range(len(rewards))])
    return [0.0 if advantage is None else advantage for advantage in found]


def _advantages(
    rewards_a: array[float], rewards_b: array[float], members: Callable[[], Iterator[Sequence[int]]]
) -> Figures:
    x, y, within = array("d"), array("d"), array("d")
    gained = lost = flat = best_changed = 0
    for places in members():
        one, two = (
            _advantages_of([None if values[p] != values[p] else values[p] for p in places])
            for values in (rewards_a, rewards_b)
        )
        signal_one, signal_two = any(one), any(two)
        gained += signal_two and not signal_one
        lost += signal_one and not signal_two
        flat += not (signal_one or signal_two)
        if signal_one and signal_two:
            best_changed += not (_best(one) & _best(two))  # several may be best
            if (tau := kendall(one, two)) is not None:
                within.append(tau)
        x.extend(one)
        y.extend(two)
    steps = array("d", (abs(b - a) for a, b in zip(x, y, strict=True)))
    return {
        "correlation": pearson(x, y),
        "kendall_within_groups": mean(within),
        "mean_absolute_change": mean(steps),
        "rows_changed": sum(step > 1e-6 for step in steps),
        "rows_that_change_sign": sum(a * b < 0 and min(abs(a), abs(b)) > 1e-6 for a, b in zip(x, y, strict=True)),
        "groups_that_gain_signal": gained,
        "groups_that_lose_signal": lost,
        "groups_without_signal_in_both": flat,
        "groups_with_another_best": best_changed,
    }


def _best(advantages: Sequence[float]) -> set[int]:
    top = max(advantages)
    return {position for position, value in enumerate(advantages) if value >= top - 1e-6}


def _components(a: Side, b: Side, parts: dict[str, _Part], rows: int) -> dict[str, Figures]:
    names_a, names_b = a.components, b.components
    figures: dict[str, Figures] = {}
    moved = math.fsum(size for part in parts.values() for size in part.moved)
    for name, part in parts.items():
        if name == COMBINATION and not part.moved:
            continue
        figures[name] = {
            "in": "both" if name in names_a and name in names_b else "a" if name in names_a else "b" if name in names_b else "",
            "rows_changed": len(part.moved),
            **{f"{kind}_changed": part.kinds[kind] for kind in ("value", "weight", "gate", "status")},
            "main_cause": part.main_cause,
            "share_of_change": math.fsum(part.moved) / moved if moved else 0.0,
            "mean_a": mean(part.a),
            "mean_b": mean(part.b),
            "mean_contribution_change": math.fsum(part.steps) / rows,
            **_correlations(*part.both),
        }  # fmt: skip
    return figures
