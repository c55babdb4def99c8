"""Chains of equations, ``x = a = b``: where what stands on the way to the end says that two of them differ."""

from __future__ import annotations

from ..reading.tree import Node, free
from .equality import expressions_equal
from .rounding import about

__all__ = ["chain_differs"]

_PLAIN = frozenset(("num", "dec", "add", "mul", "pow", "const", "call", "percent"))


def chain_differs(gold: Node, answer: Node, seed: str) -> str | None:
    """Why an answer is not the gold although its end may be; None where nothing on the way tells."""
    if _contradicts(answer, sums=gold.kind != "rel"):
        return "a chain that contradicts itself"
    if gold.kind == answer.kind == "rel":
        return _rows_differ((gold,), (answer,), seed)
    if gold.kind != "list" or answer.kind != "list" or len(gold.args) != len(answer.args):
        return None
    if any(_contradicts(part, sums=False) and part not in gold.args for part in answer.args):
        return "a chain that contradicts itself"
    if (mine := _approximations(gold)) and (theirs := _approximations(answer)) and mine != theirs:
        return "different approximations"
    return _rows_differ(gold.args, answer.args, seed)


def _rows_differ(golds: tuple[Node, ...], answers: tuple[Node, ...], seed: str) -> str | None:
    """Of a row that is no chain of one value each part counts; of any other the values of functions."""
    for gold, answer in zip(golds, answers, strict=True):
        if gold.kind != "rel" or answer.kind != "rel" or len(gold.value) < 2 or gold.value != answer.value:
            continue
        every = _broken(gold)
        for mine, theirs in zip(gold.args, answer.args, strict=True):
            called = mine.kind == theirs.kind == "apply" and mine.value == theirs.value
            if (every or called) and mine != theirs and expressions_equal(mine, theirs, seed).equal is not True:
                return "different equations in a row"
    return None


def _approximations(node: Node) -> list[str]:
    """The decimals behind the signs of approximation in a list, in order of their digits."""
    last = [part.args[-1] for part in node.args if part.kind == "rel" and "~" in part.value]
    return sorted(str(end.value[0] if end.kind == "dec" else end.value) for end in last)


def _contradicts(node: Node, *, sums: bool = True) -> bool:
    """``x = 6 = 5``: a number in a chain is certainly not its end.

    Without `sums` a slip in the arithmetic of whole numbers on the way to the end ("x = 3+3 = 5") does not count.
    """
    if node.kind != "rel" or len(node.value) < 2 or any(op != "=" for op in node.value):
        return False
    last = node.args[-1]
    plain = [arg for arg in node.args[:-1] if _plain(arg) and (sums or not _whole_sum(arg))]
    return _plain(last) and any(
        expressions_equal(middle, last).equal is False and not about(middle, last) for middle in plain
    )


def _whole_sum(node: Node) -> bool:
    if node.kind == "num":
        return bool(node.value.q == 1)
    return node.kind in ("add", "mul") and all(_whole_sum(arg) for arg in node.args)


def _broken(node: Node) -> bool:
    """Are the parts of a chain not equal, so that it is no chain of one value but a row of equations?"""
    if node.kind != "rel" or len(node.value) < 2 or any(op != "=" for op in node.value):
        return False
    return any(
        free(node.args[-1]) and expressions_equal(middle, node.args[-1]).equal is False
        for middle in node.args[1:-1]
        if free(middle)
    )


def _plain(node: Node) -> bool:
    """A number, without names, units and the like."""
    return node.kind in _PLAIN and all(_plain(arg) for arg in node.args)
