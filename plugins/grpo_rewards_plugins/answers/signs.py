"""Weaker signs of an answer, where no mark stands: bold type, the last line, the value that the last sentence says, a choice letter."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from .formulas import CHOICE_LEAD, WINDOW, carries, segments
from .marks import Extraction, Rule
from .statements import DENIES, DOUBTS, HAN, Statement, statement

_LONGEST_LINE = 400
_BOLD = re.compile(r"\*\*(?!\s)([^*\n]{1,400}?)\*\*")
_WORDS = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]{3,}(?![a-zA-Z{])")
_FEW_WORDS = 3
_HEADING = re.compile(r"(?:step|part|case|problem|question|example|option|choice|note|\d+[.)](?!\d))", re.IGNORECASE)
_FUNCTIONS = frozenset("sin cos tan log exp sqrt and mod min max gcd lcm infinity inf pi".split())
_LETTER = re.compile(  # "option B", "B is right", "the choice is B"
    r"(?:[Oo]ption|[Cc]hoice|选项)\s?\(?([A-J]|(?<=\()[a-j](?=\)))\)?(?!\w)"
    r"|(?:\A|,\s|\b(?:[Oo]nly|[Bb]ecause|[Ss]ince)\s)\W*([A-J])\)?\s(?:is|satisfies|works|holds|fits)\b"
    r"|(?:\b(?:is|es|be|with|choose|pick|select|leaves)|[:为是选])[\s*(]*([A-J]+)(?=\W*\Z)"
    r"|\A\W*([A-J])\W*\Z"
)
_SO = re.compile(r"\b(?:[Ss]o|[Tt]hus|[Hh]ence|[Tt]herefore)\b,?\s*")
_NOT_CHOSEN = (DOUBTS | DENIES) - {"would", "above"}  # "I would choose B"
_WORD = re.compile(r"[a-z’']+")


def _bold(said: Statement) -> str | None:
    """The only bold text of the last sentence, where it is short."""
    found = _BOLD.findall(said.sentence) if "**" in said.sentence else []
    content = found[0].strip(" :.!,") if len(found) == 1 and not found[0].endswith(":") else ""
    if len(_WORDS.findall(content)) > _FEW_WORDS or _HEADING.match(content) is not None:
        return None
    return content if carries(content) or said.sentence.rstrip(" .!").endswith("**") else None


def _sole(line: str) -> str | None:
    """The formula that is all of a line."""
    inner = segments(line)
    sole = len(inner) == 1 and not line[: inner[0][0]].strip() and not line[inner[0][1] :].strip(" .")
    return inner[0][2].strip() if sole else None


def _line(said: Statement) -> str | None:
    """The last line, where it is nothing but an answer."""
    if said.calculates:
        return None
    line = said.text[said.text.rfind("\n") + 1 :].strip().strip("*`").strip()
    line = _SO.sub("", line, count=1) if _SO.match(line) else line
    if (sole := _sole(line)) is not None:
        return sole
    words = [word for word in _WORDS.findall(line) if word[1:].islower() and word.lower() not in _FUNCTIONS]
    plain = (
        not segments(line)
        and not words
        and " is " not in line
        and len(line) <= _LONGEST_LINE
        and HAN.search(line) is None
    )
    return line if plain and any(char.isdigit() for char in line) else None


def _value(said: Statement) -> str | None:
    return said.value or None


def _letter(said: Statement) -> str | None:
    """A choice letter: one that leads the text, or the only one that the last sentence chooses."""
    if said.value:
        return None
    text = said.text.strip()
    lead = CHOICE_LEAD.match(text) if len(text) <= _LONGEST_LINE else None
    if lead:
        return next(group for group in lead.groups() if group)
    line = _SO.split(said.sentence)[-1]
    if line.endswith("?") or not _NOT_CHOSEN.isdisjoint(_WORD.findall(line.lower())) or "n't" in line:
        return None
    chosen = {next(filter(None, groups)) for groups in _LETTER.findall(line)}
    return chosen.pop() if len(chosen) == 1 else None


def _whole(said: Statement) -> str | None:
    """All of a text that is a single short line without a value."""
    text = said.text.strip()
    return text if text and len(text) <= 200 and "\n" not in text and not any(char.isdigit() for char in text) else None


_SIGNS: dict[Rule, Callable[[Statement], str | None]] = {
    "bold": _bold,
    "line": _line,
    "segment": _value,
    "letter": _letter,
    "number": _value,
    "text": _whole,
}


def unmarked(text: str, order: Sequence[Rule]) -> tuple[str, int, Extraction] | None:
    """The text up to its last sentence, and the place and answer that it gives by the first of the rules that finds one."""
    whole = text.strip()
    if "line" in order and whole[:1] in ("$", "\\") and (sole := _sole(whole)) is not None:
        return whole, 0, Extraction(sole, "line")  # as an answer of its own often is
    said = statement(text[-WINDOW:])
    for rule in order:
        if said.doubted and rule not in ("letter", "text"):
            continue
        found = _SIGNS[rule](said)
        formula = found is not None and found is said.value and said.text[said.at] in "$\\`(["
        if found and (found is not said.value or formula == (rule == "segment")):
            at = said.at if found is said.value else said.text.rfind(found)
            return said.text, at, Extraction(found, rule)
    return None
