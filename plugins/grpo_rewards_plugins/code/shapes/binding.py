"""Which names the text of tests leaves to the program, so that tests which no program can pass are found unrun."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator

from grpo_rewards_plugins.code.problems import SuiteProblem
from grpo_rewards_plugins.syntax import UNREADABLE, parsed

_MODULE = "solution"
# the last two are bound in the body of a class
_GIVEN = frozenset(dir(builtins)) | {"__file__", "__builtins__", "__annotations__", "__module__", "__qualname__"}
# what may bind names that no text shows
_BINDERS = frozenset(("exec", "globals", "locals", "vars", "__builtins__"))
_FIXTURES = frozenset(
    [
        "cache", "capfd", "capfdbinary", "caplog", "capsys", "capsysbinary", "capteesys", "doctest_namespace", "monkeypatch",
        "pytestconfig", "pytester", "record_property", "record_testsuite_property", "record_xml_attribute", "recwarn",
        "request", "subtests", "testdir", "tmp_path", "tmp_path_factory", "tmpdir", "tmpdir_factory",
    ]
)  # fmt: skip


def unbound_names(text: str) -> frozenset[str]:
    """Return the names that a module uses and neither binds nor finds among the builtins.

    A name counts as bound wherever the module's level, or any ``global``, binds it, whatever the order. After a star
    import nothing is known, and the set is empty.
    """
    tree = parsed(text)
    if tree is None or any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(tree)):
        return frozenset()
    return _not_bound(text)


def _not_bound(text: str) -> frozenset[str]:
    """The names that a module uses and does not bind itself; a star import binds nothing here."""
    try:
        # the compiler's own tables: comprehensions, closures and `global` are scoped as they will be when the tests run
        top = symtable.symtable(text, "tests", "exec")
    except UNREADABLE:
        return frozenset()
    bound, used = set(_GIVEN), set()
    for table in _tables(top):
        for symbol in table.get_symbols():
            here = table is top or symbol.is_declared_global()
            if here and (symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()):
                bound.add(symbol.get_name())
            if symbol.is_referenced() and (table is top or symbol.is_global()):
                used.add(symbol.get_name())
    return frozenset(used - bound)


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    waiting = [table]
    while waiting:
        here = waiting.pop()
        yield here
        waiting += here.get_children()


def bound_to_program(text: str, tree: ast.Module, names: tuple[str, ...]) -> str:
    """Return a pytest file that takes from the program what it uses and does not bind; `names` are the row's own.

    Raises:
        SuiteProblem: no program can pass it (it uses names that nobody binds, or fixtures that nobody defines), or none can
            fail it (it uses nothing of the program).
    """
    unbound = unbound_names(text)
    left = _not_bound(text)  # a star import brings no name that is the row's own
    ours = [name for name in names if name in left]
    if missing := sorted(_surely_used(tree) & unbound - set(ours)):
        raise SuiteProblem(
            f"the test file uses {', '.join(missing[:3])}, which nothing in it binds, so no program can pass; "
            f"import what is tested from {_MODULE}, or name it in the column entry_point"
        )
    if unknown := sorted(_unknown_fixtures(tree)):
        raise SuiteProblem(f"a test takes the argument {unknown[0]!r}, and no fixture or parameter has that name")
    if ours:
        return after_head(text, tree, f"from {_MODULE} import {', '.join(ours)}")
    if not _mentions_module(tree):
        raise SuiteProblem(
            f"the test file takes nothing from the program: it does not import from {_MODULE}", kind="vacuous"
        )
    return text


def _surely_used(tree: ast.Module) -> frozenset[str]:
    """The names that running the tests asks for, whatever comes of it.

    Looked at are the module's level and the tests, without what a condition, a ``try`` or ``suppress`` may keep from
    counting. Where names may come to be by ``exec`` or ``globals()``, nothing is sure.
    """
    found: set[str] = set()
    waiting: list[ast.AST] = [*tree.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith(("test", "setUp", "setup")):
                waiting += [*node.body, *node.decorator_list]
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            waiting.append(node.test)
        elif isinstance(node, ast.Try | ast.TryStar | ast.Lambda) or _suppresses(node):
            continue
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.AnnAssign | ast.arg):
            waiting += [part for part in ast.iter_child_nodes(node) if part is not node.annotation]
        else:
            waiting += ast.iter_child_nodes(node)
    return frozenset() if _BINDERS & found else frozenset(found)


def _suppresses(node: ast.AST) -> bool:
    return isinstance(node, ast.With | ast.AsyncWith) and any(
        "suppress" in _marks_of(item.context_expr) for item in node.items
    )


def after_head(text: str, tree: ast.Module, statements: str) -> str:
    """Return a module with `statements` after its docstring and its imports from ``__future__``."""
    line = 0
    for index, node in enumerate(tree.body):
        docstring = index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if docstring or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            line = node.end_lineno or line
    lines = text.split("\n")  # as the parser counts them
    return "\n".join([*lines[:line], statements, *lines[line:]])


def _mentions_module(tree: ast.Module) -> bool:
    """Whether the file imports ``solution``, or names it in a text (importlib, runpy, a path)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == _MODULE:
            return True
        if isinstance(node, ast.Import) and any(alias.name.split(".")[0] == _MODULE for alias in node.names):
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _MODULE in node.value:
            return True
    return False


def _unknown_fixtures(tree: ast.Module) -> set[str]:
    """Arguments of module-level tests that are neither parametrized nor fixtures of the file or of pytest itself."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    # it may give any argument to any test
    if any(function.name == "pytest_generate_tests" for function in functions):
        return set()
    defined = {function.name for function in functions if "fixture" in _marks(function)}
    defined |= {
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    defined |= {
        keyword.value.value  # @pytest.fixture(name="other")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str)
    }
    if any(isinstance(node, ast.Name | ast.Attribute) and _last(node) in _OTHER_WAYS for node in ast.walk(tree)):
        return set()
    found: set[str] = set()
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not node.name.startswith("test"):
            continue
        # another decorator may bring arguments of its own
        if node.decorator_list and not _only_plain_marks(node):
            continue
        needed = len(node.args.args) - len(node.args.defaults)
        found |= {argument.arg for argument in node.args.args[:needed]}
    return found - defined - _FIXTURES


_OTHER_WAYS = ("parametrize", "given", "patch")
"""Names of what gives tests their arguments besides fixtures; where one is used, nothing is certain."""


def _only_plain_marks(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return all("mark" in _marks_of(decorator) for decorator in function.decorator_list)


def _marks(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {name for decorator in function.decorator_list for name in _marks_of(decorator)}


def _marks_of(decorator: ast.expr) -> set[str]:
    return {_last(node) for node in ast.walk(decorator) if isinstance(node, ast.Name | ast.Attribute)}


def _last(node: ast.Name | ast.Attribute) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id
