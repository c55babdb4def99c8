"""`ScoreTable`: what a composite says about a batch, and how each row came about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grpo_rewards._composition.combine import bounded
from grpo_rewards._contract import Outcome

__all__ = ["ScoreTable"]


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """The scores of `n` rows.

    `components` maps each component to its `n` outcomes, before clip, gate and weight. In a row that was left out
    (`left_out` maps it to the reason) every component's value is None; what a healthy component had found stands in
    its outcome's ``details["value"]``. `gates` maps each component to its gate factors (0.0 or 1.0), `weights` to the
    weight applied, `clips` to its bounds or None. `totals` holds the reward per row, None where there is none.
    `groups` holds the rows of each group. `seconds` maps each component to the wall-clock time it took for the batch,
    `copies` to the number of rows that were not evaluated because an identical one was. `provenance` names the configuration, the plugins and their versions.
    """

    components: Mapping[str, Sequence[Outcome]]
    gates: Mapping[str, Sequence[float]]
    weights: Mapping[str, float]
    clips: Mapping[str, tuple[float, float] | None]
    totals: Sequence[float | None]
    left_out: Mapping[int, str]
    groups: Sequence[Sequence[int]]
    provenance: Mapping[str, Any]
    seconds: Mapping[str, float] = field(default_factory=dict)
    copies: Mapping[str, int] = field(default_factory=dict)
    _values: dict[str, list[float | None]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.totals)

    def rewards(self) -> list[float | None]:
        """Return the reward per row, as a trainer takes it."""
        return list(self.totals)

    def values(self, component: str) -> list[float | None]:
        """Return a component's value per row, clipped and gated but not weighted, as a trainer takes it."""
        if (known := self._values.get(component)) is None:
            known = self._values[component] = self._computed(component)
        return list(known)

    def _computed(self, component: str) -> list[float | None]:
        clip, gates = self.clips[component], self.gates[component]
        values = [outcome.value for outcome in self.components[component]]
        if clip is not None:
            values = [bounded(value, clip) for value in values]
        if all(gate == 1.0 for gate in set(gates)):
            return values
        return [None if value is None else value * gate for value, gate in zip(values, gates, strict=True)]

    def statuses(self, component: str) -> list[str]:
        """Return a component's status per row; ``left_out`` where another one's failure took the row out."""
        outcomes = self.components[component]
        found: list[str] = [outcome.status for outcome in outcomes]
        for row in self.left_out:
            if "left_out" in outcomes[row].details:
                found[row] = "left_out"
        return found

    def row(self, index: int) -> dict[str, Any]:
        """Return row `index` explained: its reward, and per component value x gate x weight with status and reason."""
        parts: dict[str, dict[str, Any]] = {}
        for name, outcomes in self.components.items():
            outcome = outcomes[index]
            value, clip = outcome.value, self.clips[name]
            if clip is not None:
                value = bounded(value, clip)
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
        explained: dict[str, Any] = {"reward": self.totals[index], "components": parts}
        if index in self.left_out:
            explained["left_out"] = self.left_out[index]
        return explained

    def stats(self) -> dict[str, dict[str, float | int | None]]:
        """Return per component: weight, counts per status, mean, within-group spread and p95 seconds."""
        from grpo_rewards._composition.stats import Statistics

        statistics = Statistics()
        statistics.add(self)
        return statistics.summary()
