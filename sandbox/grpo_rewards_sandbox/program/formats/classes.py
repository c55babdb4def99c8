"""Which names are classes under test: a name is taken for a class where the tests' text uses it as one."""

from __future__ import annotations

import ast
import builtins
import functools
import sys
from collections.abc import Iterable, Set

from . import names
from .names import called
from .sources import of_text

_BUILTINS = (str, bytes, list, dict, set, tuple, int, float, complex, range)
_OF_LIBRARIES = frozenset(
    "shape dtype ndim size T tolist all any mean std var min max argmin argmax argsort astype reshape flatten ravel item"
    " nbytes columns index values iloc loc head tail equals empty to_dict to_list dtypes at iat isna notna iterrows"
    " itertuples groupby sort_values reset_index name names year month day hour minute second microsecond tzinfo days"
    " seconds total_seconds isoformat strftime date time group groups groupdict span start end string maxlen appendleft"
    " popleft rotate most_common elements numerator denominator quantize as_tuple parent stem suffix exists is_file is_dir"
    " read_text write_text args equal allclose eq".split()
)
# attributes that plain data has too: reading one says nothing about where the object came from
_OF_DATA = _OF_LIBRARIES.union(name for kind in _BUILTINS for name in dir(kind) if not name.startswith("__"))
# but where it is a method of any data, and read as a value: `stack.items == [1]`
_METHODS = _OF_DATA.difference(_OF_LIBRARIES, ("real", "imag", "stop", "step"))
# attributes that a function has too, by itself or by a usual decorator
_OF_FUNCTIONS = frozenset(
    "cache_info cache_clear cache_parameters __name__ __doc__ __wrapped__ __annotations__ __qualname__ __module__"
    " __defaults__ __code__ calls count called".split()
)
_CONVERSIONS = frozenset(("int", "float", "str", "bool", "list", "tuple", "set", "dict"))
# functions that give all of what they are given, or one part; containers that the tests write down, of so many in one another
_GIVE_ALL = frozenset(("list", "tuple", "sorted", "reversed", "iter", "copy", "deepcopy"))
_GIVE = _GIVE_ALL | {"sum", "min", "max", "next"}
_CONTAINERS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_DEEPEST = 3
_CLASS_ARGUMENTS = {"isinstance": 1, "issubclass": 1, "raises": 0, "warns": 0, "assertRaises": 0, "assertRaisesRegex": 0,
                    "assertIsInstance": 1, "assertNotIsInstance": 1, "suppress": 0, "fields": 0, "is_dataclass": 0}  # fmt: skip


def entry_name(entry_point: str) -> str:
    """Return the name that an entry point such as ``Solution().topK`` begins with."""
    return entry_point.partition(".")[0].partition("(")[0].strip()


def classes_under_test(text: str, module: str, asked: Iterable[str], given: Iterable[str]) -> frozenset[str]:
    """Return which of the names asked of the candidate are classes: those that the row says, and those used as such."""
    return frozenset(given) | _used_as_classes(text, module, frozenset(asked))


@functools.lru_cache(maxsize=64)
def _used_as_classes(text: str, module: str, asked: frozenset[str]) -> frozenset[str]:
    nodes = names.parsed(text)
    found: set[str] = set()
    aliases = names.modules(text, module)
    original = names.renamed(text, module)
    sources = of_text(text, asked.union(aliases, original))

    def named(node: ast.AST | None) -> str:
        if isinstance(node, ast.Name) and node.id not in aliases:
            name = original.get(node.id, node.id)
            return name if name in asked else ""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
            return node.attr if node.attr in asked else ""
        return ""

    def made(node: ast.AST | None, seen: Set[str]) -> set[tuple[str, int]]:
        """The names whose calls may have given what this expression is, each with how many containers of the tests are around it.

        `x = Vector(1)`, and then `x.norm` says that Vector is a class. `seen`: names that are being followed.
        """
        if isinstance(node, ast.Call):
            if own := named(node.func):
                return {(own, 0)}
            found = made(node.func, seen)
            if (function := called(node)) in _GIVE:
                for part in (made(one, seen) for one in node.args):
                    found |= part if function in _GIVE_ALL else _parts(part)
            return found
        if isinstance(node, (ast.Name, ast.Attribute)):
            return set().union(*(made(one, {*seen, name}) for name, one in sources.bound(node) if name not in seen))
        if isinstance(node, ast.NamedExpr):
            return made(node.value, seen)
        if isinstance(node, ast.Lambda):  # as a function by that name: what its calls give
            return made(node.body, seen)
        if isinstance(node, names.FUNCTIONS):
            return set().union(*(made(part, seen) for part in names.returned(node)))
        if isinstance(node, ast.Subscript):
            return _parts(made(node.value, seen))
        within = ast.iter_child_nodes(node) if isinstance(node, _CONTAINERS) else ()
        return {(name, depth + 1) for part in within for name, depth in made(part, seen) if depth < _DEEPEST}

    def is_class(node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and (named(node) != "" or type(getattr(builtins, node.id, None)) is type)

    values = {id(part) for node in nodes for part in _values(node)}
    for node in nodes:
        if isinstance(node, ast.Attribute):
            own = named(node.value)
            if own and node.attr not in _OF_FUNCTIONS:
                found.add(own)
            elif not own and (node.attr not in _OF_DATA or (node.attr in _METHODS and id(node) in values)):
                found.update(name for name, around in made(node.value, set()) if not around)
        elif isinstance(node, ast.Call):
            at = _CLASS_ARGUMENTS.get(called(node))
            if at is not None and at < len(node.args):
                found.update(map(named, _each(node.args[at])))
            if isinstance(node.func, ast.Subscript) and all(map(is_class, _each(node.func.slice))):  # `Stack[int]()`
                found.add(named(node.func.value))
            if called(node) == "issubclass":
                found.update(map(named, node.args[:1]))
        elif isinstance(node, ast.ExceptHandler) and node.type is not None:
            found.update(map(named, _each(node.type)))
        elif isinstance(node, ast.MatchClass):
            found.add(named(node.cls))
        elif isinstance(node, ast.ClassDef):
            found.update(map(named, node.bases))
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Call) and called(node.left) == "type":
            found.update(map(named, node.comparators))
        for note in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            found.update(map(named, ast.walk(note) if isinstance(note, ast.AST) else ()))
    return frozenset(found - {""})


def _values(node: ast.AST) -> list[ast.expr]:
    """What is compared, counted, looked into or looked through here."""
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Subscript):
        return [node.value]
    if isinstance(node, (ast.For, ast.comprehension)):
        return [node.iter]
    return node.args if isinstance(node, ast.Call) and (names.is_check(node) or called(node) == "len") else []


def _each(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _parts(found: set[tuple[str, int]]) -> set[tuple[str, int]]:
    return {(name, depth - 1) for name, depth in found if depth}


def plain_classes(setup: str) -> tuple[str, str, frozenset[str]]:
    """Split a setup: what the candidate may see, what the tests run themselves, and the names of the classes in the first.

    A class statement with plain fields (``ListNode``, ``TreeNode``) is what candidates are given objects of. An import of the
    standard library says nothing, and starter code is written for it (``List``, ``math``): both sides have it.
    """
    try:
        tree = ast.parse(setup)
    except (SyntaxError, ValueError):
        return "", setup, frozenset()
    plain = [node for node in tree.body if isinstance(node, ast.ClassDef) and _is_plain(node)]
    shown = [node for node in tree.body if node in plain or _imports_standard(node)]
    rest = setup.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for line in (line for node in plain for line in range(node.lineno - 1, node.end_lineno or 0)):
        rest[line] = ""  # what is left keeps its lines: by these the border knows where checks are heard
    return ast.unparse(ast.Module(list(shown), [])), "\n".join(rest), frozenset(node.name for node in plain)


def _imports_standard(node: ast.stmt) -> bool:
    modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [""]
    if isinstance(node, ast.ImportFrom) and not node.level:
        modules = [node.module or ""]
    return all(name.partition(".")[0] in sys.stdlib_module_names - {"__future__"} for name in modules)


# the setup may hold the reference and expected values too: nothing with a method, a base or a constant is shown
def _is_plain(node: ast.ClassDef) -> bool:
    if any(getattr(base, "id", "") != "object" for base in node.bases) or node.keywords or node.decorator_list:
        return False
    return all(_is_field(part) for part in node.body)


def _is_field(node: ast.stmt) -> bool:
    if isinstance(node, ast.FunctionDef):
        body = [part for part in node.body if not isinstance(part, ast.Pass)]
        values = [part.value for part in body if isinstance(part, (ast.Assign, ast.AnnAssign)) and part.value]
        taken = len(values) == len(body) and all(map(_is_taken, values))
        return node.name == "__init__" and taken and all(map(_is_empty, node.args.defaults))
    if isinstance(node, ast.Assign):
        return _is_empty(node.value) or any(isinstance(t, ast.Name) and t.id == "__slots__" for t in node.targets)
    if isinstance(node, ast.AnnAssign):
        return node.value is None or _is_empty(node.value)
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _is_taken(node: ast.expr) -> bool:
    """What an object is made of, or nothing: `val`, `int(val)`, `val, next`, `children or []`, `[] if children is None else children`."""
    if isinstance(node, ast.Call):
        return not node.keywords and getattr(node.func, "id", "") in _CONVERSIONS and all(map(_is_taken, node.args))
    if isinstance(node, (ast.Tuple, ast.BoolOp, ast.IfExp, ast.Compare)):
        return all(_is_taken(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
    return isinstance(node, ast.Name) or _is_empty(node)


def _is_empty(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return node.value in (None, 0, 1, "", False)
    if isinstance(node, ast.Dict):
        return not node.values  # of {**x} the keys are [None]
    return isinstance(node, (ast.List, ast.Tuple)) and not node.elts
