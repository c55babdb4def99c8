"""The arithmetic of composition: pure functions of values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

__all__ = ["Method", "bounded", "combined", "gate_factor"]

Method = Literal["weighted_sum", "weighted_mean"]


def bounded(value: float | None, clip: tuple[float, float] | None) -> float | None:
    """Return `value` within the bounds `clip`; None stays None."""
    if value is None or clip is None:
        return value
    return min(max(value, clip[0]), clip[1])


def gate_factor(value: float | None, at_least: float | None, at_most: float | None) -> float:
    """Return 1.0 where a gate on `value` is open and 0.0 where it is shut or where there is no value."""
    if value is None:
        return 0.0
    is_open = (at_least is None or value >= at_least) and (at_most is None or value <= at_most)
    return 1.0 if is_open else 0.0


def combined(
    values: Collection[Sequence[float | None]],
    gates: Collection[Sequence[float]],
    weights: Collection[float],
    *,
    method: Method = "weighted_sum",
    clip: tuple[float, float] | None = None,
) -> list[float | None]:
    """Combine the components' values, one column per component in their order, into one reward per row.

    With g the gate factors (0 or 1) and w the weights, over the components whose value v in the row is not None:
    ``weighted_sum`` is Σ w·g·v, ``weighted_mean`` is Σ w·g·v / Σ |w|. A row to which nothing applies is None, and so is
    a mean whose weights are all 0. Components of weight 0 are shadows: a row with nothing but shadows is None.
    """
    # None until something applies: a row to which nothing does is left out by the trainer, and 0.0 would be a grade
    totals: list[float | None] = [None] * max(map(len, values), default=0)
    counted = [
        (column, factors, weight)
        for column, factors, weight in zip(values, gates, weights, strict=True)
        if weight != 0.0
    ]
    for column, factors, weight in counted:
        totals = [
            total if value is None else (total or 0.0) + weight * gate * value
            for total, value, gate in zip(totals, column, factors, strict=True)
        ]
    if method == "weighted_mean":
        sizes = [0.0] * len(totals)
        for column, _, weight in counted:
            sizes = [size if value is None else size + abs(weight) for size, value in zip(sizes, column, strict=True)]
        totals = [None if total is None else total / size for total, size in zip(totals, sizes, strict=True)]
    return totals if clip is None else [bounded(total, clip) for total in totals]
