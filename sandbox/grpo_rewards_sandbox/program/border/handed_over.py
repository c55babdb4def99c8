"""What the candidate may read and write of an object that the tests handed over: public data, no insides, no answers."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import operator
import sys
import types
from collections.abc import Callable, Set

from .proxies import hidden, namespace
from .signatures import described
from .uses import TEST_MODULES, BoundMethod

_FRAMEWORKS = frozenset(("unittest", "_pytest", "hypothesis", "pytest_mock"))
# through frames, code and tracebacks one gets from a function or generator to whatever the tests hold
_FRAME_NAMES = ("gi_", "cr_", "ag_", "tb_", "f_", "co_", "func_")
_READABLE = frozenset(("__name__", "__doc__", "__qualname__", "__module__", "__members__"))
_OF_RECORDS = frozenset(("_fields", "_replace", "_asdict", "_attributes"))  # of named tuples and syntax trees
# a template that the candidate wrote would lead from what the tests handed over to whatever they hold
_FILLS = frozenset(("format", "format_map", "vformat", "get_field"))
# methods by which an object of the tests tells the candidate what they look for, or lets it say what of theirs is run
_CONTROLS = {
    **dict.fromkeys(("builtins", "collections", "string"), _FILLS),
    "sqlite3": frozenset(("create_collation", "set_authorizer", "set_trace_callback")),
    "asyncio": frozenset(("get_loop", "set_task_factory", "set_exception_handler", "stop")),
}
_COPIED = frozenset((*functools.WRAPPER_ASSIGNMENTS, *functools.WRAPPER_UPDATES, "__wrapped__", "__type_params__"))
# what they hold is in their text too: theirs does not cross
CALLABLES = (
    types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial, BoundMethod,
    operator.methodcaller, operator.itemgetter, operator.attrgetter,
)  # fmt: skip


class Withheld(AttributeError):
    """The candidate may not, where in plain Python it could: tests that are given this have met no error of its own."""


def read(value: object, name: object) -> object:
    """Return an attribute; raise `Withheld` where it is none of the candidate's business."""
    if type(name) is str and name in _OF_RECORDS and isinstance(value, (tuple, ast.AST)):
        return getattr(value, name)
    if name == "__annotations__" and isinstance(value, types.FunctionType):
        return _plain_notes(value.__annotations__)
    name = _public(value, name)
    found: object = getattr(value, name)
    if _is_constant_of_setup(value, name, found):
        raise Withheld(name)
    return found


def has(value: object, name: object) -> bool:
    """Whether it has this attribute in plain Python: nothing of it is run to find out. Decorators copy some of any function."""
    if type(name) is not str:
        return False
    if isinstance(value, CALLABLES) and name in _COPIED:
        return (
            name == "__dict__" and isinstance(value, types.FunctionType) and bool(vars(value).keys() - {"__wrapped__"})
        )
    return inspect.getattr_static(value, name, None) is not None


def private_in_text(value: object, operation: str) -> str:
    """Return a private field that the text which Python writes of a dataclass would show; empty where it shows none."""
    cls = type(value)
    written = cls.__repr__ if operation == "repr" or cls.__str__ is object.__str__ else cls.__str__
    if not dataclasses.is_dataclass(cls) or getattr(written, "__globals__", {}).get("__name__") in TEST_MODULES:
        return ""
    return next((one.name for one in dataclasses.fields(cls) if one.repr and one.name.startswith("_")), "")


def kind(value: object) -> str:
    """What to call it."""
    return value.__name__ if isinstance(value, type) else type(value).__name__


def signature(
    value: Callable[..., object], given: Callable[[object], bool], differs: Callable[[str], object]
) -> object:
    """Return what stands for the signature of a function or class, with annotations that are classes which were `given`, but for its defaults: they may be what is expected."""
    parameters, notes = described(value) or ((), {})
    classes = {part: note for part, note in notes.items() if isinstance(note, type) and given(note)}
    for part in notes.keys() - classes.keys() - _plain_notes(notes).keys():
        differs(f"the annotation of {part} of the tests' {kind(value)} stays with it")
    return [[*part[:3], None] for part in parameters], _plain_notes(notes) | classes


def _plain_notes(notes: dict[str, object]) -> dict[str, object]:
    """Builtin types alone: any other object or text might say more."""
    builtin = {part: note for part, note in notes.items() if isinstance(note, type) and note.__module__ == "builtins"}
    return builtin | {part: None for part, note in notes.items() if note is None}


def writable(value: object, name: object, *, given: bool) -> str:
    """Return the name of an attribute to set or delete; raise `Withheld` where it stays. `given`: the tests gave this very class."""
    name = _public(value, name)
    held = value if isinstance(value, type) else type(value)
    # of a class itself only what is new
    of_class = held is value and (not given or name.startswith("__"))
    if of_class or is_mock(value) or callable(getattr(held, name, None)):
        raise Withheld(name)
    return name


def may_mark(function: types.FunctionType, name: object, replaced: Set[str]) -> bool:
    """Say whether the candidate may give it an attribute: one that is not there, that no tool looks for and the tests set nowhere themselves."""
    if type(name) is not str or name.startswith("__") or hidden(name):
        return False
    return name not in replaced and not hasattr(function, name)


def _public(value: object, name: object) -> str:
    if type(name) is not str or (name.startswith("_") and name not in _READABLE) or name.startswith(_FRAME_NAMES):
        raise Withheld(name)
    above = [(base.__module__.partition(".")[0], base) for base in type(value).__mro__]
    # how they check, what a mock returns and how often it was called: for the tests alone
    named = is_mock(value) and name in _READABLE  # as the tests named it; any class has these names
    checks = not named and any(root in _FRAMEWORKS and hasattr(base, name) for root, base in above)
    of_class = [(base.__module__.partition(".")[0], base) for base in value.__mro__] if isinstance(value, type) else []
    controls = any(
        hasattr(base, name) and name in _CONTROLS.get(root.lstrip("_"), ()) for root, base in (*above, *of_class)
    )
    if checks or controls or (isinstance(value, CALLABLES) and not name.startswith("__")):
        raise Withheld(name)
    return name


def _is_constant_of_setup(value: object, name: str, found: object) -> bool:
    """An attribute of a class of the setup, not of its object: setups often hold the answers."""
    cls = value if isinstance(value, type) else type(value)
    if cls.__module__ != TEST_MODULES[0] or callable(found) or found in (None, 0, "", (), [], {}):
        return False
    return any(
        name in namespace(base) and not hasattr(type(namespace(base)[name]), "__get__") for base in cls.__mro__
    ) and (cls is value or name not in getattr(value, "__dict__", {}))


def is_mock(value: object) -> bool:
    mock = sys.modules.get("unittest.mock")
    return mock is not None and isinstance(value, mock.NonCallableMock)
