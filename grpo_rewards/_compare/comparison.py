"""The comparison itself: pure figures of paired rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grpo_rewards._compare.ranking import kendall, pearson, spearman
from grpo_rewards._compare.sides import Cell, ComparedRow, Side, pair_up
from grpo_rewards._compare.significance import interval, sign_flip
from grpo_rewards._composition.normalize import standardised_in_groups
from grpo_rewards._composition.stats import mean

__all__ = ["COMBINATION", "Comparison", "compare"]

COMBINATION = "(combination)"
"""Stands for what no component explains: the clip of the total, or another way to combine."""

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two scorings side by side; `summary` is plain data, `changed` the rows that differ, largest change first."""

    summary: dict[str, Any]
    changed: list[dict[str, Any]]


def compare(a: Side, b: Side, *, seed: int = 0) -> Comparison:
    """Compare two scorings of the same rows.

    Rows are paired by prompt and completion; groups are those of `a`. Rows without a reward on one side count as
    changed and stand outside of means, correlations and tests.

    Raises:
        InputError: the sides have no row in common.
    """
    pairs, only_a, only_b = pair_up(a, b)
    groups: dict[str, list[int]] = {}
    for position, (row, _) in enumerate(pairs):
        groups.setdefault(row.group, []).append(position)
    changed = sorted(
        (entry for row, other in pairs if (entry := _row_change(row, other)) is not None),
        key=lambda entry: -abs(entry["change"]) if entry["change"] is not None else -math.inf,
    )
    both = [p for p, (row, other) in enumerate(pairs) if row.reward is not None and other.reward is not None]
    summary = {
        "a": a.name,
        "b": b.name,
        "rows": len(pairs),
        "groups": len(groups),
        "only_in_a": len(only_a),
        "only_in_b": len(only_b),
        "rows_changed": sum(entry["reward_changed"] for entry in changed),
        "rows_changed_in_a_component": len(changed),
        "reward": _reward(pairs, both, groups, seed),
        "advantages": _advantages(pairs, groups),
        "components": _components(a, b, pairs, changed),
    }
    return Comparison(summary, changed)


# ------------------------------------------------------------------------------------------------ rows


def _differ(x: float | None, y: float | None) -> bool:
    if x is None or y is None:
        return x is not y
    return abs(x - y) > _SAME


def _row_change(row: ComparedRow, other: ComparedRow) -> dict[str, Any] | None:
    """What differs in a row, component by component, or None."""
    parts: dict[str, dict[str, Any]] = {}
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
    return {
        "row": row.line,
        **({"index": row.index} if row.index is not None else {}),
        "group": row.group,
        "a": row.reward,
        "b": other.reward,
        "change": change,
        "reward_changed": reward_changed,
        "by": by,
        "components": parts,
        "completion": row.excerpt,
    }


def _contribution(cell: Cell | None) -> float:
    return 0.0 if cell is None or cell.contribution is None else cell.contribution


def _kinds(one: Cell | None, two: Cell | None) -> list[str]:
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


def _shown(cell: Cell | None) -> dict[str, Any] | None:
    if cell is None:
        return None
    names = ("value", "weight", "gate", "contribution", "status", "reason")
    return {name: getattr(cell, name) for name in names}


# ------------------------------------------------------------------------------------------------ figures


def _correlations(x: Sequence[float], y: Sequence[float]) -> dict[str, float | None]:
    return {"kendall": kendall(x, y), "spearman": spearman(x, y)}


def _reward(
    pairs: Sequence[tuple[ComparedRow, ComparedRow]], both: Sequence[int], groups: dict[str, list[int]], seed: int
) -> dict[str, Any]:
    x = [float(pairs[p][0].reward or 0.0) for p in both]
    y = [float(pairs[p][1].reward or 0.0) for p in both]
    there = {p: (one, two) for p, one, two in zip(both, x, y, strict=True)}
    sums, sizes = [], []
    for members in groups.values():
        steps = [there[p][1] - there[p][0] for p in members if p in there]
        if steps:
            total = math.fsum(steps)
            sums.append(total if abs(total) > _SAME else 0.0)
            sizes.append(len(steps))
    return {
        "rows": len(both),
        "mean_a": mean(x),
        "mean_b": mean(y),
        "difference": math.fsum(sums) / len(both) if both else None,
        "interval_95": interval(sums, sizes, seed=seed),
        "p_value": sign_flip(sums, seed=seed) if sums else None,
        "groups_up": sum(value > 0 for value in sums),
        "groups_down": sum(value < 0 for value in sums),
        **_correlations(x, y),
        "no_reward_in_a": sum(row.reward is None for row, _ in pairs),
        "no_reward_in_b": sum(other.reward is None for _, other in pairs),
    }


def _advantages_of(rewards: Sequence[float | None]) -> list[float]:
    """One group's advantages as TRL has them by default; 0 for rows without a reward."""
    found = standardised_in_groups(rewards, [range(len(rewards))])
    return [0.0 if advantage is None else advantage for advantage in found]


def _advantages(pairs: Sequence[tuple[ComparedRow, ComparedRow]], groups: dict[str, list[int]]) -> dict[str, Any]:
    x: list[float] = []
    y: list[float] = []
    within: list[float] = []
    gained = lost = flat = best_changed = 0
    for members in groups.values():
        one, two = (_advantages_of([pairs[p][side].reward for p in members]) for side in (0, 1))
        signal_one, signal_two = any(one), any(two)
        gained += signal_two and not signal_one
        lost += signal_one and not signal_two
        flat += not (signal_one or signal_two)
        if signal_one and signal_two:
            best_changed += not (_best(one) & _best(two))
            if (tau := kendall(one, two)) is not None:
                within.append(tau)
        x += one
        y += two
    steps = [abs(b - a) for a, b in zip(x, y, strict=True)]
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


def _components(
    a: Side, b: Side, pairs: Sequence[tuple[ComparedRow, ComparedRow]], changed: Sequence[dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    names_a, names_b = a.components, b.components
    figures: dict[str, dict[str, Any]] = {}
    moved = math.fsum(abs(part["change"]) for entry in changed for part in entry["components"].values())
    for name in dict.fromkeys((*names_a, *names_b, COMBINATION)):
        touched = [entry["components"][name] for entry in changed if name in entry["components"]]
        if name == COMBINATION and not touched:
            continue
        cells = [(row.cells.get(name), other.cells.get(name)) for row, other in pairs]
        there = [
            (one.value * one.gate, two.value * two.gate)
            for one, two in cells
            if one is not None and two is not None and one.value is not None and two.value is not None
        ]
        x, y = [one for one, _ in there], [two for _, two in there]
        size = math.fsum(abs(part["change"]) for part in touched)
        figures[name] = {
            "in": "both" if name in names_a and name in names_b else "a" if name in names_a else "b" if name in names_b else "",
            "rows_changed": len(touched),
            **{f"{kind}_changed": sum(kind in part["what"] for part in touched) for kind in ("value", "weight", "gate", "status")},
            "main_cause": sum(entry["by"][:1] == [name] and entry["reward_changed"] for entry in changed),
            "share_of_change": size / moved if moved else 0.0,
            "mean_a": mean([c.value * c.gate for c, _ in cells if c is not None and c.value is not None]),
            "mean_b": mean([c.value * c.gate for _, c in cells if c is not None and c.value is not None]),
            "mean_contribution_change": mean([_contribution(two) - _contribution(one) for one, two in cells]),
            **_correlations(x, y),
        }  # fmt: skip
    return figures
