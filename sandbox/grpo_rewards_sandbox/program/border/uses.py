"""What the tests may do with an object of the candidate: which uses take it for data, and which for an object.

Data is what the tests compare, calculate with, convert or look for: it has to have crossed by value. An object is called, has
attributes and items, is iterated, entered, awaited: it stays with the candidate. So an operator of an object is run only
where the tests' text says that its class is under test, and the tests' own data reaches one only where the tests made that
object: what comes of it is an object again, of which no conversion counts. Anything else is refused, and a refusal is the
verdict whatever the tests' code does then.
"""

from __future__ import annotations

import collections.abc
import contextlib
import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, cast

from .awaiting import outcome
from .operations import ARITHMETIC, CONVERSIONS, EQUALITY, OPERATIONS, ORDER, RESULT, SIGNS, TEXT
from .proxies import (
    ASKS_DATA,
    Border,
    Proxy,
    ProxyClass,
    asked,
    compared,
    facts,
    held_against,
    number_of,
    read,
    refuse_object,
)
from .proxy_functions import ProxyFunction, coroutine
from .values import CONTAINERS, HELD

TEST_MODULES = ("tests", "test_solution")
_ASKS_CLASS = ("assertIsInstance", "assertNotIsInstance")
# how the tests came by an object; GIVEN: by a function of its class, which may be one more way to make it, or what they check;
# RETURNED: they found what they had made or been given before
FOUND, GIVEN, MADE, CAME_OF_DATA, RETURNED = range(5)


def origin(value: object) -> int:
    """How the tests came by an object: found, were given or made it, or got it from an operator that their own data went into."""
    known = Border.peer.origins.get(number_of(value), FOUND)
    return FOUND if known == RETURNED else known


def made(value: object, how: int) -> object:
    """Remember how the tests came by an object; return it."""
    if isinstance(value, Proxy):
        origins, number = Border.peer.origins, number_of(value)
        # what they found first a constructor that gives it once more does not make
        if how == CAME_OF_DATA or origins.get(number) != FOUND:
            origins[number] = max(how, origin(value))
    return value


def of_tests(cls: type) -> bool:
    """A class of the tests' own; one that stands for the candidate's may say that its module is theirs."""
    return cls.__module__ in TEST_MODULES and not isinstance(cls, ProxyClass)


def tested(value: object) -> bool:
    """The value is an object of a class under test."""
    return isinstance(value, Proxy) and facts(type(value)).tested


def special_method(dunder: str, operation: str, base: object = None) -> object:
    """Return a special method of a proxy. `base`: the same method of a builtin type that its class derives from."""
    wanted = RESULT.get(operation)

    def method(self: object, *args: object) -> object:
        result = _use(self, operation, args, base)
        if wanted is not None and type(result) is not wanted:
            if result is NotImplemented and operation == "contains":
                return False
            if isinstance(result, wanted) and wanted in HELD:
                return wanted(result)
            raise TypeError(f"{dunder} returned non-{wanted.__name__}")
        return result

    method.__name__ = dunder
    return method


def _use(self: object, operation: str, args: tuple[Any, ...], base: object) -> object:
    if operation in EQUALITY or operation in ORDER:
        return _compare(self, operation, args[0], base)
    if operation in ARITHMETIC or operation == "pow":
        return _combine(self, operation, args)
    if operation == "contains":
        return _contains(self, args[0])
    if operation in TEXT:
        return _text(self, operation, args)
    if operation in CONVERSIONS or operation in SIGNS or operation == "hash":
        return _convert(self, operation, args)
    at = not args or type(args[0]) in (int, slice)
    if operation in _LOOKS and at and (held := _looked_through(self)) is not None:
        return OPERATIONS[operation](held, *args)
    if operation != "exit":
        return ask(self, operation, *args)
    with _leaving(args[1]):
        result = ask(self, operation, *args)
    return _swallows(args[1], result)


def ask(self: object, operation: str, *args: object) -> object:
    """Run an operator on the candidate's side."""
    return Border.peer.request("op", operation, self, *args)


@contextlib.contextmanager
def _leaving(error: BaseException | None) -> Iterator[None]:
    """While a context of the candidate's is left: it cannot replace a check of the tests that failed within."""
    try:
        yield
    except BaseException as raised:
        if raised is not error and error is not None:
            Border.peer.note(error)
        raise


def _swallows(error: BaseException | None, result: object) -> object:
    """What a context of the candidate's says of an error: no check, and none of its own that the tests do not speak of."""
    if Border.peer.is_check(error):
        return False
    if error is None or result is None:
        return result
    said = bool(result)  # asked once: an object may answer each time anew
    if said and not Border.peer.may_swallow(error):
        Border.peer.refuse(
            f"the candidate swallowed {type(error).__name__} in a context manager, which is its own error or takes a check along"
        )
    return said


def _refuse(self: object, what: str) -> Any:
    return refuse_object(self, f"the tests {what}")


def _compare(self: object, operation: str, other: object, base: Any) -> object:
    if isinstance(other, Proxy):
        if tested(self) and tested(other):
            return ask(self, operation, other)
        if operation in EQUALITY and (self is other or not (facts(type(self)).compares or facts(type(other)).compares)):
            return (self is other) is (operation == "eq")
        return _refuse(self, "compare it")
    if base is not None:
        return base(self, other)  # a class derived from a builtin is compared by the value it holds
    any_of_mock = getattr(sys.modules.get("unittest.mock"), "ANY", self)
    # unequal, whatever the candidate says: so it is asked nothing, and nothing reaches it
    if operation in EQUALITY and (other is None or facts(type(self)).enum):
        return operation == "ne"
    if operation in EQUALITY and (type(other).__module__ in TEST_MODULES or other is any_of_mock):
        return NotImplemented  # a matcher of the tests: what it reads of the object comes here again
    if operation in EQUALITY and isinstance(other, dict) and isinstance(self, collections.abc.Mapping):
        # what it holds crosses, then is compared
        return ({key: self[key] for key in self} == other) is (operation == "eq")
    if not tested(self):
        return _refuse(self, "compare data")
    if origin(self) == CAME_OF_DATA:
        return _refuse(self, "compare what came of an operator that their own data went into")
    if operation in ORDER or facts(type(self)).compares:
        Border.peer.differs(f"an object of class {type(self).__name__} equals no plain data, and has no order with it")
    return NotImplemented if operation in ORDER else operation == "ne"


def _combine(self: object, operation: str, args: tuple[object, ...]) -> object:
    other = args[0]
    if all(isinstance(arg, (Proxy, *_FUNCTIONS)) for arg in args):
        origins = [origin(one) for one in (self, *args) if isinstance(one, (Proxy, ProxyFunction))]
        result = ask(self, operation, *args)
        # a stage of a pipeline is called and no data, whatever its class
        if not (tested(self) and all(tested(arg) or callable(arg) for arg in args)):
            return _object_only(self, result, "calculate")
        return _object_only(self, result) if CAME_OF_DATA in origins else made(result, min(origins))
    # from what a function of the class gave, which may be what they check, nothing is taken off; where `sum` begins says nothing
    allowed = origin(self) > (FOUND if operation in _ADDS else GIVEN)
    begins_sum = operation == "radd" and type(other) is int and other == 0
    if not tested(self) or not (allowed or begins_sum):
        return _refuse(self, "calculate with data")
    how = min(MADE, origin(self))
    result = ask(self, operation, *args)
    if begins_sum and isinstance(result, Proxy) and origin(self) != CAME_OF_DATA:
        return made(result, how)
    return made(result, how) if _as_builtin(self, operation, args, result) else _object_only(self, result)


def _as_builtin(self: object, operation: str, args: tuple[object, ...], result: object) -> bool:
    """The builtin that a class derives from gives the same for this operator, or joins and repeats: nothing is taken off."""
    base = facts(type(self)).value
    if base in (list, str) and operation in _JOINS:
        return isinstance(result, base)
    own = None if base is None else getattr(base, f"__{operation.rstrip('_')}__", None)
    if own is None or operation.startswith("i"):
        return False
    return own(self, *args) is not NotImplemented and _held(result) == own(self, *args)


def _held(value: object) -> object:
    """The value of the builtin that the class of an object derives from; anything else as it is."""
    base = facts(type(value)).value if isinstance(value, Proxy) else None
    return value if base is None else _HELD[base](value) if base in _HELD else object()


_FUNCTIONS = (ProxyFunction, types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial, type)
_ADDS = frozenset(("add", "radd", "mul", "rmul", "iadd", "imul"))
_JOINS = _ADDS | {"mod"}
_HELD = {**HELD, list: CONTAINERS["L"].contents}


def _object_only(
    self: object, result: object, use: str = "combine it with data of their own and take the result for data"
) -> object:
    """What an operator gives that plain data went into, or of a class not under test: an object, and none that holds a value."""
    if result is NotImplemented or isinstance(result, ProxyFunction):
        return result
    if not isinstance(result, Proxy):
        return _refuse(self, use)
    return made(Border.peer.bare(result), CAME_OF_DATA)


def _contains(self: Any, other: object) -> object:
    if tested(self) and (origin(self) == MADE or isinstance(other, Proxy)):
        return ask(self, "contains", other)
    held: Any = _held(self)
    if type(held) in (str, bytes):
        return other in held  # a part of the text, which no item of it is
    if origin(self) == CAME_OF_DATA or not hasattr(type(self), "__iter__"):
        return _refuse(self, "look for data")
    found = any(part is other or part == other for part in iter(self))
    if not found:
        _says_looking(self, "in")
    return found


def _says_looking(self: object, use: str) -> None:
    name = type(self).__name__
    unless = "" if tested(self) else f" unless the row has `classes: [{name}]`"
    Border.peer.differs(f"`{use}` looks through an object of class {name}, whose own answer does not count{unless}")


def _convert(self: object, operation: str, args: tuple[object, ...]) -> object:
    if operation == "hash" and not tested(self):
        return _refuse(self, "look for data") if facts(type(self)).compares else object.__hash__(self)
    sequence = issubclass(type(self), collections.abc.Sequence)
    if operation == "len" and facts(type(self)).named and not sequence and origin(self) != CAME_OF_DATA:
        return ask(self, operation)
    allowed = tested(self) and origin(self) != (FOUND if args else CAME_OF_DATA)
    if operation == "len" and not allowed:
        if sequence and not tested(self) and (held := _look_through(self)) is not None:
            _says_looking(self, "len")
            return len(held)
        # no refusal: Python asks for the length wherever it makes a list of something, and goes on without
        why = "is no plain data, and `classes` does not name it"
        if tested(self):
            why = "came of an operator that the tests' data went into"
        raise TypeError(
            f"object of class {type(self).__name__} has no length that counts: it {why}; or use fidelity: shared"
        )
    if operation in SIGNS and (not tested(self) or origin(self) == CAME_OF_DATA):
        return _object_only(self, ask(self, operation, *args), "test or convert data")
    if not tested(self) or (args and origin(self) == FOUND):
        return _refuse(self, "test or convert data")
    if operation == "hash" or origin(self) != CAME_OF_DATA:
        result = ask(self, operation, *args)
        return made(result, origin(self)) if operation in SIGNS else result
    return _refuse(self, "convert what came of an operator that their own data went into")


_LOOKS = frozenset(("getitem", "iter", "reversed"))
_MAX_HELD = 10_000


def _look_through(self: object) -> list[object] | None:
    """What a sequence holds, where the tests ask for its length; None where that is too much.

    Its items are these until the tests ask the candidate for anything else: the length that it says is that of what is in it.
    """
    if (known := _looked_through(self)) is not None:
        return known
    count = ask(self, "len")
    if type(count) is not int or not 0 <= count <= _MAX_HELD:
        return None
    held = [ask(self, "getitem", at) for at in range(count)]
    object.__setattr__(self, "_border_held", (Border.peer.sent, held))
    return held


def _looked_through(self: object) -> list[object] | None:
    """What it held, if the candidate has not been asked for anything since."""
    sent, held = object.__getattribute__(self, "_border_held")
    return held if sent == Border.peer.sent else None


def _text(self: object, operation: str, args: tuple[object, ...]) -> object:
    if args and args[0] and origin(self) == FOUND:
        return _refuse(self, "format data")
    if tested(self) or facts(type(self)).enum or facts(type(self)).named:
        return ask(self, operation, *args)
    # no refusal: messages of checks, logs and pytest's own make texts of whatever they meet
    name = type.__getattribute__(type(self), "__name__")
    Border.peer.differs(
        f"the text of an object of class {name} is Python's own, unless the row has `classes: [{name}]`"
    )
    return object.__repr__(self)


async def _exit(self: object, *args: Any) -> object:
    with _leaving(args[1]):
        result = await outcome("special", self, "__aexit__", args)
    return _swallows(args[1], result)


ASYNCHRONOUS: dict[str, Callable[..., object]] = {
    "__aenter__": lambda self: outcome("special", self, "__aenter__", ()),
    "__aexit__": _exit,
    "__anext__": lambda self: outcome("next", self, "__anext__", ()),
    "__aiter__": lambda self: ask(self, "aiter"),
    "__await__": lambda self: coroutine(self).__await__(),
}


def call_object(self: object, /, *args: object, **kwargs: object) -> object:
    """`__call__` of an object whose class has one."""
    held_against(self, object.__getattribute__(self, "_border_asked"), args, kwargs)
    return Border.peer.call(number_of(self), args, kwargs)


def placed_in_class(self: object, owner: object, name: str) -> object:
    """`__set_name__` of an object whose class describes attributes: over there it could not reach what is the tests' own."""
    cls = type.__getattribute__(type(self), "__name__")
    return Border.peer.refuse(
        f"the tests describe the attribute {name} of a class of theirs by an object of class {cls} of the candidate, "
        "which would be given what is theirs; they can be run with fidelity: shared"
    )


class Method:
    """A method of a class of the candidate: looked up and called at once."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: object = None) -> object:
        if instance is None:
            return Border.peer.request("getattr", owner, self.name)
        compared(instance, self.name)
        # one that the tests may put another in place of stays what it was when they read it
        kept = self.name in Border.peer.text.replaced
        bound = Border.peer.request("getattr", instance, self.name) if kept else BoundMethod(instance, self.name)
        return bound if self.name not in ASKS_DATA else read(instance, self.name, bound, facts(type(instance)).tested)


class Attribute:
    """What a class of the candidate has, or its objects, in the place of a method of the builtin that it derives from."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: object = None) -> object:
        return asked(owner, self._name) if instance is None else Proxy.__getattr__(instance, self._name)  # type: ignore[arg-type]


class BoundMethod:
    """A method of an object of the candidate. Called, it costs one request; anything else of it is asked for."""

    __slots__ = ("_name", "_owner")
    __test__ = False

    def __init__(self, owner: object, name: str) -> None:
        self._owner, self._name = owner, name

    def __call__(self, /, *args: object, **kwargs: object) -> object:
        return Border.peer.call_method(self._owner, self._name, args, kwargs)

    def resolved(self) -> Any:
        """The candidate's own, as an attribute that is read and not called."""
        return Border.peer.request("getattr", self._owner, self._name)

    def __getattr__(self, name: str) -> object:
        if name == "__self__":
            return self._owner
        return getattr(self.resolved(), name)

    def __eq__(self, other: object) -> bool:
        if type(other) is ProxyFunction:  # the same as an attribute, or in a container
            return self.resolved() is other
        return isinstance(other, BoundMethod) and self._owner is other._owner and self._name == other._name

    def __hash__(self) -> int:
        return hash(self._name)


def class_in_tests(here: type, self: object) -> type:
    """What `__class__` is: to `isinstance` in the tests' own text the class of that name here, to all others the proxy's.

    Libraries that ask would go on to use what is in it, and hold their own data against it. Text that reads it and asks for no `isinstance`
    is given the object's own.
    """
    text, frame = Border.peer.text, cast(Any, sys._getframe(1))
    if "__class__" in text.words:
        if not text.kinds:
            return type(self)
        Border.peer.differs(
            f"`__class__` of an object of class {type(self).__name__} is the library's, since the tests ask for `isinstance`"
        )
    while frame.f_globals.get("__name__") == "abc":
        frame = frame.f_back
    asking = frame.f_globals.get("__name__")
    asks = asking in TEST_MODULES or (asking == "unittest.case" and frame.f_code.co_name in _ASKS_CLASS)
    return here if asks else type(self)
