"""What the tests see of the candidate: classes, objects, functions, modules, generators, exceptions. All trusted code."""

from __future__ import annotations

import decimal
import fractions
import inspect
import types
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from . import judgement
from .checks_in_flight import is_check
from .operations import BINARY, COMPARISONS, RESULT, SPECIAL
from .peer import Ref
from .values import BASES, CONTAINERS

if TYPE_CHECKING:
    from .trusted import TrustedPeer

# asked for by pytest, unittest.mock, inspect and copy of every object they meet: the candidate has no say in these
_NEVER_ASKED = frozenset(
    [
        "__wrapped__",
        "__signature__",
        "__isabstractmethod__",
        "__set_name__",
        "__slots__",
        "__match_args__",
        "__test__",
        "pytestmark",
        "__origin__",
        "__args__",
        "__bases__",
        "_pytestfixturefunction",
        "__pytest_wrapped__",
        "__path__",
        "pytest_plugins",
        "__self__",
        "__func__",
        "__code__",
        "__defaults__",
        "place_as",
        "__get__",
        "__kwdefaults__",
        "__closure__",
        "__globals__",
        "__unittest_skip__",
        "__unittest_expecting_failure__",
        "__abstractmethods__",
        "__orig_bases__",
        "__parameters__",
        "__text_signature__",
        "__objclass__",
        "__init_subclass__",
        "__array_interface__",
        "__array__",
        "__array_struct__",
        "__array_ufunc__",
        "__array_priority__",
    ]
)
# of these only where the tests' text has the name
_ON_REQUEST = frozenset(("__wrapped__", "__slots__", "__match_args__", "__parameters__", "__origin__", "__args__"))
_NUMBERS = (int, float, decimal.Decimal, fractions.Fraction)
_METHODS = frozenset((*SPECIAL, "__init__", "__new__", "__call__", "__slots__"))
# what a class and a module hold on this side, where reading `__dict__` asks the candidate
namespace: Any = vars(type)["__dict__"].__get__
module_namespace: Any = vars(types.ModuleType)["__dict__"].__get__


class Border:
    """Where mirrors find the border; set once per job."""

    peer: TrustedPeer


def _listed(ref: Ref) -> list[str]:
    found = Border.peer.request("op", "dir", ref)
    return sorted(name for name in found if type(name) is str)


def names_on_request(tests: str) -> frozenset[str]:
    """Return the names of a candidate's insides that these tests ask for themselves."""
    return frozenset(name for name in _ON_REQUEST if name in tests)


def _hidden(name: str) -> bool:
    if name in _NEVER_ASKED:
        return name not in Border.peer.on_request
    return name.startswith(("_border", "_pytest", "__pytest"))


def _seen(own: Any, theirs: Any) -> types.MappingProxyType[str, Any]:
    """What `vars` shows: the candidate's names, but those that Python gives as this side has them.

    Who reads `__annotations__` from it evaluates texts that it finds there.
    """
    shown = {
        name: value
        for name, value in theirs.items()
        if type(name) is str and not _hidden(name) and (not _dunder(name) or name in _METHODS)
    }
    return types.MappingProxyType({**shown, **{name: value for name, value in own.items() if _dunder(name)}})


def _dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


class MirrorClass(type):
    """The class of mirrored classes: calling one makes an object on the candidate's side."""

    def mro(cls) -> list[type]:
        """Among a mirror's ancestors are those of the standard library's that it is known by."""
        own = type.mro(cls)
        known = namespace(cls).get("_border_known", ())
        more = [base for first in known for base in first.__mro__[:-1] if base not in own]
        return [*own[:-1], *dict.fromkeys(more), object]

    def __instancecheck__(cls, value: Any) -> bool:
        if type.__instancecheck__(cls, value):
            return True
        return isinstance(value, (Mirror, MirrorClass)) and _related("isinstance", value, cls)

    def __subclasscheck__(cls, value: type) -> bool:
        if type.__subclasscheck__(cls, value):
            return True
        return isinstance(value, MirrorClass) and _related("issubclass", value, cls)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return Border.peer.request("call", Ref(cls._own_number()), args, kwargs)

    def _own_number(cls) -> int:
        number = namespace(cls).get("_border_class")
        if number is None:
            raise TypeError(
                f"{type.__getattribute__(cls, '__name__')} derives from a class of the candidate: that cannot cross the "
                "border; use fidelity='shared' for these tests"
            )
        return int(number)

    def _number(cls) -> int:
        for base in type.__getattribute__(cls, "__mro__"):
            if "_border_class" in namespace(base):
                return int(namespace(base)["_border_class"])
        raise TypeError("not a class of the candidate")

    def __getattr__(cls, name: str) -> Any:
        if _hidden(name):
            raise AttributeError(name)
        return Border.peer.request("getattr", Ref(cls._number()), name)

    def __setattr__(cls, name: str, value: Any) -> None:
        if name.startswith(("_border", "__abstract")):
            type.__setattr__(cls, name, value)
        else:
            Border.peer.request("setattr", Ref(cls._number()), name, value)

    def __delattr__(cls, name: str) -> None:
        Border.peer.request("delattr", Ref(cls._number()), name)

    @property  # type: ignore[misc]
    def __dict__(cls) -> Any:  # type: ignore[override]
        own = namespace(cls)
        if "_border_class" not in own:
            return own
        return _seen(own, Border.peer.request("vars", Ref(cls._number())))

    @property
    def __signature__(cls) -> Any:
        found = namespace(cls).get("_border_signature", ...)
        if found is ...:
            coded = Border.peer.request("signature", Ref(cls._number()))
            found = None if coded is None else Border.peer.signature(*coded)
            type.__setattr__(cls, "_border_signature", found)
        return found

    def __dir__(cls) -> list[str]:
        return _listed(Ref(cls._number()))


class MirrorCollection(MirrorClass):
    """The class of mirrored classes that are collections themselves, as enumerations are."""

    def __iter__(cls) -> Any:
        return iter(Border.peer.request("op", "iter", Ref(cls._number())))

    def __reversed__(cls) -> Any:
        return iter(Border.peer.request("op", "reversed", Ref(cls._number())))

    def __getitem__(cls, key: Any) -> Any:
        return Border.peer.request("op", "getitem", Ref(cls._number()), key)

    def __contains__(cls, value: Any) -> bool:
        return bool(Border.peer.request("op", "contains", Ref(cls._number()), value))

    def __len__(cls) -> int:
        return int(Border.peer.request("op", "len", Ref(cls._number())))

    def __bool__(cls) -> bool:
        return True


class Mirror:
    """An object of the candidate."""

    _border_siblings: Any = None
    _border_peer: Any = None

    def __getattr__(self, name: str) -> Any:
        if _hidden(name):
            raise AttributeError(name)
        return Border.peer.request("getattr", Ref(self._border_number), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_border"):
            object.__setattr__(self, name, value)
        else:
            Border.peer.request("setattr", Ref(self._border_number), name, value)

    def __delattr__(self, name: str) -> None:
        Border.peer.request("delattr", Ref(self._border_number), name)

    def __dir__(self) -> list[str]:
        return _listed(Ref(self._border_number))

    def __copy__(self) -> Any:
        return Border.peer.request("op", "copy", Ref(self._border_number))

    def __deepcopy__(self, memo: Any) -> Any:
        return Border.peer.request("op", "deepcopy", Ref(self._border_number))

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("an object of the candidate cannot be pickled across the border; use fidelity='shared'")

    def __del__(self) -> None:
        try:
            # one that was garbage of an earlier job in this process has numbers that are others' by now
            if self._border_peer is Border.peer:
                Border.peer.release(self._border_number)
        except Exception:  # noqa: BLE001  at shutdown anything may be gone
            return


class MirrorObject(Mirror):
    """An object whose class derives from no value type: equal to itself, unless its class says more."""

    def __eq__(self, other: object) -> Any:
        return self is other

    def __ne__(self, other: object) -> Any:
        result = self.__eq__(other)
        return result if result is NotImplemented else not result

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object>"

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        return Border.peer.request("vars", Ref(self._border_number))


class MirrorValue(Mirror):
    """An object whose class derives from a value type: compared by that value, on this side."""


class MirrorException(MirrorObject):
    """An exception of a class of the candidate."""

    def __str__(self) -> str:
        text = object.__getattribute__(self, "__dict__").get("_border_text")
        return BaseException.__str__(self) if text is None else text  # type: ignore[arg-type]

    __repr__ = BaseException.__repr__
    __dict__ = vars(BaseException)["__dict__"]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Mirror.__getattr__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        BaseException.__setattr__(self, name, value)


def _related(how: str, value: Any, cls: MirrorClass) -> bool:
    """Ask the candidate where it may know more: protocols, `__subclasshook__`, `register`."""
    if "_border_class" not in namespace(cls):
        return False
    return Border.peer.request("related", how, value, cls) is True


class Annotation:
    """What an annotation of the candidate's says; equal to what reads the same."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return self.text == (other if isinstance(other, str) else str(other))

    def __hash__(self) -> int:
        return hash(self.text)


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
    return Border.peer.request("special", Ref(self._border_number), "__aenter__", ())


async def _exit(self: Any, *args: Any) -> Any:
    result = Border.peer.request("special", Ref(self._border_number), "__aexit__", args)
    return False if result and is_check(args[1]) else result


async def _next(self: Any) -> Any:
    return Border.peer.request("next", Ref(self._border_number))


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


_OF_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__")


def _plain_function(signature: inspect.Signature, kind: str) -> Any:
    """Return a function of this signature that does nothing, for those who look at its code."""
    values = {part.name: part.default for part in signature.parameters.values() if part.default is not part.empty}
    shown = signature.replace(
        parameters=[
            part.replace(annotation=part.empty, default=None if part.name in values else part.empty)
            for part in signature.parameters.values()
        ],
        return_annotation=signature.empty,
    )
    scope: dict[str, Any] = {}
    exec(f"def function{shown}: {'yield' if kind == 'gen' else 'pass'}", scope)  # noqa: S102  of checked identifiers
    function = scope["function"]
    kinds = {part.name: part.kind for part in signature.parameters.values()}
    only = {name: value for name, value in values.items() if kinds[name] is inspect.Parameter.KEYWORD_ONLY}
    function.__defaults__ = tuple(value for name, value in values.items() if name not in only) or None
    function.__kwdefaults__ = only or None
    return function


def make_signature(parameters: Any, notes: dict[str, Any]) -> inspect.Signature | None:
    """Return the signature that the candidate describes; None where that is none."""
    try:
        return inspect.Signature(
            [
                inspect.Parameter(
                    part,
                    inspect._ParameterKind(kind),
                    default=default if has_default else inspect.Parameter.empty,
                    annotation=notes.get(part, inspect.Parameter.empty),
                )
                for part, kind, has_default, default in parameters
            ],
            return_annotation=notes.get("return", inspect.Signature.empty),
        )
    except (ValueError, TypeError):
        return None


class MirrorFunction:
    """A function or bound method of the candidate."""

    __test__ = False  # for pytest: none that counts as a test

    @property
    def __class__(self) -> Any:
        own = self.__dict__
        return types.FunctionType if own["_border_kind"] != "other" and "__signature__" in own else MirrorFunction

    @__class__.setter
    def __class__(self, value: Any) -> None:
        raise TypeError("the class of a function is what it is")

    def __init__(
        self, number: int, name: str, doc: str | None, signature: Any, notes: dict[str, Any], kind: str = "fn"
    ) -> None:
        own = self.__dict__
        own["_border_number"], own["_border_peer"] = number, Border.peer
        own["_border_kind"] = kind
        own["__name__"] = own["__qualname__"] = name
        own["__doc__"], own["__module__"], own["__annotations__"] = doc, Border.peer.module_name, notes
        made = None if signature is None else make_signature(signature, notes)
        if made is not None:
            own["__signature__"] = made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return Border.peer.request("call", Ref(self.__dict__["_border_number"]), args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in _OF_FUNCTIONS and "__signature__" in self.__dict__:
            return getattr(_plain_function(self.__dict__["__signature__"], self.__dict__["_border_kind"]), name)
        if _hidden(name):
            raise AttributeError(name)
        return Border.peer.request("getattr", Ref(self.__dict__["_border_number"]), name)

    def __setattr__(self, name: str, value: Any) -> None:
        Border.peer.request("setattr", Ref(self.__dict__["_border_number"]), name, value)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<function {self.__dict__['__name__']}>"

    def __del__(self) -> None:
        try:
            if self.__dict__["_border_peer"] is Border.peer:
                Border.peer.release(self.__dict__["_border_number"])
        except Exception:  # noqa: BLE001  at shutdown anything may be gone
            return


class MirrorModule(types.ModuleType):
    """The candidate's module, or one it imports."""

    def _ref(self) -> Ref:
        return Ref(module_namespace(self)["_border_number"])

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        return _seen(module_namespace(self), Border.peer.request("vars", self._ref()))

    def __getattr__(self, name: str) -> Any:
        if _hidden(name) or name == "__file__":
            raise AttributeError(name)
        return Border.peer.request("getattr", self._ref(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):
            types.ModuleType.__setattr__(self, name, value)
        else:
            Border.peer.request("setattr", self._ref(), name, value)

    def __delattr__(self, name: str) -> None:
        Border.peer.request("delattr", self._ref(), name)

    def __dir__(self) -> list[str]:
        return _listed(self._ref())


def generator(number: int) -> Generator[Any, Any, Any]:
    """A generator of the candidate."""
    ref = Ref(number)
    try:
        value = Border.peer.request("op", "next", ref)
    except StopIteration as end:
        return end.value
    while True:
        try:
            sent = yield value
        except GeneratorExit:
            Border.peer.request("op", "close", ref)
            return None
        except Exception as error:  # noqa: BLE001  thrown in by the test, so it belongs to the candidate
            try:
                value = Border.peer.request("op", "throw", ref, error)
            except StopIteration as end:
                return end.value
            continue
        try:
            value = (
                Border.peer.request("op", "next", ref) if sent is None else Border.peer.request("op", "send", ref, sent)
            )
        except StopIteration as end:
            return end.value


async def coroutine(number: int) -> Any:
    """A coroutine of the candidate: runs to its end over there."""
    return Border.peer.request("run_coroutine", Ref(number))


async def asynchronous_generator(number: int) -> Any:
    """An asynchronous generator of the candidate."""
    while True:
        try:
            value = Border.peer.request("next", Ref(number))
        except StopAsyncIteration:
            return
        yield value


def coroutine_function(number: int, name: str) -> Any:
    """A function of the candidate that returns coroutines."""

    async def function(*args: Any, **kwargs: Any) -> Any:
        return await Border.peer.request("call", Ref(number), args, kwargs)

    function.__name__ = function.__qualname__ = name
    function.__dict__["_border_number"] = number
    return function
