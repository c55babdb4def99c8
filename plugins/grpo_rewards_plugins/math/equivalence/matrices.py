"""Matrices: rows in brackets, products, sums and transposes as one matrix."""

from __future__ import annotations

from collections.abc import Iterator

from flint import fmpq_mat

from ..reading.tree import ONE, Node, add, mul, number


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
    if node.kind != "pow" or node.args[1].kind != "sym" or node.args[1].value not in ("T", "t"):
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
    if node.kind == "pow":
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


def as_vector(node: Node) -> Node:
    """``(1, 2) + t(0, 1)`` as one vector; anything else as it is."""
    if node.kind not in ("add", "mul") or not any(here.kind == "tuple" for here in _terms(node)):
        return node
    found = scaled(Node(node.kind, None, tuple(map(_columns, node.args))))
    return node if found is None else Node("tuple", None, found.args)


def _terms(node: Node) -> Iterator[Node]:
    for arg in node.args:
        yield from arg.args if arg.kind == "mul" else (arg,)


def _columns(node: Node) -> Node:
    """With each point as a column."""
    if node.kind == "mul":
        return Node("mul", None, tuple(map(_columns, node.args)))
    return Node("matrix", (len(node.args), 1), node.args) if node.kind == "tuple" else node


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


def spanned(node: Node) -> tuple[str, ...] | None:
    """The rows of the echelon form of the vectors of a span, or of all vectors of ``\\mathbb{R}^n``; None for anything else."""
    if node.kind == "named" and node.value[:2] == "R^" and node.value[2:].isdigit() and int(node.value[2:]) <= _LARGEST:
        size = int(node.value[2:])
        rows = [[int(at == here) for at in range(size)] for here in range(size)]
    elif node.kind == "apply" and node.value == "span":
        inner = node.args[0]
        vectors = inner.args if inner.kind in ("set", "list") or (inner.args and _vector(inner.args[0])) else (inner,)
        if (
            not vectors
            or not all(map(_vector, vectors))
            or len({len(vector.args) for vector in vectors}) != 1
            or len(vectors) > _LARGEST
        ):
            return None
        rows = [[entry.value for entry in vector.args] for vector in vectors]
    else:
        return None
    reduced, rank = fmpq_mat(rows).rref()
    return tuple(str(entry) for row in reduced.tolist()[:rank] for entry in row)


def _vector(node: Node) -> bool:
    """Plain numbers in a row or a column."""
    row = node.kind in ("tuple", "interval") or (node.kind == "matrix" and 1 in node.value)
    return row and len(node.args) <= _LARGEST and all(arg.kind == "num" for arg in node.args)
