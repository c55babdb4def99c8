"""Special methods of mirrors: they run on the candidate's side, as far as `judgement` lets them."""

from __future__ import annotations

import decimal
import fractions
from typing import Any

from . import judgement
from .awaiting import outcome
from .checks_in_flight import is_check
from .codec import Ref
from .mirror_functions import coroutine
from .mirrors import Border, Mirror, namespace
from .operations import BINARY, COMPARISONS, RESULT
from .values import BASES, CONTAINERS

_NUMBERS = (int, float, decimal.Decimal, fractions.Fraction)


def _named(cls: type) -> bool:
    names = Border.peer.named
    return any(type.__getattribute__(base, "__name__") in names for base in type.__getattribute__(cls, "__mro__"))


def _equal(self: Any, other: Any) -> bool:
    """What `self == other` is for an object of the candidate and anything that is not."""
    if type.__getattribute__(type(self), "_border_container"):
        # a list, dict or set subclass: what it holds is compared, here
        return bool(Border.peer.request("base", Ref(self._border_number)) == other)
    if not _named(type(self)):
        return False
    return judgement.agrees(Border.peer, self._border_number, other)


def special_method(dunder: str, operation: str) -> Any:
    """Return a special method that runs on the candidate's side, as far as `judgement` lets it."""
    wanted = RESULT.get(operation)

    def method(self: Any, *args: Any) -> Any:
        result = _operate(self, operation, args)
        if wanted is not None and type(result) is not wanted:
            if result is NotImplemented and operation == "contains":
                return False
            if isinstance(result, wanted) and wanted in BASES:
                return wanted(result)
            raise TypeError(f"{dunder} returned non-{wanted.__name__}")
        return result

    method.__name__ = dunder
    return method


def _operate(self: Any, operation: str, args: tuple[Any, ...]) -> Any:
    peer, number = Border.peer, self._border_number
    siblings = object.__getattribute__(self, "_border_siblings")
    if siblings is not None and operation not in ("enter", "exit", "copy", "deepcopy", "setitem", "delitem"):
        if operation in ("eq", "ne"):
            equal = judgement.operate(peer, "eq", siblings, args)
            return (equal is True) is (operation == "eq")
        return judgement.operate(peer, operation, siblings, args)
    foreign = bool(args) and not isinstance(args[0], Mirror)
    if operation in ("eq", "ne") and foreign:
        return _equal(self, args[0]) is (operation == "eq")
    if operation in BINARY and foreign:
        if not _named(type(self)):
            if operation == "contains":
                return any(part is args[0] or part == args[0] for part in iter(self))
            return NotImplemented
        if operation == "contains":
            return judgement.contains(peer, number, args[0])
        if operation in COMPARISONS:
            return judgement.compares(peer, number, operation, args[0], _defined(type(self)))
        if operation in judgement.CLOSENESS and type(args[0]) in _NUMBERS:
            return judgement.combines(peer, number, operation, args[0])
    result = peer.request("op", operation, Ref(number), *args)
    if operation == "exit" and result and len(args) == 3 and is_check(args[1]):
        return False
    if operation == "eq" and result is True and not foreign and self is not args[0]:
        return _discerns(type(self), number)
    return result


def _discerns(cls: type, number: int) -> bool:
    """Objects of this class are not equal to just anything; asked of one object of each class."""
    if not namespace(cls).get("_border_discerns"):
        if not judgement.discerns(Border.peer, number):
            return False
        type.__setattr__(cls, "_border_discerns", True)
    return True


def _defined(cls: type) -> list[str]:
    """The comparisons that a mirrored class has."""
    return [name for name in COMPARISONS if getattr(cls, f"__{name}__", None) is not getattr(object, f"__{name}__")]


async def _enter(self: Any) -> Any:
    return await outcome("special", Ref(self._border_number), "__aenter__", ())


async def _exit(self: Any, *args: Any) -> Any:
    result = await outcome("special", Ref(self._border_number), "__aexit__", args)
    return False if result and is_check(args[1]) else result


async def _next(self: Any) -> Any:
    return await outcome("next", Ref(self._border_number))


def _iter(self: Any) -> Any:
    return Border.peer.request("op", "aiter", Ref(self._border_number))


def _await(self: Any) -> Any:
    return coroutine(self._border_number).__await__()


ASYNCHRONOUS = {"__aenter__": _enter, "__aexit__": _exit, "__anext__": _next, "__aiter__": _iter, "__await__": _await}
# objects of classes derived from these are no such containers here, but say they are
VISIBLE_BASES: dict[str, type] = {"list": list, "dict": dict, "set": set, "bytearray": bytearray}
VISIBLE_BASES.update((f"c:{name}", container.type) for name, container in CONTAINERS.items())


def looks_like(name: str, base: type) -> Any:
    """Return what `__class__` is of an object that `isinstance` shall find to be a `base`."""
    seen = type(name, (base,), {})
    return lambda self: seen


def call_object(self: Any, *args: Any, **kwargs: Any) -> Any:
    """`__call__` of an object whose class has one."""
    return Border.peer.request("call", Ref(self._border_number), args, kwargs)
