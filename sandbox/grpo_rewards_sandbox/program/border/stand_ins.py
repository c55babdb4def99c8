"""Objects of the tests as the candidate sees them: every use is a request to the tests' side."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from .operations import SPECIAL
from .peer import Ref

if TYPE_CHECKING:
    from .candidate import CandidatePeer


class Here:
    """Where stand-ins find the border; set once per process."""

    peer: CandidatePeer


_LOCAL = frozenset(
    [*SPECIAL, "__aenter__", "__aexit__", "__anext__", "__aiter__", "__await__", "__copy__", "__deepcopy__"]
) - {"__eq__", "__ne__", "__hash__", "__str__", "__repr__", "__format__"}  # fmt: skip


class StandIn:
    """A test's object."""

    __slots__ = ("__weakref__", "_border_number")

    def __getattribute__(self, name: str) -> Any:
        if name in ("_border_number", "__class__") or (name in _LOCAL and hasattr(type(self), name)):
            return object.__getattribute__(self, name)
        return Here.peer.request("getattr", Ref(object.__getattribute__(self, "_border_number")), name)

    def __setattr__(self, name: str, value: Any) -> None:
        Here.peer.request("setattr", Ref(object.__getattribute__(self, "_border_number")), name, value)

    def __copy__(self) -> Any:
        return Here.peer.request("op", "copy", Ref(object.__getattribute__(self, "_border_number")))

    def __deepcopy__(self, memo: Any) -> Any:
        return Here.peer.request("op", "deepcopy", Ref(object.__getattribute__(self, "_border_number")))

    def __del__(self) -> None:
        try:
            number = object.__getattribute__(self, "_border_number")
            Here.peer.theirs.pop(number, None)
            Here.peer.release(number)
        except Exception:  # noqa: BLE001  at shutdown anything may be gone
            return


class CallableStandIn(StandIn):
    """A test's function, class or callable object."""

    __slots__ = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return Here.peer.request("call", Ref(object.__getattribute__(self, "_border_number")), args, kwargs)


class FunctionStandIn(CallableStandIn):
    """A test's function: as an attribute of a class it becomes a method."""

    __slots__ = ()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)


class AwaitableStandIn(StandIn):
    """A test's coroutine."""

    __slots__ = ()

    def __await__(self) -> Any:
        return Here.peer.request("await", Ref(object.__getattribute__(self, "_border_number")))
        yield


_BY_KIND: dict[Any, type] = {
    False: StandIn, True: CallableStandIn, "function": FunctionStandIn, "coroutine": AwaitableStandIn,
}  # fmt: skip


def _forward(operation: str) -> Any:
    def forward(self: Any, *args: Any) -> Any:
        return Here.peer.request("op", operation, Ref(object.__getattribute__(self, "_border_number")), *args)

    return forward


def _waits(name: str) -> Any:
    async def forward(self: Any, *args: Any) -> Any:
        return Here.peer.request("special", Ref(object.__getattribute__(self, "_border_number")), name, args)

    return forward


def _iterates(self: Any) -> Any:
    return Here.peer.request("special", Ref(object.__getattribute__(self, "_border_number")), "__aiter__", ())


_ASYNCHRONOUS = {name: _waits(name) for name in ("__aenter__", "__aexit__", "__anext__")}
_ASYNCHRONOUS["__aiter__"] = _iterates
_classes: dict[tuple[tuple[str, ...], bool | str], type] = {}


def make(number: int, special: list[str], callable_: bool | str) -> Any:
    """Return a stand-in for a test's object that has these special methods."""
    key = (tuple(special), callable_)
    cls = _classes.get(key)
    if cls is None:
        members: dict[str, Any] = {name: _forward(SPECIAL[name]) for name in special if name in SPECIAL}
        members.update((name, method) for name, method in _ASYNCHRONOUS.items() if name in special)
        members["__slots__"] = ()
        if "__eq__" in members and "__hash__" not in members:
            members["__hash__"] = _forward("hash")
        cls = _classes[key] = type("object", (_BY_KIND[callable_],), members)
    value: Any = object.__new__(cls)
    object.__setattr__(value, "_border_number", number)
    return value
