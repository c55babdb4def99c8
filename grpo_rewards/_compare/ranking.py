"""Correlation of ranks."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from itertools import groupby

from grpo_rewards._composition.stats import pearson

__all__ = ["kendall", "ranks", "spearman"]


def ranks(values: Sequence[float]) -> Sequence[float]:
    """Return the rank of each value, from 1; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found = array("d", bytes(8 * len(values)))
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for position in order[start:end]:
            found[position] = (start + 1 + end) / 2
        start = end
    return found


def spearman(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation, or None where one list is constant."""
    return pearson(ranks(x), ranks(y))


def kendall(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Return Kendall's tau-b, which allows for ties, or None where one list is constant.

    In n log n steps: Knight, "A computer method for calculating Kendall's tau with ungrouped data", 1966.
    """
    n = len(x)
    everything = n * (n - 1) // 2
    order = sorted(range(n), key=y.__getitem__)
    tied_y = _tied(y[place] for place in order)
    order.sort(key=x.__getitem__)  # a sort keeps the order of equals
    tied_x = _tied(x[place] for place in order)
    tied_both = _tied((x[place], y[place]) for place in order)
    if everything in (tied_x, tied_y):
        return None
    swaps = _inversions(array("d", (y[place] for place in order)))
    agreeing = everything - tied_x - tied_y + tied_both - 2 * swaps
    return agreeing / math.sqrt((everything - tied_x) * (everything - tied_y))


def _tied(values: Iterable[object]) -> int:
    """How many pairs of equal values there are; equal ones stand side by side."""
    counts = (sum(1 for _ in same) for _, same in groupby(values))
    return sum(count * (count - 1) // 2 for count in counts)


def _inversions(values: array[float]) -> int:
    """How many pairs stand in the wrong order (merge sort, counting)."""
    count, width = 0, 1
    while width < len(values):
        merged = array("d")
        for start in range(0, len(values), 2 * width):
            left, right = values[start : start + width], values[start + width : start + 2 * width]
            i = j = 0
            while i < len(left) and j < len(right):
                if right[j] < left[i]:
                    merged.append(right[j])
                    count += len(left) - i
                    j += 1
                else:
                    merged.append(left[i])
                    i += 1
            merged += left[i:] + right[j:]
        values, width = merged, 2 * width
    return count
