"""When two results are equal: the rules of BIRD and of Spider, and a strict one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .queries import asks_for_order, mentions_order, spider_text

ResultRow = tuple[Any, ...]
_MOST_LOOKS = (
    5_000_000  # at values, to find an order of columns: a second or so; a search that needs more ends as "not equal"
)


@dataclass
class Gold:
    """What a gold query gives: its rows in order, whether their order matters, the processor time that it took, and whether
    it reads any table."""

    rows: list[ResultRow]
    ordered: bool
    seconds: float
    reads: bool

    @cached_property
    def distinct(self) -> frozenset[ResultRow]:
        return frozenset(self.rows)

    @cached_property
    def counted(self) -> Counter[ResultRow]:
        return Counter(self.rows)

    @cached_property
    def columns(self) -> list[ResultRow]:
        return list(zip(*self.rows, strict=True))

    @cached_property
    def kinds(self) -> list[tuple[dict[tuple[int, object], int], Counter[int]]]:
        """For each column, the kinds of rows up to it: a number by that of the columns before and its value, and how many there are."""
        found, before = [], [0] * len(self.rows)
        for column in self.columns:
            numbers: dict[tuple[int, object], int] = {}
            before = [numbers.setdefault(key, len(numbers)) for key in zip(before, column, strict=True)]
            found.append((numbers, Counter(before)))
        return found

    @cached_property
    def rows_sorted(self) -> list[ResultRow]:
        return [_sorted(row) for row in self.rows]

    @cached_property
    def distinct_sorted(self) -> frozenset[ResultRow]:
        return frozenset(self.rows_sorted)


@dataclass(frozen=True)
class Rule:
    """A way to compare: the text that is run, whether the rows can still be right, and whether all of them are.

    `possible` looks at the rows that came last and at how many came so far, `equal` at all. `ordered` says of a gold
    whether the order of its rows matters. `lenient` decodes broken UTF-8 without what is broken; `whole_folder` compares on every database of the folder.
    """

    text: Callable[[str], str]
    ordered: Callable[[str], bool]
    possible: Callable[[Gold, list[ResultRow], int], bool]
    equal: Callable[[Gold, list[ResultRow]], bool]
    lenient: bool
    whole_folder: bool


def _as_it_is(text: str) -> str:
    return text


def _never(_gold: str) -> bool:
    return False


def _among(gold: Gold, part: list[ResultRow], _count: int) -> bool:
    return gold.distinct.issuperset(part)


def _no_more(gold: Gold, _part: list[ResultRow], count: int) -> bool:
    return count <= len(gold.rows)


def _same_set(gold: Gold, rows: list[ResultRow]) -> bool:
    return gold.distinct == set(rows)


def _same_rows(gold: Gold, rows: list[ResultRow]) -> bool:
    return rows == gold.rows if gold.ordered else len(rows) == len(gold.rows) and Counter(rows) == gold.counted


# ------------------------------------------------------------------------------------------------ Spider


def _same_table(gold: Gold, rows: list[ResultRow]) -> bool:
    """Equal rows, as often, in any order of columns; in the gold's order where that asks for one."""
    if len(rows) != len(gold.rows):
        return False
    if not rows:
        return True
    if len(rows[0]) != len(gold.rows[0]) or not _same_unordered(gold, rows):
        return False
    if _same_rows(gold, rows):
        return True
    columns = list(zip(*rows, strict=True))
    if gold.ordered:
        return Counter(columns) == Counter(gold.columns)
    return _matched(gold, columns)


def _same_unordered(gold: Gold, rows: list[ResultRow]) -> bool:
    """Spider's quick look: values of a row sorted by how they are written, so 2 and 2.0 can part equal rows."""
    found = [_sorted(row) for row in rows]
    return gold.rows_sorted == found if gold.ordered else gold.distinct_sorted == set(found)


def _sorted(row: ResultRow) -> ResultRow:
    return row if len(row) == 1 else tuple(sorted(row, key=lambda value: str(value) + str(type(value))))


def _matched(gold: Gold, given: list[ResultRow]) -> bool:
    """Whether the columns can be put in an order in which the rows are the same, found by trying what can still fit."""
    counts = [Counter(column) for column in given]
    fitting = [[n for n, count in enumerate(counts) if count == Counter(column)] for column in gold.columns]
    same = [given.index(column) for column in given]  # of equal columns one is as good as the other
    left = _MOST_LOOKS

    def place(taken: tuple[int, ...], kinds: Sequence[int]) -> bool:
        nonlocal left
        if len(taken) == len(given):
            return True
        numbers, sizes = gold.kinds[len(taken)]
        tried = set()
        for column in fitting[len(taken)]:
            if column in taken or same[column] in tried:
                continue
            tried.add(same[column])
            left -= len(kinds)
            if left < 0:
                return False
            found = [numbers.get(key, -1) for key in zip(kinds, given[column], strict=True)]
            if Counter(found) == sizes and place((*taken, column), found):
                return True
        return False

    return place((), [0] * len(gold.rows))


RULES = {
    "bird": Rule(_as_it_is, _never, _among, _same_set, lenient=False, whole_folder=False),
    "spider": Rule(spider_text, mentions_order, _no_more, _same_table, lenient=True, whole_folder=True),
    "strict": Rule(_as_it_is, asks_for_order, _no_more, _same_rows, lenient=True, whole_folder=True),
}
