"""Reading the arguments of checks: each takes a cell and returns what the check gets, or says what it must be."""

from __future__ import annotations

LANGUAGES = frozenset(
    "en es pt ar hi fr ru de ja it bn uk th ur ta te bg ko pl he fa vi ne sw kn mr gu pa ml fi".split()  # noqa: SIM905
)
"""The codes that IFEval knows."""


def count(value: object) -> int:
    """A number of 0 or more; data in columns may hold it as a float."""
    # the floor of infinity is NaN, and NaN equals nothing, so both are refused as fractions are
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value != value // 1:
        raise ValueError("a whole number of 0 or more")
    return int(value)


def position(value: object) -> int:
    """A place counted from 1."""
    found = count(value)
    if not found:
        raise ValueError("a place counted from 1")
    return found


def text(value: object) -> str:
    """A text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("a text")
    return value


def first_text(value: object) -> str:
    """A text, or the first of a list of texts."""
    return text(value[0] if isinstance(value, list | tuple) and value else value)


def texts(value: object) -> tuple[str, ...]:
    """A list of texts, at least one."""
    if isinstance(value, str) or not isinstance(value, list | tuple) or not value:
        raise ValueError("a list of texts")
    return tuple(map(text, value))


def string(value: object) -> str:
    """A text, blank or not."""
    if not isinstance(value, str):
        raise ValueError("a text")
    return value


def strings(value: object) -> tuple[str, ...]:
    """A list of texts; a single text is one of its characters, as Python's loops have it."""
    if not isinstance(value, str | list | tuple):
        raise ValueError("a list of texts")
    return tuple(map(string, value))


def quantifier(value: object) -> str:
    """How a number is compared."""
    if value not in ("at least", "around", "at most"):
        raise ValueError("'at least', 'around' or 'at most'")
    return str(value)


def relation(value: object) -> bool:
    """Whether at least so many are wanted; else less."""
    if value not in ("less than", "at least"):
        raise ValueError("'less than' or 'at least'")
    return value == "at least"


def letter(value: object) -> str:
    """One letter from a to z, in lower case."""
    if not isinstance(value, str) or len(value) != 1 or not "a" <= value.lower() <= "z":
        raise ValueError("one letter from a to z")
    return value.lower()


def character(value: object) -> str:
    """One character."""
    if not isinstance(value, str) or len(value) != 1:
        raise ValueError("one character")
    return value


def language(value: object) -> str:
    """The code of a language that IFEval knows."""
    if value not in LANGUAGES:
        raise ValueError(f"one of {', '.join(sorted(LANGUAGES))}")
    return str(value)
