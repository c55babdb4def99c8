"""Operands with parts of their own: functions, matrices and cases, sums and products, integrals and limits."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import fmpq

from .tokens import Token
from .tree import MINUS_ONE, Node, ParseError, add, mul, number, power

if TYPE_CHECKING:
    from .parser import Parser

_HALF = number(fmpq(1, 2))
_THIRD = number(fmpq(1, 3))
_INVERSE = frozenset("sin cos tan cot sec csc sinh cosh tanh".split())
CONDITIONS = frozenset(("if", "for", "when", "where", "as", "while", "ha"))
_MAX_CELLS = 400
_MATRICES = frozenset("matrix pmatrix bmatrix Bmatrix vmatrix Vmatrix smallmatrix array tabular psmallmatrix".split())
_ALIGNED = frozenset("aligned align gathered gather split equation alignedat eqnarray".split())


def function(parser: Parser, name: str) -> Node:
    """A known function: its power, its base, its argument with or without brackets."""
    exponent: Node | None = None
    base: Node | None = None
    while parser.met("^", "_"):
        mark = parser.take().text
        if mark == "_":
            base = parser.argument()
        else:
            sign = -1 if parser.met("-") else 1
            if sign < 0:
                parser.take()
            exponent = parser.argument()
            if sign < 0:
                exponent = mul(MINUS_ONE, exponent)
    # \sin^{-1} is the inverse, while \sin^2 is a square
    if exponent is not None and name in _INVERSE and _is_minus_one(exponent):
        name, exponent = f"a{name}", None
    if name == "det":
        return Node("call", "det", (parser.power(),))
    args = _arguments(parser, name)
    if name == "binom" and len(args) != 2:
        raise ParseError(f"a binomial coefficient of {len(args)} values")
    if name == "sqrt":
        node = power(args[0], _HALF)
    elif name == "cbrt":
        node = power(args[0], _THIRD)
    elif name == "cis":
        node = add(Node("call", "cos", args), mul(Node("const", "i"), Node("call", "sin", args)))
    elif name == "lg":
        node = Node("call", "log", (args[0], number(10)))
    elif name == "log" and (base is not None or len(args) == 2):
        node = Node("call", "log", (args[0], base if base is not None else args[1]))
    else:
        node = Node("call", name, args)
    return node if exponent is None else power(node, exponent)


def _is_minus_one(node: Node) -> bool:
    return (node.kind == "num" and node.value == -1) or node == mul(MINUS_ONE, number(1))


def _arguments(parser: Parser, name: str) -> tuple[Node, ...]:
    token = parser.peek()
    if token.text in ("(", "[", "\\{") and token.kind == "op":
        closer = {"(": ")", "[": "]", "\\{": "\\}"}[token.text]
        parser.take()
        parser.deeper()
        bars, colon = parser.bars, parser.no_colon
        parser.bars = parser.no_colon = 0
        node = parser.items()
        parser.bars, parser.no_colon = bars, colon
        parser.expect(closer)
        parser.depth -= 1
        return node.args if node.kind == "list" else (node,)
    if token.text in ("{", "|", "|(") and token.kind == "op":
        return (parser.power(),)
    if token.kind == "end":
        raise ParseError(f"{name} of nothing")
    parser.deeper()
    factors = [parser.power()]
    # "\\sin 2x" takes the product, up to a sign of an operation or the next function
    while factors[-1].kind not in ("call", "opaque"):
        after = parser.peek()
        if after.kind in ("id", "const") or (after.kind == "cmd" and after.text in ("\\frac", "\\dfrac", "\\sqrt")):
            factors.append(parser.power())
        else:
            break
    parser.depth -= 1
    return (mul(*factors),)


def environment(parser: Parser, name: str) -> Node:
    """A matrix, cases, or an alignment that holds one formula."""
    if name not in _MATRICES and name not in _ALIGNED and name not in ("cases", "dcases", "rcases"):
        raise ParseError(f"the environment {name!r}")
    parser.deeper()
    bars, parser.bars = parser.bars, 0
    if name in _ALIGNED:
        _aligned(parser)
    rows: list[list[Node]] = [[]]
    cells = 0
    while True:
        token = parser.peek()
        if token.kind == "env" and token.text.startswith("end"):
            parser.take()
            break
        if token.kind == "end":
            raise ParseError(f"{name} without its end")
        if token.kind == "op" and token.text == "\\\\":
            parser.take()
            _row_gap(parser)
            rows.append([])
        elif token.kind == "op" and token.text == "&":
            parser.take()
        else:
            rows[-1].append(_cell(parser))
            cells += 1
            if cells > _MAX_CELLS:
                raise ParseError(f"more than {_MAX_CELLS} cells")
    parser.bars = bars
    parser.depth -= 1
    rows = [row for row in rows if row]
    if not rows:
        raise ParseError("an empty matrix")
    if name in _MATRICES:
        if len({len(row) for row in rows}) != 1:
            raise ParseError("a matrix with rows of different length")
        matrix = Node("matrix", (len(rows), len(rows[0])), tuple(cell for row in rows for cell in row))
        if name in ("vmatrix", "Vmatrix"):
            return Node("call", "det" if name == "vmatrix" else "norm", (matrix,))
        return matrix
    if name in _ALIGNED:
        return rows[0][0] if len(rows) == 1 else Node("list", "and", tuple(row[0] for row in rows))
    if all(len(row) == 1 for row in rows):  # a system of equations
        return Node("list", "and", tuple(row[0] for row in rows))
    return Node("cases", None, tuple(cell for row in rows for cell in (row[0], _condition(row[1:]))))


def _condition(cells: list[Node]) -> Node:
    """What a case holds for; that a number is of one residue as what is left of it, which has a value."""
    if not cells:
        return Node("sym", "otherwise")
    first = cells[0]
    if first.kind == "rel" and first.value == ("==",) and (rest := first.args[1]).kind == "residue":
        modulus = rest.value if isinstance(rest.value, Node) else number(rest.value)
        return Node(
            "rel", ("=",), tuple(Node("call", "mod", (side, modulus)) for side in (first.args[0], rest.args[0]))
        )
    return first


def _aligned(parser: Parser) -> None:
    """Columns of an alignment are no cells; a row that begins with a relation goes on with the one before."""
    out: list[Token] = []
    at, depth, count = parser.at, 0, len(parser.tokens)
    while at < count:
        token = parser.tokens[at]
        if token.kind == "env":
            depth += 1 if token.text.startswith("begin") else -1
            if depth < 0:
                break
        after = next((t for t in parser.tokens[at + 1 : at + 3] if t.text != "&"), token)
        goes_on = token.text == "\\\\" and after.kind == "rel"
        if depth or not (token.kind == "op" and (token.text == "&" or goes_on)):
            out.append(token)
        at += 1
    parser.tokens[parser.at : at] = out


def _row_gap(parser: Parser) -> None:
    """``\\\\[2pt]``: the gap after a row."""
    if parser.met("[") and parser.peek(1).kind == "num" and parser.peek(2).kind in ("word", "id"):
        while not parser.met("]") and parser.peek().kind != "end":
            parser.take()
        parser.take()


def _cell(parser: Parser) -> Node:
    token = parser.peek()
    if token.kind == "text" and token.text.lower().strip(" ,.:") in CONDITIONS:
        parser.take()
        while parser.met("&"):
            parser.take()
    elif token.kind == "text":
        return Node("sym", parser.take().text.lower().strip(" ,."))
    node = parser.relation()
    while parser.met(",", ".", ";"):
        parser.take()
    return node  # the condition of "x, \\text{ if } x>0" in one cell without "&" becomes the next cell


def series(parser: Parser, name: str) -> Node:
    """A sum or a product over an index with both bounds."""
    variable, lower, upper = "", None, None
    while parser.met("^", "_"):
        if parser.take().text == "_":
            if not parser.met("{"):
                raise ParseError(f"{name} over an index that is not given")
            parser.take()
            head = parser.relation()
            parser.expect("}")
            if head.kind != "rel" or head.value != ("=",) or head.args[0].kind not in ("sym", "const"):
                raise ParseError(f"{name} over an index that is not given")
            variable, lower = str(head.args[0].value), head.args[1]
        else:
            upper = parser.argument()
    body = parser.product()
    if lower is None or upper is None:
        raise ParseError(f"{name} without bounds")
    return Node("sum" if name == "sum" else "prod", variable, (_bound(body, variable), lower, upper))


def _bound(body: Node, variable: str) -> Node:
    """The index may be called ``i``: it is then no imaginary unit."""
    if variable not in ("i", "e"):
        return body
    if body.kind == "const" and body.value == variable:
        return Node("sym", variable)
    return Node(body.kind, body.value, tuple(_bound(arg, variable) for arg in body.args)) if body.args else body


def calculus(parser: Parser, name: str) -> Node:
    """An integral or a limit: kept as it is for the slow path."""
    lower: Node | None = None
    upper: Node | None = None
    if name == "lim":
        parser.expect("_")
        parser.expect("{")
        head = parser.relation()
        parser.expect("}")
        if head.kind != "rel" or head.value != ("->",):
            raise ParseError("a limit without its point")
        return Node("opaque", "lim", (parser.product(), head.args[0], head.args[1]))
    while parser.met("^", "_"):
        if parser.take().text == "_":
            lower = parser.argument()
        else:
            upper = parser.argument()
    end = parser.at
    tokens, count = parser.tokens, len(parser.tokens)
    while end < count:
        token = tokens[end]
        if token.kind == "word" and len(token.text) == 2 and token.text[0] == "d":
            variable, after = token.text[1], end + 1
            break
        if token.kind == "word" and token.text[-2:-1] == "d" and len(token.text) == 3:  # "xdx" lost its space
            variable, after = token.text[2], end + 1
            tokens[end : end + 1] = [Token("id", token.text[0], False)]
            end += 1
            break
        if token.kind == "id" and token.text == "d" and end + 1 < count and tokens[end + 1].kind == "id":
            variable, after = tokens[end + 1].text, end + 2
            break
        end += 1
    else:
        raise ParseError("an integral without its variable")
    inner = tokens[parser.at : end]
    while inner and inner[-1].text == "\\cdot":  # "F \\cdot dr"
        inner.pop()
    # at the same depth, so that integrals within integrals stay bounded
    sub = type(parser)(inner, parser.depth)
    body = sub.sum() if inner else number(1)
    if sub.at < len(inner):
        raise ParseError("an integrand that cannot be read")
    parser.at = after if after <= len(parser.tokens) else len(parser.tokens)
    args: tuple[Node, ...] = (body, Node("sym", variable))
    if lower is not None and upper is not None:
        args += (lower, upper)
    return Node("opaque", "int", args)
