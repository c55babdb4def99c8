"""Wrong values among which a right one cannot be told.

The numbers 0..63 act on plain data, each flipping bits of the numbers, letters and digits in it. A value stands among all
that it can be turned into, and from each of these one gets the same set: who sees the set knows nothing of which value it
was made from, however often it is made and however much of it was seen before.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import pathlib
import uuid
from typing import Any

SIZE = 64
_BITS = 6
_MOST_PARTS = 400_000  # parts of all variants together
_LEAST = 8
_HEAD = 3  # digits of a number that vary: not the last of many, which a tolerance would hide
_RUNS = tuple(
    (ord(start), size)
    for start, size in (("a", 16), ("q", 8), ("y", 2), ("A", 16), ("Q", 8), ("Y", 2), ("0", 8), ("8", 2))
)
_SWAPS = {start + offset: (start, size) for start, size in _RUNS for offset in range(size)}
_FOILS: tuple[Any, ...] = ([0], ["a"], [None], {0: 0}, {"a": 1}, (0,), "a", (1, 2))


class NotPlain(Exception):
    """The value holds something that does not cross by value."""


class _Turn:
    """One of the numbers at work on one value; how it turns a part depends on the part's place."""

    def __init__(self, by: int) -> None:
        self.by, self.place = by, 0

    def _number(self) -> int:
        """The number for the next place: its bits rotated, so that parts change independently."""
        shift = self.place % _BITS
        self.place += 1
        return (self.by >> shift | self.by << (_BITS - shift)) & (SIZE - 1)

    def integer(self, value: int) -> int:
        return value - value % SIZE + (value % SIZE ^ self._number())

    def text(self, value: str) -> str:
        parts = []
        for at, char in enumerate(value):
            start, size = _SWAPS.get(ord(char), (ord(char), 1))
            shift = at % _BITS
            by = (self.by >> shift | self.by << (_BITS - shift)) & (size - 1)
            parts.append(chr(start + (ord(char) - start ^ by)))
        return "".join(parts)

    def decimal(self, value: decimal.Decimal) -> decimal.Decimal:
        sign, digits, exponent = value.as_tuple()
        if not isinstance(exponent, int):
            return value
        head = int("".join(map(str, digits[:_HEAD])))
        turned = str(self.integer(head)).zfill(min(_HEAD, len(digits)))
        return decimal.Decimal((sign, (*map(int, turned), *digits[_HEAD:]), exponent))

    def turn(self, value: Any) -> Any:
        """Return a new value, no part of it shared with the old one."""
        kind = type(value)
        if kind is bool:
            return value ^ bool(self._number() & 1)
        if kind is int:
            return self.integer(value)
        if kind is float:
            return float(self.decimal(decimal.Decimal(repr(value))))
        if kind is str:
            return self.text(value)
        if kind in (list, tuple):
            return kind([self.turn(part) for part in value])
        if kind in (set, frozenset):
            # no order to number places by: every part is turned the same way
            return kind([_Turn(self.by).turn(part) for part in value])
        if kind is dict:
            return {self.turn(key): self.turn(part) for key, part in value.items()}
        if kind in _TURNED:
            return _TURNED[kind](self, value)
        if value is None or kind in (type(...), type(NotImplemented)):
            return value
        raise NotPlain


def _date(turn: _Turn, value: datetime.date) -> datetime.date:
    return datetime.date.fromordinal(max(1, turn.integer(value.toordinal())))


_TURNED: dict[type, Any] = {
    complex: lambda turn, v: complex(turn.turn(v.real), turn.turn(v.imag)),
    bytes: lambda turn, v: turn.text(v.decode("latin1")).encode("latin1"),
    bytearray: lambda turn, v: bytearray(turn.text(v.decode("latin1")).encode("latin1")),
    decimal.Decimal: _Turn.decimal,
    fractions.Fraction: lambda turn, v: fractions.Fraction(turn.integer(v.numerator), v.denominator),
    datetime.date: _date,
    datetime.datetime: lambda turn, v: datetime.datetime.combine(_date(turn, v.date()), v.timetz()),
    datetime.timedelta: lambda turn, v: datetime.timedelta(turn.integer(v.days), v.seconds, v.microseconds),
    uuid.UUID: lambda turn, v: uuid.UUID(int=turn.integer(v.int)),
    range: lambda turn, v: range(turn.integer(v.start), v.stop, v.step),
    pathlib.PosixPath: lambda turn, v: pathlib.PosixPath(turn.text(str(v))),
    pathlib.PurePosixPath: lambda turn, v: pathlib.PurePosixPath(turn.text(str(v))),
}


def variants(value: Any) -> list[Any]:
    """Return `value`, anew, and after it what it can be turned into, each once.

    Raises:
        NotPlain: the value is, or holds, more than plain data.
    """
    size, parts = SIZE, _parts(value)
    while size > _LEAST and size * parts > _MOST_PARTS:
        size //= 2
    found: dict[str, Any] = {}
    for by in range(size):
        turned = _Turn(by).turn(value)
        found.setdefault(repr(turned), turned)
    if len(found) == 1:  # nothing in it to turn: an empty list, None
        found.update((repr(foil), foil) for foil in _FOILS if repr(foil) not in found)
    return list(found.values())


def _parts(value: Any) -> int:
    kind = type(value)
    if kind is dict:
        return 1 + sum(_parts(key) + _parts(part) for key, part in value.items())
    if kind in (list, tuple, set, frozenset):
        return 1 + sum(map(_parts, value))
    return 1 + len(value) // 8 if kind in (str, bytes, bytearray) else 1


def step(value: Any) -> float:
    """How far apart the variants of a number are, at least."""
    if type(value) is int:
        return 1.0
    number = decimal.Decimal(repr(value)) if type(value) is float else value
    if type(number) is fractions.Fraction:
        return float(fractions.Fraction(1, number.denominator))
    if type(number) is not decimal.Decimal or not number.is_finite():
        return 0.0
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    return float(decimal.Decimal(1).scaleb(exponent + max(0, len(digits) - _HEAD)))


__all__ = ["SIZE", "NotPlain", "step", "variants"]
