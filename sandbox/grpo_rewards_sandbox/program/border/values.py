"""What crosses by value: exact builtins, shared containers, a list of stdlib values, builtins by name."""

from __future__ import annotations

import array
import builtins
import collections
import datetime
import decimal
import fractions
import pathlib
import re
import types
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

SCALARS = frozenset((str, int, float, bool, type(None)))
# integers beyond this travel as hexadecimal: reading decimal digits takes quadratic time
PLAIN_INT_BITS = 256


@dataclass(frozen=True, slots=True)
class Value:
    """A type that crosses by value: to plain data and back."""

    type: type
    plain: Callable[[Any], Any]
    make: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Container:
    """A mutable type that both sides hold a copy of, kept equal: identity and mutation survive the crossing."""

    type: type
    contents: Callable[[Any], list[Any]]
    fill: Callable[[Any, list[Any]], Any]
    empty: Callable[[Any], Any]
    extra: Callable[[Any], Any] = lambda value: None


def _pairs(value: Any) -> list[Any]:
    return [part for pair in dict.items(value) for part in pair]


def _fill_dict(value: Any, contents: list[Any]) -> None:
    dict.clear(value)
    dict.update(value, zip(contents[::2], contents[1::2], strict=True))


def _fill_ordered(value: Any, contents: list[Any]) -> None:
    value.clear()
    value.update(zip(contents[::2], contents[1::2], strict=True))


def _fill_list(value: Any, contents: list[Any]) -> None:
    value[:] = contents


def _fill_set(value: Any, contents: list[Any]) -> None:
    value.clear()
    value.update(contents)


def _fill_deque(value: Any, contents: list[Any]) -> None:
    value.clear()
    value.extend(contents)


def _fill_array(value: Any, contents: list[Any]) -> None:
    value[:] = array.array(value.typecode, contents)


def _fill_namespace(value: Any, contents: list[Any]) -> None:
    _fill_dict(vars(value), [str(part) if at % 2 == 0 else part for at, part in enumerate(contents)])


def _moment(value: datetime.datetime) -> tuple[Any, ...]:
    return (*value.timetuple()[:6], value.microsecond, value.tzinfo, value.fold)


VALUES: dict[str, Value] = {
    "decimal": Value(decimal.Decimal, str, decimal.Decimal),
    "fraction": Value(fractions.Fraction, lambda v: (v.numerator, v.denominator), lambda p: fractions.Fraction(*p)),
    "date": Value(datetime.date, lambda v: (v.year, v.month, v.day), lambda p: datetime.date(*p)),
    "timedelta": Value(
        datetime.timedelta, lambda v: (v.days, v.seconds, v.microseconds), lambda p: datetime.timedelta(*p)
    ),
    "timezone": Value(
        datetime.timezone,
        lambda v: v.utcoffset(None),
        lambda p: datetime.timezone(p) if p else datetime.UTC,
    ),
    "datetime": Value(datetime.datetime, _moment, lambda p: datetime.datetime(*p[:8], fold=p[8])),
    "time": Value(
        datetime.time,
        lambda v: (v.hour, v.minute, v.second, v.microsecond, v.tzinfo, v.fold),
        lambda p: datetime.time(*p[:5], fold=p[5]),
    ),
    "uuid": Value(uuid.UUID, lambda v: v.int, lambda p: uuid.UUID(int=p)),
    "purepath": Value(pathlib.PurePosixPath, str, pathlib.PurePosixPath),
    "path": Value(pathlib.PosixPath, str, pathlib.PosixPath),
    "complex": Value(complex, lambda v: (v.real, v.imag), lambda p: complex(*p)),
    "range": Value(range, lambda v: (v.start, v.stop, v.step), lambda p: range(*p)),
    "slice": Value(slice, lambda v: (v.start, v.stop, v.step), lambda p: slice(*p)),
    "ellipsis": Value(type(...), lambda v: None, lambda p: ...),
    "memoryview": Value(memoryview, bytes, memoryview),
    "keys": Value(type({}.keys()), list, lambda p: dict.fromkeys(p).keys()),
    "values": Value(type({}.values()), list, lambda p: dict(enumerate(p)).values()),
    "items": Value(type({}.items()), list, lambda p: dict(p).items()),
    "mappingproxy": Value(types.MappingProxyType, dict, types.MappingProxyType),
    "pattern": Value(re.Pattern, lambda v: (v.pattern, v.flags), lambda p: re.compile(*p)),
    "alias": Value(
        types.GenericAlias, lambda v: (v.__origin__, v.__args__), lambda p: cast(Any, types.GenericAlias)(*p)
    ),
    "notimplemented": Value(type(NotImplemented), lambda v: None, lambda p: NotImplemented),
}
VALUE_NAMES: dict[type, str] = {value.type: name for name, value in VALUES.items()}

CONTAINERS: dict[str, Container] = {
    "L": Container(list, list, _fill_list, lambda extra: []),
    "D": Container(dict, _pairs, _fill_dict, lambda extra: {}),
    "S": Container(set, list, _fill_set, lambda extra: set()),
    "OD": Container(
        collections.OrderedDict,
        lambda v: [part for pair in v.items() for part in pair],
        _fill_ordered,
        lambda extra: collections.OrderedDict(),
    ),
    "CT": Container(collections.Counter, _pairs, _fill_dict, lambda extra: collections.Counter()),
    "DD": Container(
        collections.defaultdict,
        _pairs,
        _fill_dict,
        lambda extra: collections.defaultdict(extra),
        lambda v: v.default_factory,
    ),
    "DQ": Container(
        collections.deque, list, _fill_deque, lambda extra: collections.deque(maxlen=extra), lambda v: v.maxlen
    ),
}
CONTAINERS["A"] = Container(array.array, list, _fill_array, lambda extra: array.array(extra), lambda v: v.typecode)
CONTAINERS["NS"] = Container(
    types.SimpleNamespace, lambda v: _pairs(vars(v)), _fill_namespace, lambda extra: types.SimpleNamespace()
)
CONTAINER_NAMES: dict[type, str] = {container.type: name for name, container in CONTAINERS.items()}

# classes derived from these keep their base value on the trusted side, and are compared by it there
BASES: tuple[type, ...] = (bool, int, float, str, bytes, complex, tuple, frozenset)
BASE_BY_NAME: dict[str, type] = {base.__name__: base for base in BASES}
STDLIB_BASES: dict[type, Callable[[type, Any], Any]] = {
    decimal.Decimal: lambda cls, v: decimal.Decimal.__new__(cls, v),
    fractions.Fraction: lambda cls, v: fractions.Fraction.__new__(cls, v.numerator, v.denominator),
    datetime.datetime: lambda cls, v: datetime.datetime.__new__(cls, *_moment(v)[:8], fold=v.fold),
    datetime.date: lambda cls, v: datetime.date.__new__(cls, v.year, v.month, v.day),
    datetime.timedelta: lambda cls, v: datetime.timedelta.__new__(cls, v.days, v.seconds, v.microseconds),
}

EXCEPTIONS: dict[str, type[BaseException]] = {
    name: value
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException) and value.__name__ == name
}
EXCEPTION_NAMES: dict[type, str] = {value: name for name, value in EXCEPTIONS.items()}
_NEVER = frozenset(
    [
        "exec",
        "eval",
        "compile",
        "open",
        "input",
        "breakpoint",
        "exit",
        "quit",
        "help",
        "globals",
        "locals",
        "vars",
        "print",
        "getattr",
        "setattr",
        "delattr",
        "copyright",
        "credits",
        "license",
        "memoryview",
        "super",
    ]
)


def _by_name() -> dict[str, Any]:
    found = {
        name: value
        for name, value in vars(builtins).items()
        if callable(value) and not name.startswith("_") and name not in _NEVER
    }
    builtin: tuple[type, ...] = (str, list, dict, int, float, set, tuple, bytes)
    for cls in builtin:
        for name in dir(cls):
            method = getattr(cls, name)
            if not name.startswith("_") and isinstance(method, types.MethodDescriptorType):
                found[f"{cls.__name__}.{name}"] = method
    for cls in (*VALUE_NAMES, *CONTAINER_NAMES):
        found.setdefault(f"{cls.__module__}.{cls.__name__}", cls)
    return found


NAMED: dict[str, Any] = _by_name()
NAME_OF: dict[int, str] = {id(value): name for name, value in reversed(NAMED.items())}


def all_scalars(contents: Iterable[Any]) -> bool:
    """Every element is a scalar."""
    return SCALARS.issuperset(map(type, contents))


def filter_integers(contents: Iterable[Any]) -> list[int]:
    """Return the integers among scalars."""
    return [part for part in contents if type(part) is int]


def large(value: int) -> bool:
    """This integer goes as hexadecimal."""
    return value.bit_length() > PLAIN_INT_BITS
