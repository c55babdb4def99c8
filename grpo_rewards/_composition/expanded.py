"""A composite's components: to look at, and one by one for a trainer that weights and logs each itself."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from grpo_rewards._composition.evaluation import Component

if TYPE_CHECKING:
    from grpo_rewards._composition.composite import Composite

__all__ = ["Components", "Part"]

_log = logging.getLogger(__name__)


class Part:
    """One component of a composite as a reward function of its own; its siblings share one evaluation per call."""

    def __init__(self, composite: Composite, component: str) -> None:
        self.composite = composite
        self.component = component
        self.__name__ = component

    def __call__(self, **call: Any) -> list[float | None]:
        """Return the component's values, clipped and gated, for TRL's reward call."""
        return self.composite.part(self.component, call)

    def __repr__(self) -> str:
        return f"<Part {self.component} of {self.composite!r}>"


class Components(tuple[Component, ...]):
    """The components in order. Called, it returns them as functions for ``reward_funcs`` (the expanded form)."""

    composite: Composite

    @classmethod
    def of(cls, composite: Composite, components: Iterable[Component]) -> Components:
        """Return the components of `composite`."""
        made = cls(components)
        made.composite = composite
        return made

    def __call__(self) -> list[Part]:
        """Return a fresh list of functions, one per component; the first one called evaluates all of them.

        The trainer weights and sums them, so what the configuration says about the total does not hold: a warning.
        """
        combine = self.composite.config.combine
        if combine.clip is not None or combine.method != "weighted_sum":
            what = "combine.clip" if combine.clip is not None else f"combine.method: {combine.method}"
            _log.warning(
                "in the expanded form the trainer sums the components itself, so %s does not apply; "
                "give the trainer reward_funcs=composite (the fused form) where it matters",
                what,
            )
        return [Part(self.composite, component.name) for component in self]
