"""A reward in its place in a composition: which rows it applies to, its clip, its gate and its weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from grpo_rewards._composition.config import GateConfig, WhenConfig
from grpo_rewards._composition.schedule import ScheduleConfig
from grpo_rewards._contract import Batch, Outcome, Reward


@dataclass(frozen=True)
class Component:
    """A reward in its place in a composition; what follows from it is worked out once, for every call to come."""

    name: str
    reward: Reward
    schedule: float | ScheduleConfig
    when: WhenConfig | None
    gate: GateConfig | None
    clip: tuple[float, float] | None

    @cached_property
    def weight(self) -> float:
        """Its own weight once schedules have arrived, without stages and adaptation."""
        return self.schedule.value(None) if isinstance(self.schedule, ScheduleConfig) else self.schedule

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that the data must have for it."""
        wanted = (self.when.column,) if self.when is not None else ()
        return tuple(dict.fromkeys((*wanted, *self.reward.required_columns)))

    @cached_property
    def named(self) -> dict[str, str]:
        """The columns that the configuration names, by the component's key that does: ``when.column``, ``columns.answer``."""
        mapped = {f"columns.{name}": column for name, column in self.reward.named_columns.items()}
        return mapped if self.when is None else {"when.column": self.when.column, **mapped}

    @cached_property
    def asks_beside(self) -> bool:
        """Whether it has several calls under way at once, which wait for an answer."""
        return self.reward.is_async or self.reward.workers > 1

    @cached_property
    def waits(self) -> bool:
        """Whether it may spend its time waiting: for answers, or, as batch rewards of this package, for processes of its own."""
        return self.asks_beside or (self.reward.style == "batch" and self.reward.source == "grpo-rewards")

    def applies_to(self, data: Mapping[str, object]) -> bool:
        """Whether it applies to a row."""
        return self.when is None or self.when.holds(data.get(self.when.column))

    @cached_property
    def elsewhere(self) -> Outcome:
        """What stands for a row that it does not apply to."""
        return Outcome(None, "not_applicable", f"column {self.when.column!r} is another" if self.when else "")

    def rows(self, batch: Batch) -> list[int]:
        """The rows that it applies to."""
        if self.when is None:
            return list(batch.rows)
        values = batch.column(self.when.column)
        return [] if values is None else [row for row, value in enumerate(values) if self.when.holds(value)]

    @cached_property
    def read_columns(self) -> frozenset[str] | None:
        """The columns that its reward looks at, or None for all of them."""
        reward = self.reward
        return None if reward.shape.takes_rest else frozenset((*reward.required_columns, *reward.optional_columns))
