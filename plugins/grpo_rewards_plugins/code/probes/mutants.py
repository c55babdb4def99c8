"""Small changes of a solution that make it wrong: its result made larger, smaller or just another, and its own operators changed.

A changed result keeps its type and raises nothing, so that only tests which look at the value see it. Changes of operators
say how much of the program the tests reach. Loops with ``while`` are left alone: a change there runs for ever.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from grpo_rewards_plugins.code.extraction import first_name
from grpo_rewards_plugins.code.probes.expectations import expectations
from grpo_rewards_plugins.code.suite import Suite
from grpo_rewards_plugins.syntax import parsed

_MOST = 4  # changes of operators and constants
_CHANGED = """
def _changed_by_audit(x, how):
    if x is None:
        return x
    if isinstance(x, bool):
        return not x
    if isinstance(x, int):
        return x + {"up": 1, "down": -1, "aside": 210}[how]
    if isinstance(x, (float, complex)):  # more than any tolerance
        return 2 * x + 1 if how == "up" else -x - 1
    if how == "aside":
        changed = _aside_by_audit(x)
        if changed != x:
            return changed
    up = how != "down"
    if isinstance(x, str):
        return x + "x" if up else (x[1:] or "x")
    if isinstance(x, list):
        return [*x, 0] if up else (x[:-1] or [0])
    if isinstance(x, tuple):
        return (*x, 0) if up else (x[:-1] or (0,))
    if isinstance(x, (set, frozenset)):
        return type(x)([*x, "x"]) if up else type(x)(list(x)[1:] or ["x"])
    if isinstance(x, dict):
        return {**x, "x": 0} if up else (dict(list(x.items())[1:]) or {"x": 0})
    return None

def _aside_by_audit(x):
    if isinstance(x, str):
        return "".join(_next_by_audit(letter) for letter in x)
    if isinstance(x, dict):
        return {key: _changed_by_audit(value, "aside") for key, value in x.items()}
    if type(x) in (list, tuple, set, frozenset):
        return type(x)(_changed_by_audit(item, "aside") for item in x)
    return x

def _next_by_audit(letter):
    for letters in ("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"):
        if letter in letters:
            return letters[(letters.index(letter) + 1) % len(letters)]
    return letter
"""
_WAYS = ("up", "down", "aside")
_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_CALCULATED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
}  # fmt: skip
_LEFT_ALONE = (
    ast.While,
    ast.Raise,
    ast.Assert,
    ast.JoinedStr,
    ast.arguments,
    ast.Import,
    ast.ImportFrom,
    ast.ExceptHandler,
)


def mutants_of(program: str, suite: Suite) -> tuple[list[str], int]:
    """Return wrong variants of a right program, the same ones for the same program, and how many of the first change its result."""
    tree = parsed(program)
    if tree is None:
        return [], 0
    wanted = {first_name(suite.entry_point)} if suite.entry_point else set(suite.names)
    # a whole program's result is what it prints, which no function around it changes
    found = [] if suite.format == "stdio" else list(_of_results(tree, wanted, _ways(suite)))
    results = len(found)
    sites = [place for place, node in enumerate(_sites(tree)) if _changed(node) is not None]
    # spread over the program, so that its end is changed as well as its beginning
    step = max(1, len(sites) / _MOST)
    for number in range(min(_MOST, len(sites))):
        found.append(_with_change(tree, sites[int(number * step)]))
    return list(dict.fromkeys(found)), results


def _ways(suite: Suite) -> tuple[str, ...]:
    """How results are changed: where every test compares with a value, one of the same form tells no more."""
    return _WAYS if any(not result for _, result in expectations(suite)) else _WAYS[:2]


def _of_results(tree: ast.Module, wanted: set[str], ways: tuple[str, ...]) -> Iterator[str]:
    """The program with every result of what the tests call made larger, then smaller, and then perhaps another of the same form."""
    functions = [
        node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in wanted and _answers(node)
    ]
    methods = [
        (node.name, part.name)
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name in wanted
        for part in node.body
        if isinstance(part, ast.FunctionDef)
        and not part.name.startswith("_")
        and not part.decorator_list
        and _answers(part)
    ]
    if not functions and not methods:
        return
    renamed = ast.unparse(_Renamed(frozenset(functions)).visit(copy.deepcopy(tree)))
    for how in ways:
        around = [
            f"def {name}(*args, **kwargs):\n    return _changed_by_audit(_own_{name}(*args, **kwargs), {how!r})\n"
            for name in functions
        ]
        around += [
            f"class {owner}({owner}):\n    def {name}(self, *args, **kwargs):\n"
            f"        return _changed_by_audit(super().{name}(*args, **kwargs), {how!r})\n"
            for owner, name in methods
        ]
        yield "\n".join([renamed, _CHANGED, *around])


def _answers(node: ast.FunctionDef) -> bool:
    """Whether a function returns a value, and is no generator."""
    parts = list(ast.walk(node))
    if any(isinstance(part, ast.Yield | ast.YieldFrom) for part in parts):
        return False
    return any(isinstance(part, ast.Return) and part.value is not None for part in parts)


class _Renamed(ast.NodeTransformer):
    """Functions under another name, for themselves too, so that only what the tests get is changed."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        # a method or an inner function of the same name is another one
        if node.name in self._names and node.col_offset == 0:
            node.name = f"_own_{node.name}"
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(f"_own_{node.id}", node.ctx) if node.id in self._names else node


def _sites(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that may be changed, in the program's order."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _LEFT_ALONE) or (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
            continue
        # a changed guard keeps the program from running at all, which says nothing of the tests
        if isinstance(child, ast.If) and "__name__" in ast.dump(child.test):
            yield from (site for part in child.body for site in _sites(part))
            continue
        if isinstance(child, ast.Compare | ast.BinOp | ast.BoolOp | ast.Constant | ast.If | ast.IfExp):
            yield child
        yield from _sites(child)


def _changed(node: ast.AST) -> ast.AST | None:
    """A node with another meaning, None where it has none that is surely another."""
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in _COMPARED:
            return ast.Compare(node.left, [_COMPARED[type(operator)]()], node.comparators)
        case ast.BinOp() if type(node.op) in _CALCULATED and not _is_text(node):
            return ast.BinOp(node.left, _CALCULATED[type(node.op)](), node.right)
        case ast.BoolOp():
            return ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        # before the integers, which booleans are too
        case ast.Constant(value=bool() as value):
            return ast.Constant(not value)
        case ast.Constant(value=int() as value):
            return ast.Constant(value + 1)
        # comparisons and and/or are sites of their own
        case ast.If() if not isinstance(node.test, ast.Compare | ast.BoolOp):
            return ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    return None


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr) or isinstance(getattr(side, "value", None), str)
        for side in (node.left, node.right)
    )


def _with_change(tree: ast.Module, place: int) -> str:
    """The program with the node at `place` among its sites changed."""
    changed = copy.deepcopy(tree)
    # found again by its place: the nodes of the copy are other objects
    node = list(_sites(changed))[place]
    other = _changed(node)
    assert other is not None
    return ast.unparse(ast.fix_missing_locations(_Replaced(node, other).visit(changed)))


class _Replaced(ast.NodeTransformer):
    def __init__(self, node: ast.AST, other: ast.AST) -> None:
        self._node, self._other = node, other

    def visit(self, node: ast.AST) -> ast.AST:
        return self._other if node is self._node else self.generic_visit(node)
