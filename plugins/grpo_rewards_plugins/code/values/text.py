"""Looking at a program's text without its literals: brackets, commas and names that count."""

from __future__ import annotations

import re

_C = r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.[^'\n]{0,8}|[^'\\\n])'"
_SCRIPT = r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"
_LITERALS = {
    "ruby": r"(?<!\S)#[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'",
    "bash": r"(?<!\S)#[^\n]*|'[^']*'|\"(?:\\.|[^\"\\])*\"",
    "php": _SCRIPT + r"|#[^\n]*",
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "go": _C + r"|`[^`]*`",
}
_PAIRS = {"(": ")", "[": "]", "{": "}"}


def masked(text: str, language: str) -> str:
    """Return the text with its comments and what stands in quotes as blanks of the same length; quotes stay."""

    def blank(found: re.Match[str]) -> str:
        literal = found[0]
        if literal[0] in "\"'`":
            return literal[0] + " " * (len(literal) - 2) + literal[0]
        return re.sub(r"[^\n]", " ", literal)

    return re.sub(_LITERALS.get(language, _C), blank, text, flags=re.S)


def closing(mask: str, start: int) -> int:
    """Return where the bracket that opens at `start` is closed, -1 where it is not."""
    wanted: list[str] = []
    for place in range(start, len(mask)):
        mark = mask[place]
        if mark in _PAIRS:
            wanted.append(_PAIRS[mark])
        elif mark in ")]}":
            if not wanted or wanted.pop() != mark:
                return -1
            if not wanted:
                return place
    return -1


def parts(text: str, mask: str, separator: str) -> list[str]:
    """Split where the separator stands outside of brackets and literals."""
    found, depth, start, place = [], 0, 0, 0
    while place < len(mask):
        mark = mask[place]
        if mark in _PAIRS:
            depth += 1
        elif mark in ")]}":
            depth -= 1
        elif depth == 0 and mask.startswith(separator, place):
            found.append(text[start:place])
            place += len(separator)
            start = place
            continue
        place += 1
    return [*found, text[start:]]


def statement_end(mask: str, place: int) -> int:
    """Return where a statement that has been read up to `place` ends: behind its semicolon, where it has one."""
    found = re.match(r"[ \t]*;", mask[place:])
    return place + found.end() if found else place
