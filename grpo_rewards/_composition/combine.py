"""The arithmetic of composition: pure functions of one row's values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

__all__ = ["Method", "bounded", "combined", "gate_factor"]

Method = Literal["weighted_sum", "weighted_mean"]


def bounded(value: float | None, clip: tuple[float, float] | None) -> float | None:
    """Return `value` within the bounds `clip`; None stays None."""
    if value is None or clip is None:
        return value
    return min(max(value, clip[0]), clip[1])


def gate_factor(value: float | None, at_least: float | None, at_most: float | None) -> float:
    """Return 1.0 where a gate on `value` is open and 0.0 where it is shut; a gate on None is shut."""
    if value is None:
        return 0.0
    is_open = (at_least is None or value >= at_least) and (at_most is None or value <= at_most)
    return 1.0 if is_open else 0.0


def combined(
    values: Sequence[float | None],
    gates: Sequence[float],
    weights: Sequence[float],
    *,
    method: Method = "weighted_sum",
    clip: tuple[float, float] | None = None,
) -> float | None:
    """Combine one row's component values, in the order of the components, into its reward.

    With g the gate factors (0 or 1) and w the weights, over the components whose value v is not None:
    ``weighted_sum`` is Σ w·g·v, ``weighted_mean`` is Σ w·g·v / Σ |w|. A row to which nothing applies is None, and so is
    a mean whose weights are all 0. Components of weight 0 are shadows: a row with nothing but shadows is None.
    """
    total = weight_sum = 0.0
    applies = False
    for value, gate, weight in zip(values, gates, weights, strict=True):
        if value is None or weight == 0.0:
            continue
        applies = True
        total += weight * gate * value
        weight_sum += abs(weight)
    if not applies:
        return None
    if method == "weighted_mean":
        total /= weight_sum
    return bounded(total, clip)
