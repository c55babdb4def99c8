"""Which of a candidate's names the tests see where they take them without naming each: never one that judges.

Tests that star-import the candidate, and checks that run in its namespace, would else take its `abs`, its `math` or its
`__builtins__` for Python's own, and hand it the expected values.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import importlib.util
import math
import re
import sys
import types
from collections.abc import Iterable, Set

from ..border.proxy_functions import ProxyModule
from ..border.trusted import TrustedPeer
from . import names
from .sources import of_text

_BUILTINS = frozenset(vars(builtins))
# of these the tests get their own, not the candidate's
_TESTS_OWN = (
    "array bisect calendar cmath collections collections.abc contextlib copy dataclasses datetime decimal enum fractions"
    " functools hashlib heapq inspect io itertools json math numbers operator os os.path random re statistics string"
    " struct sys textwrap time types typing unicodedata uuid asyncio numpy pandas scipy torch pytest unittest unittest.mock"
)
_MODULES = frozenset(_TESTS_OWN.split())
# by these the tests compare and walk: whatever the candidate calls so, even what is no module, is never theirs
_ALWAYS = frozenset(("math", "cmath", "operator", "itertools", "pytest", "unittest"))
# names that tests use without binding them, and where they are from
_KNOWN: dict[str, tuple[str, str]] = {
    **{name: (name, "") for name in _MODULES if "." not in name and name != "array"},
    "np": ("numpy", ""), "pd": ("pandas", ""), "dt": ("datetime", ""), "mock": ("unittest.mock", ""),
}  # fmt: skip
_FROM = {
    "collections": "Counter deque defaultdict OrderedDict namedtuple ChainMap",
    "typing": "List Dict Tuple Set Optional Any Union Callable Iterable Iterator Sequence",
    "functools": "reduce partial wraps lru_cache cmp_to_key",
    "operator": "itemgetter attrgetter methodcaller",
    "itertools": "islice chain zip_longest takewhile dropwhile starmap repeat",
    "copy": "deepcopy", "decimal": "Decimal", "fractions": "Fraction", "datetime": "timedelta", "pytest": "approx",
    "math": "isclose inf nan",
}  # fmt: skip
_MATH = frozenset(vars(math)) - _BUILTINS
_KNOWN.update((name, (module, name)) for module, text in _FROM.items() for name in text.split())


@functools.lru_cache(maxsize=64)
def unbound(text: str, entry_point: str) -> frozenset[str]:
    """Return the names that a text uses and nobody but the candidate can bind."""
    parameters = {part.arg for part in names.parsed(text) if isinstance(part, ast.arg)}
    own = (parameters - {"candidate"}) | _BUILTINS | _KNOWN.keys()
    return (names.free(text) - own) | ({entry_point, "candidate"} - {""})


@functools.lru_cache(maxsize=64)
def missing(text: str, entry_point: str) -> str:
    """Say which package a text uses by a known name, binds nowhere, and cannot have: a candidate's own would stand for it."""
    for name in sorted(names.free(text) - {entry_point}):
        package = _KNOWN.get(name, ("", ""))[0].partition(".")[0]
        if package and package not in sys.stdlib_module_names and importlib.util.find_spec(package) is None:
            return f"the tests need the package {package}, which the sandbox has not"
    return ""


def imports_candidate(text: str, module: str) -> str:
    """Say that a check or a list of asserts imports the candidate, which has no module there: its names are theirs anyway."""
    for node in names.parsed(text):
        plain = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if module in plain or getattr(node, "module", None) == module:
            return f"the tests import {module}, which only format pytest has; in others the candidate's names are there without"
    return ""


@functools.lru_cache(maxsize=64)
def measures(text: str) -> frozenset[str]:
    """Return the names of `math` to which a text holds what other names of the candidate give, and that it checks nowhere alone."""
    asked = unbound(text, "") - {"candidate"}
    if asked <= _MATH or asked.isdisjoint(_MATH):
        return frozenset()
    nodes = names.parsed(text)
    sources = of_text(text, asked)
    checks = [sources.asked_of(node) for node in nodes if names.is_check(node)]
    beside = [check for check in checks if check - _MATH]
    return _MATH.intersection(set().union(*beside)) - set().union(*(check for check in checks if len(check) == 1))


def _known(asked: Iterable[str], text: str, entry_point: str = "") -> dict[str, object]:
    """Return what the tests mean by names of modules, and of what is commonly imported from them, where nobody binds these.

    Where the task is about another name, or measures what it gives by them, those of `math` are the tests' own: a `sqrt` of the
    candidate's would be told what to agree with.
    """
    own = _MATH if entry_point else measures(text)
    found: dict[str, object] = {name: getattr(math, name) for name in own.intersection(asked)}
    for name in asked:
        module, attribute = _KNOWN.get(name, ("", ""))
        if module:
            with contextlib.suppress(ImportError):
                loaded = importlib.import_module(module)
                found[name] = getattr(loaded, attribute) if attribute else _meant(name, loaded, text)
    return found


def _meant(name: str, module: object, text: str) -> object:
    """A module, or what bears its name in it: what a text calls (`datetime(2024, 1, 2)`), or has attributes of that only this has."""
    same = getattr(module, name, None)
    if same is None:
        return module
    nodes = names.parsed(text)
    called = any(isinstance(node, ast.Call) and getattr(node.func, "id", "") == name for node in nodes)
    read = {node.attr for node in nodes if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == name}
    return same if called or not all(hasattr(module, part) for part in read) else module


def taken(
    peer: TrustedPeer,
    module: ProxyModule,
    defined: Iterable[object],
    text: str,
    asked: Set[str],
    candidate: str,
    *,
    entry: str = "",
    modules: bool = True,
) -> tuple[dict[str, object], dict[str, object]]:
    """Return what the tests get by names that they ask for and do not import one by one: what is their own, and the candidate's.

    Without `modules` they get one of these only where the candidate has it. `defined`: the names that the candidate offers.
    """
    # where nothing else is asked of the candidate, the task is to write what has a known name
    theirs = {entry} if entry else set() if unbound(text, "") - {"candidate"} else asked
    own = _known(asked - theirs, text, entry)
    if not modules:
        own = {name: value for name, value in own.items() if type(value) is not types.ModuleType}
    for name in sorted(own):
        if re.search(rf"^(?:def|class) {re.escape(name)}\b", candidate, re.MULTILINE):
            peer.differs(f"{name} is the library's in the tests, not the candidate's")
    found: dict[str, object] = {}
    for name in _chosen(defined, asked - own.keys(), entry):
        try:
            value = getattr(module, name)
            kept = _trusted_value(name, value)
        except LookupError:
            peer.differs(f"{name} is a module of the candidate's, which tests that do not import it have not")
            continue
        (found if kept is value else own)[name] = kept
    return own, found


def _chosen(defined: Iterable[object], mentioned: Set[str], entry_point: str = "") -> list[str]:
    """Return those of the candidate's names that the tests mention and may see.

    A builtin's name is the candidate's only where the task is about it: as the entry point, or as the one name that
    the tests take from the candidate at all.
    """
    found = {name for name in defined if type(name) is str and name in mentioned and not name.startswith("__")}
    own = sorted(name for name in found if name not in _BUILTINS)
    if entry_point:
        return own + [name for name in found - set(own) if name == entry_point]
    return own or (sorted(found) if len(found) == 1 else [])


def _trusted_value(part: str, value: object) -> object:
    """Return the tests' own module in place of the candidate's, or of what the candidate calls like one.

    Raises:
        LookupError: the candidate's module is none that tests have.
    """
    if part in _ALWAYS:
        return importlib.import_module(part)
    if type(value) is not ProxyModule:
        return value
    name = str(value.__name__)
    # a library only by a name that says so: else the candidate would choose what is imported here
    if name in _MODULES and (
        name.partition(".")[0] in sys.stdlib_module_names or name in (part, _KNOWN.get(part, ("",))[0])
    ):
        with contextlib.suppress(ImportError):
            return importlib.import_module(name)
    raise LookupError(name)


def of_candidate(tests: str, module: str) -> frozenset[str]:
    """Return the names that a test file has of the candidate's module, with those that a star import brings."""
    brought = unbound(tests, "") - {"candidate"} if "*" in names.taken(tests, module) else frozenset()
    return names.imported(tests, module) | brought


@functools.lru_cache(maxsize=64)
def bound(tests: str, module: str) -> frozenset[str]:
    """Return the names that the tests' text gives a meaning itself at its top level: these stay its own."""
    top = [part for node in names.parsed(tests)[:1] for part in ast.iter_child_nodes(node)]
    found: set[str] = set()
    for node in top:
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.For, ast.With, ast.Try)):
            found.update(*(names.binds(part) for part in ast.walk(node) if isinstance(part, ast.Name)))
        elif not isinstance(node, ast.ImportFrom) or node.module != module:
            found |= names.binds(node)
    return frozenset(found)
