"""Gates: where a component counts, by the value of another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grpo_rewards._composition.combine import gate_factor
from grpo_rewards._composition.evaluation import Component
from grpo_rewards._contract import Outcome

__all__ = ["gated"]


def gated(
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


def _factors(component: Component, values: Mapping[str, list[float | None]]) -> list[float]:
    gate = component.gate
    if gate is None:
        return [1.0] * len(values[component.name])
    return [gate_factor(value, gate.at_least, gate.at_most) for value in values[gate.component]]
