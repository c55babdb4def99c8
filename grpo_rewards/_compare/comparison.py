"""The comparison itself: pure figures of paired rows."""

from __future__ import annotations

import hashlib
import math
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NotRequired, TypedDict, cast

from grpo_rewards._compare.ranking import kendall, rank_correlations
from grpo_rewards._compare.sides import ComparedRow, ComponentScore, Side, pair_up
from grpo_rewards._compare.significance import interval, sign_flip
from grpo_rewards._compare.spool import Column, Spool, in_order
from grpo_rewards._composition.normalize import standardised_in_groups
from grpo_rewards._composition.stats import mean, pearson
from grpo_rewards._contract.shapes import PartScores

COMBINATION = "(combination)"
"""Stands for what no component explains: the clip of the total, or another way to combine."""

_SAME = 1e-9
_NONE = math.nan  # stands for no reward in arrays; a reward is a finite number


Figures = dict[str, Any]  # plain data for JSON and tables, by name


class PartChange(TypedDict):
    """How a component's part in a row's reward changed: by how much, and in what (value, weight, gate, status)."""

    change: float
    what: list[str]
    a: PartScores | None
    b: PartScores | None


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
    sizes: Column[float] = Column("d")
    rewards_changed = 0

    def rewards() -> Iterator[tuple[str, float, float]]:
        """Look at the rows one by one; of each its group and its rewards."""
        nonlocal rewards_changed
        for place, other_place in zip(mine, theirs, strict=True):
            row, other = a[place], b[other_place]
            for name in names:
                parts[name].see(row.cells.get(name), other.cells.get(name))
            yield row.group, _or_nan(row.reward), _or_nan(other.reward)
            if (entry := _row_change(row, other)) is None:
                continue
            changed.append(entry)
            # rows that lack a reward on some side come first: no number says how much they changed
            sizes.append(-abs(entry["change"]) if entry["change"] is not None else -math.inf)
            rewards_changed += entry["reward_changed"]
            for name, part in entry["components"].items():
                parts[name].changed(part, main=entry["by"][:1] == [name] and entry["reward_changed"])

    paired = _Rewards(rewards())
    changed.reorder(sizes)
    summary = {
        "a": a.name,
        "b": b.name,
        "rows": len(mine),
        "groups": len(paired.sizes),
        "only_in_a": len(a) - len(mine),
        "only_in_b": len(b) - len(mine),
        "rows_changed": rewards_changed,
        "rows_changed_in_a_component": len(changed),
        "reward": _reward(paired, seed),
        "advantages": _advantages(paired),
        "components": _components(a, b, parts, len(mine)),
    }
    return Comparison(summary, changed)


class _Rewards:
    """Both rewards of each row, group by group in order of appearance, and the size of each group."""

    def __init__(self, rows: Iterable[tuple[str, float, float]]) -> None:
        self.a: Column[float] = Column("d")
        self.b: Column[float] = Column("d")
        self.sizes: Column[int] = Column("q")
        digests = (
            (*struct.unpack("=qq", hashlib.blake2b(group.encode(errors="surrogatepass"), digest_size=16).digest()), place, x, y)
            for place, (group, x, y) in enumerate(rows)
        )  # fmt: skip
        begun, size = -1, 0
        for first, _, x, y in in_order(self._with_first(in_order(digests, "qqqdd")), "qqdd"):
            if size and first != begun:
                self.sizes.append(size)
                size = 0
            begun, size = first, size + 1
            self.a.append(x)
            self.b.append(y)
        self.sizes.append(size)

    @staticmethod
    def _with_first(rows: Iterable[tuple[int, int, int, float, float]]) -> Iterator[tuple[int, int, float, float]]:
        """Rows that stand by their groups, each with the place of its group's first row in the group's stead."""
        group, first = None, 0
        for *digest, place, x, y in rows:
            if digest != group:
                group, first = digest, place
            yield first, place, x, y

    def groups(self) -> Iterator[list[tuple[float, float]]]:
        """The pairs of each group."""
        pairs = iter(zip(self.a, self.b, strict=True))
        return (list(islice(pairs, size)) for size in self.sizes)


class _Part:
    """What one component said of all rows: its values on both sides, and how it changed."""

    def __init__(self) -> None:
        self._rows: Column[float] = Column("d")  # of each row the values on both sides and the step of its contribution
        self.sizes: Column[float] = Column("d")  # by how much it moved the reward of each row in which it is another
        self.kinds: Counter[str] = Counter()
        self.main_cause = 0

    def see(self, one: ComponentScore | None, two: ComponentScore | None) -> None:
        """Take in a row."""
        for cell in (one, two):
            self._rows.append(_NONE if cell is None or cell.value is None else cell.value * cell.gate)
        self._rows.append(_contribution(two) - _contribution(one))

    @property
    def step(self) -> float:
        """The sum of what it added to rewards."""
        return math.fsum(islice(self._rows, 2, None, 3))

    def means(self) -> tuple[float | None, float | None]:
        """Return the mean value on each side."""
        sides = (islice(self._rows, side, None, 3) for side in (0, 1))
        one, two = (mean(Column("d", (value for value in side if value == value))) for side in sides)
        return one, two

    def both(self) -> Iterator[tuple[float, float]]:
        """Return the values on both sides of the rows that have both."""
        pairs = zip(islice(self._rows, 0, None, 3), islice(self._rows, 1, None, 3), strict=True)
        return ((one, two) for one, two in pairs if one == one and two == two)

    def changed(self, part: PartChange, *, main: bool) -> None:
        """Take in that a row's outcome differs."""
        self.sizes.append(abs(part["change"]))
        self.kinds.update(part["what"])
        self.main_cause += main


# ------------------------------------------------------------------------------------------------ rows


def _or_nan(reward: float | None) -> float:
    return _NONE if reward is None else reward


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


def _shown(cell: ComponentScore | None) -> PartScores | None:
    return None if cell is None else cast(PartScores, cell._asdict())


# ------------------------------------------------------------------------------------------------ figures


def _correlations(pairs: Iterable[tuple[float, float]]) -> dict[str, float | None]:
    tau, rho = rank_correlations(pairs)
    return {"kendall": tau, "spearman": rho}


def _reward(rewards: _Rewards, seed: int) -> Figures:
    one: Column[float] = Column("d")
    two: Column[float] = Column("d")
    sums: Column[float] = Column("d")
    sizes: Column[int] = Column("q")
    for pairs in rewards.groups():
        both = [(x, y) for x, y in pairs if x == x and y == y]  # nan is not equal to itself
        if both:
            total = math.fsum(y - x for x, y in both)
            sums.append(total if abs(total) > _SAME else 0.0)
            sizes.append(len(both))
            one.extend(x for x, _ in both)
            two.extend(y for _, y in both)
    return {
        "rows": len(one),
        "mean_a": mean(one),
        "mean_b": mean(two),
        "difference": math.fsum(sums) / len(one) if one else None,
        "interval_95": interval(list(sums), list(sizes), seed=seed),
        "p_value": sign_flip(list(sums), seed=seed) if sums else None,
        "groups_up": sum(value > 0 for value in sums),
        "groups_down": sum(value < 0 for value in sums),
        **_correlations(zip(one, two, strict=True)),
        "no_reward_in_a": sum(value != value for value in rewards.a),
        "no_reward_in_b": sum(value != value for value in rewards.b),
    }


def _advantages(rewards: _Rewards) -> Figures:
    x: Column[float] = Column("d")
    y: Column[float] = Column("d")
    within: Column[float] = Column("d")
    gained = lost = flat = best_changed = 0
    for pairs in rewards.groups():
        # as TRL has them by default; 0 for rows without a reward
        sides = ([None if value != value else value for value in side] for side in zip(*pairs, strict=True))
        one, two = ([found or 0.0 for found in standardised_in_groups(side, [range(len(side))])] for side in sides)
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
    steps = Column("d", (abs(b - a) for a, b in zip(x, y, strict=True)))
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
    moved = math.fsum(size for part in parts.values() for size in part.sizes)
    for name, part in parts.items():
        if name == COMBINATION and not part.sizes:
            continue
        mean_a, mean_b = part.means()
        figures[name] = {
            "in": "both" if name in names_a and name in names_b else "a" if name in names_a else "b" if name in names_b else "",
            "rows_changed": len(part.sizes),
            **{f"{kind}_changed": part.kinds[kind] for kind in ("value", "weight", "gate", "status")},
            "main_cause": part.main_cause,
            "share_of_change": math.fsum(part.sizes) / moved if moved else 0.0,
            "mean_a": mean_a,
            "mean_b": mean_b,
            "mean_contribution_change": part.step / rows,
            **_correlations(part.both()),
        }  # fmt: skip
    return figures
