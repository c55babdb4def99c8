"""What crosses by value: exact builtins, shared containers, a list of stdlib values, builtins by name."""

from __future__ import annotations

import argparse
import array
import builtins
import collections
import datetime
import decimal
import fractions
import functools
import gc
import http
import pathlib
import re
import sys
import types
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any, cast

SCALARS = frozenset((str, int, float, bool, type(None)))
_ORDERED, _DEQUE, _ARRAY = collections.OrderedDict, collections.deque, cast(Any, array.array)
# integers beyond this travel as hexadecimal: reading decimal digits takes quadratic time
PLAIN_INT_BITS = 256


@dataclass(frozen=True, slots=True)
class Value:
    """A type that crosses by value: to plain data and back. Without `make` the type is called with the parts.

    `container`: what it is kept as, where both sides hold it.
    """

    type: type
    plain: Callable[[Any], Any]
    make: Callable[[Any], object] | None = None
    container: str = ""

    def made(self, plain: Any) -> object:
        """Return the value that stands for plain data."""
        kind: Any = self.type
        return kind(*plain) if self.make is None else self.make(plain)


@dataclass(frozen=True, slots=True)
class MutableType:
    """A mutable type that both sides hold a copy of, kept equal: identity and mutation survive the crossing."""

    type: type
    contents: Callable[[Any], list[object]]
    fill: Callable[[Any, list[Any]], object]
    extra: Callable[[Any], object] = lambda value: None
    make: Callable[[object, object], object] | None = None

    def empty(self, cls: object, extra: object) -> object:
        """Return an empty one, of this type or a class derived from it."""
        kind: Any = self.type
        return kind.__new__(cls) if self.make is None else self.make(cls, extra)


# made, read and filled by the builtins' own methods: those of a class derived from one are the candidate's
def _new_deque(cls: Any, maxlen: Any) -> object:
    value = _DEQUE.__new__(cls)
    _DEQUE.__init__(value, (), maxlen)
    return value


def _halves(value: Any, kind: Any = dict) -> list[object]:
    """All keys, then all values: pairs would be made one by one, which takes ten times as long, and this is asked at each crossing."""
    # at once: another thread may change it
    return [*chain(kind.keys(value), kind.values(value))]


def pairs(halves: list[object]) -> Iterable[tuple[object, object]]:
    """Return keys with their values."""
    count = len(halves) // 2
    return zip(halves[:count], halves[count:], strict=True)


def _fill_dict(value: dict[object, object], contents: list[object]) -> None:
    dict.clear(value)
    dict.update(value, pairs(contents))


def _fill_ordered(value: Any, contents: list[object]) -> None:
    _ORDERED.clear(value)
    for key, part in pairs(contents):
        _ORDERED.__setitem__(value, key, part)


_FACTORY: Any = vars(collections.defaultdict)["default_factory"]


def _fill_default(value: Any, contents: list[Any]) -> None:
    _FACTORY.__set__(value, contents[0])
    _fill_dict(value, contents[1:])


def _filling(
    clear: Callable[[Any], object], add: Callable[[Any, list[Any]], object]
) -> Callable[[Any, list[Any]], object]:
    def fill(value: object, contents: list[object]) -> None:
        clear(value)
        add(value, contents)

    return fill


def _fill_array(value: Any, contents: list[Any]) -> None:
    value[:] = _ARRAY(value.typecode, contents)


def _namespace(value: object) -> list[object]:
    return _halves({name: part for name, part in list(vars(value).items()) if not str(name).startswith("_border")})


# special names are protocols of libraries: `get_type_hints` evaluates what `__annotations__` holds, numpy reads the memory that
# `__array_interface__` names
_NEVER_FILLED = ("_border", "__")


def _fill_namespace(value: object, contents: list[object]) -> None:
    held = vars(value)
    kept = {name: part for name, part in held.items() if name.startswith(_NEVER_FILLED)}
    given = [(str(name), part) for name, part in pairs(contents)]
    held.clear()
    held.update((name, part) for name, part in given if not name.startswith(_NEVER_FILLED))
    held.update(kept)  # which object of the other side it stands for, whatever that one says


def _zone(value: datetime.datetime | datetime.time) -> object:
    """A fixed offset or a zone's name; what a class of zones of the candidate's own says is asked once."""
    zone, offset = value.tzinfo, value.utcoffset()
    if zone is None or _is_zone(zone):
        return zone
    return None if offset is None else datetime.timezone(offset)


def _is_zone(zone: object) -> bool:
    known = getattr(sys.modules.get("zoneinfo"), "ZoneInfo", None)
    return type(zone) in (datetime.timezone, known) or isinstance(
        zone, getattr(sys.modules.get("pytz"), "BaseTzInfo", ())
    )


def _zoned(zone: object) -> object:
    if zone is not None and not _is_zone(zone):
        raise TypeError("not a time zone")
    return zone


_ON_DATE, _AT_TIME = attrgetter("year", "month", "day"), attrgetter("hour", "minute", "second", "microsecond")
_BETWEEN = attrgetter("start", "stop", "step")


def _time(value: datetime.datetime | datetime.time) -> tuple[object, ...]:
    return *_AT_TIME(value), _zone(value), value.fold


def _moment(value: datetime.datetime) -> tuple[object, ...]:
    return *_ON_DATE(value), *_time(value)


def _timed(make: Callable[..., object], parts: tuple[object, ...]) -> object:
    *plain, zone, fold = parts
    return make(*plain, _zoned(zone), fold=fold)


def _matched(pattern: re.Pattern[Any], string: Any, start: int, stop: int, end: int) -> object:
    """What a pattern matches from `start`: that ends where it is said to, or was asked to fill what lies before."""
    if type(string) in (str, bytes) and type(start) is type(stop) is type(end) is int:
        for match in (
            re.Pattern.match(pattern, string, start, stop),
            re.Pattern.fullmatch(pattern, string, start, end),
        ):
            if match is not None and match.end() == end:
                return match
    raise TypeError("not a match")


# of a dictionary, by how its views are called, what makes one that has such a view of what is given
_MAKES_VIEWED: dict[str, Callable[[Any, Any], object]] = {
    "keys": lambda kind, parts: kind.fromkeys(parts),
    "values": lambda kind, parts: kind(enumerate(parts)),
    "items": lambda kind, parts: kind(parts),
}


def _view(kind: Any, name: str, plain: object) -> object:
    return getattr(kind, name)(plain if isinstance(plain, kind) else _MAKES_VIEWED[name](kind, plain))


def _of_memoryview(view: memoryview) -> bytes:
    if type(view.obj) is not bytes:
        raise TypeError("a memoryview of what can be written to does not cross; give bytes, or use fidelity: shared")
    return bytes(view)


VALUES: dict[str, Value] = {
    "decimal": Value(decimal.Decimal, lambda v: (decimal.Decimal.__str__(v),)),
    "fraction": Value(fractions.Fraction, attrgetter("numerator", "denominator")),
    "date": Value(datetime.date, _ON_DATE),
    "timedelta": Value(datetime.timedelta, attrgetter("days", "seconds", "microseconds")),
    "timezone": Value(datetime.timezone, lambda v: v.__getinitargs__()),
    "datetime": Value(datetime.datetime, _moment, lambda p: _timed(datetime.datetime, p)),
    "time": Value(datetime.time, _time, lambda p: _timed(datetime.time, p)),
    "uuid": Value(uuid.UUID, lambda v: v.int, lambda p: uuid.UUID(int=p)),
    "purepath": Value(pathlib.PurePosixPath, lambda v: (str(v),)),
    "path": Value(pathlib.PosixPath, lambda v: (str(v),)),
    "windowspath": Value(pathlib.PureWindowsPath, lambda v: (str(v),)),
    "complex": Value(complex, attrgetter("real", "imag")),
    "range": Value(range, _BETWEEN),
    "slice": Value(slice, _BETWEEN),
    "ellipsis": Value(type(...), lambda v: ()),
    "memoryview": Value(memoryview, _of_memoryview, memoryview),
    # an OrderedDict has views of its own classes
    **{
        f"{of}{name}": Value(type(getattr(kind(), name)()), list, partial(_view, kind, name))
        for of, kind in (("", dict), ("ordered ", _ORDERED))
        for name in _MAKES_VIEWED
    },
    "mappingproxy": Value(types.MappingProxyType, dict, types.MappingProxyType),
    "pattern": Value(re.Pattern, lambda v: (v.pattern, v.flags), lambda p: re.compile(*p)),
    "alias": Value(types.GenericAlias, lambda v: (v.__origin__, v.__args__)),
    "notimplemented": Value(type(NotImplemented), lambda v: ()),
    "httpstatus": Value(http.HTTPStatus, lambda v: (v.value,)),
    "cache_info": Value(functools._CacheInfo, tuple),
    "match": Value(re.Match, lambda v: (v.re, v.string, v.start(), v.endpos, v.end()), lambda p: _matched(*p)),
}
VALUE_NAMES: dict[type, str] = {value.type: name for name, value in VALUES.items()}
VIEWS = frozenset(value.type for name, value in VALUES.items() if name.split()[-1] in (*_MAKES_VIEWED, "mappingproxy"))


def seen_through(value: object) -> object:
    """Return the dictionary that a view shows: both sides' views are to show it as it changes. None for any other value."""
    # it says in no other way which one
    whole = gc.get_referents(value)[0] if type(value) in VIEWS else None
    return whole if isinstance(whole, dict) else None


CONTAINERS: dict[str, MutableType] = {
    # at once: another thread may look at it
    "L": MutableType(list, list.copy, lambda v, contents: list.__setitem__(v, slice(None), contents)),
    "D": MutableType(dict, _halves, _fill_dict),
    "S": MutableType(set, lambda v: [*set.__iter__(v)], _filling(set.clear, set.update)),
    "OD": MutableType(_ORDERED, lambda v: _halves(v, _ORDERED), _fill_ordered),
    "CT": MutableType(collections.Counter, _halves, _fill_dict),
    "DD": MutableType(collections.defaultdict, lambda v: [_FACTORY.__get__(v), *_halves(v)], _fill_default),
    "DQ": MutableType(
        _DEQUE,
        lambda v: [*_DEQUE.__iter__(v)],
        _filling(_DEQUE.clear, _DEQUE.extend),
        _DEQUE.maxlen.__get__,
        _new_deque,
    ),
    "A": MutableType(_ARRAY, list, _fill_array, lambda v: v.typecode, lambda cls, extra: _ARRAY.__new__(cls, extra)),
    "NS": MutableType(types.SimpleNamespace, _namespace, _fill_namespace),
    "NA": MutableType(argparse.Namespace, _namespace, _fill_namespace),
    "BA": MutableType(
        bytearray, lambda v: [bytes(v)], lambda v, contents: bytearray.__setitem__(v, slice(None), b"".join(contents))
    ),
}
CONTAINER_NAMES: dict[type, str] = {container.type: name for name, container in CONTAINERS.items()}

# classes derived from these keep their base value on the trusted side, and are compared by it there (not Fraction, whose
# metaclass no proxy can have); and how it is read without asking the class
HELD: dict[type, Callable[[Any], Any]] = {
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
    bytes: bytes.__bytes__,
    complex: complex.__complex__,
    tuple: lambda value: tuple(tuple.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
}


def _builtin_base(base: Any) -> Callable[[type, Any], object]:
    return lambda cls, value: base.__new__(cls, HELD[base](value))


# makes an object of a class, of the base itself too, from one that holds the same
BASES: dict[type, Callable[[type, Any], object]] = {
    **{base: _builtin_base(base) for base in HELD},
    decimal.Decimal: lambda cls, v: decimal.Decimal.__new__(cls, v),
    datetime.datetime: lambda cls, v: _timed(functools.partial(datetime.datetime.__new__, cls), _moment(v)),
    datetime.date: lambda cls, v: datetime.date.__new__(cls, v.year, v.month, v.day),
    datetime.timedelta: lambda cls, v: datetime.timedelta.__new__(cls, v.days, v.seconds, v.microseconds),
}

# IOError and EnvironmentError are left out, which are other names of OSError
EXCEPTIONS: dict[str, type[BaseException]] = {
    name: value
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException) and value.__name__ == name
}
EXCEPTION_NAMES: dict[type, str] = {value: name for name, value in EXCEPTIONS.items()}
# called here, by a function of the tests that calls what it is given, they would act on this side's files and frames, look
# into its objects, or make classes whose objects judge
_NEVER = frozenset(
    "exec eval compile open input breakpoint exit quit help globals locals vars print getattr setattr delattr copyright"
    " credits license memoryview super type hasattr dir format format_map".split()
)


def _by_name() -> dict[str, object]:
    found = {
        name: value
        for name, value in vars(builtins).items()
        if callable(value) and not name.startswith("_") and name not in _NEVER
    }
    builtin: tuple[type, ...] = (str, list, dict, int, float, set, tuple, bytes)
    for cls in builtin:
        for name in dir(cls):
            method = getattr(cls, name)
            if not name.startswith("_") and name not in _NEVER and isinstance(method, types.MethodDescriptorType):
                found[f"{cls.__name__}.{name}"] = method
    for cls in (*VALUE_NAMES, *CONTAINER_NAMES, type(None)):
        found.setdefault(f"{cls.__module__}.{cls.__name__}", cls)
    return found


NAMED: dict[str, object] = _by_name()
NAME_OF: dict[int, str] = {id(value): name for name, value in reversed(NAMED.items())}


class Catching(type):
    """The class of what stands for a class of exceptions that the candidate gave: equal to it, and not above the tests' own.

    So whatever way such a class took to a handler of the tests, no check of theirs ends there.
    """

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.__base__

    def __hash__(cls) -> int:
        return hash(cls.__base__)


# a failed check is one of these, or in one
_OF_CHECKS: tuple[type, ...] = (object, BaseException, Exception, AssertionError, BaseExceptionGroup, ExceptionGroup)
CATCHING: dict[str, type] = {
    cls.__name__: Catching(cls.__name__, (cls,), {"__module__": "builtins"}) for cls in _OF_CHECKS
}


NAME_OF.update((id(cls), name) for name, cls in CATCHING.items())


def all_scalars(contents: Iterable[object]) -> bool:
    """Every element is a scalar."""
    return SCALARS.issuperset(map(type, contents))


def none_large(contents: Iterable[object]) -> bool:
    """None of these scalars is an integer that goes as hexadecimal."""
    integers = [part for part in contents if type(part) is int]
    return max(map(int.bit_length, integers), default=0) <= PLAIN_INT_BITS


def large(value: int) -> bool:
    """This integer goes as hexadecimal."""
    return value.bit_length() > PLAIN_INT_BITS
