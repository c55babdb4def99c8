"""`Trial`: one row under one component, and what came of everything that was tried on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grpo_rewards._audit.data.probes import Probes

if TYPE_CHECKING:
    from grpo_rewards._composition.component import Component
    from grpo_rewards._contract import Outcome

_NEARLY = 1e-9  # rounding that still counts as the most


@dataclass(slots=True)
class Trial:
    """A row (its number in the file, its columns, the text of its prompt) and the outcomes of its probes.

    `reference` is the first of the row's references that passes, None where none does; `tried` are the outcomes of the
    references in their order, `again` those of the first one, scored again and again, and
    `hurried` that of the first one with half of the time. `against` are pairs of another row's number
    and what the one row's reference is worth on the other, in both directions.
    """

    number: int
    component: Component
    data: Mapping[str, object]
    prompt: str
    probes: Probes
    stubs: list[Outcome] = field(default_factory=list)
    tried: list[Outcome] = field(default_factory=list)
    again: list[Outcome] = field(default_factory=list)
    mutants: list[Outcome] = field(default_factory=list)
    hurried: list[Outcome] = field(default_factory=list)
    against: list[tuple[int, Outcome]] = field(default_factory=list)

    def passes(self, outcome: Outcome) -> bool:
        """Whether an outcome is the most that the reward gives."""
        return outcome.value is not None and outcome.value >= self._bounds[1] - _NEARLY

    def share(self, outcome: Outcome) -> float:
        """An outcome as a share of the reward's range, 0 to 1."""
        low, high = self._bounds
        return 0.0 if outcome.value is None else (outcome.value - low) / (high - low)

    @property
    def _bounds(self) -> tuple[float, float]:
        return self.component.reward.range or (0.0, 1.0)

    @property
    def reference(self) -> str | None:
        """The first reference that passes."""
        found = (
            text for text, outcome in zip(self.probes.references, self.tried, strict=False) if self.passes(outcome)
        )
        return next(found, None)

    @property
    def strength(self) -> float | None:
        """The share of the mutants that fail, 0 to 1; None where none was judged."""
        judged = [outcome for outcome in self.mutants if outcome.value is not None]
        return sum(not self.passes(one) for one in judged) / len(judged) if judged else None

    @property
    def hangs(self) -> bool:
        """Whether the first reference ran into its time limit."""
        return bool(self.tried) and self.tried[0].status == "timeout"

    @property
    def can_repeat(self) -> bool:
        """Whether the first reference may be scored once more: all its runs together take about as long as one may."""
        spent = sum(one.seconds or 0.0 for one in (*self.tried[:1], *self.again))
        return not self.hangs and (not self.again or self.probes.seconds is None or spent < self.probes.seconds)

    @property
    def seems_slow(self) -> bool:
        """Whether the first reference took more than half of the time limit each time, by the clock."""
        timed = [one.seconds for one in (*self.tried[:1], *self.again) if one.seconds is not None]
        # the quickest time counts: a busy machine makes others longer
        return bool(timed and self.probes.seconds) and min(timed) > (self.probes.seconds or 0.0) / 2
