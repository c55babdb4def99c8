"""Correlation of ranks."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain, repeat

from grpo_rewards._compare.spool import SORTED_AT_ONCE, Column, in_order
from grpo_rewards._composition.stats import pearson

__all__ = ["kendall", "rank_correlations"]


def kendall(x: Iterable[float], y: Iterable[float]) -> float | None:
    """Return Kendall's tau-b, which allows for ties, or None where one list is constant."""
    return rank_correlations(zip(x, y, strict=True))[0]


def rank_correlations(pairs: Iterable[tuple[float, float]]) -> tuple[float | None, float | None]:
    """Return Kendall's tau-b and Spearman's correlation, each None where one side is constant; equal values share a rank.

    In n log n steps: Knight, "A computer method for calculating Kendall's tau with ungrouped data", 1966.
    """
    ys: Column[float] = Column("d")
    runs_x: Column[int] = Column("q")
    tied_both = same = run = 0
    before: tuple[float, ...] = ()
    for pair in in_order(pairs, "dd"):
        if run and pair[0] != before[0]:
            runs_x.append(run)
            run = 0
        same = same + 1 if run and pair == before else 0
        tied_both += same
        run, before = run + 1, pair
        ys.append(pair[1])
    if run:
        runs_x.append(run)
    ranks: Column[float] = Column("d")  # of x, in the order of y
    runs_y: Column[int] = Column("q")
    run, last = 0, math.nan
    for y, rank in in_order(zip(ys, _ranks(runs_x), strict=True), "dd"):
        if run and y != last:
            runs_y.append(run)
            run = 0
        run, last = run + 1, y
        ranks.append(rank)
    if run:
        runs_y.append(run)
    everything, tied_x, tied_y = _pairs(len(ys)), sum(map(_pairs, runs_x)), sum(map(_pairs, runs_y))
    tau = None
    if everything not in (tied_x, tied_y):
        agreeing = everything - tied_x - tied_y + tied_both - 2 * _inversions(ys)
        tau = agreeing / math.sqrt((everything - tied_x) * (everything - tied_y))
    return tau, pearson(ranks, Column("d", _ranks(runs_y)))


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def _ranks(runs: Iterable[int]) -> Iterator[float]:
    """The ranks, from 1, of values in order of which so many are equal each; they share the mean of theirs."""

    def each() -> Iterator[Iterator[float]]:
        start = 0
        for run in runs:
            yield repeat((2 * start + 1 + run) / 2, run)
            start += run

    return chain.from_iterable(each())


def _inversions(values: Column[float]) -> int:
    """How many pairs stand in the wrong order (merge sort, counting)."""
    width, total = SORTED_AT_ONCE, len(values)
    found = 0
    level: Column[float] = Column("d")
    for start in range(0, total, width):
        block = array("d", values.between(start, min(start + width, total)))
        found += _inversions_in_memory(block)
        if total > width:
            level.extend(sorted(block))
    while width < total:
        merged: Column[float] = Column("d")
        for start in range(0, total, 2 * width):
            middle, end = min(start + width, total), min(start + 2 * width, total)
            left, right, waiting = level.between(start, middle), level.between(middle, end), middle - start
            one, two = next(left, math.inf), next(right, math.inf)
            for _ in range(end - start):
                if two < one:
                    merged.append(two)
                    found += waiting
                    two = next(right, math.inf)
                else:
                    merged.append(one)
                    waiting -= 1
                    one = next(left, math.inf)
        level, width = merged, 2 * width
    return found


def _inversions_in_memory(values: array[float]) -> int:
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
