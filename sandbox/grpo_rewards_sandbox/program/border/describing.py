"""What the candidate's side tells the tests of its objects: classes, functions, exceptions, values under them."""

from __future__ import annotations

import contextlib
import dataclasses
import dis
import functools
import inspect
import sys
import types
from collections.abc import Callable, ItemsView, KeysView, ValuesView
from typing import Any, cast

from .messages import DescribedClass, DescribedFunction, Ends, Note, OfSomeClasses
from .operations import AWAITED, SPECIAL
from .peer import Peer
from .signatures import kind_of
from .stdlib import arguments, base_name, exception_name, function_name, registered
from .stubs import differs
from .values import BASES, CONTAINER_NAMES, SCALARS

_KINDS = frozenset((property, classmethod, staticmethod, functools.cached_property))
_VALUE_TYPES = frozenset((*BASES, *CONTAINER_NAMES))
_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools._lru_cache_wrapper)
_ITERATES = {types.GeneratorType: "G", types.CoroutineType: "Co", types.AsyncGeneratorType: "AG"}
# those of `Mapping`, and by which name they cross
_VIEWS_OF_MAPPINGS: dict[type, str] = {KeysView: "keys", ValuesView: "values", ItemsView: "items"}
_COLLECTION = ("__iter__", "__len__", "__getitem__", "__contains__")
# what `OSError`, `ImportError`, `NameError`, `AttributeError` and `SyntaxError` hold beside their arguments
_OF_BUILTIN_ERRORS = ("errno", "strerror", "filename", "name", "path", "msg", "lineno", "offset", "text")
MAX_CHAIN = 4  # exceptions behind an exception that cross with it


class Describer(Peer):
    """Encodes the candidate's objects as handles, and describes each class once."""

    def __init__(self, ends: Ends) -> None:
        super().__init__(ends)
        self.described: set[int] = set()
        self.new_classes: list[DescribedClass] = []
        self.named: dict[str, object] = {}
        self.program: dict[str, object] = {}  # the namespace of the candidate's module

    def _class(self, cls: type) -> int:
        """Describe a class once; later only its number."""
        described = self.mine_by_id.get(id(cls))
        if described is not None and described in self.described and self.mine.get(described) is cls:
            return described
        number = self.own(cls)
        self.described.add(number)
        bases = [base_name(base) or exception_name(base) or self.encode(base) for base in cls.__bases__]
        bases += registered(cls)
        own = [base for base in cls.__mro__[:-1] if base not in _VALUE_TYPES]
        names = {name: value for base in reversed(own) for name, value in vars(base).items()}
        # Enum defines one: every enumeration would seem to have a hash of its own
        if getattr(names.get("__hash__"), "__module__", "") == "enum":
            del names["__hash__"]
        functions = [name for name, value in names.items() if type(value) is types.FunctionType]
        methods = [name for name in functions if not inspect.iscoroutinefunction(names[name])]
        special = [name for name in (*SPECIAL, *AWAITED, "__call__", "__get__", "__set__") if name in names]
        if cls.__hash__ is None:
            special = [name for name in special if name != "__hash__"] + ["!hash"]
        # any attribute may be another than its class says: each is asked for
        if "__getattribute__" in names:
            methods = []
        described_as = str(cls.__name__), str(cls.__qualname__), str(cls.__module__)
        deciding = type(cls).__instancecheck__, getattr(cls, "__subclasshook__", None)
        deciders = [getattr(one, "__module__", None) for one in deciding]
        if cls.__module__ in deciders and cls.__module__ not in sys.stdlib_module_names:  # the tests have those too
            differs(f"`isinstance` does not ask class {cls.__name__} about values that are no objects of it")
        more = self._more(cls)
        if "__del__" in names:
            more["ends"] = True
        if hides := _hidden_methods(cls, names):
            more["hides"] = hides
        self.new_classes.append(DescribedClass(number, *described_as, bases, special, methods, more))
        return number

    def _more(self, cls: type) -> OfSomeClasses:
        """What only some classes have."""
        doc, notes, named = map(vars(cls).get, ("__doc__", "__annotations__", "_fields"))
        abstract = getattr(cls, "__abstractmethods__", ()) if cls is not type else ()
        fields = getattr(cls, "__dataclass_fields__", None)
        ancestors: tuple[type, ...] = type.__getattribute__(type(cls), "__mro__")
        metas = [base for base in ancestors if base not in (type, object)]
        own = [name for base in metas if base.__module__ not in sys.stdlib_module_names for name in vars(base)]
        if any(name in SPECIAL and name not in _COLLECTION for name in own):
            differs(
                f"operators and the text of class {cls.__name__} itself are not those of its metaclass for the tests"
            )
        more: dict[str, object] = {
            "doc": doc if type(doc) is str else None,
            "abstract": [str(name) for name in abstract] or None,
            "notes": {str(part): self.encode(as_note(note)) for part, note in notes.items()}
            if type(notes) is dict
            else None,
            "named": [str(name) for name in named] if issubclass(cls, tuple) and type(named) is tuple else None,
            # not what is there of a class variable or of what only `__init__` takes
            "fields": {str(field.name): self._field(field) for field in dataclasses.fields(cls)}
            if type(fields) is dict
            else None,
            "protocol": _members_of_protocol(cls) if vars(cls).get("_is_protocol") is True else None,
            "kind": cls.__name__ if cls in _KINDS else None,
            "bound": [name for name, value in [*self.program.items()] if value is cls and name != cls.__name__] or None,
            "collection": any(name in vars(base) for base in metas for name in _COLLECTION) or None,
        }
        return cast(OfSomeClasses, {name: value for name, value in more.items() if value is not None})

    def _field(self, field: Any) -> tuple[Note, list[object]]:
        default = [self.encode(field.default)] if type(field.default) in SCALARS else []
        return self.encode(as_note(field.type)), default

    def encode_object(self, value: Any) -> object:
        kind = type(value)
        if self.named and (name := function_name(value)) in self.named and self.named[name] is value:
            return {"Q": name}
        # what it is, whatever it says that it is: one that stands for something not made yet would make it
        if issubclass(kind, type):
            return {"C": self._class(value)}
        if issubclass(kind, BaseException):
            return {"E": self.encode_exception(value)}
        if kind in _FUNCTIONS:
            return {"Fn": self._function(self.one_method(value))}
        if kind in _ITERATES:
            if kind is types.GeneratorType and value.gi_code.co_flags & inspect.CO_ITERABLE_COROUTINE:
                differs("what `types.coroutine` lets be awaited is a plain generator on the other side")
            return {_ITERATES[kind]: self.own(value)}
        if kind is types.ModuleType:
            return {"M": [self.own(value), str(value.__name__)]}
        if kind in _VIEWS_OF_MAPPINGS and (listed := _listed(value)) is not None:
            differs("a view of a mapping of the candidate's own class is what the mapping lists when the view is got")
            return {"X": [_VIEWS_OF_MAPPINGS[kind], self.encode(listed)]}
        for base in kind.__mro__:
            if base in BASES:
                return {"I": [self.own(value), self._class(kind), [self.encode(BASES[base](base, value))]]}
            if base in CONTAINER_NAMES:
                return self.encode_container(value, CONTAINER_NAMES[base], self._class(kind))
        return {"I": [self.own(value), self._class(kind), []]}

    def _function(self, value: object) -> DescribedFunction:
        number = self.own(value)
        doc = value.__doc__ if type(value.__doc__) is str else None
        name = str(getattr(value, "__name__", "function"))
        named = str(getattr(value, "__qualname__", name)), str(getattr(value, "__module__", ""))
        return DescribedFunction(number, kind_of(value), name, doc, *named)

    def unsayable(self, error: BaseException) -> object:
        """What crosses in place of what does not: of the limit of memory the error, which the verdict names."""
        short = isinstance(error, MemoryError)
        return self.encode_exception(error) if short else {"u": f"{type(error).__name__}: {error}"[:500]}

    def encode_exception(self, error: BaseException, depth: int = 0) -> object:
        cls = type(error)
        # no `getattr`: a class may have a `__getattr__`, which HTTPError's raises a KeyError
        from_tests = vars(error).get("_border_test_exception")
        if type(from_tests) is int:
            notes = [str(note) for note in vars(error).get("__notes__", ())]
            return {"t": from_tests, "notes": notes, **self._chain({"cause": error.__cause__}, depth)}
        name = exception_name(cls)
        coded: dict[str, Any] = {"h": self.own(error), **({"c": self._class(cls)} if name is None else {"b": name})}
        coded["a"] = _tried(lambda: self.encode(error.args if name is None else arguments(error)), {"T": []})
        held = vars(error).items()
        coded["s"] = _tried(lambda: {str(k): self.encode(v) for k, v in held if not k.startswith("_border")}, {})
        for held_as in _OF_BUILTIN_ERRORS:
            if (part := _tried(functools.partial(getattr, error, held_as, None), None)) is not None:
                coded["s"].setdefault(held_as, self.encode(part))
        if isinstance(error, BaseExceptionGroup):
            coded["g"] = [str(error.message), [self.encode_exception(part, depth) for part in error.exceptions]]
        coded.update(self._chain({"cause": error.__cause__, "context": error.__context__}, depth))
        coded["quiet"] = error.__suppress_context__
        for way, make in (("str", str), ("repr", repr)) if "b" not in coded else ():
            if getattr(cls, f"__{way}__") is not getattr(BaseException, f"__{way}__"):
                coded[way] = _tried(lambda make=make: make(error)[:10000], None)  # type: ignore[misc]
        return coded

    def _chain(self, before: dict[str, BaseException | None], depth: int) -> dict[str, object]:
        """What an exception came of, as far as that crosses."""
        behind = before.items() if depth < MAX_CHAIN else ()
        return {which: self.encode_exception(other, depth + 1) for which, other in behind if other is not None}


def _listed(view: Any) -> tuple[Any, ...] | None:
    """What a view of a mapping lists, where its keys are plain: others would be asked for their hash. None where that fails."""
    with contextlib.suppress(Exception):
        listed = (*view,)
        keys = () if type(view) is ValuesView else (key for key, _ in listed) if type(view) is ItemsView else listed
        return listed if all(type(key) in SCALARS for key in keys) else None
    return None


def _hidden_methods(cls: type, names: dict[str, Any]) -> list[str]:
    """Which methods of the builtin that a class derives from it has something else in the place of: a property, or what its own methods set."""
    base = next((base for base in cls.__mro__ if base in _VALUE_TYPES), None)
    if base is None:
        return []
    # `__new__` and class methods set attributes too
    parts = [part.__func__ if type(part) in (staticmethod, classmethod) else part for part in names.values()]
    functions = [part for part in parts if type(part) is types.FunctionType]
    written = {step.argval for part in functions for step in dis.get_instructions(part) if step.opname == "STORE_ATTR"}
    methods = {name for name, part in names.items() if type(part) is types.FunctionType}
    return sorted((written | names.keys() - methods).intersection(dir(base)))


def _members_of_protocol(cls: type) -> list[str]:
    own = [base for base in cls.__mro__[:-1] if base.__module__ != "typing"]
    names = {name for base in own for name in (*vars(base), *getattr(base, "__annotations__", ()))}
    return sorted(name for name in names if not name.startswith("_"))


def as_note(note: object) -> object:
    """What crosses of an annotation: a class, or the text of any other."""
    return note if isinstance(note, type) else str(note)


def _tried(make: Callable[[], object], otherwise: object) -> object:
    """What the candidate's own classes may break."""
    try:
        return make()
    except BaseException:  # noqa: BLE001  of a hostile class, of any kind
        return otherwise
