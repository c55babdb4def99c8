"""The standard library's names at the border: exceptions by name, bases that classes are known by."""

from __future__ import annotations

import abc
import collections.abc as abc_of
import contextlib
import importlib
import sys
import types
from typing import Any

from .values import EXCEPTION_NAMES, EXCEPTIONS

_EXCEPTION_MODULES = frozenset((
    "json.decoder decimal statistics re struct queue _queue asyncio.exceptions asyncio.queues concurrent.futures._base"
    " binascii zlib _csv configparser dataclasses subprocess socket copy argparse zipfile tarfile shutil sqlite3"
    " urllib.error xml.etree.ElementTree graphlib io ipaddress tomllib calendar _pickle pickle http.client getopt"
    " zoneinfo._common email.errors contextlib gzip _lzma smtplib ssl ftplib poplib http.cookies http.cookiejar locale optparse plistlib netrc"
    " importlib.metadata threading multiprocessing.context tokenize wave mailbox ctypes webbrowser signal xml.parsers.expat xml.sax._exceptions"
    " xml.dom xmlrpc.client"
).split())  # fmt: skip
# installed libraries whose exceptions tests expect by name
_LIBRARIES = frozenset(
    "numpy pandas scipy torch sympy networkx sklearn pydantic pydantic_core requests yaml jsonschema".split()
)
# classes of the standard library that the proxy of a class derived from them has among its own, and ABCs that know it
BASES_BY_NAME = ("enum.Enum", "enum.Flag", "enum.StrEnum", "abc.ABC")
# what they do with a class of theirs is no library's
_FRAMEWORKS = frozenset(
    ("builtins", "abc", "enum", "types", "typing", "tests", "unittest", "pytest", "_pytest", "pluggy", "hypothesis")
)
_MAKES_ALONE = "from_exception_data"  # of pydantic's ValidationError, which is made and derived in no other way
_CONTAINERS = (
    abc_of.Sequence,
    abc_of.MutableSequence,
    abc_of.Set,
    abc_of.MutableSet,
    abc_of.Mapping,
    abc_of.MutableMapping,
)
_ENDINGS = (AssertionError, StopIteration, StopAsyncIteration)
_GENERATORS = ("GeneratorType", "AsyncGeneratorType")  # whose own names lead to none


def find(name: str) -> Any:
    """Return what has this name in the standard library; LookupError where nothing has."""
    module, _, attribute = name.rpartition(".")
    if module.partition(".")[0] not in sys.stdlib_module_names:
        raise LookupError(name)
    try:
        found = importlib.import_module(module)
        return getattr(found, attribute) if attribute else found
    except (ImportError, AttributeError) as error:
        raise LookupError(name) from error


def exception_name(cls: type) -> str | None:
    """Return the name under which an exception class of a library, or a builtin one, crosses."""
    if cls in EXCEPTION_NAMES:
        return EXCEPTION_NAMES[cls]
    module = cls.__module__
    known = module in _EXCEPTION_MODULES or module.partition(".")[0] in _LIBRARIES
    there = issubclass(cls, BaseException) and known and getattr(sys.modules.get(module), cls.__name__, None) is cls
    return f"{module}.{cls.__name__}" if there else None


def exception(name: str) -> type[BaseException]:
    """Return the exception class that crossed under this name; LookupError where there is none."""
    if name in EXCEPTIONS:
        return EXCEPTIONS[name]
    module, _, attribute = name.rpartition(".")
    cls: Any = None
    if module in _EXCEPTION_MODULES:
        cls = find(name)
    elif (root := module.partition(".")[0]) in _LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(root)  # what it imports itself counts, no other part of it
            cls = getattr(sys.modules.get(module), attribute, None)
    if not (isinstance(cls, type) and issubclass(cls, BaseException)):
        raise LookupError(name)
    return cls


def loaded_class(module: str, name: str) -> type | None:
    """Return the class of this name in a module that is imported here already: of a library, or of the standard one."""
    there = None if module.partition(".")[0] in _FRAMEWORKS else sys.modules.get(module)
    # the candidate's own module, which would ask it, is none here
    asks = hasattr(type(there), "__getattr__")
    found = vars(there).get(name) if isinstance(there, types.ModuleType) and not asks else None
    return found if isinstance(found, type) and (found.__module__, found.__name__) == (module, name) else None


def library_exception(cls: type | None) -> bool:
    """Whether it is an error of an installed library from which the proxy of the candidate's own class may derive."""
    if cls is None or cls.__module__.partition(".")[0] in sys.stdlib_module_names or not issubclass(cls, Exception):
        return False
    try:
        probe: Any = type(cls.__name__, (cls,), {})
        probe.__new__(probe)
    except Exception:  # noqa: BLE001  of a class that says itself how it is derived from or made
        return False
    return not issubclass(cls, _ENDINGS)


def arguments(error: BaseException) -> tuple[object, ...]:
    """Return what `new_exception` makes such an error of."""
    # what is made in Rust has no `args`
    made = type(error).__module__.startswith("pydantic_core")
    found: tuple[object, ...] = error.__reduce__()[1] if made else error.args  # type: ignore[assignment]
    return found


def new_exception(cls: type[BaseException], args: tuple[object, ...]) -> BaseException:
    """Return an exception with these arguments, whatever its class wants to be made of."""
    if (make := getattr(cls, _MAKES_ALONE, None)) is not None:
        try:
            return make(*args)  # type: ignore[no-any-return]
        except Exception:  # noqa: BLE001  arguments of none
            return make("", [])  # type: ignore[no-any-return]
    try:
        # a library's `__init__` may want others than it keeps as `args`, and do something
        error = cls(*args) if cls.__module__ == "builtins" else cls.__new__(cls, *args)
    except Exception:  # noqa: BLE001  arguments that this exception does not take
        error = cls.__new__(cls)
    error.args = args
    return error


def function_name(value: object) -> str | None:
    """Return the name of a function, class or module of the standard library, which the other side has too."""
    if type(value) is types.ModuleType:
        own = value.__name__.partition(".")[0] in sys.stdlib_module_names and sys.modules.get(value.__name__) is value
        return f"{value.__name__}." if own else None
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if type(module) is not str or type(name) is not str or "." in name:  # of a mock they are mocks
        return None
    there = (
        module.partition(".")[0] in sys.stdlib_module_names and getattr(sys.modules.get(module), name, None) is value
    )
    return f"{module}.{name}" if there else None


def class_name(cls: type) -> str | None:
    """The same of the class of an object that is handed over, where it is one that both sides have."""
    return function_name(cls) or next((f"types.{name}" for name in _GENERATORS if getattr(types, name) is cls), None)


def abstract_names(cls: type) -> list[str]:
    """Return the names of the nearest ABCs of the standard library, `UserDict` and the like too, that a class derives from.

    Not of those that look for methods themselves.
    """
    found: dict[str, type] = {}
    for base in cls.__mro__:
        if isinstance(base, abc.ABCMeta) and "__subclasshook__" not in vars(base) and base.__module__ != "typing":
            name = function_name(base)
            if name is not None and not any(issubclass(near, base) for near in found.values()):
                found[name] = base
    return [*found]


def registered(cls: type) -> list[str]:
    """Return the names of the ABCs of containers that a class was registered with, and none of its bases is."""
    found = (kind for kind in _CONTAINERS if issubclass(cls, kind))
    return [
        f"collections.abc.{kind.__name__}"
        for kind in found
        if not any(issubclass(base, kind) for base in cls.__bases__)
    ]


def base_name(cls: type) -> str | None:
    """Return the name of a base that `known_base` turns into the class itself."""
    name = f"{cls.__module__}.{cls.__name__}"
    return name if name in BASES_BY_NAME or cls.__module__ == "collections.abc" else None


def known_base(name: str) -> type:
    """Return the class to have among one's bases, or the ABC to register with."""
    if name not in BASES_BY_NAME and not name.startswith("collections.abc."):
        raise LookupError(name)
    found: type = find(name)
    return found
