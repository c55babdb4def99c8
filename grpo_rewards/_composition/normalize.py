"""Normalisation of component values before they are weighted and summed, for a trainer.

``gdpo`` (arXiv 2601.05242): each component is standardised within its group, z = (v - mean) / (std + 1e-4), so that
no component drowns another by its scale; the weighted sum is then scaled over the batch by the trainer. ``running``:
z = (v - μ) / (σ + 1e-4) with μ and σ the mean and deviation of all values of that component so far (parallel variance
of Chan et al. 1979), which keeps the size of a group's spread while it removes the component's scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from grpo_rewards._composition.stats import SPREAD_FLOOR, group_spread

EPSILON = 1e-4
"""Added to a deviation before dividing by it; TRL's value."""

_BITS = 16  # of a float32's 24: the sum of up to 256 equal values is then exact, and so is their mean


def standardised_in_groups(values: Sequence[float | None], groups: Sequence[Sequence[int]]) -> list[float | None]:
    """Return each value less its group's mean, over its group's deviation; None stays None, a lone value is 0."""
    found: list[float | None] = [None] * len(values)
    for rows in groups:
        present = [(row, value) for row in rows if (value := values[row]) is not None]
        if not present:
            continue
        mean = math.fsum(value for _, value in present) / len(present)
        spread = group_spread([value for _, value in present]) or 0.0
        for row, value in present:
            found[row] = (value - mean) / (spread + EPSILON) if spread > SPREAD_FLOOR else 0.0
    return found


def exactly_flat(values: Sequence[float | None], groups: Sequence[Sequence[int]]) -> list[float | None]:
    """Return the values for a trainer that standardises them within groups in float32.

    There the mean of six times 0.7 is not 0.7; what is left over, divided by `EPSILON` and then by the deviation of a
    batch without any other spread, becomes an advantage of 0.86. So the values of a group without spread are rounded to
    16 significant bits, which moves them by 8e-6 of their size at most and makes their mean exact.
    """
    found = list(values)
    for rows in groups:
        present = [(row, value) for row in rows if (value := values[row]) is not None]
        if group_spread([value for _, value in present]) == 0.0:
            mantissa, exponent = math.frexp(present[0][1])
            flat = math.ldexp(round(math.ldexp(mantissa, _BITS)), exponent - _BITS)
            for row, _ in present:
                found[row] = flat
    return found


@dataclass(slots=True)
class Running:
    """Count, mean and summed squared deviation of all values so far."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def add(self, values: Sequence[float | None]) -> None:
        """Count one generation batch."""
        present = [value for value in values if value is not None]
        if not present:
            return
        n = len(present)
        mean = math.fsum(present) / n
        squares = math.fsum((value - mean) ** 2 for value in present)
        total = self.count + n
        delta = mean - self.mean
        self.squares += squares + delta * delta * self.count * n / total
        self.mean += delta * n / total
        self.count = total

    @property
    def deviation(self) -> float:
        """The standard deviation (n - 1); 0 for fewer than two values."""
        return math.sqrt(self.squares / (self.count - 1)) if self.count > 1 else 0.0

    def normalised(self, values: Sequence[float | None]) -> list[float | None]:
        """Return the values on the running scale; None stays None, and all are 0 while there is no deviation."""
        deviation = self.deviation
        if deviation <= SPREAD_FLOOR:
            return [None if value is None else 0.0 for value in values]
        return [None if value is None else (value - self.mean) / (deviation + EPSILON) for value in values]
