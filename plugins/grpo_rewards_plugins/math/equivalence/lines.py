"""Lines in space by their symmetric equations, ``\\frac{x-1}{2} = \\frac{y}{3} = \\frac{z+1}{4}``: one line has many points and directions."""

from __future__ import annotations

from typing import NamedTuple

from flint import fmpq

from ..reading.tree import Node, free, number, replaced, walk
from .equality import constant_value


class _Line(NamedTuple):
    """A point and a direction, by the names of the coordinates."""

    point: dict[str, fmpq]
    direction: dict[str, fmpq]


def same_line(gold: Node, answer: Node) -> bool | None:
    """Are two lines one, of which one at least is in symmetric equations?  None where one is no line with rational numbers."""
    if not (_symmetric(gold) or _symmetric(answer)):
        return None
    one = _line(gold)
    other = None if one is None else _line(answer)
    if one is None or other is None:
        return None
    if one.point.keys() != other.point.keys():
        return False
    between = {name: value - other.point[name] for name, value in one.point.items()}
    return _parallel(one.direction, other.direction) and _parallel(between, one.direction)


def _parallel(one: dict[str, fmpq], other: dict[str, fmpq]) -> bool:
    return all(one[a] * other[b] == one[b] * other[a] for a in one for b in one)


def _symmetric(node: Node) -> bool:
    """A chain of three at least, or of two beside a coordinate that stays (``\\frac{x-1}{2} = \\frac{y}{3}, z = 1``)."""
    if node.kind == "list":
        return len(node.args) == 2 and all(part.kind == "rel" for part in node.args) and any(map(_chain, node.args))
    return len(node.args) > 2 and _chain(node)


def _chain(node: Node) -> bool:
    """Are all parts of a chain of equations of one letter each, another in each?"""
    if node.kind != "rel" or any(op != "=" for op in node.value):
        return False
    met: frozenset[str] = frozenset()
    for part in node.args:
        names = free(part)
        if len(names) != 1 or names <= met:
            return False
        met |= names
    return True


def _line(node: Node) -> _Line | None:
    parts = node.args if node.kind == "list" else (node,)
    line = _Line({}, {})
    chains = [part for part in parts if _chain(part)]
    if len(chains) != 1:
        return _of_a_parameter(node)
    for part in parts:
        if part is chains[0]:
            for coordinate in part.args:
                (name,) = free(coordinate)
                step = _linear(coordinate, name)
                if step is None or not step[1]:
                    return None
                line.point[name], line.direction[name] = -step[0] / step[1], 1 / step[1]
        elif part.kind == "rel" and part.value == ("=",) and part.args[0].kind == "sym":
            name, value = part.args[0].value, constant_value(part.args[1]) if not free(part.args[1]) else None
            if name in line.point or not isinstance(value, fmpq):
                return None
            line.point[name], line.direction[name] = value, fmpq(0)
        else:
            return None
    return line if len(line.point) > 2 else None


def _of_a_parameter(node: Node) -> _Line | None:
    """``x = 1 + 2t, y = 3t, z = -1 + 4t``."""
    letters = free(node) - {"x", "y", "z"}
    if node.kind != "list" or len(node.args) != 3 or len(letters) != 1:
        return None
    (letter,) = letters
    line = _Line({}, {})
    for part in node.args:
        if part.kind != "rel" or part.value != ("=",) or part.args[0].kind != "sym":
            return None
        step = _linear(part.args[1], letter)
        if step is None:
            return None
        line.point[part.args[0].value], line.direction[part.args[0].value] = step
    return line if len(line.point) == 3 and any(line.direction.values()) else None


def _linear(node: Node, name: str) -> tuple[fmpq, fmpq] | None:
    """``a + b x`` as its two rational numbers; None for anything else."""
    if not free(node) <= {name} or any(here.kind in ("call", "apply", "opaque") for here in walk(node)):
        return None
    values = [constant_value(replaced(node, {name: number(at)})) for at in range(4)]
    if not all(isinstance(value, fmpq) for value in values):
        return None
    start, *rest = values
    steps = {later - former for former, later in zip(values, rest, strict=False)}
    return (start, steps.pop()) if len(steps) == 1 else None
