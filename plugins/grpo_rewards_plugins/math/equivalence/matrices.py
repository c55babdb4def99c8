"""Matrices: rows in brackets, products, sums and transposes as one matrix."""

from __future__ import annotations

from ..reading.tree import ONE, Node, add, mul, number

__all__ = ["identity", "scaled", "transposed"]


def identity(node: Node, other: Node) -> Node:
    """``I_2``, ``I`` beside a square matrix as the identity of its size; anything else as it is."""
    if other.kind != "matrix" or other.value[0] != other.value[1] or other.value[0] > _LARGEST:
        return node
    size = other.value[0]
    if node not in (Node("sym", "I"), Node("sym", f"I_{size}")):
        return node
    return Node("matrix", other.value, tuple(ONE if at % (size + 1) == 0 else number(0) for at in range(size * size)))


_LARGEST = 20


def _rows(node: Node) -> Node | None:
    """``[[1, 2], [3, 4]]`` as a matrix."""
    rows = [row.args for row in node.args if row.kind in ("tuple", "interval")]
    if len(rows) != len(node.args) or len({len(row) for row in rows}) != 1:
        return None
    return Node("matrix", (len(rows), len(rows[0])), tuple(entry for row in rows for entry in row))


def transposed(node: Node) -> Node | None:
    """The matrix or row under a transpose."""
    upper = node.kind == "pow" and node.args[1].kind == "sym" and node.args[1].value in ("T", "t", "\\top")
    if not upper and not (node.kind == "apply" and node.value in ("^\\top", "^\\intercal")):
        return None
    inner = node.args[0]
    if inner.kind == "tuple":
        return Node("matrix", (len(inner.args), 1), inner.args)
    found = scaled(inner)
    if found is None:
        return None
    rows, columns = found.value
    return Node(
        "matrix", (columns, rows), tuple(found.args[i * columns + j] for j in range(columns) for i in range(rows))
    )


def scaled(node: Node) -> Node | None:
    """A product of numbers and one matrix, a sum of matrices, or a transposed one, as one matrix."""
    if node.kind == "matrix":
        return node
    if node.kind in ("pow", "apply"):
        return transposed(node)
    if node.kind in ("tuple", "interval"):
        return _rows(node)
    if node.kind == "mul":
        matrices = [arg for arg in node.args if arg.kind == "matrix"]
        scalars = [arg for arg in node.args if arg.kind != "matrix"]
        return _product(matrices, scalars)
    if node.kind == "add":
        parts = [scaled(arg) for arg in node.args]
        found = [part for part in parts if part is not None]
        if len(found) == len(parts) and len({part.value for part in found}) == 1:
            entries = zip(*(part.args for part in found), strict=True)
            return Node("matrix", found[0].value, tuple(add(*entry) for entry in entries))
    return None


def _product(matrices: list[Node], scalars: list[Node]) -> Node | None:
    """The product of matrices in order, times numbers; None where the shapes do not fit or it is large."""
    if not matrices:
        return None
    found = matrices[0]
    for right in matrices[1:]:
        (rows, inner), (height, columns) = found.value, right.value
        if inner != height or rows * inner * columns > 1_000:
            return None
        entries = tuple(
            add(*(mul(found.args[i * inner + k], right.args[k * columns + j]) for k in range(inner)))
            for i in range(rows)
            for j in range(columns)
        )
        found = Node("matrix", (rows, columns), entries)
    return Node("matrix", found.value, tuple(mul(*scalars, entry) for entry in found.args)) if scalars else found
