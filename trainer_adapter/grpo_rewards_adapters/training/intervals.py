"""Confidence intervals for an evaluation: of a share, of a mean, and of the difference of two runs on the same prompts."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import NormalDist

__all__ = ["bootstrap", "wilson"]


def wilson(successes: int, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of a share (Wilson 1927), which stays within [0, 1] and has a width at 0 and 1 too.

    With p = successes / n and z the normal quantile of (1 + level) / 2 the bounds are
    (p + z²/2n ± z √(p (1 - p) / n + z²/4n²)) / (1 + z²/n).

    Raises:
        ValueError: `n` is not positive, or `successes` is not within 0 and `n`.
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"a share needs 0 <= successes <= n and n >= 1, not {successes} of {n}")
    z = NormalDist().inv_cdf((1 + level) / 2)
    p = successes / n
    middle = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def bootstrap(
    values: Sequence[float], *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """Return the percentile interval of the mean of `values` (Efron 1979), the same for the same seed.

    For a difference of two runs on the same prompts give the differences prompt by prompt.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("a mean needs at least one value")
    chance, n = random.Random(seed), len(values)
    means = sorted(math.fsum(chance.choices(values, k=n)) / n for _ in range(resamples))
    tail = (1 - level) / 2
    return means[math.floor(tail * (resamples - 1))], means[math.ceil((1 - tail) * (resamples - 1))]
