"""Tests of which no outcome depends on the program, by their text: skipped, without assertion, asserting what is always so."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache

from grpo_rewards_plugins.syntax import parsed

_LEAVING = ("skip", "SkipTest", "Skipped")
_SKIPS = (*_LEAVING, "skipTest", "xfail", "importorskip", "exit")
_FIXTURES = ("setUp", "setUpClass", "setup_method", "setup_class", "asyncSetUp")
_SKIPPING = ("skip", "xfail", "expectedFailure")  # a test that has to fail says nothing of a right program
_CHECKING = ("assert", "raises", "fail", "warns", "check", "expect")
_LEAVES = (ast.Return, ast.Continue, ast.Break)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@lru_cache(maxsize=256)
def vacuous(text: str) -> str:
    """Return why tests in Python text can fail for no program; empty where they can, or are no Python."""
    tree = parsed(text)
    if tree is None or not text.strip():
        return ""
    if any(_is_skip(node) for node in _marks(tree)):
        return "every test is skipped (pytestmark)"
    if any(_skips_here(node, _LEAVING) for node in tree.body):
        return "the file skips itself"
    helpers = _helpers(tree)
    reasons: dict[str, None] = {}
    for name, body, decorators in _units(tree):
        if any(_is_skip(decorator) for decorator in decorators):
            reasons.setdefault(f"{name} is skipped")
            continue
        found = _Looker(helpers)
        found.look(body, swallowed=False)
        if found.effective:
            return ""
        reasons.setdefault(f"{name} {next(iter(found.reasons), 'asserts nothing')}")
    return "; ".join(list(reasons)[:3])


def _marks(tree: ast.Module) -> Iterator[ast.expr]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "pytestmark" for t in node.targets):
            yield from node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else [node.value]


def _units(tree: ast.Module) -> Iterator[tuple[str, list[ast.stmt], list[ast.expr]]]:
    """The tests by name: functions ``test_...`` and ``check``, methods of classes; without any the statements themselves."""
    found = False
    for node in tree.body:
        if isinstance(node, _Function) and (node.name.startswith("test") or node.name == "check"):
            found = True
            yield node.name, node.body, node.decorator_list
        elif isinstance(node, ast.ClassDef):
            parts = [part for part in node.body if isinstance(part, _Function)]
            first = [line for part in parts if part.name in _FIXTURES for line in part.body if _skips_here(line)]
            for part in parts:
                if part.name.startswith("test"):
                    found = True
                    yield part.name, [*first, *part.body], [*node.decorator_list, *part.decorator_list]
    if not found:
        yield "the text", tree.body, []


def _is_skip(node: ast.expr) -> bool:
    """Whether a mark or decorator skips, whatever the machine is like."""
    if isinstance(node, ast.Call):
        name = _last_name(node.func)
        if name in ("skipif", "skipIf"):
            return bool(node.args) and isinstance(node.args[0], ast.Constant) and bool(node.args[0].value)
        if name == "parametrize":  # with nothing
            return any(isinstance(part, ast.List | ast.Tuple) and not part.elts for part in node.args[1:2])
        return name in _SKIPPING
    return _last_name(node) in _SKIPPING


def _last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


class _Looker:
    """Goes through statements as far as they are reached, and counts assertions that can fail."""

    def __init__(self, helpers: frozenset[str] = frozenset()) -> None:
        self._helpers = helpers
        self.effective = 0
        self.reasons: dict[str, None] = {}

    def look(self, body: Iterable[ast.stmt], *, swallowed: bool) -> bool:
        """Look at statements; return whether what follows them is reached."""
        for node in body:
            if isinstance(node, _LEAVES) or _skips_here(node):
                self.reasons.setdefault(
                    "leaves before it asserts anything" if isinstance(node, _LEAVES) else "skips itself"
                )
                return False
            self._one(node, swallowed)
        return True

    def _one(self, node: ast.stmt, swallowed: bool) -> None:
        if isinstance(node, ast.Assert):
            self._judge(_always(node.test), swallowed)
        elif isinstance(node, ast.Raise):
            self._judge("", swallowed)
        elif isinstance(node, ast.If | ast.While) and isinstance(node.test, ast.Constant) and not node.test.value:
            self.reasons.setdefault("asserts only where it never comes to")
            self.look(node.orelse, swallowed=swallowed)
        elif isinstance(node, ast.Try):
            self.look(node.body, swallowed=swallowed or any(map(_swallows, node.handlers)))
            for handler in node.handlers:
                self.look(handler.body, swallowed=swallowed)
            self.look([*node.orelse, *node.finalbody], swallowed=swallowed)
        # defined, not run: what calls it is looked at where it stands
        elif isinstance(node, _Function | ast.ClassDef):
            return
        else:
            for part in (*getattr(node, "items", ()), node):
                for call in _calls(part):
                    self._judge("", swallowed or _is_suppress(call)) if self._checks(call) else None
            within = swallowed or any(
                _is_suppress(call) for item in getattr(node, "items", ()) for call in _calls(item)
            )
            for name in ("body", "orelse"):
                self.look(getattr(node, name, []), swallowed=within)
            for case in getattr(node, "cases", []):
                self.look(case.body, swallowed=within)

    def _checks(self, call: ast.Call) -> bool:
        return _last_name(call.func) in self._helpers or _checks(call)

    def _judge(self, always: str, swallowed: bool) -> None:
        if always or swallowed:
            self.reasons.setdefault(always or "catches the assertions that it makes")
        else:
            self.effective += 1


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    """The calls in a statement's own expressions, not in the statements within it."""
    if isinstance(node, ast.Call):
        yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt):
            yield from _calls(child)


def _checks(call: ast.Call) -> bool:
    """Whether a call may fail a test: named for it, or a function of the tests' own that does."""
    name = _last_name(call.func).lower()
    # when in doubt it may: a good row called vacuous would be left out, and a vacuous one still meets the stubs
    return any(word in name for word in _CHECKING) or name.startswith(("verify", "test", "run", "_"))


def _is_suppress(call: ast.Call) -> bool:
    return _last_name(call.func) == "suppress"


def _skips_here(node: ast.stmt, names: tuple[str, ...] = _SKIPS) -> bool:
    if isinstance(node, ast.Raise) and node.exc is not None:
        return _last_name(node.exc.func if isinstance(node.exc, ast.Call) else node.exc) in names
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _last_name(node.value.func) in names


def _helpers(tree: ast.Module) -> frozenset[str]:
    """The functions of the file that check something themselves, whatever they are called, or call one that does."""
    functions = [node for node in ast.walk(tree) if isinstance(node, _Function)]
    found: set[str] = set()
    while True:
        more = set()
        for one in functions:
            looker = _Looker(frozenset(found))
            looker.look(one.body, swallowed=False)
            if looker.effective and one.name not in found:
                more.add(one.name)
        if not more:
            return frozenset(found)
        found |= more


def _swallows(handler: ast.ExceptHandler) -> bool:
    """Whether a handler takes a failed assertion and goes on."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    taken = any(kind is None or _last_name(kind) in ("Exception", "BaseException", "AssertionError") for kind in kinds)
    ends = [part for part in ast.walk(ast.Module(handler.body, [])) if isinstance(part, ast.Raise | ast.Assert)]
    fails = [part for part in ast.walk(ast.Module(handler.body, [])) if isinstance(part, ast.Call) and _checks(part)]
    return taken and not ends and not fails


def _always(test: ast.expr) -> str:
    """Why a condition always holds; empty where it may not."""
    match test:
        case ast.Constant(value=value) if value:
            return f"asserts {ast.unparse(test)[:40]}"
        case ast.Tuple(elts=[_, *_]):
            return "asserts a tuple, which always holds"
        case ast.Compare(ops=[ast.Eq() | ast.Is() | ast.LtE() | ast.GtE()], comparators=[right]) if ast.dump(
            right
        ) == ast.dump(test.left):
            return f"compares {ast.unparse(right)[:40]} with itself"
        case ast.BoolOp(op=ast.Or(), values=values) if any(map(_always, values)):
            return f"asserts {ast.unparse(test)[:60]}, which always holds"
        case ast.Compare() if all(isinstance(side, ast.Constant) for side in (test.left, *test.comparators)):
            return "compares constants"
    return ""
