"""Which tests cannot be judged across the border: their text says so before anything runs.

Only the text decides, never the candidate. Trusted code does not act on text of the candidate's: it imports, runs, formats and
looks up by nothing but what the tests wrote down themselves, and functions that act so are called where they are named.
"""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Iterable, Iterator, Set

from ..border.values import CATCHING
from . import names
from .guard import READABLE
from .names import called
from .reading import checks_something, on_purpose
from .sources import of_text

# which argument a function imports, runs or looks up by; None: each
_ACTS_ON: dict[str, int | None] = {
    "getattr": 1, "setattr": 1, "delattr": 1, "hasattr": 1, "getattr_static": 1, "attrgetter": None, "methodcaller": 0,
    "__getattribute__": None, "__getattr__": None, "__setattr__": 0, "__delattr__": None, "import_module": 0, "__import__": 0,
    "compile": 0, "eval": 0, "exec": 0, "run_path": 0, "run_module": 0, "spec_from_file_location": 1, "resolve_name": 0, "locate": 0,
    "system": 0, "popen": 0, "dictConfig": 0, "patch": 0, "object": 1, "multiple": 0, "Template": 0, "LogRecord": 4, "from_string": 0,
    "getfixturevalue": 0, "loadTestsFromName": 0, "EntryPoint": None,
    # SQL may name files: ATTACH; and that of duckdb the tests' own variables
    "execute": 0, "executescript": 0, "executemany": 0, "read_sql": 0, "read_sql_query": 0, "read_sql_table": 0, "sql": 0, "query": 0,
    "from_query": 0,
}  # fmt: skip
_FORMATS, _LOOKS_UP = (
    "format objects of theirs by a template that may be text of the candidate",
    "look up, or set, a name that the candidate may have given",
)
_RUNS_SQL = "run SQL of the candidate"
_DOES = {
    "Template": _FORMATS,
    **dict.fromkeys(
        (name for name in _ACTS_ON if name.startswith(("execute", "read_sql", "sql", "query", "from_query"))), _RUNS_SQL
    ),
}
# common words act only where they are from here
_FROM = {
    "compile": {"builtins"}, "eval": {"builtins"}, "exec": {"builtins"}, "system": {"os"}, "popen": {"os"}, "locate": {"pydoc"}, "object": {"patch"}, "multiple": {"patch"},
    "patch": {"mock", "mocker"}, "Template": {"string", "jinja2"}, "Formatter": {"string", "logging"}, "mod": {"operator"}, "imod": {"operator"},
    "modules": {"sys"}, "sql": {"duckdb"}, "query": {"duckdb"},
}  # fmt: skip
# arguments by name that are no text to act on
_HARMLESS = frozenset(
    "new new_callable return_value side_effect default raising autospec spec spec_set create wraps package flags value parameters".split()
)
# which argument these call, with those after it
_APPLIES = {
    "assertRaises": 1, "assertWarns": 1, "raises": 1, "warns": 1, "assertRaisesRegex": 2, "addCleanup": 0, "addClassCleanup": 0,
}  # fmt: skip
# of these the arguments by such names are templates: for log records, for the options of a parser
_FILLED_IN = frozenset(("basicConfig", "ArgumentParser", "add_argument", "add_parser"))
_TEMPLATES = frozenset(("format", "usage", "help", "description", "epilog"))
# from which argument on, and by which names, they are given members, of which one may be `__eq__`
_NAMES_MEMBERS = {"type": 2} | dict.fromkeys("Enum IntEnum StrEnum Flag IntFlag make_dataclass new_class".split(), 1)
_NAMES_MEMBERS |= dict.fromkeys("Mock MagicMock AsyncMock configure_mock".split(), 100)
_MEMBERS = frozenset((None, "names", "fields", "namespace", "exec_body"))
_FILLS = frozenset(("format", "format_map"))
_MOD = frozenset(("mod", "imod", "__mod__", "__imod__", "__rmod__"))
_LOGS = dict.fromkeys("debug info warning error critical exception".split(), 1) | {"log": 2}
_NAMESPACES = frozenset("globals locals vars getmembers getclosurevars".split())
_HELD = frozenset("__dict__ __globals__ f_globals f_locals f_builtins __builtins__ modules".split())
_BY_KEY = frozenset("get pop setdefault __getitem__ __contains__ setitem delitem".split())
# of a mapping they see the names alone
_LOOKS = frozenset("len any all bool isinstance type repr str print id sorted list set tuple frozenset".split())
_RUNS = frozenset(("eval", "exec"))
_OF_OBJECTS = frozenset("getattr hasattr setattr delattr object multiple getattr_static".split())
_GIVES = frozenset("getattr attrgetter methodcaller getattr_static".split())  # what is looked up
_ACTING = _FILLS | _MOD | _ACTS_ON.keys() | _HELD | _NAMESPACES
# what they read may name any class or function, which they look up without a trace
_LOADS_BY_NAME = frozenset(
    "unsafe_load unsafe_load_all full_load full_load_all read_pickle UnsafeLoader FullLoader CUnsafeLoader CFullLoader".split()
)
_LOADERS = frozenset(("Loader", "CLoader"))  # of YAML
_PROCESSES = frozenset(("multiprocessing", "pexpect"))
# of subprocess: what is raised, returned and given, for mocks that stand in the place of what starts one
_NO_PROCESSES = frozenset(
    "TimeoutExpired CalledProcessError SubprocessError CompletedProcess PIPE STDOUT DEVNULL".split()
)
_OPENS = frozenset(("open", "read_text", "read_bytes", "write_text", "write_bytes", "touch", "mkdir", "unlink"))
_WATCH = "watch the memory of the candidate's objects"
_PICKLES = frozenset(("pickle", "marshal", "shelve", "cPickle", "dill", "cloudpickle"))
# what calls with something of the candidate's would do, by where they are from (anywhere: empty): its objects live in another
# process, of which what stands for them here would say nothing
_WITH_THEIRS: dict[str, tuple[Set[str], str]] = {
    **dict.fromkeys("ref proxy finalize WeakSet WeakMethod getrefcount getsizeof get_referrers get_referents".split(), ({"weakref", "sys", "gc"}, _WATCH)),
    **dict.fromkeys(("getsource", "getsourcelines", "getsourcefile"), ({"inspect"}, "read the source of the candidate")),
    **dict.fromkeys(("loads", "load", "dumps", "dump"), (_PICKLES, "pickle what the candidate returned")),
    **dict.fromkeys(("sympify", "parse_expr"), (set(), "read an expression that is text of the candidate")),
    "reload": ({"importlib"}, "load the candidate's module once more"),
}  # fmt: skip
_INSIDE = frozenset(("__code__", "__defaults__", "__kwdefaults__"))
_ANCESTRY = frozenset("__base__ __bases__ __mro__ mro getmro exc_info".split())
_CATCH = frozenset("suppress raises assertRaises assertRaisesRegex".split())
# they act on this process: in the candidate's hands they would act for it
_FIXTURES = frozenset(("monkeypatch", "capsys", "capfd", "caplog", "request", "mocker"))


def unjudgeable(text: str, module: str, asked: Iterable[str]) -> str:
    """Say why tests cannot be judged under isolation, whatever the candidate is; empty where nothing speaks against it."""
    try:
        return _problem(text, module, frozenset(asked))
    except RecursionError:
        return "the tests are nested too deeply to be read; they can be run with fidelity: shared, at its price"


@functools.lru_cache(maxsize=256)
def _problem(text: str, module: str, asked: frozenset[str]) -> str:
    theirs = asked.union(names.renamed(text, module), names.modules(text, module))
    why = next(_problems(text, theirs), "")
    return why and f"{why}; they can be run with fidelity: shared, at its price"


def _problems(text: str, theirs: frozenset[str]) -> Iterator[str]:
    nodes = names.parsed(text)
    review = _Review(text, theirs)
    for node in nodes:
        if why := review.why(node):
            yield f"line {getattr(node, 'lineno', 0)}: the tests {why}"
    for name in _raisers(nodes, expected=any(map(review.expects_check, nodes))):
        if any(isinstance(node, ast.Call) and review.names(node.func) and _hands_over(node, name) for node in nodes):
            yield f"the tests hand over {name}, which raises AssertionError for the candidate to swallow or to pass on"
    if (caught := review.unnamed_handler(nodes)) is not None:
        said = ast.unparse(caught)[:100]
        yield f"line {caught.lineno}: the tests catch {said}, which may be a class that the candidate chose"


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


def _raises_on_purpose(body: Iterable[ast.AST]) -> bool:
    return any(on_purpose(part) for statement in body for part in ast.walk(statement))


def _raisers(nodes: Iterable[ast.AST], *, expected: bool) -> Iterator[str]:
    """Functions that raise AssertionError on purpose, or where the tests expect one by a check."""
    for node in nodes:
        if isinstance(node, names.FUNCTIONS) and not node.name.startswith("test"):
            checks = expected and any(checks_something(part, set()) for part in ast.walk(node))
            if checks or _raises_on_purpose(node.body):
                yield node.name


def _hands_over(call: ast.Call, name: str) -> bool:
    parts = (part for argument in names.given(call) for part in ast.walk(argument))
    return any(isinstance(part, ast.Name) and part.id == name for part in parts)


def _takes_fixtures(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return node.name.startswith("test") or any("fixture" in ast.unparse(mark) for mark in node.decorator_list)


class _Review:
    """What one text does that cannot be judged. `asked`: the names of the candidate in it, its module's among them."""

    def __init__(self, text: str, asked: frozenset[str]) -> None:
        nodes = names.parsed(text)
        self._asked = asked
        self._sources = of_text(text, asked)
        self._read = {node.id for node in nodes if isinstance(node, ast.Name)}
        classes = (names.binds(node) for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom, ast.ClassDef)))
        self._classes = set(vars(builtins)).union(asked, *classes)  # and the modules that they are in
        # what an imported name is, and from where
        self._imported: dict[str, tuple[str, str]] = {}
        for node in nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                of = getattr(node, "module", None) or ""
                for alias in node.names:
                    self._imported[alias.asname or alias.name] = (of.rpartition(".")[2], alias.name.rpartition(".")[2])
        self._modules = {part for pair in self._imported.values() for part in pair}
        takers = (node for node in nodes if isinstance(node, names.FUNCTIONS) and _takes_fixtures(node))
        self._fixtures = _FIXTURES.intersection(
            part.arg for node in takers for part in ast.walk(node.args) if isinstance(part, ast.arg)
        )

    def names(self, node: ast.AST) -> bool:
        """This expression is a name of the candidate, or something of one."""
        while isinstance(node, (ast.Attribute, ast.Call)):
            node = node.value if isinstance(node, ast.Attribute) else node.func
        return isinstance(node, ast.Name) and node.id in self._asked

    def unnamed_handler(self, nodes: Iterable[ast.AST]) -> ast.expr | None:
        """A handler for a class that the text does not name, where it asks classes for those above them: the candidate would choose what it catches."""
        if not any(names.last_name(node) in _ANCESTRY or getattr(node, "value", "") in _ANCESTRY for node in nodes):
            return None
        caught: list[ast.expr | None] = []
        for node in nodes:
            if isinstance(node, ast.ExceptHandler):
                caught.append(node.type)
            elif isinstance(node, ast.Call) and called(node) in _CATCH:
                caught += node.args if called(node) == "suppress" else node.args[:1]
        return next((part for part in caught if part is not None and not self._names_class(part)), None)

    def _names_class(self, node: ast.expr) -> bool:
        """A class by its name, or by that of the module or class that it is in."""
        if isinstance(node, ast.Tuple):
            return all(map(self._names_class, node.elts))
        root = node
        while isinstance(root, ast.Attribute) and root.attr not in _ANCESTRY:
            root = root.value
        return isinstance(root, ast.Constant) or (isinstance(root, ast.Name) and root.id in self._classes)

    def expects_check(self, node: ast.AST) -> bool:
        """AssertionError is caught or looked for here."""
        parent = self._sources.parents.get(id(node))
        if isinstance(parent, ast.Call) and parent.func is node:
            parent = self._sources.parents[id(parent)]
        return isinstance(node, ast.Name) and node.id == "AssertionError" and not isinstance(parent, ast.Raise)

    def why(self, node: ast.AST) -> str:
        """Say what this does that cannot be judged; empty for nothing."""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return self._imports(node)
        if by_identity := [part.id for part in _identified(node) if isinstance(part, ast.Name) and part.id in CATCHING]:
            return f"compare with {by_identity[0]} by `is`, which what the candidate gives or raises only equals"
        if isinstance(node, ast.ClassDef) and any(map(self.names, node.bases)):
            return f"derive class {node.name} from a class of the candidate"
        if isinstance(node, names.FUNCTIONS) and (stands := self._stands_for(node)):
            return f"let {ast.unparse(stands)[:100]} of the candidate stand for the test {node.name}"
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Mod):
            values = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
            return self._fills_by_percent(*values)
        if isinstance(node, ast.With) and _raises_on_purpose(node.body):
            asks = any(self._sources.mentions(item.context_expr) for item in node.items)
            return "raise AssertionError for the candidate to swallow" if asks else ""
        if isinstance(node, ast.Call):
            return self._call(node) or _opens_elsewhere(node)
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            return self._use(node)
        return ""

    def _stands_for(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.expr | None:
        """What of the candidate decorates a test, which is one by its name and place, and by not being called in the text."""
        placed = isinstance(self._sources.parents.get(id(node)), (ast.Module, ast.ClassDef))
        if not (placed and node.name.startswith("test") and node.name not in self._read):
            return None
        return next(filter(self.names, node.decorator_list), None)

    def _imports(self, node: ast.Import | ast.ImportFrom) -> str:
        of = getattr(node, "module", None) or ""
        roots = {of.partition(".")[0], *(alias.name.partition(".")[0] for alias in node.names)}
        taken = {alias.name for alias in node.names} if of else set()
        if roots & _PROCESSES or (of == "subprocess" and taken - _NO_PROCESSES):
            return "start processes"
        if roots & {"doctest", "runpy"}:
            return "run text of the candidate"
        if roots & {"tracemalloc", "resource"}:
            return "measure memory, of which the candidate's is in another process"
        return "load objects that a text names" if taken & _LOADS_BY_NAME or (of == "yaml" and taken & _LOADERS) else ""

    # what acts on text

    def _use(self, node: ast.Name | ast.Attribute) -> str:
        """A function that acts on text is called where it is named; a namespace is asked for names of the tests' own."""
        parent = self._sources.parents[id(node)]
        call = parent if isinstance(parent, ast.Call) and parent.func is node else None
        origin, name = self._is(node)
        # a mock in its place is asked how it was called
        asked = isinstance(parent, ast.Attribute) and not parent.attr.startswith("__")
        replaced = isinstance(parent, ast.Call) and called(parent) in ("object", "setattr")
        starts = (
            name not in _NO_PROCESSES if origin == "subprocess" else name == "subprocess" and not (origin or replaced)
        )
        if starts and not asked:
            return "start processes"
        if not self.names(node) and (name in _LOADS_BY_NAME or (name in _LOADERS and origin == "yaml")):
            return "load objects that a text names"
        if isinstance(node, ast.Attribute) and name in _FILLS and not self._sources.own(node.value):
            if call is not None and origin == "str":
                return _FORMATS if self._not_own(call, 0) else ""
            # of constants nothing can be chosen; a field `format` is compared
            constant = call is not None and all(isinstance(part, ast.Constant) for part in names.given(call))
            compared = isinstance(parent, (ast.Compare, ast.Attribute)) or (call is None and names.is_check(parent))
            return "" if constant or compared else _FORMATS
        if name in _MOD and (name.startswith("__") or not self._exempt(node, origin, name)):
            given = [node.value] if name.startswith("__") and isinstance(node, ast.Attribute) else []
            given += call.args if call is not None else []
            if len(given) == 2:
                return self._fills_by_percent(*given)
            return _FORMATS if self._sources.hands_mappings_on else ""
        if name in _ACTS_ON and call is None and not self._exempt(node, origin, name):
            plain = isinstance(parent, ast.Attribute) and not parent.attr.startswith("__")
            if name in ("setattr", "delattr") and (applied := self._applied(node, parent)) is not None:
                return self._acts(applied, name)
            return "" if plain else f"hand on {name}, which acts on text"
        if name in ("environ", "getenv") and origin == "os" and self._reads(call or node):
            return "read the environment, where the candidate may have changed it in a process of its own"
        if name in _INSIDE and self._sources.mentions(getattr(node, "value", None)):
            return f"look at {name}, which of a function of the candidate stays with it"
        if self._holds_names(node, origin, name) and not self._looks_up(call or node):
            return _LOOKS_UP
        return ""

    def _applied(self, node: ast.Name | ast.Attribute, parent: ast.AST) -> ast.Call | None:
        """The call that unittest or pytest makes of a function that it is handed with all that it takes."""
        if not isinstance(parent, ast.Call) or self.names(parent.func) or called(parent) in self._sources.defined:
            return None
        at = _APPLIES.get(called(parent), len(parent.args))
        starred = any(isinstance(part, ast.Starred) for part in parent.args[:at])
        handed = not starred and node in parent.args[at : at + 1]
        return ast.Call(node, parent.args[at + 1 :], parent.keywords) if handed else None

    def _reads(self, node: ast.expr) -> bool:
        """The environment, or a call that gives what is in it, is more than set."""
        parent = self._sources.parents[id(node)]
        if isinstance(parent, ast.Subscript):
            return isinstance(parent.ctx, ast.Load)
        if isinstance(parent, ast.Attribute):
            return parent.attr in ("get", "items", "keys", "values", "copy")
        copies = isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "dict"
        return isinstance(node, ast.Call) or isinstance(parent, (ast.Compare, ast.For, ast.comprehension)) or copies

    def _is(self, node: ast.expr) -> tuple[str, str]:
        """Where something is from, and its name there; each is the last part of a dotted one."""
        if isinstance(node, ast.Attribute):
            return self._is(node.value)[1], node.attr
        if isinstance(node, ast.Name):
            return self._imported.get(node.id, ("builtins", node.id))
        if isinstance(node, (ast.Subscript, ast.Call)):  # `sys.modules["operator"]`, `import_module("operator")`
            said = node.slice if isinstance(node, ast.Subscript) else node.args[0] if node.args else None
            return "", str(said.value).rpartition(".")[2] if isinstance(said, ast.Constant) else called(
                node
            ) if isinstance(node, ast.Call) else ""
        return "", ""

    def _exempt(self, node: ast.Name | ast.Attribute, origin: str, name: str) -> bool:
        """Something of the candidate's or of the tests' by a name that acts elsewhere."""
        starred = "*" in self._imported and origin == "builtins" and not hasattr(builtins, name)
        # a connection has any name
        connected = (
            _DOES.get(name) == _RUNS_SQL
            and isinstance(node, ast.Attribute)
            and not _FROM.get(name, set()).isdisjoint(self._modules)
        )
        if name in _FROM and origin not in _FROM[name] and not (starred or connected):
            return True
        if isinstance(node, ast.Name):
            return node.id in self._asked or (node.id in self._sources.defined and node.id not in self._imported)
        return self._sources.theirs(node.value) and not name.startswith("__")

    def _not_own(self, call: ast.Call, at: int | None) -> str:
        """Say what a function is given to act on that is not the tests' own."""
        given = call.args if at is None else call.args[at : at + 1 or None]
        harmless = _HARMLESS if called(call) != "multiple" else {part.arg for part in call.keywords if part.arg}
        given = [*given, *(part.value for part in call.keywords if part.arg not in harmless)]
        starred = [part for part in call.args if isinstance(part, ast.Starred)]
        return next((ast.unparse(part) for part in [*given, *starred] if not self._sources.own(part)), "")

    def _acts(self, node: ast.Call, name: str) -> str:
        """Say on what text a call acts."""
        at = _ACTS_ON[name]
        if isinstance(node.func, ast.Attribute) and len(node.args) < {"setattr": 3, "delattr": 2}.get(name, 0):
            at = 0  # monkeypatch takes a target as text
        elif name in _OF_OBJECTS and node.args and self.names(node.args[0]) and not isinstance(node.args[0], ast.Call):
            return ""  # of the candidate's module or class
        # what is the candidate's is asked, for a name that it has no say in
        asked = name in ("getattr", "hasattr") and node.args and self._sources.theirs(node.args[0])
        asked = asked and not any(map(self._sources.mentions, node.args[1:]))
        text = "" if asked else self._not_own(node, at)
        if not text and name in _GIVES:
            text = next(
                (part.value for part in node.args if isinstance(part, ast.Constant) and part.value in _ACTING), ""
            )
        return text and _DOES.get(name, f"call {name} with {text[:100]}, which may be text of the candidate")

    def _fills_by_percent(self, template: ast.expr, values: ast.expr) -> str:
        """`%`: a text may say which of the values of a mapping it takes."""
        plain = isinstance(values, (ast.Tuple, ast.Constant)) or not self._sources.may_be_mapping(values)
        return "" if plain or self._sources.own(template) else _FORMATS

    def _holds_names(self, node: ast.Name | ast.Attribute, origin: str, name: str) -> bool:
        """This is a namespace, or a function that gives one."""
        parent = self._sources.parents[id(node)]
        if name in _NAMESPACES:
            of = parent.args[:1] if isinstance(parent, ast.Call) and parent.func is node else []
            theirs = self._exempt(node, origin, name) or any(map(self._sources.theirs, of))
            return origin in ("builtins", "inspect") and not theirs
        theirs = isinstance(node, ast.Attribute) and self._sources.theirs(node.value)
        return name in _HELD and not theirs and (name.startswith(("_", "f_")) or origin == "sys")

    def _looks_up(self, node: ast.expr) -> bool:
        """What happens to a namespace, which is no more than that the tests' own names are looked up."""
        parent = self._sources.parents[id(node)]
        if isinstance(parent, ast.Subscript):
            key = parent.slice.value if isinstance(parent.slice, ast.Constant) else None
            return key not in _ACTING and self._sources.own(parent.slice)
        if isinstance(parent, ast.Attribute):
            call = self._sources.parents[id(parent)]
            if not isinstance(call, ast.Call) or call.func is not parent:
                return False
            return parent.attr == "keys" or (parent.attr in _BY_KEY and self._sources.own(call.args[0]))
        if isinstance(parent, ast.Call):
            name = called(parent)
            if name in _BY_KEY or name == "dict":  # of monkeypatch, and `patch.dict`
                method = isinstance(parent.func, ast.Attribute) and len(parent.args) > 1
                return method and self._sources.own_keys(parent.args[1])
            checks = names.is_check(parent) and not name.startswith("assertRaises")
            return checks or name in _LOOKS or (name in _RUNS and self._sources.own(parent.args[0]))
        if isinstance(parent, ast.keyword):
            return parent.arg in ("globals", "locals")
        return isinstance(parent, (ast.Compare, ast.For, ast.comprehension, ast.Assert, ast.UnaryOp, ast.Expr))

    def _call(self, node: ast.Call) -> str:
        """Say what a call does that trusted code does not do; empty for nothing."""
        func = node.func if isinstance(node.func, (ast.Name, ast.Attribute)) else ast.Name("")
        origin, name = self._is(func)
        given = names.given(node)
        if self.names(node.func) and name not in _ACTS_ON:  # one of the candidate's own is run over there
            handed = sorted(self._fixtures.intersection(part.id for part in given if isinstance(part, ast.Name)))
            return f"hand the fixture {handed[0]} to the candidate" if handed else ""
        if name in _ACTS_ON and not self._exempt(func, origin, name):
            return self._acts(node, name)
        asks = any(map(self._sources.mentions, node.args))
        if name == "Formatter" and not self._exempt(func, origin, name):
            return _FORMATS if origin == "string" or self._not_own(node, None) else ""
        if name in _FILLED_IN and not self._exempt(func, origin, name):
            texts = (part.value for part in node.keywords if part.arg in _TEMPLATES)
            return "" if all(map(self._sources.own, texts)) else _FORMATS
        logs = len(node.args) > _LOGS.get(name, len(node.args))
        if logs and not self._sources.theirs(getattr(node.func, "value", None)):
            return _FORMATS if asks and not self._sources.own(node.args[_LOGS[name] - 1]) else ""
        if name == "type" and len(node.args) == 1 and isinstance(node.args[0], ast.Name) and self.names(node.args[0]):
            return "ask for the class of a class"
        if name in _NAMES_MEMBERS and not self._exempt(func, origin, name):
            named = [part.value for part in node.keywords if part.arg in _MEMBERS]
            members = [*node.args[_NAMES_MEMBERS[name] :], *named]
            if any(self._sources.mentions(part) and not self._sources.own_keys(part) for part in members):
                return "make a class or a mock of members that the candidate names"
        if asks and name in _WITH_THEIRS and (not _WITH_THEIRS[name][0] or origin in _WITH_THEIRS[name][0]):
            return _WITH_THEIRS[name][1]
        if name in ("extractall", "unpack_archive"):
            return "unpack an archive"
        if name == "load" and any(keyword.arg == "allow_pickle" for keyword in node.keywords):
            return "load pickles"
        # of no cases no test fails
        cases = self._sources.before_tests
        if name == "parametrize" and len(node.args) > 1 and cases.counted_by_candidate(node.args[1]):
            return "take their cases from the candidate"
        return ""


def _identified(node: ast.AST) -> list[ast.expr]:
    """What is compared by `is`."""
    if isinstance(node, ast.Compare) and any(isinstance(part, (ast.Is, ast.IsNot)) for part in node.ops):
        return [node.left, *node.comparators]
    return node.args if isinstance(node, ast.Call) and called(node) in ("assertIs", "assertIsNot") else []
