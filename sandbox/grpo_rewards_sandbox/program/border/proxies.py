"""What the tests see of the candidate: classes, objects, functions, modules, generators, exceptions. All trusted code."""

from __future__ import annotations

import collections.abc
import decimal
import functools
import inspect
import sys
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from .codec import Ref
from .libraries import library_of
from .operations import OPERATIONS, SPECIAL
from .values import VIEWS

if TYPE_CHECKING:
    from .trusted import TrustedPeer

# what describes a class, an object or a function; any other special name is some library's protocol, and asked for only by
# tests whose text has it
_SHOWN = frozenset(
    "__name__ __qualname__ __module__ __doc__ __members__ __match_args__ __class_getitem__ __version__ __author__ __all__"
    " __dataclass_params__".split()  # pprint looks at the last, and unittest by it, where texts are long
)
# in these the candidate has no say even then
_NEVER_ASKED = frozenset(
    "__signature__ __isabstractmethod__ __set_name__ __test__ __bases__ __path__ __self__ __func__ __code__ __defaults__"
    " __get__ __kwdefaults__ __closure__ __globals__ __abstractmethods__ __orig_bases__ __text_signature__ __objclass__"
    " __init_subclass__ __unittest_skip__ __unittest_expecting_failure__ __array_interface__ __array__ __array_struct__"
    " __array_ufunc__ __array_priority__ __array_function__ __fspath__ __length_hint__ __reduce__ __reduce_ex__ __getstate__"
    " __class__ __file__ __annotations__ __annotate__ __annotate_func__ __annotations_cache__".split()
)
# what pytest takes instructions from, on whatever object it finds them
_MARKS = frozenset(("pytestmark", "place_as", "pytest_plugins"))
_METHODS = frozenset((*SPECIAL, "__init__", "__new__", "__call__", "__slots__"))
# what a class and a module hold on this side, where reading `__dict__` asks the candidate
namespace: Any = vars(type)["__dict__"].__get__
ancestors: Any = vars(type)["__mro__"].__get__  # None while a class is being made
module_namespace: Any = vars(types.ModuleType)["__dict__"].__get__


@dataclass(frozen=True, slots=True)
class Reading:
    """What the tests' text says of itself that the border needs to know; of what is at lines, their numbers."""

    words: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()  # classes that they say something is an object of
    errors: frozenset[str] = frozenset()  # classes of errors that they catch or expect
    given: frozenset[tuple[str, int]] = frozenset()  # of these what contexts are given, with the lines within
    said: frozenset[str] = frozenset()  # and those of which they say so elsewhere, or that an error was one
    replaced: frozenset[str] = frozenset()  # names of attributes that they may set
    unread: frozenset[str] = frozenset()  # methods whose results they never look at
    by_id: bool = False  # they know objects by their `id`
    by_identity: bool = False  # in callbacks they compare two of them by `is`
    still_to_check: frozenset[int] = frozenset()  # contexts after or in which a check follows
    checking: frozenset[tuple[str, int]] = frozenset()  # the same of functions, with their names
    due: frozenset[tuple[str, int]] = frozenset()  # of these, those that no loop without a known end comes back to
    unheard: frozenset[tuple[str, int]] = frozenset()  # and those where Python takes an error for an answer


class Border:
    """Where proxies find the border; set once per job."""

    peer: TrustedPeer


class Facts(NamedTuple):
    """What this side notes of a class of the candidate's, and so of those that the tests derive from it."""

    number: int  # the candidate's
    peer: object = None
    known: tuple[type, ...] = ()  # classes of the standard library that are among its ancestors
    tested: bool = False
    named: bool = False  # of a library, and the tests say that something is one: it has its own text and length
    value: object = None  # the value type that it derives from
    enum: bool = False
    compares: bool = False  # in a way of its own, not by identity
    orders: bool = False  # the same of `<` and the like
    bare: type | None = None  # the same without that value


def facts(cls: type) -> Facts:
    found: Facts = type.__getattribute__(cls, "_border")
    return found


def number_of(value: object) -> int:
    number: int = object.__getattribute__(value, "_border_number")
    return number


def hidden(name: str) -> bool:
    if _dunder(name):
        return name not in _SHOWN and (name in _NEVER_ASKED or name not in Border.peer.text.words)
    return name in _MARKS or name.startswith(("_border", "_asyncio", "_pytest", "__pytest"))


def seen(own: Any, theirs: Any) -> types.MappingProxyType[str, object]:
    """What `vars` shows: the candidate's names, but those that Python gives as this side has them.

    Who reads `__annotations__` from it evaluates texts that it finds there.
    """
    names = (name for name in theirs if type(name) is str and not hidden(name))
    shown = {name: theirs[name] for name in names if not _dunder(name) or name in _METHODS}
    return types.MappingProxyType({**shown, **{name: value for name, value in own.items() if _dunder(name)}})


# they check, and look in what they are given for what tells it from what is expected
_CHECKING = frozenset(("testing", "_testing", "case", "python_api"))
_RUNNING = ("click", "typer")  # of these `testing` runs a command, and leaves it to the tests to look at what it did


@functools.lru_cache(maxsize=256)
def _checks(module: object) -> bool:
    parts = str(module).split(".")
    return parts[0] not in _RUNNING and not _CHECKING.isdisjoint(parts)


# methods by which data is held against other data, or asked what it is: those of builtin values, of frames and tensors
ASKS_DATA = frozenset(
    name for kind in (str, frozenset, float) for name in dir(kind) if name.startswith("is") or name.endswith("with")
).union(("symmetric_difference", "difference", "equals", "equal", "allclose", "eq", "isin"))


def refuse_object(self: object, where: str) -> Any:
    """Fail the test, where it takes an object of the candidate for data; say what the row would need."""
    kind = type(self)
    # no row can name what stands for a default of the tests
    named = isinstance(kind, ProxyClass) and not facts(kind).tested and kind.__module__ != f"{__package__}.stubs"
    name = type.__getattribute__(kind, "__name__")
    Border.peer.refuse(
        f"the candidate returned an object of class {name} where {where}: that has to be plain data, or the row needs "
        f"{f'`classes: [{name}]` or ' if named else ''}fidelity: shared"
    )


def compared(self: object, name: str) -> None:
    """Refuse what a library's check asks an object for that the tests did not make: there it stands for data."""
    if _checks(sys._getframe(2).f_globals.get("__name__")) and not Border.peer.made_by_tests(self):
        refuse_object(self, f"a check of a library asks for its {name}")


def read(self: object, name: object, found: object, tested: bool = False) -> object:
    """Return what the tests read of `self`: no function by the name of what only data is asked, but of a class under test."""
    if not tested and callable(found):
        if name in ASKS_DATA:
            _asks_data(self, name)
        if type(found).__name__ == "ProxyFunction":
            vars(found)["_border_asked"] = name
        elif isinstance(found, (Proxy, ProxyClass)) and not facts(_class_of(found)).tested:
            (type if isinstance(found, type) else object).__setattr__(found, "_border_asked", name)
    return found


def _class_of(value: object) -> type:
    return value if isinstance(value, ProxyClass) else type(value)


def _asks_data(self: object, name: object) -> None:
    refuse_object(self, f"the tests ask by {name!r} what only plain data is asked")


_OF_SEQUENCES = frozenset(name for name in vars(collections.abc.Sequence) if not name.startswith("_"))
# functions of numpy that ask an element of an array for a method of their name, and give it the other array's
_ASKED_BY_NUMPY = frozenset(("arctan2", "fmod", "hypot", "logical_xor"))
_OF_DATA = _OF_SEQUENCES | _ASKED_BY_NUMPY
_ITERABLES = (set, frozenset, list, tuple, dict, types.GeneratorType, *VIEWS)


def held_against(self: object, name: object, args: tuple[object, ...], named: dict[str, object]) -> None:
    """Refuse a method of an object that is not under test, where the data that it is given has a method of that name.

    There the object stands for such data: `got.union(want) == want`, `got.sub(want).abs().max() < 1e-9`. So it does where it is
    asked for something as only a sequence is: `got.index("a") < got.index("b")`.
    """
    kinds: list[Any] = [type(arg) for arg in (*args, *named.values())]
    if any(name in _methods_of(kind) for kind in kinds) or (args and name in _OF_DATA):
        _asks_data(self, name)


@functools.lru_cache(maxsize=256)
def _methods_of(kind: type) -> frozenset[str]:
    if kind in _ITERABLES:  # a set's methods take any of these
        return frozenset(("union", "intersection", "isdisjoint"))
    if kind is not decimal.Decimal and library_of(kind) not in ("numpy", "pandas", "torch"):
        return frozenset()
    return frozenset(name for name in dir(kind) if not (name.startswith("_") or _takes_no_data(getattr(kind, name))))


def _takes_no_data(method: Any) -> bool:
    """It wants an axis first, or a function: with data in that place it raises, so in no tests it holds data against data."""
    try:
        return [*inspect.signature(method).parameters][1:2] in (["axis"], ["func"])
    except (TypeError, ValueError):
        return False


def names_member(name: str) -> bool:
    """A class of the candidate's may have a member of this name here: no special method, nothing that this side notes there."""
    return not (name.startswith("__") or hidden(name))


def _dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


# functions, not methods of the class of classes: a class of the candidate's may have methods of any name, found before those
def own_number(cls: type) -> int:
    """The candidate's number of its class."""
    if "_border" not in namespace(cls):
        raise TypeError(
            f"{type.__getattribute__(cls, '__name__')} derives from a class of the candidate: that cannot cross the "
            "border; use fidelity='shared' for these tests"
        )
    return facts(cls).number


def _ref(value: object) -> object:
    """Return what is asked for: of a class of the tests' own the candidate's that it derives from."""
    return Ref(facts(value).number) if isinstance(value, ProxyClass) else value


def asked(self: object, name: str) -> Any:
    """What the candidate has by this name, where it is shown to the tests."""
    # an operator's method is its class's, where it has one: any other would be asked about the tests' data
    if hidden(name) or name in SPECIAL:
        # the last of those that numpy asks whatever it makes an array of, and what attrs asks a class
        if name in Border.peer.text.words or name in ("__array_interface__", "__attrs_attrs__"):
            Border.peer.differs(f"{name} of what is the candidate's is not shown to the tests")
        raise AttributeError(name)
    found = Border.peer.request("getattr", _ref(self), name)
    return Border.peer.told(found) if name == "__doc__" else found


def listed(self: object) -> list[str]:
    found = Border.peer.request("op", "dir", _ref(self))
    return sorted(name for name in found if type(name) is str)


def assign(self: object, name: str, value: object) -> None:
    Border.peer.request("setattr", _ref(self), name, value)


def delete(self: object, name: str) -> None:
    Border.peer.request("delattr", _ref(self), name)


class ProxyClass(type):
    """The class of proxied classes: calling one makes an object on the candidate's side."""

    def mro(cls) -> list[type]:
        """Among a proxy's ancestors are those of the standard library's that it is known by."""
        if ancestors(cls) is not None:
            return list(cls.__mro__)
        own = type.mro(cls)
        known = namespace(cls).get("_border", Proxy._border).known
        more = [base for first in known for base in first.__mro__[:-1] if base not in own]
        return [*own[:-1], *dict.fromkeys(more), object]

    @property
    def __mro__(cls) -> tuple[type, ...]:
        """As the candidate's side has it: without what a class is here to be a proxy."""
        return tuple(base for base in ancestors(cls) or () if base not in MIRRORS)

    @property
    def __bases__(cls) -> tuple[type, ...]:  # type: ignore[override]
        own = tuple(base for base in type.__dict__["__bases__"].__get__(cls) if base not in MIRRORS)
        return own or cls.__mro__[1:2]

    @property
    def __base__(cls) -> type:
        return cls.__bases__[0]

    def __instancecheck__(cls, value: object) -> bool:
        if type.__instancecheck__(cls, value):
            return True
        if isinstance(value, (Proxy, ProxyClass)):
            return _related("isinstance", value, cls)
        # of what is the tests' own the candidate is not asked, nor is anything of it run
        members = namespace(cls).get("_border_protocol")
        return bool(members) and all(inspect.getattr_static(value, part, None) is not None for part in members)

    def __subclasscheck__(cls, value: type) -> bool:
        if type.__subclasscheck__(cls, value):
            return True
        return isinstance(value, ProxyClass) and _related("issubclass", value, cls)

    def __call__(cls, /, *args: object, **kwargs: object) -> object:
        held_against(cls, cls._border_asked, args, kwargs)
        made = Border.peer.call(own_number(cls), args, kwargs)
        return Border.peer.constructed(made, cls) if facts(cls).tested else made

    def __getattr__(cls, name: str) -> object:
        value = asked(cls, name)
        if name == "__class_getitem__":
            return lambda part: _alias(cls, part, value(part))
        read(cls, name, value, facts(cls).tested)
        return Border.peer.constructor(value) if facts(cls).tested else value

    def __subclasses__(cls) -> Any:
        """All that there are, whether or not the tests have met them."""
        return Border.peer.request("getattr", _ref(cls), "__subclasses__")()

    __setattr__ = assign
    __delattr__ = delete
    __dir__ = listed

    @property  # type: ignore[misc]
    def __dict__(cls) -> object:  # type: ignore[override]
        own = namespace(cls)
        if "_border" not in own:
            return own
        return seen(own, Border.peer.request("vars", _ref(cls)))

    @property
    def __signature__(cls) -> object:
        found = namespace(cls).get("_border_signature", ...)
        if found is ...:
            found = Border.peer.signature(_ref(cls))[0]
            type.__setattr__(cls, "_border_signature", found)
        return found


class ProxyCollection(ProxyClass):
    """The class of proxied classes that are collections themselves, as enumerations are."""

    def __bool__(cls) -> bool:
        return True

    def __contains__(cls, other: object) -> bool:
        """Of plain data the candidate is not asked, which would say that it is there: it is looked for among what there is."""
        if isinstance(other, (Proxy, ProxyClass)):
            return Border.peer.request("op", "contains", _ref(cls), other) is True
        own: Any = cls
        try:
            parts = iter(own)
        except TypeError:
            Border.peer.refuse("the candidate returned a class that only it can look for data in")
            raise
        enum = facts(cls).enum
        return any(part is other or part == other or (enum and part.value == other) for part in parts)


def _alias(cls: ProxyClass, part: Any, found: object) -> object:
    """`Stack[int]()` makes what `Stack()` makes; another `__class_getitem__` gives what it gives."""
    return types.GenericAlias(cls, part) if type(found).__name__ == "_GenericAlias" else found


def _of_collection(operation: str) -> object:
    """Of one that is not under test the length is that of what is in it, which stays until the candidate is asked for more."""

    def method(cls: ProxyClass, *args: object) -> object:
        sent, held = namespace(cls).get("_border_held", Proxy._border_held)
        if operation == "len" and not facts(cls).tested:
            held = [*Border.peer.request("op", "iter", _ref(cls))]
            type.__setattr__(cls, "_border_held", (Border.peer.sent, held))
        elif held is None or sent != Border.peer.sent or not all(type(arg) in (int, slice) for arg in args):
            return Border.peer.request("op", operation, _ref(cls), *args)
        return OPERATIONS[operation](held, *args)

    return method


for _name in ("iter", "reversed", "getitem", "len"):
    setattr(ProxyCollection, f"__{_name}__", _of_collection(_name))


class Proxy:
    """An object of the candidate."""

    _border = Facts(0)
    # types in comments: annotations of this class would be those of each object
    _border_asked = None  # type: object  # the name by which the tests read one that can be called of another
    _border_held = None, None  # type: tuple[int, list[object]] | tuple[None, None]  # of a sequence: what it held at a message
    __setattr__ = assign
    __delattr__ = delete
    __dir__ = listed

    def __getattr__(self, name: str) -> object:
        if not name.startswith("__"):
            compared(self, name)
        return read(self, name, asked(self, name), facts(type(self)).tested)

    def __copy__(self) -> object:
        return Border.peer.request("op", "copy", self)

    def __deepcopy__(self, memo: object) -> object:
        return Border.peer.request("op", "deepcopy", self)

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError("an object of the candidate cannot be pickled across the border; use fidelity='shared'")

    def __del__(self) -> None:
        try:
            # one that was garbage of an earlier job in this process has numbers that are others' by now
            if facts(type(self)).peer is Border.peer:
                Border.peer.release(number_of(self), self)
        except Exception:  # noqa: BLE001  at shutdown anything may be gone
            return


def made_without_init(cls: Any, /, *args: object, **named: object) -> object:
    """The `__new__` of a class of the candidate: tests that call it make an object without `__init__`."""
    made = Border.peer.request("new", Ref(own_number(cls)), args, named)
    return Border.peer.constructed(made, cls) if facts(cls).tested else made


class ProxyObject(Proxy):
    """An object whose class derives from no value type."""

    # only tests call it, of an object that there is already: what is made is made on the other side
    def __init__(self, *args: object, **named: object) -> None:
        asked(self, "__init__")(*args, **named)

    @property
    def __dict__(self) -> object:  # type: ignore[override]
        return Border.peer.request("vars", self)


class ProxyValue(Proxy):
    """An object whose class derives from a value type: it has crossed as that value, and counts as it."""


class ProxyException(ProxyObject):
    """An exception of a class of the candidate."""

    def __str__(self) -> str:
        text = object.__getattribute__(self, "__dict__").get("_border_str")
        return BaseException.__str__(self) if text is None else text  # type: ignore[arg-type]

    def __repr__(self) -> str:
        text = object.__getattribute__(self, "__dict__").get("_border_repr")
        return BaseException.__repr__(self) if text is None else text  # type: ignore[arg-type]

    __dict__ = vars(BaseException)["__dict__"]

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        value = Proxy.__getattr__(self, name)
        BaseException.__setattr__(self, name, value)  # taken once: an exception is what it was when it crossed
        return value

    __setattr__ = BaseException.__setattr__  # type: ignore[assignment]


MIRRORS = frozenset((Proxy, ProxyObject, ProxyValue, ProxyException))


def _related(how: str, value: object, cls: ProxyClass) -> bool:
    """Ask the candidate where it may know more: protocols, `__subclasshook__`, `register`. An exception is what it derives from."""
    if "_border" not in namespace(cls) or type.__subclasscheck__(BaseException, cls):
        return False
    if facts(cls).peer is not Border.peer:  # of an earlier job in this process, which an ABC knows still
        return False
    return Border.peer.request(how, value, cls) is True
