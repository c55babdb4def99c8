"""Correlation of ranks."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, repeat
from operator import itemgetter

from grpo_rewards._compare.spool import Column, in_order
from grpo_rewards._composition.stats import pearson


def kendall(x: Iterable[float], y: Iterable[float]) -> float | None:
    """Return Kendall's tau-b, which allows for ties, or None where one list is constant."""
    return rank_correlations(zip(x, y, strict=True))[0]


def rank_correlations(pairs: Iterable[tuple[float, float]]) -> tuple[float | None, float | None]:
    """Return Kendall's tau-b and Spearman's correlation, each None where one side is constant; equal values share a rank.

    In n log n steps: Knight, "A computer method for calculating Kendall's tau with ungrouped data", 1966.
    """
    ys: Column[float] = Column("d")
    runs_x: Column[int] = Column("q")
    tied_both = 0
    for _, equal_x in groupby(in_order(pairs, "dd"), itemgetter(0)):
        before = len(ys)
        for (_, y), same in groupby(equal_x):
            times = sum(1 for _ in same)
            tied_both += _pairs(times)
            ys.extend(repeat(y, times))
        runs_x.append(len(ys) - before)
    ranks: Column[float] = Column("d")  # of x, in the order of y
    runs_y: Column[int] = Column("q")
    distinct = array("d")
    for y, equal_y in groupby(in_order(zip(ys, _ranks(runs_x), strict=True), "dd"), itemgetter(0)):
        before = len(ranks)
        ranks.extend(rank for _, rank in equal_y)
        runs_y.append(len(ranks) - before)
        distinct.append(y)
    everything, tied_x, tied_y = _pairs(len(ys)), sum(map(_pairs, runs_x)), sum(map(_pairs, runs_y))
    tau = None
    if everything not in (tied_x, tied_y):
        agreeing = everything - tied_x - tied_y + tied_both - 2 * _inversions(ys, distinct)
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


def _inversions(values: Iterable[float], distinct: Sequence[float]) -> int:
    """How many pairs stand in the wrong order; `distinct` are the values that occur, in order.

    A Fenwick tree counts, for each value, those before it that are not larger.
    """
    tree = array("q", bytes(8 * (len(distinct) + 1)))
    found = 0
    for seen, value in enumerate(values):
        place = rank = bisect_right(distinct, value)
        found += seen
        while rank:
            found -= tree[rank]
            rank &= rank - 1
        while place < len(tree):
            tree[place] += 1
            place += place & -place
    return found
