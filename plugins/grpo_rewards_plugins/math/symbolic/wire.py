"""Trees as plain JSON, to and from a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grpo_rewards_plugins.math.reading.tree import Node

_KINDS = frozenset(
    ("num", "dec", "sym", "const", "add", "mul", "pow", "percent", "degree", "call", "apply", "sum", "prod", "opaque")
)


def symbolic(node: Node) -> bool:
    """Is the tree one that a worker can be asked about: an expression, with no set, list or relation in it?"""
    return node.kind in _KINDS and all(symbolic(arg) for arg in node.args)


def packed(node: Node) -> list[object]:
    """A tree as nested lists ``[kind, value, args]``; rationals are text."""
    value = node.value
    if node.kind == "num":
        value = str(value)
    elif node.kind == "dec":
        value = str(value[0])
    elif isinstance(value, tuple):
        value = list(value)
    return [node.kind, value, [packed(arg) for arg in node.args]]
