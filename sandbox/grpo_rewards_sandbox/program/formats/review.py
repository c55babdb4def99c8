"""Which tests cannot be judged across the border: their text says so before anything runs.

Only the text decides, never the candidate. What a text does with the candidate's text (imports it, runs it, reads attributes
by it) is refused here.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator, Set
from typing import TypeGuard

from . import names
from .guard import READABLE
from .names import called

# which argument may not be text of the candidate's, since it is run, imported or looked up; 9: what is called
_ACTS_ON_NAMES = {"getattr": 1, "setattr": 1, "delattr": 1, "hasattr": 1, "attrgetter": 0, "methodcaller": 0, "import_module": 0,
                  "__import__": 0, "compile": 0, "run_path": 0, "run_module": 0, "spec_from_file_location": 1, "reload": 9,
                  "system": 0, "popen": 0, "resolve_name": 0, "locate": 0, "dictConfig": 0, "sympify": 0, "parse_expr": 0}  # fmt: skip
# what they read may name any class or function, which they look up without a trace
_BY_NAME = frozenset(("unsafe_load", "unsafe_load_all", "full_load", "full_load_all", "read_pickle"))
_PLAIN_LOADERS = frozenset(("SafeLoader", "CSafeLoader", "BaseLoader", "CBaseLoader"))
_PROCESSES = frozenset(("subprocess", "multiprocessing", "pexpect"))
# the candidate's objects live in another process: what is measured here would be their proxies
_WATCHES = frozenset(
    ["ref", "proxy", "finalize", "WeakSet", "WeakMethod", "getrefcount", "getsizeof", "get_referrers", "get_referents"]
)
_PICKLES = frozenset(("pickle", "marshal", "shelve", "cPickle", "dill", "cloudpickle"))
# SQL may name files: ATTACH
_RUNS_SQL = frozenset(("execute", "executescript", "executemany", "read_sql", "read_sql_query", "read_sql_table"))
_OPENS = frozenset(("open", "read_text", "read_bytes", "write_text", "write_bytes", "touch", "mkdir", "unlink"))
_NAMESPACES = frozenset(("globals", "locals", "vars"))
# they act on this process: in the candidate's hands they would act for it
_FIXTURES = frozenset(("monkeypatch", "capsys", "capfd", "caplog", "request", "mocker"))
# their results are no text, whatever they are given
_NUMBERS = frozenset("len int float bool abs round sum isinstance issubclass hash id ord callable any all".split())
_ENVIRONMENT = frozenset(["sys", "os", "platform", "shutil", "importlib"])


def hears_checks(text: str) -> bool:
    """The tests expect checks of their own to come out of the candidate's call."""
    return "AssertionError" in text or "fail.Exception" in text


@functools.lru_cache(maxsize=256)
def still_to_check(text: str) -> frozenset[int]:
    """The lines of `with` statements after or in which a check follows: an error that is swallowed there takes it along."""
    found: set[int] = set()
    nodes = names.parsed(text) if "with" in text else ()
    functions = (node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    helpers = {node.name for node in functions if any(_is_check(part, set()) for part in ast.walk(node))}
    for node in nodes:
        if isinstance(node, (ast.With, ast.AsyncWith)):
            found.update(_lines_to_check(node.body, helpers))
    return frozenset(found)


def _lines_to_check(body: list[ast.stmt], helpers: Set[str]) -> set[int]:
    """The lines up to the last check, but for those that raise on purpose."""
    parts = [part for statement in body for part in ast.walk(statement)]
    last = max((part.end_lineno or 0 for part in parts if _is_check(part, helpers)), default=0)
    return set(range(body[0].lineno, last + 1)) - {part.lineno for part in parts if isinstance(part, ast.Raise)}


@functools.lru_cache(maxsize=256)
def checking(text: str) -> frozenset[tuple[str, int]]:
    """The lines of functions after or in which a check follows, with the function's name: an error there takes it along."""
    nodes = names.parsed(text) if "def " in text else ()
    functions = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return frozenset((node.name, line) for node in functions for line in _lines_to_check(node.body, set()))


def _is_check(node: ast.AST, helpers: Set[str]) -> TypeGuard[ast.stmt | ast.expr]:
    """`helpers`: functions of the tests that check something."""
    if isinstance(node, ast.Call) and called(node) in helpers:
        return True
    return names.is_check(node) and not (isinstance(node, ast.Assert) and _on_purpose(node))


def unjudgeable(text: str, module: str, asked: Iterable[str], setup: str = "") -> str:
    """Say why tests cannot be judged under isolation, whatever the candidate is; empty where nothing speaks against it."""
    return _problem(f"{setup}\n{text}" if setup else text, module, frozenset(asked))


@functools.lru_cache(maxsize=256)
def _problem(text: str, module: str, asked: frozenset[str]) -> str:
    nodes = names.parsed(text)
    if not nodes:
        return ""
    aliases = names.modules(text, module)
    theirs = _Theirs(nodes, asked | frozenset(names.renamed(text, module)), aliases)
    for node in nodes:
        why = ""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            roots = {alias.name.partition(".")[0] for alias in node.names} | {
                str(getattr(node, "module", "") or "").partition(".")[0]
            }
            if roots & _PROCESSES:
                why = "start processes"
            elif roots & {"doctest", "runpy"}:
                why = "run text of the candidate"
            elif roots & {"tracemalloc", "resource"}:
                why = "measure memory, of which the candidate's is in another process"
        elif isinstance(node, ast.ClassDef):
            if any(theirs.names(base) for base in node.bases):
                why = f"derive class {node.name} from a class of the candidate"
        elif isinstance(node, ast.Call):
            why = theirs.call(node) or _opens_elsewhere(node)
        elif (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Mod)
            and theirs.text(node.left)
            and (_is_mapping(node.right) or theirs.namespace(node.right))
        ):
            why = "format objects of theirs with text of the candidate"
        elif isinstance(node, ast.Subscript) and theirs.text(node.slice) and theirs.namespace(node.value):
            why = "look a name up that the candidate gave"
        elif (
            isinstance(node, ast.With)
            and any(theirs.text(item.context_expr) for item in node.items)
            and _raises_on_purpose(node.body)
        ):
            why = "raise AssertionError for the candidate to swallow"
        if why:
            return f"line {getattr(node, 'lineno', 0)}: the tests {why}; they can be run with fidelity: shared, at its price"
    for name in _raisers(nodes):
        if any(isinstance(node, ast.Call) and theirs.names(node.func) and _hands_over(node, name) for node in nodes):
            return f"the tests hand over {name}, which raises AssertionError on purpose; they can be run with fidelity: shared"
    return ""


def _opens_elsewhere(node: ast.Call) -> str:
    """A file is opened that only another machine has."""
    made = node.func.value if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call) else None
    opened = made if made is not None and called(made) == "Path" and called(node) in _OPENS else node
    name = opened.args[0] if opened.args and (opened is made or called(node) == "open") else None
    if not isinstance(name, ast.Constant) or type(name.value) is not str:
        return ""
    path = name.value
    elsewhere = path.startswith("/") and not path.startswith(READABLE)
    return f"open {path[:200]!r}, where the sandbox lets nobody read or write" if elsewhere else ""


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else _root(node)


def _is_mapping(node: ast.AST) -> bool:
    return isinstance(node, ast.Dict) or (isinstance(node, ast.Call) and called(node) in {*_NAMESPACES, "dict"})


def _called_on(node: ast.Attribute) -> str:
    return called(node.value) if isinstance(node.value, ast.Call) else ""


def _raises_on_purpose(body: Iterable[ast.AST]) -> bool:
    return any(_on_purpose(part) for statement in body for part in ast.walk(statement))


def _on_purpose(node: ast.AST) -> bool:
    """`raise AssertionError`, or an assert of constants that is false."""
    if isinstance(node, ast.Raise):
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return isinstance(raised, ast.Name) and raised.id == "AssertionError"
    return isinstance(node, ast.Assert) and not any(
        isinstance(part, (ast.Name, ast.Call)) for part in ast.walk(node.test)
    )


def _raisers(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if (
            isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and not node.name.startswith("test")
            and _raises_on_purpose(node.body)
        ):
            yield node.name


def _hands_over(call: ast.Call, name: str) -> bool:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(isinstance(part, ast.Name) and part.id == name for argument in given for part in ast.walk(argument))


class _Theirs:
    """Which expressions of a text may hold what came from the candidate: names, followed through assignments."""

    def __init__(self, nodes: tuple[ast.AST, ...], asked: frozenset[str], modules: frozenset[str]) -> None:
        self._asked, self._modules = asked, modules
        self._holding: set[str] = set()
        # what the tests call by a name of their own: functions, and namespaces
        self._renamed: dict[str, str] = {}
        self._namespaces: set[str] = set()
        for node in nodes:
            if isinstance(node, ast.ImportFrom):
                self._renamed.update((alias.asname, alias.name) for alias in node.names if alias.asname)
            elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                if self.namespace(node.value):
                    self._namespaces.add(node.targets[0].id)
                elif isinstance(node.value, (ast.Name, ast.Attribute)) and not self.names(node.value):
                    self._renamed[node.targets[0].id] = _last(node.value)
        functions = {node.name: node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
        # until nothing is added: a name may be handed on above the line that first fills it
        before = -1
        while before != len(self._holding):
            before = len(self._holding)
            for node in nodes:
                self._follow(node, functions)

    def names(self, node: ast.AST) -> bool:
        """This expression is a name of the candidate, or something of one."""
        while isinstance(node, (ast.Attribute, ast.Call)):
            node = node.value if isinstance(node, ast.Attribute) else node.func
        return isinstance(node, ast.Name) and (node.id in self._asked or node.id in self._modules)

    def namespace(self, node: ast.AST) -> bool:
        """This expression is a namespace of the tests, or a copy of one."""
        if isinstance(node, ast.Call):
            copied = called(node) == "dict" and len(node.args) == 1 and self.namespace(node.args[0])
            return copied or called(node) in _NAMESPACES
        if isinstance(node, ast.Attribute):
            return node.attr in ("__dict__", "modules", "environ")
        return isinstance(node, ast.Name) and node.id in self._namespaces

    def text(self, node: ast.AST | None) -> bool:
        """This expression may hold text that the candidate returned."""
        if node is None or isinstance(node, (ast.Compare, ast.Constant, ast.Lambda)):
            return False
        if isinstance(node, ast.Call):
            if self.names(node.func):
                return True
            if called(node) in _NUMBERS:
                return False
            if isinstance(node.func, ast.Name) and node.func.id in self._holding:
                return True
        if isinstance(node, (ast.Name, ast.Attribute)) and ast.unparse(node) in self._holding:
            return True
        if isinstance(node, ast.Attribute) and self.names(node):
            return True
        return any(
            self.text(part)
            for part in ast.iter_child_nodes(node)
            if isinstance(part, (ast.expr, ast.comprehension, ast.keyword))
        )

    def _hold(self, target: ast.AST | None) -> None:
        for part in ast.walk(target) if target is not None else ():
            if isinstance(part, (ast.Name, ast.Attribute)):
                self._holding.add(ast.unparse(part))

    def _follow(self, node: ast.AST, functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef]) -> None:
        if isinstance(node, ast.Assign) and self.text(node.value):
            for target in node.targets:
                self._hold(target)
        elif (isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and self.text(node.value)) or (
            isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)) and self.text(node.iter)
        ):
            self._hold(node.target)
        elif isinstance(node, ast.withitem) and self.text(node.context_expr):
            self._hold(node.optional_vars)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and (called := functions.get(node.func.id)):
            arguments = [*called.args.posonlyargs, *called.args.args]
            for parameter, given in zip(arguments, node.args, strict=False):
                if self.text(given):
                    self._holding.add(parameter.arg)
            self._holding.update(keyword.arg for keyword in node.keywords if keyword.arg and self.text(keyword.value))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and any(
            isinstance(part, (ast.Return, ast.Yield)) and self.text(part.value) for part in ast.walk(node)
        ):
            self._holding.add(node.name)

    def call(self, node: ast.Call) -> str:
        """Say what a call does with the candidate's text that trusted code does not do; empty for nothing."""
        name = called(node)
        if isinstance(node.func, ast.Name):
            name = self._renamed.get(name, name)
        at = _ACTS_ON_NAMES.get(name)
        of_module = (
            isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
        )
        if (
            at is not None
            and not self.names(node.func)  # one of the candidate's own is run over there
            # `re.compile`: a pattern is an honest answer, and the time that it takes is the candidate's
            and not of_module
            and not (name in ("getattr", "hasattr", "setattr", "delattr") and node.args and self.text(node.args[0]))
        ):
            given = node.args[at : at + 1] if at < 9 else [node.func]
            if any(self.text(part) for part in given):
                return f"call {name} with text of the candidate"
        for place, part in enumerate(node.args):  # map(getattr, ...) and the like
            function = isinstance(part, (ast.Name, ast.Attribute)) and not self.names(part)
            acts = self._renamed.get(_last(part), _last(part)) if function else ""
            after = node.args[place + 1 :]
            if acts in _ACTS_ON_NAMES and any(map(self.text, after[_ACTS_ON_NAMES[acts] :])):
                return f"hand {acts} text of the candidate"
        of = node.func.value if isinstance(node.func, ast.Attribute) else None
        if (
            name in ("get", "pop", "setdefault", "__getitem__")
            and of is not None
            and self.namespace(of)
            and any(map(self.text, node.args[:1]))
        ):
            return "look a name up that the candidate gave"
        if name in ("format", "format_map") and getattr(node.func, "id", "") != "format":  # not the builtin
            rest = [*node.args, *(keyword.value for keyword in node.keywords)]
            template = rest.pop(0) if rest and (of is None or _root(of) == "str") else of
            if self.text(template) and not all(isinstance(part, ast.Constant) for part in rest):
                return "format objects of theirs with text of the candidate"
        if name == "type" and len(node.args) == 1 and isinstance(node.args[0], ast.Name) and self.names(node.args[0]):
            return "ask for the class of a class"
        if (
            name in ("loads", "load", "dumps", "dump")
            and _root(node.func) in _PICKLES
            and any(map(self.text, node.args))
        ):
            return "pickle what the candidate returned"
        if name in _WATCHES and _root(node.func) in ("weakref", "sys", "gc", name) and any(map(self.text, node.args)):
            return "watch the memory of the candidate's objects"
        if name in ("extractall", "unpack_archive"):
            return "unpack an archive"
        if name in _RUNS_SQL and node.args and self.text(node.args[0]):
            return "run SQL of the candidate"
        if (name == "Template" and node.args and self.text(node.args[0])) or (
            name in ("format", "vformat")
            and isinstance(node.func, ast.Attribute)
            and _called_on(node.func) == "Formatter"
        ):
            return "format objects of theirs with text of the candidate"
        if name == "load" and any(keyword.arg == "allow_pickle" for keyword in node.keywords):
            return "load pickles"
        loaders = [node.args[1:2], *([keyword.value] for keyword in node.keywords if keyword.arg == "Loader")]
        if (name in _BY_NAME and not self.names(node.func)) or (
            name in ("load", "load_all")
            and _root(node.func) == "yaml"
            and not any(_last(part) in _PLAIN_LOADERS for parts in loaders for part in parts)
        ):
            return "load objects that a text names"
        # of no cases no test fails
        if name == "parametrize" and len(node.args) > 1 and self._decides(node.args[1]):
            return "take their cases from the candidate"
        if self.names(node.func):
            arguments: list[ast.expr] = [*node.args, *(keyword.value for keyword in node.keywords)]
            handed = sorted(_FIXTURES.intersection(part.id for part in arguments if isinstance(part, ast.Name)))
            if handed:
                return f"hand the fixture {handed[0]} to the candidate"
        return ""

    def _decides(self, node: ast.expr) -> bool:
        """The candidate says how many cases there are."""
        if isinstance(node, (ast.List, ast.Tuple)):
            return any(isinstance(part, ast.Starred) and self._decides(part.value) for part in node.elts)
        return self.text(node) or (self.names(node) and not isinstance(node, ast.Constant))


def left_out(text: str, module: str) -> str:
    """Say which test the environment leaves out, found with no candidate loaded; empty for none."""
    if not any(word in text for word in ("importorskip", "skipif", "skipIf", "skipUnless")):
        return ""
    import importlib.util
    import os
    import platform
    import shutil
    import sys

    scope = {
        "sys": sys,
        "os": os,
        "platform": platform,
        "shutil": shutil,
        "importlib": importlib,
        "__builtins__": __builtins__,
    }
    for node in names.parsed(text):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name, first = called(node), node.args[0]
        if name == "importorskip" and isinstance(first, ast.Constant) and isinstance(first.value, str):
            package = first.value.partition(".")[0]
            if package != module and importlib.util.find_spec(package) is None:
                return f"the tests need the package {package}, which the sandbox has not"
        elif name in ("skipif", "skipIf", "skipUnless"):
            used = {part.id for part in ast.walk(first) if isinstance(part, ast.Name)}
            # only what nothing but the environment decides; pytest decides the rest, with the candidate there
            if used <= _ENVIRONMENT:
                try:
                    holds = bool(eval(compile(ast.Expression(first), "tests.py", "eval"), dict(scope)))  # noqa: S307  the tests' text
                except Exception:  # noqa: BLE001  pytest will say what is wrong with it
                    continue
                if holds is not (name == "skipUnless"):
                    return f"line {node.lineno}: the environment leaves a test out"
    return ""
