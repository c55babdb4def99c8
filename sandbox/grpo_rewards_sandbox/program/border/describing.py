"""What the candidate's side tells the tests of its objects: classes, functions, exceptions, values under them."""

from __future__ import annotations

import contextlib
import functools
import inspect
import socket
import sys
import types
from typing import Any

from .operations import SPECIAL
from .peer import Peer
from .stdlib import base_name, exception_name, function_name
from .values import (
    BASES,
    CONTAINER_NAMES,
    EXCEPTION_NAMES,
    SCALARS,
    STDLIB_BASES,
    VALUE_NAMES,
    VALUES,
)

ASYNCHRONOUS = ("__aenter__", "__aexit__", "__anext__", "__aiter__", "__await__")
_KINDS = frozenset((property, classmethod, staticmethod, functools.cached_property))
_VALUE_TYPES = frozenset((*BASES, *STDLIB_BASES, *CONTAINER_NAMES))
_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools._lru_cache_wrapper)
_ITERATES = {types.GeneratorType: "G", types.CoroutineType: "Co", types.AsyncGeneratorType: "AG"}
_COLLECTION = ("__iter__", "__len__", "__getitem__", "__contains__")
MAX_CHAIN = 4  # exceptions behind an exception that cross with it


class Describer(Peer):
    """Encodes the candidate's objects as handles, and describes each class once."""

    def __init__(self, sock: socket.socket, parity: int) -> None:
        super().__init__(sock, parity)
        self.described: set[int] = set()
        self.new_classes: list[object] = []
        self.named: dict[str, object] = {}

    def _class(self, cls: type) -> int:
        """Describe a class once; later only its number."""
        described = self.mine_by_id.get(id(cls))
        if described is not None and described in self.described and self.mine.get(described) is cls:
            return described
        number = self.own(cls)
        self.described.add(number)
        bases: list[object] = []
        for base in cls.__bases__:
            known = base_name(base) or exception_name(base)
            if known is not None:
                bases.append("m:" + known)
            elif base.__module__ == "builtins" and base not in CONTAINER_NAMES:
                bases.append(base.__name__)
            elif base in STDLIB_BASES:
                bases.append("v:" + VALUE_NAMES[base])
            elif base in CONTAINER_NAMES:
                bases.append("c:" + CONTAINER_NAMES[base])
            else:
                bases.append(self._class(base))
        own = [base for base in cls.__mro__[:-1] if base not in _VALUE_TYPES]
        names = {name: value for base in reversed(own) for name, value in vars(base).items()}
        if "__hash__" in names and any(names["__hash__"] is vars(base).get("__hash__") for base in _enum_types()):
            del names["__hash__"]
        hidden = any(name in names for name in ("__getattribute__",))
        methods = [
            name
            for name, value in names.items()
            if type(value) is types.FunctionType and not inspect.iscoroutinefunction(value)
        ]
        special = [name for name in (*SPECIAL, *ASYNCHRONOUS, "__call__") if name in names]
        if cls.__hash__ is None:
            special = [name for name in special if name != "__hash__"] + ["!hash"]
        described_as = [str(cls.__name__), str(cls.__qualname__), str(cls.__module__)]
        self.new_classes.append([number, *described_as, bases, special, [] if hidden else methods, self._more(cls)])
        return number

    def _more(self, cls: type) -> dict[str, object]:
        """What only some classes have."""
        more: dict[str, object] = {}
        own = vars(cls)
        if type(own.get("__doc__")) is str:
            more["doc"] = own["__doc__"]
        abstract = getattr(cls, "__abstractmethods__", ()) if cls is not type else ()
        if abstract:
            more["abstract"] = [str(name) for name in abstract]
        notes = own.get("__annotations__")
        if type(notes) is dict and notes:
            more["notes"] = self._notes(notes)
        if type(own.get("__match_args__")) is tuple:
            more["match"] = [str(name) for name in own["__match_args__"]]
        named = own.get("_fields")
        if issubclass(cls, tuple) and type(named) is tuple:
            more["named"] = [str(name) for name in named]
        fields = getattr(cls, "__dataclass_fields__", None)
        if type(fields) is dict:
            more["fields"] = {
                str(name): [
                    self._notes({"": field.type})[""],
                    [self.encode(field.default)] if type(field.default) in SCALARS else [],
                ]
                for name, field in fields.items()
            }
        if cls in _KINDS:
            more["kind"] = cls.__name__
        ancestors: tuple[type, ...] = type.__getattribute__(type(cls), "__mro__")
        if any(name in vars(base) for base in ancestors if base not in (type, object) for name in _COLLECTION):
            more["collection"] = True
        return more

    def _notes(self, notes: dict[object, object]) -> dict[str, object]:
        return {
            str(name): [self.encode(note) if isinstance(note, type) else None, str(note)]
            for name, note in notes.items()
        }

    def encode_object(self, value: Any) -> object:
        kind = type(value)
        if self.named and (name := function_name(value)) in self.named and self.named[name] is value:
            return {"Q": name}
        if isinstance(value, type):
            return {"C": self._class(value)}
        if isinstance(value, BaseException):
            return {"E": self.encode_exception(value)}
        if kind in _FUNCTIONS:
            return {"Fn": [self.own(value), *self._function(value)]}
        if kind in _ITERATES:
            return {_ITERATES[kind]: self.own(value)}
        if kind is types.ModuleType:
            return {"M": [self.own(value), str(value.__name__)]}
        for base in kind.__mro__:
            if base in STDLIB_BASES:
                plain = "v:" + VALUE_NAMES[base], self.encode(_stdlib_value(base, value))
                return {"I": [self.own(value), self._class(kind), *plain]}
            if base in BASES:
                plain = base.__name__, self.encode(_base_value(base, value))
                return {"I": [self.own(value), self._class(kind), *plain]}
            if base in CONTAINER_NAMES:
                return self.encode_container(value, CONTAINER_NAMES[base], self._class(kind))
        return {"I": [self.own(value), self._class(kind), None, None]}

    def _function(self, value: Any) -> list[object]:
        signature = None
        with contextlib.suppress(ValueError, TypeError):
            signature = [
                [
                    parameter.name,
                    int(parameter.kind),
                    parameter.default is not parameter.empty,
                    self.encode(parameter.default) if type(parameter.default) in SCALARS else None,
                ]
                for parameter in inspect.signature(value).parameters.values()
            ]
        annotations = self._notes(getattr(value, "__annotations__", {}))
        doc = value.__doc__ if type(value.__doc__) is str else None
        kind = "co" if inspect.iscoroutinefunction(value) else "gen" if inspect.isgeneratorfunction(value) else "fn"
        kind = "agen" if inspect.isasyncgenfunction(value) else kind
        if kind == "fn" and type(value) is not types.FunctionType:
            kind = "other"
        return [kind, str(getattr(value, "__name__", "function")), doc, signature, annotations]

    def encode_exception(self, error: BaseException, depth: int = 0) -> object:
        cls = type(error)
        from_tests = getattr(error, "_border_test_exception", None)
        if type(from_tests) is int:
            return {"t": from_tests}
        name = EXCEPTION_NAMES.get(cls) or exception_name(cls)
        coded: dict[str, Any] = {"c": self._class(cls)} if name is None else {"b": name}
        coded["h"] = self.own(error)
        try:
            coded["a"] = self.encode(error.args)
        except BaseException:  # noqa: BLE001  arguments of any kind, of a hostile class
            coded["a"] = {"T": []}
        try:
            coded["s"] = {
                str(key): self.encode(part) for key, part in vars(error).items() if not key.startswith("_border")
            }
        except BaseException:  # noqa: BLE001
            coded["s"] = {}
        if isinstance(error, OSError) and error.errno is not None:
            coded["s"].update(
                errno=self.encode(error.errno),
                strerror=self.encode(error.strerror),
                filename=self.encode(error.filename),
            )
        if isinstance(error, BaseExceptionGroup):
            coded["g"] = [str(error.message), [self.encode_exception(part, depth) for part in error.exceptions]]
        before = {"cause": error.__cause__, "context": error.__context__}
        if depth < MAX_CHAIN:
            coded.update(
                (which, self.encode_exception(other, depth + 1))
                for which, other in before.items()
                if other is not None and other is not error
            )
        coded["quiet"] = error.__suppress_context__
        try:
            if cls.__str__ is not BaseException.__str__ and "b" not in coded:
                coded["str"] = str(error)[:10000]
        except BaseException:  # noqa: BLE001
            pass
        return coded

    def said(self, error: BaseException) -> object:
        """A warning or a logged exception: its class and text."""
        cls = type(error)
        name = EXCEPTION_NAMES.get(cls) or exception_name(cls)
        known = {"c": self._class(cls)} if name is None else {"b": name}
        return {**known, "h": self.own(error), "a": str(error)}


def _enum_types() -> list[object]:
    found = sys.modules.get("enum")
    return [] if found is None else [found.Enum, found.Flag]


def _stdlib_value(base: type, value: object) -> object:
    """Return the plain value under an instance of a class derived from a stdlib value type."""
    import decimal

    if base is decimal.Decimal:
        return decimal.Decimal(decimal.Decimal.__str__(value))
    known = VALUES[VALUE_NAMES[base]]
    return known.make(known.plain(value))


def _base_value(base: Any, value: Any) -> object:
    """Return the plain value under an instance of a class derived from a builtin value type."""
    if base in (int, bool):
        return int.__int__(value)
    if base is str:
        return str.__str__(value)
    if base is float:
        return float.__float__(value)
    if base in (tuple, frozenset):
        return base.__new__(base, base.__iter__(value))
    return base(value)
