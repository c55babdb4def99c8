"""When an object of the candidate may be compared with, or combined with, data of the tests.

A candidate's object never equals a plain value because it says so. Objects of classes that the tests do not name never
see the tests' data at all. Objects of a named class are asked, but hidden among values that are wrong: an object that
agrees to a wrong one, or that does not agree twice to the right one, agrees to none.
"""

from __future__ import annotations

import random
from typing import Any

from .peer import Closed, Protocol, Ref

DECOYS = 24
_ASKED_TWICE = 2
_draw = random.SystemRandom()


def decoys(value: Any) -> list[Any]:
    """Return wrong values that look like `value`."""
    found: list[Any] = []
    for _ in range(DECOYS * 3):
        other = _near(value, 0)
        if type(other) is type(value) and not _same(other, value) and not any(_same(other, known) for known in found):
            found.append(other)
        if len(found) >= DECOYS:
            break
    return found or [[value], "\0"]


def _same(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except RecursionError:
        return True


def _near(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is bool:
        return not value
    if kind is int:
        return value + _draw.choice((-1, 1)) * _draw.randint(
            1, max(3, abs(value) // 2 if value.bit_length() < 64 else 9)
        )
    if kind is float:
        return value + _draw.choice((-1, 1)) * _draw.choice((0.5, 1.0, 2.0, 0.25, 3.5, abs(value) / 2 + 0.125))
    if kind is complex:
        return value + complex(_draw.randint(-3, 3), _draw.randint(-3, 3))
    if kind is str:
        return _near_text(value)
    if kind is bytes:
        return _near_text(value.decode("latin1")).encode("latin1", "replace")
    if kind in (list, tuple) and depth < 3:
        return kind(_near_sequence(list(value), depth))
    if kind in (set, frozenset):
        parts = sorted(value, key=repr)
        try:
            return kind(_near_sequence(parts, depth))
        except TypeError:
            return value | {"\0"}
    if kind is dict and depth < 3 and value:
        key = _draw.choice(list(value))
        if _draw.random() < 0.5:
            return {name: part for name, part in value.items() if name is not key}
        return {**value, key: _near(value[key], depth + 1)}
    if kind is dict:
        return {_draw.choice("abcdefgh"): _draw.randint(0, 9)}
    try:
        return value + kind(_draw.randint(1, 9))
    except Exception:  # noqa: BLE001  a value that has no neighbours
        return None


def _near_text(text: str) -> str:
    alphabet = text + "abcdefghijklmnopqrstuvwxyz0123456789"
    at = _draw.randrange(len(text) + 1)
    how = _draw.random()
    if how < 0.4 or not text:
        return text[:at] + _draw.choice(alphabet) + text[at:]
    if how < 0.8:
        return text[:at] + _draw.choice(alphabet) + text[at + 1 :]
    return text[:at] + text[at + 1 :]


def _near_sequence(parts: list[Any], depth: int) -> list[Any]:
    how = _draw.random()
    at = _draw.randrange(len(parts) + 1)
    if not parts or how < 0.15:
        return [*parts[:at], _draw.randint(0, 9), *parts[at:]]
    at = min(at, len(parts) - 1)
    if how < 0.3:
        return parts[:at] + parts[at + 1 :]
    return [*parts[:at], _near(parts[at], depth + 1), *parts[at + 1 :]]


def agrees(peer: Any, number: int, value: Any) -> bool:
    """Ask an object of a named class whether it equals `value`, in a way that only an honest answer survives."""
    questions = [(value, True)] * _ASKED_TWICE + [(wrong, False) for wrong in decoys(value)]
    _draw.shuffle(questions)
    yes, deceived = 0, False
    for asked, real in questions:
        try:
            answer = peer.request("op", "eq", Ref(number), asked) is True
        except (Closed, Protocol):
            raise
        except BaseException:
            if real:
                raise
            answer = False
        if real:
            yes += answer
        elif answer:
            deceived = True
    return yes == _ASKED_TWICE and not deceived


def depends_on(peer: Any, operation: str, number: int, value: Any, result: Any) -> bool:
    """An arithmetic result that is plain must change with the data it was computed from."""
    for wrong in decoys(value)[:2]:
        try:
            other = peer.request("op", operation, Ref(number), wrong)
        except (Closed, Protocol):
            raise
        except BaseException:  # noqa: BLE001  honest arithmetic may refuse a wrong operand
            return True
        if type(other) is not type(result) or not _same(other, result):
            return True
    return False
