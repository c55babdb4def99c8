"""`ScoreTable`: what a composite says about a batch, how each row came about, and the arithmetic of a row's reward."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import index as as_index
from pathlib import Path
from typing import TYPE_CHECKING, overload

from grpo_rewards._contract import Batch, Outcome, Status
from grpo_rewards._contract.shapes import PartScores, RowScores
from grpo_rewards.packages import require

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from grpo_rewards._composition.component import Component
    from grpo_rewards._composition.config import CombineConfig
    from grpo_rewards._composition.views import Explanation
    from grpo_rewards._report import ReportPage

_FAILED = frozenset(("error", "unavailable"))


@dataclass(frozen=True, slots=True, repr=False)
class ScoreTable:
    """The scores of `n` rows. ``table[0]`` explains one, ``table[3:7]`` is a smaller table; a notebook shows the beginning.

    `components` maps each component to its `n` outcomes, before clip, gate and weight. In a row that was left out
    (`left_out` maps it to the reason) every component's value is None; what a healthy component had found stands in
    its outcome's ``details["value"]``. `gates` maps each component to its gate factors (0.0 or 1.0), `weights` to the
    weight applied, `clips` to its bounds or None. `totals` holds the reward per row, None where there is none.
    `groups` holds the rows of each group. `seconds` maps each component to the wall-clock time it took for the batch,
    `copies` to the number of rows that were not evaluated because an identical one was. `provenance` names the configuration, the plugins and their versions.
    `batch` holds the rows themselves where `Composite.score` made the table, else None.
    """

    components: Mapping[str, Sequence[Outcome]]
    gates: Mapping[str, Sequence[float]]
    weights: Mapping[str, float]
    clips: Mapping[str, tuple[float, float] | None]
    totals: Sequence[float | None]
    left_out: Mapping[int, str]
    groups: Sequence[Sequence[int]]
    provenance: Mapping[str, object]
    seconds: Mapping[str, float] = field(default_factory=dict)
    copies: Mapping[str, int] = field(default_factory=dict)
    batch: Batch | None = field(default=None, repr=False, compare=False)
    _values: dict[str, list[float | None]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.totals)

    def __repr__(self) -> str:
        return f"<ScoreTable {self.summary}>"

    def _repr_html_(self) -> str:
        from grpo_rewards._composition.views import html_of_table  # for notebooks: no other run pays for its import

        return html_of_table(self)

    @property
    def summary(self) -> str:
        """The rows, the mean reward and the components, in one line."""
        known = [total for total in self.totals if total is not None]
        middle = f"mean reward {sum(known) / len(known):.4g}" if known else "no reward"
        names = list(self.components)
        parts = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
        left_out = f"; {len(self.left_out):,} left out" if self.left_out else ""
        return f"{len(self):,} rows, {middle}: {parts}{left_out}"

    @overload
    def __getitem__(self, place: int) -> Explanation: ...

    @overload
    def __getitem__(self, place: slice) -> ScoreTable: ...

    def __getitem__(self, place: int | slice) -> Explanation | ScoreTable:
        """Return a row explained, with its prompt and completion, or the table of some rows.

        Raises:
            IndexError: there is no such row.
        """
        from grpo_rewards._composition.views import Explanation

        if isinstance(place, slice):
            return self._of_rows(range(len(self))[place])
        index = as_index(place)
        if not -len(self) <= index < len(self):
            raise IndexError(f"there is no row {index}: the table has {len(self):,}")
        index %= len(self)
        found = Explanation(self.row(index))
        if self.batch is not None:
            if self.batch.prompts is not None:
                found["prompt"] = self.batch.prompts[index]
            found["completion"] = self.batch.completions[index]
        return found

    def __iter__(self) -> Iterator[Explanation]:
        return (self[row] for row in range(len(self)))

    def _of_rows(self, rows: Sequence[int]) -> ScoreTable:
        """The table of some rows, in that order; times and copies are those of a whole batch and stay behind."""
        places = {row: place for place, row in enumerate(rows)}
        groups = ([places[row] for row in group if row in places] for group in self.groups)
        return ScoreTable(
            {name: [outcomes[row] for row in rows] for name, outcomes in self.components.items()},
            {name: [gates[row] for row in rows] for name, gates in self.gates.items()},
            self.weights,
            self.clips,
            [self.totals[row] for row in rows],
            {places[row]: why for row, why in self.left_out.items() if row in places},
            # ascending again after table[::-1], as figures of groups expect
            [sorted(group) for group in groups if group],
            self.provenance,
            batch=None if self.batch is None else self.batch.select(rows),
        )

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame: prompt, completion, reward, left_out, and NAME.value, NAME.status, NAME.reason per component.

        Raises:
            ConfigError: pandas is not installed.
        """
        from grpo_rewards._composition.views import columns_of

        require("pandas", by="to_pandas()")
        import pandas

        return pandas.DataFrame(columns_of(self))

    def to_arrow(self) -> pyarrow.Table:
        """Return an Arrow table with the columns of `to_pandas`.

        Raises:
            ConfigError: pyarrow is not installed.
        """
        from grpo_rewards._composition.views import columns_of

        require("pyarrow", by="to_arrow()", extra="parquet")
        import pyarrow

        # said for each column: one of None alone would get the type null
        kinds = {True: pyarrow.float64(), False: pyarrow.string()}
        columns = columns_of(self).items()
        return pyarrow.table(
            {
                name: pyarrow.array(values, kinds[name == "reward" or name.endswith(".value")])
                for name, values in columns
            }
        )

    def report(self, out: str | os.PathLike[str] | None = None, *, title: str = "Scores") -> ReportPage:
        """Return the report's page about these rows, which a notebook shows in place; with `out` it is written there too.

        Raises:
            InputError: the table holds no completions (it is a trainer's), or `out` cannot be written.
        """
        from grpo_rewards._report import page_of

        return page_of(self, None if out is None else Path(out), title)

    def rewards(self) -> list[float | None]:
        """Return the reward per row, as a trainer takes it."""
        return list(self.totals)

    def values(self, component: str) -> list[float | None]:
        """Return a component's value per row, clipped and gated but not weighted, as a trainer takes it."""
        if (known := self._values.get(component)) is None:
            known, gates = _clipped(self.components[component], self.clips[component]), self.gates[component]
            if any(gate != 1.0 for gate in set(gates)):
                known = [None if value is None else value * gate for value, gate in zip(known, gates, strict=True)]
            self._values[component] = known
        return list(known)  # a copy: a session blanks rows in what it is given

    def statuses(self, component: str) -> list[str]:
        """Return a component's status per row; ``left_out`` where another one's failure took the row out."""
        outcomes = self.components[component]
        found: list[str] = [outcome.status for outcome in outcomes]
        for row in self.left_out:
            if "left_out" in outcomes[row].details:
                found[row] = "left_out"
        return found

    def row(self, index: int) -> RowScores:
        """Return row `index` explained: its reward, and per component value x gate x weight with status and reason."""
        parts: dict[str, PartScores] = {}
        for name, outcomes in self.components.items():
            outcome = outcomes[index]
            value, clip = outcome.value, self.clips[name]
            if clip is not None:
                value = _bounded(value, clip)
            gate, weight = self.gates[name][index], self.weights[name]
            part = parts[name] = {
                "value": value,
                "weight": weight,
                "gate": gate,
                "contribution": None if value is None else value * gate * weight,
                "status": outcome.status,
                "reason": outcome.reason,
            }
            if clip is not None and value != outcome.value:
                part["unclipped"] = outcome.value
            if details := outcome.details:
                part["details"] = dict(details)
        explained: RowScores = {"reward": self.totals[index], "components": parts}
        if index in self.left_out:
            explained["left_out"] = self.left_out[index]
        return explained

    def stats(self) -> dict[str, dict[str, float | None]]:
        """Return per component: weight, counts per status, mean, within-group spread and p95 seconds."""
        from grpo_rewards._composition.stats import Statistics

        return Statistics.of(self).summary()["components"]


def table_of(
    found: dict[str, list[Outcome]],
    components: Sequence[Component],
    weights: Mapping[str, float],
    combine: CombineConfig,
    *,
    counting: Collection[str],
    groups: Sequence[Sequence[int]],
    provenance: Mapping[str, object],
    seconds: Mapping[str, float],
    copies: Mapping[str, int],
) -> ScoreTable:
    """Return the table of rows whose components are evaluated: clips, gates, weights, totals, and who is left out.

    `counting` names the components that can change a reward. The outcomes `found` of rows that are left out are replaced.
    """
    left_out = _left_out(found, counting)  # before the gates: such a row has no value in any component
    for row, reason in left_out.items():
        for outcomes in found.values():
            if not outcomes[row].failed:  # those keep their own reason
                outcomes[row] = _set_aside(outcomes[row], reason)
    values = {component.name: _clipped(found[component.name], component.clip) for component in components}
    gates = _gated(components, found, values)
    totals = combined(values.values(), gates.values(), weights.values(), combine)
    clips = {component.name: component.clip for component in components}
    return ScoreTable(
        found, gates, dict(weights), clips, totals, left_out, groups, provenance, seconds=seconds, copies=copies
    )


def _gated(
    components: Sequence[Component], found: Mapping[str, list[Outcome]], values: Mapping[str, list[float | None]]
) -> dict[str, list[float]]:
    """Return the gate factors of every component's rows, from `values` as they are clipped.

    Where the other component has no value it is not known whether the gate is open, and 0 would be a grade: the component
    does not apply there. It is taken out of `found` and of `values`, after all gates have looked.
    """
    gates = {component.name: _factors(component, values) for component in components}
    unknown = [
        (component.name, component.gate.component, row)
        for component in components
        if component.gate is not None and None in values[component.gate.component]
        for row, value in enumerate(values[component.gate.component])
        if value is None and values[component.name][row] is not None
    ]
    for name, other, row in unknown:
        outcome = found[name][row]
        details = {**outcome.details, "value": outcome.value}
        reason = f"its gate looks at {other!r}, which has no value here"
        found[name][row] = Outcome(None, "not_applicable", reason, details, outcome.seconds)
        values[name][row] = None
    return gates


def _left_out(found: Mapping[str, list[Outcome]], counting: Collection[str]) -> dict[int, str]:
    """The rows that count nowhere, and why: a plugin broke, or infrastructure failed under a component that counts."""
    left_out: dict[int, str] = {}
    for name, outcomes in found.items():
        if _FAILED.isdisjoint({outcome.status for outcome in outcomes}):
            continue
        for row, outcome in enumerate(outcomes):
            if outcome.status == "error" or (outcome.status == "unavailable" and name in counting):
                left_out.setdefault(row, f"component {name!r} is {outcome.status}: {outcome.reason}")
    return left_out


def _set_aside(outcome: Outcome, reason: str) -> Outcome:
    details = {**outcome.details, "left_out": True}
    if outcome.value is not None:
        details["value"] = outcome.value
    status: Status = "not_applicable" if outcome.status == "not_applicable" else "unavailable"
    return Outcome(None, status, f"row left out: {reason}", details, outcome.seconds)


# ------------------------------------------------------------------------------------------------ arithmetic


def _bounded(value: float | None, clip: tuple[float, float]) -> float | None:
    return None if value is None else min(max(value, clip[0]), clip[1])


def _clipped(outcomes: Sequence[Outcome], clip: tuple[float, float] | None) -> list[float | None]:
    """A component's values, within its clip."""
    values = [outcome.value for outcome in outcomes]
    return values if clip is None else [_bounded(value, clip) for value in values]


def _factors(component: Component, values: Mapping[str, Sequence[float | None]]) -> list[float]:
    """Its gate's factor per row, by the clipped values of the component that the gate looks at: 0.0 where it is shut or has none."""
    if (gate := component.gate) is None:
        return [1.0] * len(values[component.name])
    low = -math.inf if gate.at_least is None else gate.at_least
    high = math.inf if gate.at_most is None else gate.at_most
    return [1.0 if value is not None and low <= value <= high else 0.0 for value in values[gate.component]]


def combined(
    values: Collection[Sequence[float | None]],
    gates: Collection[Sequence[float]],
    weights: Collection[float],
    combine: CombineConfig,
) -> list[float | None]:
    """Combine the components' values, one column per component in their order, into one reward per row.

    With g the gate factors (0 or 1) and w the weights, over the components whose value v in the row is not None:
    ``weighted_sum`` is Σ w·g·v, ``weighted_mean`` is Σ w·g·v / Σ |w|. A row to which nothing applies is None, and so is
    a mean whose weights are all 0. Components of weight 0 are shadows: a row with nothing but shadows is None.
    """
    # None until something applies: a row to which nothing does is left out by the trainer, and 0.0 would be a grade
    totals: list[float | None] = [None] * max(map(len, values), default=0)
    counted = [
        (column, factors, weight)
        for column, factors, weight in zip(values, gates, weights, strict=True)
        if weight != 0.0
    ]
    for column, factors, weight in counted:
        totals = [
            total if value is None else (total or 0.0) + weight * gate * value
            for total, value, gate in zip(totals, column, factors, strict=True)
        ]
    if combine.method == "weighted_mean":
        sizes = [0.0] * len(totals)
        for column, _, weight in counted:
            sizes = [size if value is None else size + abs(weight) for size, value in zip(sizes, column, strict=True)]
        totals = [None if total is None else total / size for total, size in zip(totals, sizes, strict=True)]
    return totals if combine.clip is None else [_bounded(total, combine.clip) for total in totals]
