"""Objects of the tests as the candidate sees them: every use is a request to the tests' side."""

from __future__ import annotations

import contextlib
import inspect
import sys
import types
import typing
import weakref
from typing import TYPE_CHECKING, Any

from .operations import AWAITED, SPECIAL
from .signatures import Shape, code_of, dataclass_fields, signature
from .stdlib import find

if TYPE_CHECKING:
    from .candidate import CandidatePeer


class Here:
    """Where stubs find the border; set once per process."""

    peer: CandidatePeer
    # what was met that plain Python has otherwise, with what is kept for it
    met: typing.ClassVar[dict[str, list[object]]] = {}


def differs(what: str, *kept: object) -> None:
    """Remember what was met that plain Python has otherwise."""
    Here.met.setdefault(what, []).extend(kept)


_LOCAL = frozenset((*SPECIAL, *AWAITED, "__dataclass_fields__", "__copy__", "__deepcopy__")).difference(
    ("__eq__", "__ne__", "__hash__", "__str__", "__repr__", "__format__")
)


def _set(self: object, name: str, value: object) -> None:
    if name != "__signature__":  # of a function that a decorator or a library describes anew; the tests' keeps its own
        Here.peer.request("setattr", self, name, value)


def _delete(self: object, name: str) -> None:
    Here.peer.request("delattr", self, name)


class TestsDefault:
    """In a signature: the default of a function of the tests, which stays there."""


def _call(self: object, /, *args: object, **kwargs: object) -> object:
    if sys.gettrace() is not None or sys.getprofile() is not None:
        differs("what the tests' own functions do is not seen by a trace or profile that the candidate set")
    if TestsDefault in map(type, (*args, *kwargs.values())):
        args, kwargs = _but_for_defaults(_signature(self), args, kwargs)
    return Here.peer.request("call", self, args, *([kwargs] if kwargs else []))


def _but_for_defaults(
    of: inspect.Signature, args: tuple[object, ...], kwargs: dict[str, object]
) -> tuple[tuple[object, ...], dict[str, object]]:
    """The arguments without those that `apply_defaults` filled in: the function has them itself."""
    bound = of.bind(*args, **kwargs)
    for name in [name for name, part in bound.arguments.items() if type(part) is TestsDefault]:
        del bound.arguments[name]
    return bound.args, bound.kwargs


def _forward(operation: str) -> object:
    def forward(self: object, *args: object) -> object:
        return Here.peer.request("op", operation, self, *args)

    return forward


class Stub:
    """A test's object."""

    # no `__dict__`: every attribute is asked for
    __slots__ = ("__weakref__", "_border_number")

    def __new__(cls, *args: object, **kwargs: object) -> Stub:
        differs("the class of a library's object that the tests handed over makes no other for the candidate")
        raise TypeError("an object of the tests is made by them alone")

    def __getattribute__(self, name: str) -> object:
        if name in ("_border_number", "__class__") or (name in _LOCAL and hasattr(type(self), name)):
            return object.__getattribute__(self, name)
        return Here.peer.request("getattr", self, name)

    __setattr__ = _set
    __delattr__ = _delete

    def __deepcopy__(self, memo: object) -> object:
        return Here.peer.request("op", "deepcopy", self)

    def __del__(self) -> None:
        try:
            # a WeakSet of the candidate's has it still, and over there something may hold the object
            if weakref.getweakrefcount(self) > 1:
                differs("what the candidate holds weakly of the tests lives on", self)
            else:
                Here.peer.release(object.__getattribute__(self, "_border_number"), self)
        except Exception:  # noqa: BLE001  at shutdown anything may be gone
            return


class CallableStub(Stub):
    """A test's function, class or callable object."""

    __slots__ = ()
    __call__ = _call


def _has(value: object, name: str, *default: object) -> object:
    """`getattr_static`, which sees nothing of a stub."""
    return (getattr if issubclass(type(value), Stub) else inspect.getattr_static)(value, name, *default)


_file_of: Any = inspect.getfile
# of a function of the tests it is asked for nevertheless, so that a reason can say so
inspect.getfile = lambda value: _file_of(  # type: ignore[assignment]
    Here.peer.request("getattr", value, "__code__") if issubclass(type(value), Stub) else value
)
# what protocols look for their members by since Python 3.12
if hasattr(typing, "_lazy_load_getattr_static"):
    typing._lazy_load_getattr_static = lambda: _has


def _default() -> TestsDefault:
    differs("a default of the tests' function stays with it")
    return TestsDefault()


def _signature(value: object) -> Any:
    parameters, notes = Here.peer.request("signature", value)
    return signature([[*part[:3], TestsDefault()] for part in parameters], notes)


class FunctionStub(CallableStub):
    """A test's function or method: as an attribute of a class it becomes a method."""

    __slots__ = ()
    _shape: Shape = "fn", (0, 0, 0), 0, (), 0, ()

    # inspect and asyncio ask those alone what a call gives
    __class__: Any = property(lambda self: types.FunctionType)

    def __getattribute__(self, name: str) -> object:
        if name == "__signature__":
            return _signature(self)
        kind, counts, rest, names, defaults, named = type(self)._shape
        if name == "__code__":
            return code_of(kind, counts, rest, names)
        if name == "__defaults__":
            return tuple(_default() for _ in range(defaults)) or None
        if name == "__kwdefaults__":
            return {part: _default() for part in named} or None
        return Stub.__getattribute__(self, name)

    def __get__(self, instance: object, owner: object = None) -> object:
        return self if instance is None else types.MethodType(self, instance)


def _waits(name: str) -> object:
    async def forward(self: object, *args: object) -> object:
        return await Here.peer.loop.theirs(self, name, args)

    return forward


def _await(self: object) -> object:
    """Wait for a task or a future of the tests, or another awaitable of theirs."""
    return Here.peer.loop.theirs(self, "__await__").__await__()


_ASYNCHRONOUS: dict[str, object] = {name: _waits(name) for name in ("__aenter__", "__aexit__", "__anext__")}
_ASYNCHRONOUS["__aiter__"] = _forward("aiter")
_ASYNCHRONOUS["__await__"] = _await
_classes: dict[tuple[tuple[str, ...], bool | Shape, type | str | None], type] = {}
# one stub for a class of the tests', so that isinstance and `is` hold here too
_own_classes: dict[int, type] = {}


def _withheld(cls: type) -> None:
    """What is in a class of the tests stays there: ask for it nevertheless, so that a reason can say that it was asked for."""
    with contextlib.suppress(AttributeError):
        Here.peer.request("getattr", cls, "__dict__")


class StubClass(type):
    """The class of stubs for classes of the tests' own: its objects are those of that class."""

    __call__ = _call
    __setattr__ = _set
    __delattr__ = _delete

    def __new__(cls, name: str, *arguments: object) -> StubClass:
        raise TypeError(f"{name} derives from a class of the tests: that cannot cross the border")

    def __getattr__(cls, name: str) -> object:
        return _signature(cls) if name == "__signature__" else Here.peer.request("getattr", cls, name)

    @property  # type: ignore[misc]
    def __dict__(cls) -> object:  # type: ignore[override]
        _withheld(cls)
        return vars(type)["__dict__"].__get__(cls)

    def __dir__(cls) -> list[str]:
        _withheld(cls)
        return [*type.__dir__(cls)]


def exception_class(base: type[BaseException], own: list[tuple[int, str]]) -> type[BaseException]:
    """Return the class here of exceptions of the tests' own classes, each by number and name, the last derived from `base`."""
    cls: Any = base
    for number, name in reversed(own):
        if number not in _own_classes:
            members = {"__module__": "tests", "_border_class": number}
            _own_classes[number] = type.__new__(StubClass, name, (cls,), members)
        cls = _own_classes[number]
    return cls  # type: ignore[no-any-return]


def number_of(cls: type) -> int:
    """The tests' number of their class."""
    number: int = type.__getattribute__(cls, "_border_class")
    return number


def class_of(bases: tuple[type, ...], builtin: object, described: list[Any]) -> type:
    """Return the stub for a class of the tests' own; to `isinstance` its objects are of the `builtin` that it derives from."""
    number, name, special, callable_, collection, fields, abstract = described
    cls = _own_classes.get(number)
    if cls is None:
        forwarded = {one: _forward(SPECIAL[one]) for one in collection}
        metas = tuple(dict.fromkeys((*map(type, bases), StubClass)))
        meta: Any = type("StubCollection", metas, forwarded) if forwarded else StubClass
        members = {**_members(special), "_border_class": number}
        if fields is not None:
            members["__dataclass_fields__"] = dataclass_fields(dict.fromkeys(fields, (object, ())))
        if builtin is not None:
            if Here.peer.asks_subclass:
                differs(f"the tests' class {name} derives, for `issubclass`, from nothing")
            members["__class__"] = property(lambda self: builtin)
        cls = _own_classes[number] = type.__new__(meta, name, (*bases, (Stub, CallableStub)[callable_]), members)
        for one in abstract:
            find(one).register(cls)
    return cls


def _members(special: list[str]) -> dict[str, object]:
    members: dict[str, object] = {name: _forward(SPECIAL[name]) for name in special if name in SPECIAL}
    members.update((name, method) for name, method in _ASYNCHRONOUS.items() if name in special)
    members["__slots__"] = ()
    if "__next__" not in special:  # of an iterator `itertools.tee` would ask for one
        members["__copy__"] = _forward("copy")
    # Python takes the hash from a class that defines equality alone
    if "__eq__" in members and "__hash__" not in members:
        members["__hash__"] = _forward("hash")
    return members


def make(number: int, special: list[str], callable_: bool | Shape, cls: type | None, seen: type | str | None) -> object:
    """Return a stub for a test's object that has these special methods, of a class of the tests' own, or of what `isinstance` sees."""
    if cls is None:
        key = (tuple(special), callable_, seen)
        if key not in _classes:
            base = FunctionStub if isinstance(callable_, tuple) else (Stub, CallableStub)[callable_]
            name = "function" if base is FunctionStub else "object"
            members = {**_members(special), "_shape": callable_}
            if seen is not None:
                members["__class__"] = property(lambda self: find(seen) if isinstance(seen, str) else seen)
            _classes[key] = type(name, (base,), members)
        cls = _classes[key]
    value: object = object.__new__(cls)
    object.__setattr__(value, "_border_number", number)
    return value
