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

# what an expression may hold
_TEXT, _NAMESPACE, _MAPPING, _MAPPINGS_IN = "text", "a namespace", "a mapping", "mappings in a container"
# which argument may not be text of the candidate's, since it is run, imported or looked up; 9: what is called; None: any
_ACTING: dict[str, int | None] = {
    "getattr": 1, "setattr": 1, "delattr": 1, "hasattr": 1, "attrgetter": 0, "methodcaller": 0, "import_module": 0, "__import__": 0,
    "compile": 0, "run_path": 0, "run_module": 0, "spec_from_file_location": 1, "reload": 9, "system": 0, "popen": 0,
    "resolve_name": 0, "locate": 0, "dictConfig": 0, "sympify": 0, "parse_expr": 0, "patch": 0, "multiple": 0, "object": 1,
    "format": 0, "mod": 0, "Template": 0, "loads": None, "load": None, "dumps": None, "dump": None,
    # SQL may name files: ATTACH
    "execute": 0, "executescript": 0, "executemany": 0, "read_sql": 0, "read_sql_query": 0, "read_sql_table": 0,
}  # fmt: skip
_FORMATS, _RUNS_SQL = "format objects of theirs with text of the candidate", "run SQL of the candidate"
_DOES = {
    **dict.fromkeys(("format", "mod", "Template"), _FORMATS),
    **dict.fromkeys(("loads", "load", "dumps", "dump"), "pickle what the candidate returned"),
    **dict.fromkeys(
        ("execute", "executescript", "executemany", "read_sql", "read_sql_query", "read_sql_table"), _RUNS_SQL
    ),
}
_OF_OBJECTS = frozenset(("getattr", "hasattr", "setattr", "delattr", "object"))
_UNPICKLES = frozenset(("loads", "load", "dumps", "dump"))
_LOOKS_UP = frozenset(("get", "pop", "setdefault", "__getitem__"))
_PUTS = frozenset("append add insert extend update put appendleft setdefault".split())  # into a container
_READS = frozenset(
    "read read_text read_bytes readline readlines readouterr".split()
)  # what the candidate may have written
_EXPECTS = frozenset(("raises", "assertRaises", "assertRaisesRegex"))
_HELD = frozenset(("__dict__", "modules", "environ"))
_MAPPINGS = frozenset("dict OrderedDict defaultdict Counter ChainMap".split())
# what they read may name any class or function, which they look up without a trace
_LOADS_BY_NAME = frozenset(
    "unsafe_load unsafe_load_all full_load full_load_all read_pickle UnsafeLoader FullLoader CUnsafeLoader CFullLoader".split()
)
_LOADERS = frozenset(("Loader", "CLoader"))  # of YAML
_PROCESSES = frozenset(("subprocess", "multiprocessing", "pexpect"))
# the candidate's objects live in another process: what is measured here would be their proxies
_WATCHES = frozenset(
    ["ref", "proxy", "finalize", "WeakSet", "WeakMethod", "getrefcount", "getsizeof", "get_referrers", "get_referents"]
)
_PICKLES = frozenset(("pickle", "marshal", "shelve", "cPickle", "dill", "cloudpickle"))
_OPENS = frozenset(("open", "read_text", "read_bytes", "write_text", "write_bytes", "touch", "mkdir", "unlink"))
_NAMESPACES = frozenset(("globals", "locals", "vars"))
# they act on this process: in the candidate's hands they would act for it
_FIXTURES = frozenset(("monkeypatch", "capsys", "capfd", "caplog", "request", "mocker"))
# their results are no text, whatever they are given
_NUMBERS = frozenset("len int float bool abs round sum isinstance issubclass hash id ord callable any all".split())


@functools.lru_cache(maxsize=256)
def hearing(text: str) -> frozenset[int]:
    """The lines of functions, or of statements outside of any, that expect checks of their own to come out of the candidate's calls."""
    said = {at for at, line in enumerate(text.splitlines(), 1) if "AssertionError" in line or "fail.Exception" in line}
    nodes = names.parsed(text) if said else ()
    outside = [part for node in nodes[:1] for part in getattr(node, "body", ()) if not isinstance(part, ast.ClassDef)]
    functions = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    spans = (names.lines(node) for node in (*outside, *functions))
    return frozenset().union(*(span for span in spans if not said.isdisjoint(span)))


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
        elif isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Mod):
            values = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
            why = _FORMATS if theirs.formats(*values) else ""
        elif isinstance(node, ast.Subscript) and theirs.text(node.slice) and _NAMESPACE in theirs.kinds(node.value):
            why = "look a name up that the candidate gave"
        elif (
            isinstance(node, ast.With)
            and _raises_on_purpose(node.body)
            and any(theirs.text(item.context_expr) for item in node.items)
        ):
            why = "raise AssertionError for the candidate to swallow"
        if theirs.loads_objects(node):
            why = "load objects that a text names"
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


def _called_on(node: ast.AST) -> str:
    return called(node.value) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call) else ""


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
    """What the expressions of a text may hold, followed through assignments and calls: text of the candidate, and what acts on it.

    Beside `_TEXT` and the like a kind is the name of a function that acts, or `def` and the name of one of the tests'.
    """

    def __init__(self, nodes: tuple[ast.AST, ...], asked: frozenset[str], modules: frozenset[str]) -> None:
        self._nodes, self._asked, self._modules = nodes, asked, modules
        self._holding: dict[str, frozenset[str]] = {}
        self._known: dict[int, frozenset[str]] = {}
        self._functions: dict[str, ast.arguments] = {}
        self._followed = False

    def _follow_all(self) -> None:
        """Until nothing is added: a name may be handed on above the line that first fills it."""
        self._followed = True
        for node in self._nodes:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._functions[f"def {node.name}"] = node.args
            elif isinstance(node, ast.Lambda):
                self._functions[f"def {id(node)}"] = node.args
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if alias.asname and alias.name in _ACTING:
                        self._holding[alias.asname] = frozenset((alias.name,))
        before = -1
        while before != (now := sum(map(len, self._holding.values()))):
            before = now
            self._known.clear()
            for node in self._nodes:
                self._follow(node)
        self._known.clear()

    def names(self, node: ast.AST) -> bool:
        """This expression is a name of the candidate, or something of one."""
        while isinstance(node, (ast.Attribute, ast.Call)):
            node = node.value if isinstance(node, ast.Attribute) else node.func
        return isinstance(node, ast.Name) and (node.id in self._asked or node.id in self._modules)

    def text(self, node: ast.AST | None) -> bool:
        """This expression may hold text that the candidate returned."""
        return _TEXT in self.kinds(node)

    def kinds(self, node: ast.AST | None) -> frozenset[str]:
        """What this expression may hold."""
        if not self._followed:
            self._follow_all()
        if node is None:
            return frozenset()
        found = self._known.get(id(node))
        if found is None:
            found = self._known[id(node)] = self._kinds(node)
        return found

    def _kinds(self, node: ast.AST) -> frozenset[str]:
        if isinstance(node, (ast.Compare, ast.Constant)) or (isinstance(node, ast.Call) and called(node) in _NUMBERS):
            return frozenset()
        if isinstance(node, ast.Lambda):
            return frozenset((f"def {id(node)}",))
        of_candidate = self.names(node) and not isinstance(node, ast.Name)
        found = {_TEXT} if of_candidate else set()
        for part in ast.iter_child_nodes(node) if not of_candidate else ():
            if isinstance(part, (ast.expr, ast.comprehension, ast.keyword)):
                found |= self.kinds(part)
        nested = {_MAPPINGS_IN} if _MAPPING in found else set()
        if isinstance(node, ast.Subscript):
            return _elements(found)
        if isinstance(node, (ast.List, ast.Tuple, ast.Set, ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            return frozenset(found - {_MAPPING} | nested)
        if isinstance(node, (ast.Dict, ast.DictComp)):
            return frozenset(found | {_MAPPING} | nested)
        if isinstance(node, ast.Call):
            name = called(node)
            found -= {name}  # what it gives, not what is called
            found |= {_TEXT} if name in _READS else set()
            found |= {_NAMESPACE, _MAPPING} if name in _NAMESPACES else {_MAPPING} if name in _MAPPINGS else set()
        elif isinstance(node, (ast.Name, ast.Attribute)):
            name = _last(node)
            if isinstance(node, ast.Attribute):  # of a function nothing that acts, but `__call__` and the like
                found -= {_MAPPING} if name.startswith("__") else {_MAPPING, *_ACTING}
                found |= {_NAMESPACE, _MAPPING} if name in _HELD else set()
            found |= {name} if not self.names(node) and self._acts(node) else set()
            found |= {f"def {name}"} & self._functions.keys()
            found |= self._holding.get(ast.unparse(node), frozenset()) | self._holding.get(name, frozenset())
        return frozenset(found)

    def _acts(self, node: ast.Name | ast.Attribute) -> bool:
        """This is a function that acts on what it is given as text."""
        name, root = _last(node), _root(node)
        if name in _UNPICKLES:
            return root in _PICKLES
        # `re.compile`: a pattern is an honest answer, and the time that it takes is the candidate's
        return name in _ACTING and not (name == "compile" and root == "re") and not (name == "format" and root != "str")

    def _hold(self, target: ast.AST | None, kinds: Set[str]) -> None:
        for part in ast.walk(target) if target is not None and kinds else ():
            if isinstance(part, (ast.Name, ast.Attribute)):
                name = ast.unparse(part)
                self._holding[name] = self._holding.get(name, frozenset()) | kinds

    def _follow(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._hold(target, self.kinds(node.value))
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            self._hold(node.target, self.kinds(node.value))
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            self._hold(node.target, _elements(self.kinds(node.iter)))
        elif isinstance(node, ast.withitem):
            expected = isinstance(node.context_expr, ast.Call) and called(node.context_expr) in _EXPECTS
            self._hold(node.optional_vars, self.kinds(node.context_expr) | ({_TEXT} if expected else set()))
        elif isinstance(node, ast.Match):
            for part in (part for case in node.cases for part in ast.walk(case.pattern)):
                self._hold(ast.Name(str(getattr(part, "name", ""))), self.kinds(node.subject))
        elif isinstance(node, ast.arguments):
            plain = [*node.posonlyargs, *node.args]
            pairs = [
                *zip(reversed(plain), reversed(node.defaults), strict=False),
                *zip(node.kwonlyargs, node.kw_defaults, strict=True),
            ]
            for parameter, default in pairs:
                self._hold(ast.Name(parameter.arg), self.kinds(default))
        elif isinstance(node, ast.ExceptHandler) and node.name:
            self._hold(ast.Name(node.name), {_TEXT})
        elif isinstance(node, ast.Call):
            self._hand_over(node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for part in ast.walk(node):
                if isinstance(part, (ast.Return, ast.Yield, ast.YieldFrom)):
                    self._hold(ast.Name(node.name), self.kinds(part.value))
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and called(mark) == "parametrize" and len(mark.args) > 1:
                    cases = _elements(self.kinds(mark.args[1]))
                    for parameter in node.args.args:
                        self._hold(ast.Name(parameter.arg), cases)

    def _hand_over(self, call: ast.Call) -> None:
        """What functions of the tests are given by this call, or by what it hands them to."""
        given = [self.kinds(part) for part in call.args]
        named = {keyword.arg: self.kinds(keyword.value) for keyword in call.keywords}
        everything = frozenset[str]().union(*given, *named.values())
        if self.names(call.func):  # what functions of the tests are given by the candidate
            for kind in everything & self._functions.keys():
                for part in ast.walk(self._functions[kind]):
                    if isinstance(part, ast.arg):
                        self._hold(ast.Name(part.arg), {_TEXT})
            return
        if isinstance(call.func, ast.Attribute) and call.func.attr in _PUTS:
            self._hold(call.func.value, everything)
        for kind in self.kinds(call.func) & self._functions.keys():
            parameters = self._functions[kind]
            names = [part.arg for part in (*parameters.posonlyargs, *parameters.args)]
            if isinstance(call.func, ast.Attribute) and names[:1] in (["self"], ["cls"]):
                del names[0]
            starred = any(isinstance(part, ast.Starred) for part in call.args) or parameters.vararg or parameters.kwarg
            for name, kinds in zip(names, given, strict=False):
                self._hold(ast.Name(name), everything if starred else kinds)
            for keyword, kinds in named.items():
                self._hold(ast.Name(keyword) if keyword else None, kinds)
            for rest in (parameters.vararg, parameters.kwarg):
                self._hold(ast.Name(rest.arg) if rest else None, everything)
        of = self.kinds(call.func.value) if isinstance(call.func, ast.Attribute) else frozenset()
        for kind in everything & self._functions.keys():  # `map(helper, ...)`
            parameters = self._functions[kind]
            for part in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs):
                self._hold(ast.Name(part.arg), _elements((everything | of) - self._functions.keys()))

    def call(self, node: ast.Call) -> str:
        """Say what a call does with the candidate's text that trusted code does not do; empty for nothing."""
        name, func = called(node), node.func
        given: list[ast.expr] = [*node.args, *(keyword.value for keyword in node.keywords)]
        of = func.value if isinstance(func, ast.Attribute) else None
        constant = all(isinstance(part, ast.Constant) for part in given)
        if name in ("format", "format_map") and of is not None and not constant and self.text(of):
            return _FORMATS
        if self.names(func):  # one of the candidate's own is run over there
            handed = sorted(_FIXTURES.intersection(part.id for part in given if isinstance(part, ast.Name)))
            return f"hand the fixture {handed[0]} to the candidate" if handed else ""
        if isinstance(func, (ast.Name, ast.Attribute)) and self._acts(func) and self._acted_on(name, node, given):
            return _DOES.get(name, f"call {name} with text of the candidate")
        # what is called, or handed on, by another name, out of a container, or with some of its arguments
        elsewhere = self.kinds(func) - ({name} if isinstance(func, (ast.Name, ast.Attribute)) else set())
        for kind in sorted(elsewhere.union(*map(self.kinds, given)) & _ACTING.keys()):
            if any(map(self.text, given)):
                return f"hand {kind} text of the candidate"
        if name in ("eval", "exec") and node.args and self.text(node.args[0]) and _holds_check(node.args[0]):
            return "evaluate a check of theirs along with text of the candidate"
        spaces = any(_NAMESPACE in kinds and _TEXT not in kinds for kinds in map(self.kinds, given))
        if any(map(self.text, [*node.args, func])) and (spaces or (name in _LOOKS_UP and _NAMESPACE in self.kinds(of))):
            return "look a name up that the candidate gave"
        if name in ("format", "vformat") and _called_on(func) == "Formatter":
            return _FORMATS
        if name == "type" and len(node.args) == 1 and isinstance(node.args[0], ast.Name) and self.names(node.args[0]):
            return "ask for the class of a class"
        if name in _WATCHES and _root(func) in ("weakref", "sys", "gc", name) and any(map(self.text, node.args)):
            return "watch the memory of the candidate's objects"
        if name in ("extractall", "unpack_archive"):
            return "unpack an archive"
        if name == "load" and any(keyword.arg == "allow_pickle" for keyword in node.keywords):
            return "load pickles"
        # of no cases no test fails
        if name == "parametrize" and len(node.args) > 1 and self._decides(node.args[1]):
            return "take their cases from the candidate"
        return ""

    def _acted_on(self, name: str, node: ast.Call, given: list[ast.expr]) -> bool:
        """The arguments that a function acts on may be text of the candidate."""
        if name in ("setattr", "delattr") and isinstance(node.func, ast.Attribute) and len(given) < 3:
            return self.text(given[0])  # monkeypatch takes a target as text
        if name in _OF_OBJECTS and given and self.text(given[0]):
            return False  # of an object of the candidate
        if name == "mod":
            return self.formats(*given[:2]) if len(given) > 1 else False
        if name == "format" and all(isinstance(part, ast.Constant) for part in given[1:]):
            return False
        at = _ACTING[name]
        return any(map(self.text, given if at is None else given[at : at + 1] if at < 9 else [node.func]))

    def formats(self, template: ast.AST, values: ast.AST) -> bool:
        """`%`: text of the candidate may say which of the tests' values it takes."""
        return self.text(template) and _MAPPING in self.kinds(values)

    def loads_objects(self, node: ast.AST) -> bool:
        """This is a reader of objects that a text names."""
        if isinstance(node, ast.ImportFrom):
            return not _LOADS_BY_NAME.isdisjoint(alias.name for alias in node.names) or (
                node.module == "yaml" and not _LOADERS.isdisjoint(alias.name for alias in node.names)
            )
        if not isinstance(node, (ast.Name, ast.Attribute)) or self.names(node):
            return False
        return _last(node) in _LOADS_BY_NAME or (_last(node) in _LOADERS and _root(node) == "yaml")

    def _decides(self, node: ast.expr) -> bool:
        """The candidate says how many cases there are."""
        if isinstance(node, (ast.List, ast.Tuple)):
            return any(isinstance(part, ast.Starred) and self._decides(part.value) for part in node.elts)
        return self.text(node) or (self.names(node) and not isinstance(node, ast.Constant))


def _holds_check(node: ast.expr) -> bool:
    parts = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str))
    return any(sign in part for part in parts for sign in ("assert ", "==", "!=", "<", ">"))


def _elements(kinds: Set[str]) -> frozenset[str]:
    """What is in a container that holds these."""
    return frozenset(kinds - {_MAPPING} | ({_MAPPING} if _MAPPINGS_IN in kinds else set()))
