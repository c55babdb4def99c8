"""The expanded form: a composite's components one by one, for a trainer that weights and logs each itself."""

from __future__ import annotations

import logging
import threading
from collections import deque
from operator import is_
from typing import TYPE_CHECKING

from grpo_rewards._composition.session import ScoredCall
from grpo_rewards._contract.batch import TRAINER_ARGUMENTS
from grpo_rewards._contract.shapes import RewardCall

if TYPE_CHECKING:
    from grpo_rewards._composition.composite import Composite

_log = logging.getLogger(__name__)

_KEPT = 4  # scored calls kept for the other components' calls; an asynchronous trainer interleaves groups


class _SharedCalls:
    """What the functions of one list have in common: the first that is called scores, the others take it from here."""

    def __init__(self, composite: Composite) -> None:
        self.composite = composite
        self._scored: deque[tuple[_Given, ScoredCall]] = deque(maxlen=_KEPT)
        self._lock = threading.Lock()

    # pickle keeps the parts of one list together with one of these; what was scored stays behind
    def __reduce__(self) -> tuple[object, ...]:
        return (_SharedCalls, (self.composite,))

    def scored(self, call: RewardCall) -> ScoredCall:
        """Return the scored call; two calls are the same where all that they hand over is the same object."""
        given = _Given(call)
        with self._lock:  # held while it scores: the next component's call waits for it instead of scoring again
            found = next((known for earlier, known in self._scored if earlier.same_as(given)), None)
            if found is None:
                found = self.composite.session_for(call).score(call, expanded=True)
                self._scored.append((given, found))
            return found


class _Given:
    """What a call hands over: the lists, and what was in them then, since whoever made them may fill them anew."""

    def __init__(self, call: RewardCall) -> None:
        lists = {name: values for name, values in call.items() if name not in TRAINER_ARGUMENTS}
        self._lists = lists
        self._rows = {name: list(values) if isinstance(values, list | tuple) else [] for name, values in lists.items()}

    # by identity: values may be images, whose == is slow, or arrays, whose == is no bool
    def same_as(self, other: _Given) -> bool:
        """Whether both hand over the same objects, row by row."""
        return (
            self._lists.keys() == other._lists.keys()
            and self._lists["completions"] is other._lists["completions"]
            and all(
                len(mine) == len(other._rows[name]) and all(map(is_, mine, other._rows[name]))
                for name, mine in self._rows.items()
            )
        )


class Part:
    """One component of a composite as a reward function of its own; its siblings share one evaluation per call."""

    def __init__(self, shared: _SharedCalls, component: str) -> None:
        self._shared = shared
        self.component = component
        self.__name__ = component

    @property
    def composite(self) -> Composite:
        """The composite that it is a part of."""
        return self._shared.composite

    def __call__(self, **call: object) -> list[float | None]:
        """Return the component's values, clipped and gated, for TRL's reward call."""
        return list(self._shared.scored(call).values[self.component])

    def __repr__(self) -> str:
        return f"<Part {self.component} of {self.composite!r}>"


def parts_of(composite: Composite) -> list[Part]:
    """Return a fresh list of functions, one per component; warn where the total is more than the trainer's weighted sum."""
    combine = composite.config.combine
    if combine.clip is not None or combine.method != "weighted_sum":
        what = "combine.clip" if combine.clip is not None else f"combine.method: {combine.method}"
        _log.warning(
            "in the expanded form the trainer sums the components itself, so %s does not apply; "
            "give the trainer reward_funcs=composite (the fused form) where it matters",
            what,
        )
    shared = _SharedCalls(composite)
    return [Part(shared, component.name) for component in composite.components]
