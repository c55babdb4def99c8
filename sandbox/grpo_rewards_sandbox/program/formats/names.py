"""What a test's text says before anything runs: names it uses, tests it defines, whether it keeps no state."""

from __future__ import annotations

import ast
import builtins
import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeGuard

# random among them, without `seed`: each job begins with a generator of its own, so drawing leaves nothing behind
_SAFE_MODULES = frozenset("math copy itertools collections cmath fractions decimal heapq random string".split())
_SAFE_ATTRIBUTES = frozenset(
    "isclose sqrt pi inf nan isnan isinf floor ceil deepcopy copy fabs pow exp log e gcd factorial comb sin cos append"
    " Counter deque defaultdict OrderedDict Fraction Decimal chain product permutations combinations join format items keys"
    " values get index count lower upper strip split startswith endswith"
    " Random random randint randrange choice choices sample shuffle uniform ascii_letters ascii_lowercase ascii_uppercase digits"
    " punctuation".split()
)
_UNSAFE = (
    ast.Global, ast.Nonlocal, ast.ClassDef, ast.Delete, ast.With, ast.AsyncWith, ast.AsyncFunctionDef, ast.Await,
    ast.AsyncFor, ast.Yield, ast.YieldFrom, ast.Lambda,
)  # fmt: skip
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
_NAMED = (*DEFINITIONS, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
_BUILTINS = frozenset(vars(builtins))
_PURE = frozenset(
    "abs all any ascii bin bool bytearray bytes chr complex dict divmod enumerate filter float format frozenset hex int"
    " isinstance issubclass len list map max min oct ord pow range repr reversed round set slice sorted str sum tuple zip"
    " Ellipsis NotImplemented".split()
) | {name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)}
_GIVE_DATA = frozenset(name for kind in (str, bytes, int, float, frozenset, tuple) for name in dir(kind))
_MEANS_MORE = re.compile("test|setup|teardown|pytest")  # how names begin that pytest looks for
_FILES = re.compile(
    r"tmp_path|tmpdir|tempfile|chdir|\bopen\(|(?:read|write)_(?:text|bytes)|sqlite3|shutil|listdir|scandir"
    r"|\b(?:exists|isfile|isdir|mkdir|makedirs|remove|unlink|touch)\("
)
_MAKES_NAN = re.compile(r"\bfloat\(\s*['\"][+-]?nan", re.IGNORECASE)
_EXPECTING = ("raises", "assertRaises", "suppress")  # how names begin of what expects an error
_NAN_OF_MODULE = re.compile(r"\.nan\b|\bimport nan\b")


@dataclass(frozen=True, slots=True)
class ExpectedTests:
    """The tests that a pytest file defines; those in `left_out` it leaves out itself, whatever happens."""

    tests: frozenset[str]
    left_out: frozenset[str]


@functools.lru_cache(maxsize=8)
def parsed(source: str) -> tuple[ast.AST, ...]:
    """The module and all nodes below it; nothing where the text does not parse. A job asks for its tests' several times."""
    try:
        return tuple(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):
        return ()


@functools.lru_cache(maxsize=64)
def used(source: str) -> frozenset[str]:
    """Return every name that the text mentions; empty where it does not parse."""
    return frozenset(node.id for node in parsed(source) if isinstance(node, ast.Name))


@functools.lru_cache(maxsize=64)
def free(source: str) -> frozenset[str]:
    """Return the names that the text mentions and, but for parameters, nowhere binds."""
    return used(source).difference(*map(binds, parsed(source)))


def binds(node: ast.AST) -> set[str]:
    """The names that a node by itself gives a meaning."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Load) else {node.id}
    named = node.rest if isinstance(node, ast.MatchMapping) else node.name if isinstance(node, _NAMED) else None
    return {named} if named else set()


def assigned(source: str) -> list[tuple[str, ...]]:
    """Return what a text sets of the modules that it imports, with the module's own name: ``requests.post = Mock()``."""
    return [path for path, stored in _of_modules(source) if stored]


def submodules(source: str) -> list[str]:
    """Return what may be modules within those that a text imports: ``matplotlib.axes`` where it says ``import matplotlib``."""
    paths = (path for path, stored in _of_modules(source) if not stored)
    return sorted({".".join(path[:end]) for path in paths for end in range(2, len(path))})


@functools.lru_cache(maxsize=64)
def _of_modules(source: str) -> list[tuple[tuple[str, ...], bool]]:
    """Each attribute of an imported module, as a path from the module's own name, and whether it is set."""
    nodes = parsed(source)
    aliases = (alias for node in nodes if isinstance(node, ast.Import) for alias in node.names)
    imported = dict((a.asname, a.name) if a.asname else (a.name.partition(".")[0],) * 2 for a in aliases)
    found: list[tuple[tuple[str, ...], bool]] = []
    for node in nodes:
        inner: ast.AST = node
        parts: list[str] = []
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if parts and isinstance(inner, ast.Name) and inner.id in imported:
            found.append(((imported[inner.id], *reversed(parts)), type(getattr(node, "ctx", None)) is ast.Store))
    return found


def kinds(source: str) -> frozenset[str]:
    """Return the names of classes of which a text says that something is, or is not, an object."""
    calls = (node for node in parsed(source) if isinstance(node, ast.Call) and len(node.args) > 1)
    given = (
        node.args[1] for node in calls if called(node) in ("isinstance", "assertIsInstance", "assertNotIsInstance")
    )
    return frozenset(last_name(part) for node in given for part in ast.walk(node)) - {""}


def errors(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names of classes of errors that handlers catch, or functions and contexts that expect one are given."""
    found: list[ast.expr | None] = []
    for node in nodes:
        if isinstance(node, ast.ExceptHandler):
            found.append(node.type)
        elif isinstance(node, ast.withitem):
            found += (
                part for call in ast.walk(node.context_expr) if isinstance(call, ast.Call) for part in given(call)
            )
        elif isinstance(node, ast.Call) and called(node).startswith(_EXPECTING):
            found += node.args if called(node) == "suppress" else node.args[:1]
        elif isinstance(node, ast.Compare):  # `kind is ValueError`, `type(error) == ValueError`
            of_class = isinstance(node.left, ast.Call) and called(node.left) == "type"
            found += node.comparators if of_class or isinstance(node.ops[0], ast.Is) else []
    parts = (part for node in found for part in (node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]))
    return {last_name(part) for part in parts if part is not None} - {""}


@functools.lru_cache(maxsize=64)
def imported(source: str, module: str) -> frozenset[str]:
    """Return the names that a test file asks of the candidate's module."""
    theirs = modules(source, module) | renamed(source, module).keys()
    read = (node for node in parsed(source) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name))
    return frozenset(taken(source, module).values()).union(
        node.attr for node in read if last_name(node.value) in theirs
    )


@functools.lru_cache(maxsize=64)
def keeps_no_state(source: str, module: str = "") -> bool:
    """The text can neither change nor hand out anything that outlives its own namespace.

    Only then may one trusted process judge one job after another: no class, no lambda, no `global`, no attribute of
    anything assigned, imports of a few modules of pure functions and from the candidate's `module`, no builtin
    but classes of data and pure functions.
    """
    nodes = parsed(source)
    # `type` with three arguments makes a class
    calls = (node for node in nodes if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords)
    asked = {id(node.func) for node in calls if not isinstance(node.args[0], ast.Starred)}
    return bool(nodes) and all(_leaves_nothing(node, module, asked) for node in nodes)


def _leaves_nothing(node: ast.AST, module: str, asked: set[int]) -> bool:
    """`asked`: what is called with one argument."""
    if isinstance(node, _UNSAFE):
        return False
    if isinstance(node, ast.Import):
        return all(alias.name in _SAFE_MODULES for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        theirs = bool(module) and node.module == module and not node.level
        return theirs or (node.module in _SAFE_MODULES and all(alias.name in _SAFE_ATTRIBUTES for alias in node.names))
    if isinstance(node, ast.Attribute):
        return isinstance(node.ctx, ast.Load) and node.attr in _SAFE_ATTRIBUTES
    if isinstance(node, ast.Name):
        pure = node.id not in _BUILTINS or node.id in _PURE or (node.id == "type" and id(node) in asked)
        return pure and not node.id.startswith("__")
    return True


def words(source: str) -> frozenset[str]:
    """Return every word of the text."""
    return frozenset(re.findall(r"\w+", source))


def replaced(source: str) -> frozenset[str]:
    """Return the names of attributes that a text may set: those that it assigns, and with `setattr` or a patch those in its constants."""
    nodes = parsed(source)
    found = {node.attr for node in nodes if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)}
    if "setattr" in source or "patch" in source:
        texts = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
        found.update(text.rpartition(".")[2] for text in texts)
    return frozenset(found)


def unread(source: str) -> frozenset[str]:
    """Return the methods of whose results a text learns nothing: those called in a statement of its own, or to call the next, or once more, on what they gave."""
    nodes = parsed(source)
    chained: set[int] = set()
    for node in nodes:
        at = node.value if isinstance(node, ast.Expr) else None
        while isinstance(at, ast.Call) and isinstance(at.func, ast.Attribute):
            chained.add(id(at.func))
            at = at.func.value
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    again = {node.attr for node in attributes if getattr(getattr(node.value, "func", None), "attr", "") == node.attr}
    by_text = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    looked_at = {node.attr for node in attributes if id(node) not in chained}
    alone = {node.attr for node in attributes if id(node) in chained} - looked_at
    return frozenset(alone | (again - _GIVE_DATA)) - by_text


def makes_nan(source: str) -> bool:
    """The tests make a NaN of their own, and use none of a module's, which the candidate has too."""
    return _MAKES_NAN.search(source) is not None and _NAN_OF_MODULE.search(source) is None


@functools.lru_cache(maxsize=256)
def shares_files(tests: str) -> bool:
    """Tests and candidate need a folder that both see."""
    return _FILES.search(tests) is not None


@functools.lru_cache(maxsize=64)
def expected(source: str, module: str = "") -> ExpectedTests:
    """Return the tests that the file itself defines, known before the candidate runs.

    Those below a condition on the candidate's `module` (`if hasattr(solution, "undo"):`) are wanted, as where `skipif` asks it.
    """
    nodes = parsed(source)
    if not nodes:
        return ExpectedTests(frozenset(), frozenset())
    assert isinstance(nodes[0], ast.Module)
    found: set[str] = set()
    left_out: set[str] = set()
    # `pytestmark = pytest.mark.skip` at the top speaks for the whole file
    everything = any(_leaves_out(node) for node in nodes[0].body if isinstance(node, ast.Assign))
    body = [*nodes[0].body]
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    theirs = modules(source, module) | taken(source, module).keys()
    for node in body:
        if isinstance(node, ast.If) and not node.orelse and not theirs.isdisjoint(used(ast.unparse(node.test))):
            body.extend(node.body)
        cases = [("", node)]
        if isinstance(node, ast.ClassDef) and _collected(node, classes):
            cases = [(f"{node.name}::", part) for part in node.body]
        for prefix, part in cases:
            if isinstance(part, FUNCTIONS) and _is_test(part):
                found.add(prefix + part.name)
                marks = [*part.decorator_list, *(node.decorator_list if isinstance(node, ast.ClassDef) else [])]
                if everything or any(map(_leaves_out, marks)):
                    left_out.add(prefix + part.name)
    return ExpectedTests(frozenset(found), frozenset(left_out))


@functools.lru_cache(maxsize=64)
def plain_file(tests: str, module: str) -> bool:
    """Nothing in this test file asks pytest for more than that its functions are called, one after the other."""
    if not keeps_no_state(tests, module) or shares_files(tests):
        return False
    return not any(_asks_for_more(node) for node in parsed(tests)) and bool(expected(tests, module).tests)


def _asks_for_more(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef):
        # a test's parameters are fixtures
        test, given = node.name.startswith("test"), ast.unparse(node.args)
        return bool(node.decorator_list or (test and given) or (not test and _MEANS_MORE.match(node.name)))
    if isinstance(node, ast.Name):
        return not isinstance(node.ctx, ast.Load) and bool(_MEANS_MORE.match(node.id))
    return isinstance(node, ast.alias) and bool(_MEANS_MORE.match(node.asname or ""))


def _leaves_out(mark: ast.AST) -> bool:
    """A mark that leaves a test out or lets it fail, whatever happens: skip, xfail without a condition, no parameters."""
    if isinstance(mark, ast.Assign):
        marks = mark.value.elts if isinstance(mark.value, (ast.List, ast.Tuple)) else [mark.value]
        return _assigns(mark, "pytestmark") and any(map(_leaves_out, marks))
    call = mark if isinstance(mark, ast.Call) else None
    name = last_name(call.func if call else mark)
    if name == "parametrize":
        cases = call.args[1] if call is not None and len(call.args) > 1 else None
        return isinstance(cases, (ast.List, ast.Tuple)) and not cases.elts
    if name == "xfail":
        return call is None or not (call.args or any(keyword.arg == "condition" for keyword in call.keywords))
    return name in ("skip", "expectedFailure")


def _assigns(node: ast.Assign, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)


def modules(source: str, module: str) -> frozenset[str]:
    """The names under which a file has the candidate's module."""
    found = {module}
    for node in parsed(source):
        if isinstance(node, ast.Import):
            found.update(alias.asname for alias in node.names if alias.name == module and alias.asname)
        elif isinstance(node, ast.Assign) and _imports(node.value, module):
            found.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return frozenset(found)


def _imports(node: ast.expr, module: str) -> bool:
    """A call of `import_module` with this name."""
    if not isinstance(node, ast.Call) or called(node) not in ("import_module", "__import__") or not node.args:
        return False
    return isinstance(node.args[0], ast.Constant) and node.args[0].value == module


def taken(source: str, module: str) -> dict[str, str]:
    """What a file imports from the candidate's module, each by the name that it has there; `*` where it takes all."""
    imports = (node for node in parsed(source) if isinstance(node, ast.ImportFrom) and node.module == module)
    return {alias.asname or alias.name: alias.name for node in imports for alias in node.names}


def renamed(source: str, module: str) -> dict[str, str]:
    """The same of what it gives another name."""
    return {name: of for name, of in taken(source, module).items() if name != of}


def is_check(node: ast.AST) -> TypeGuard[ast.Assert | ast.Call]:
    """`assert`, or a method of unittest, numpy's functions and the like."""
    return isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and called(node).startswith("assert"))


def given(call: ast.Call) -> list[ast.expr]:
    """All arguments of a call."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def returned(function: ast.AST) -> list[ast.expr]:
    """What a function returns and yields."""
    ends = (part for part in ast.walk(function) if isinstance(part, (ast.Return, ast.Yield)))
    return [part.value for part in ends if part.value]


def called(node: ast.Call) -> str:
    """The last part of the name of what is called; empty where it has none."""
    return last_name(node.func)


def last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_test(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    if not node.name.startswith("test"):
        return False
    decorators = {last_name(part) for mark in node.decorator_list for part in ast.walk(mark)}
    return not decorators & {"fixture", "staticmethod", "classmethod", "property"}


def _of_unittest(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    """It derives from a `TestCase`; one of the file's own `classes` is one by what it derives from, not by its name."""
    above = {name: one for name, one in classes.items() if one is not node}
    return any(
        _of_unittest(above[base.id], above)
        if isinstance(base, ast.Name) and base.id in above
        else "TestCase" in ast.dump(base)
        for base in node.bases
    )


def _collected(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    unittest = _of_unittest(node, classes)
    if not unittest and not node.name.startswith("Test"):
        return False
    names = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
    opted_out = any(isinstance(part, ast.Assign) and _assigns(part, "__test__") for part in node.body)
    # pytest collects no class that has a constructor
    return not opted_out and (unittest or not names & {"__init__", "__new__"})
