"""What stands before a value and only says which one it is: an option's letter, a label (``vertex: (1, -4)``), ``(a)`` and ``(b)``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .text_answers import choice

__all__ = ["OPTION", "labelled_parts", "without_lead"]

OPTION = re.compile(
    r"(?:\\(?:text|math)(?:bf|rm)?\s*\{\s*(?:\([A-J]\)|[A-J][.):])[\s~]*\}|(?:\([A-J]\)|[A-J][.):])(?=\s|\\[ ,;q]))(?:\\[ ,;]|\\q?quad|[\s~])*(?=\S)"
)
_LABEL = re.compile(
    # "vertex: (1, -4)", "95% CI: [1, 2]", "p-value = 0.03", "pH 7.4"
    r"(?:\\text\{\s?)?(?:\d{1,2}\s?\\?%\s(?:CI|[a-z]+(?: [a-z]+)?)|(?=[a-zA-Z -]{0,40}[a-z]{4})[A-Za-z]+(?:[ -][A-Za-z]+){0,4})\s?[:=]\s?\}?\s?"
    r"(?=[^\s:=][^:=]*$)|(?:pH|rank|degree|order|dimension|slope|radius)\s(?:of\s|is\s)?(?=\d)"
    r"|[a-e]\)\s(?=\S)|(?:(?:The|It)\s(?:[a-z]+\s)?)?[Cc]onverges\sto\s"
    r"|(?:[Tt]he\s)?(?:vector|point|vertex|cent(?:er|re)|ordered\spair|interval|matrix)\s(?=[(\[<\\])"
    # "The domain is x >= 0"
    r"|(?:\\text\{\s?)?(?:(?:The|Its?|Their|the)\s)?[a-z][a-z' -]{2,60}?\s(?:is|are|equals?)\s(?:approximately\s|about\s|equal to\s)?\}?\s?"
    r"(?=[-\d\\(\[]|[a-zA-Z]\s?(?:[<>=]|\\[lg]))"
)
_TURNED = re.compile(
    r"\b(?:not|never|wrong|incorrect|false|minus|negative|except|opposite|half|twice|double|inverse|reciprocal|complement)\b",
    re.IGNORECASE,
)
_PART = re.compile(r"(?:^|[\s,;.])(?:\\text\{\s?)?\(?([a-f]|i{1,3}|iv|v)\)\s?\}?(?=\s*\S)")
_NUMERALS = {name: at for at, name in enumerate(("i", "ii", "iii", "iv", "v"))}
_LONGEST = 600


def without_lead(gold: str, answer: str) -> Iterator[tuple[str, str]]:
    """Both, the one that begins with an option's letter (``\\textbf{(D)}\\ 24``) or with what it is without that; nothing where
    neither or both do.
    """
    for lead in (OPTION, _LABEL):
        one, other = lead.match(gold), lead.match(answer)
        if (one is None) == (other is None) or choice(answer if one else gold):
            continue
        if (match := one or other) is not None and _TURNED.search(match[0]) is None:
            yield (gold[match.end() :], answer) if one else (gold, answer[match.end() :])


def labelled_parts(text: str) -> list[str] | None:
    """The answers behind ``(a)``, ``(b)`` and so on, or ``(i)``, ``(ii)``; None where there are not two at least, in order from the first."""
    if len(text) > _LONGEST or ("a)" not in text and "i)" not in text):
        return None
    marks = list(_PART.finditer(text))
    if len(marks) < 2 or marks[0].start() > 0:
        return None
    roman = marks[0][1] == "i"
    places = [_NUMERALS.get(mark[1], -1) if roman else ord(mark[1][0]) - ord("a") for mark in marks]
    if places != list(range(len(marks))):
        return None
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    return [text[mark.end() : end].strip(" ,;.") for mark, end in zip(marks, ends, strict=True)]
