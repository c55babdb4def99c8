"""Trees as plain JSON, to and from a worker."""

from __future__ import annotations

from typing import Any

__all__ = ["packed"]


def packed(node: Any) -> list[Any]:
    """A tree as nested lists ``[kind, value, args]``; rationals are text."""
    value = node.value
    if node.kind == "num":
        value = str(value)
    elif node.kind == "dec":
        value = str(value[0])
    elif isinstance(value, tuple):
        value = list(value)
    return [node.kind, value, [packed(arg) for arg in node.args]]
