"""Weights that change nothing, and components that apply to no row: what a configuration asks for in vain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from grpo_rewards._composition import Composite
from grpo_rewards._composition.component import Component
from grpo_rewards._composition.config import WhenConfig
from grpo_rewards._scoring.chunks import Pace, make_chunks
from grpo_rewards._scoring.reading.rows import Source
from grpo_rewards.errors import ConfigError, nearest

_REMEMBERED = 1000  # values of a column
_SHOWN = 8


def idle_weights(composite: Composite) -> list[str]:
    """Return in words, with their places in the configuration, the weights that cannot matter whatever the data are.

    So are those of rewards whose packages are missing here.
    """
    config = composite.config
    counting = [component for component in composite.components if component.name in composite.counting]
    if not counting:
        return ["rewards: no component has a weight, so no row gets a reward"]
    found = []
    for component in composite.components:
        try:
            component.reward.check_packages()
        except ConfigError as error:
            found.append(f"rewards.{component.name}: {error}")
        if component in counting and (why := _never_tells(component, composite)):
            found.append(f"rewards.{component.name}.weight cannot matter: {why}")
    bounds = config.combine.clip
    if bounds is not None and bounds[0] == bounds[1]:
        found.append(f"combine.clip: every reward is {bounds[0]:g}, so no weight can matter")
    weighted = [component for component in counting if component.schedule != 0.0]
    if config.combine.method == "weighted_mean" and not config.stages and len(weighted) == 1:
        (only,) = weighted
        if abs(only.weight) != 1.0:  # a weight of 1 was not meant to change anything
            found.append(
                f"rewards.{only.name}.weight cannot matter: a weighted mean of one component is its value, whatever the weight"
            )
    if config.stages and config.stages[-1].until is None:
        for name, component_config in config.rewards.items():
            if "weight" in component_config.model_fields_set and all(name in stage.weights for stage in config.stages):
                found.append(f"rewards.{name}.weight cannot matter in training: every stage gives it another")
    return found


def asked_in_vain(composite: Composite, source: Source | None) -> list[str]:
    """Return in words what a configuration asks for in vain: of itself, and of the rows where there are some to look at.

    The rows are looked at until every condition has met all that it names, so hardly any where nothing is found. A condition on
    a column that no row has is an error of its own (`Composite.check_named`), and nothing is said of it here.
    """
    found = idle_weights(composite)
    if source is None or all(component.when is None for component in composite.components):
        return found
    applied = Applied(composite)
    columns = {component.when.column for component in composite.components if component.when is not None}
    settled = False
    for chunk in make_chunks(source, Pace(start=64), warn=lambda _: None):  # to its end, where the file is closed
        for sample in chunk.samples if not settled else ():
            applied.see(sample.data)
            columns -= sample.data.keys()
        settled = settled or applied.settled
    return found if columns else [*found, *applied.findings()]


def _never_tells(component: Component, composite: Composite) -> str:
    """Why a component's value is the same in every row, or counts in none; empty where it may be."""
    bounds, clip = component.reward.range, component.clip
    if clip is not None:
        low, high = bounds or (-float("inf"), float("inf"))
        if min(clip[1], high) <= max(clip[0], low):
            return f"clip: [{clip[0]:g}, {clip[1]:g}] leaves one value of its range"
    gate = component.gate
    if gate is None:
        return ""
    other = next(one for one in composite.components if one.name == gate.component)
    if other.reward.range is None and other.clip is None:
        return ""
    low, high = other.reward.range or (-float("inf"), float("inf"))
    if other.clip is not None:
        low, high = (min(max(bound, other.clip[0]), other.clip[1]) for bound in (low, high))
    if (gate.at_least is not None and gate.at_least > high) or (gate.at_most is not None and gate.at_most < low):
        return f"its gate never opens, since {gate.component!r} is from {low:g} to {high:g}"
    return ""


class Applied:
    """Counts, row by row, what each component's ``when`` meets in the data."""

    def __init__(self, composite: Composite) -> None:
        self._composite = composite
        self._rows = 0
        self._hits = dict.fromkeys((component.name for component in composite.components), 0)
        self._values: dict[str, dict[str, None]] = {}
        self._met: dict[str, set[int]] = {}
        self._company: set[str] = set()

    def see(self, data: Mapping[str, object]) -> None:
        """Take notice of a row."""
        self._rows += 1
        beside = []
        applying = {component.name: component.applies_to(data) for component in self._composite.components}
        for component in self._composite.components:
            gate = component.gate
            if applying[component.name] and (gate is None or applying[gate.component]):
                self._hits[component.name] += 1
                if component.name in self._composite.counting:
                    beside.append(component.name)
            if component.when is not None:
                self._look(component.name, component.when, data.get(component.when.column))
        if len(beside) > 1:
            self._company.update(beside)

    @property
    def settled(self) -> bool:
        """Whether no further row can change that nothing is found."""
        return self._rows > 0 and not any(self.findings())

    def _look(self, name: str, when: WhenConfig, value: object) -> None:
        values = self._values.setdefault(when.column, {})
        if len(values) < _REMEMBERED:
            values.setdefault(repr(value)[:80])  # as text, since values may be lists
        met = self._met.setdefault(name, set())
        met.update(place for place, wanted in enumerate(_wanted(when)) if place not in met and bool(wanted == value))

    def findings(self) -> Iterator[str]:
        """Yield in words what is asked for in vain."""
        for component in self._composite.components if self._rows else ():
            place = f"rewards.{component.name}"
            if component.when is not None:
                yield from self._absent(component.name, component.when)
            if not self._hits[component.name]:
                gate = component.gate
                why = "" if gate is None else f" (where its gate's {gate.component!r} does not apply, it does not)"
                yield f"{place} applies to no row, so its weight cannot matter{why}"
            elif self._cancels(component):
                yield (
                    f"{place}.weight cannot matter: in a weighted mean it cancels, since no other component with a weight "
                    f"applies to its rows"
                )

    def _absent(self, name: str, when: WhenConfig) -> Iterator[str]:
        values = list(self._values[when.column])
        shown = ", ".join(values[:_SHOWN]) + (", ..." if len(values) > _SHOWN else "")
        key = "equals" if when.any_of is None else "any_of"
        for number, wanted in enumerate(_wanted(when)):
            if number not in self._met[name]:
                hint = nearest(repr(wanted), values)
                yield f"rewards.{name}.when.{key}: {wanted!r} occurs in no row; the column {when.column!r} holds {shown}{hint}"

    def _cancels(self, component: Component) -> bool:
        return (
            self._composite.config.combine.method == "weighted_mean"
            and component.when is not None
            and component.name in self._composite.counting
            and component.name not in self._company
            and abs(component.weight) != 1.0
        )


def _wanted(when: WhenConfig) -> list[object]:
    """The values that a condition names."""
    if when.present is not None:
        return []
    return when.any_of if when.any_of is not None else [when.equals]
