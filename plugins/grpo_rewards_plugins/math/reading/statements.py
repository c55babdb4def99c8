"""Statements: answers that mix words and formulas (``all even $n \\ge 4$``, ``saddle point at (0, 0)``), each compared as what it is."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from .vocabulary import FUNCTIONS, GREEK

_LONGEST = 400
_TEXT = re.compile(
    r"\\(?:text(?:bf|it|rm|normal|sf|tt)?|math(?:rm|bf|it|sf|tt)|mbox|operatorname|emph|hbox)\s{0,2}\{([^{}]{0,200})\}"
)
_WORD = re.compile(
    r"(?<![\\A-Za-z_^{])(?:[A-Za-z][a-z]{2,}|is|of|or|(?<!\d )in|at|on|to|no|if|by|an|as|be|it)(?:'s)?(?![A-Za-z_^}(\[])"
)
_ARTICLE = re.compile(r"(?:(?<=^)|(?<=[a-z:,] ))[aA] (?=[a-z]{3})")
_SPACING = re.compile(r"\\(?:quad|qquad|[,;:! ])|~|\$")
_SYMBOLS = frozenset((*FUNCTIONS, *GREEK, *"mod gcd lcm max min lim det deg arg cup cap inf sup".split())) - {"sign"}
_SILENT = frozenset(
    "the an is are be it its they that which such must there exist exists has have with where for of at we get value as then distinct local relative".split()
)
_PHRASES = (
    (re.compile(r"\\(max|min)(?=\s(?:at|of|is)\b)"), r"\1"),
    (re.compile(r"\band on\b|\\cup(?![a-z])"), " and "),
    (re.compile(r"\b(?:other than|excluding|apart from|except for|besides)\b"), "except"),
    (re.compile(r"\b(?:every|any|each)\b"), "all"),
    (re.compile(r"\bnon[\s-]+(?=[a-z])"), "non"),
    (re.compile(r"\b(even|odd|prime|composite|real|complex|rational|irrational) (?:integer|number)s?\b"), r"\1"),
    (re.compile(r"\b(?:positive|natural) (?:integer|number)(s?)\b"), r"natural\1"),
    (
        re.compile(
            r"\b(?:and )?(?:all )?(?:(?:its|their|the|of) )*(cyclic )?permutations?(?: of)?(?: (?:these|it|them|this))?\b"
        ),
        r"\1permutation",
    ),
    (re.compile(r"\bH_?\{?0\}?(?![\w])|\bh0\b"), "null hypothesis"),
    (re.compile(r"\b(?:(?:do|does|did|can|could)(?: not|n't)|cannot|can't) reject\b"), "fail to reject"),
    (re.compile(r"\b[mM]ax(?:imum)?\b(?!\s?[({_])"), "maximum"),
    (re.compile(r"(?<!\d )\b[mM]in(?:imum)?\b(?!\s?[({_])"), "minimum"),
    (re.compile(r"\b[pP]ts?\b\.?"), "point"),
    (re.compile(r"\bnormally distributed\b"), "normal"),
    (re.compile(r"\bconcave (up|down)wards?\b"), r"concave \1"),
    (re.compile(r"\b(positive|negative)ly correlated\b"), r"\1 correlation"),
    (re.compile(r"\b(?:one[ -]to[ -]one|1 1)\b"), "injective"),
    (re.compile(r"(?<=\bnot )onto\b|\bonto(?= but\b)"), "surjective"),
    (re.compile(r"\b([xyz])[ -]+(?=(?:intercept|axis|coordinate)s?\b)"), r"\1"),
    (re.compile(r"\b(all|composite|prime|even|odd)(s?) [a-z](?= [a-z]{3}|$)"), r"\1\2"),
    (re.compile(r"\b(?:(?:integer|number)s? )?divisible by\b|\bmultiples of\b"), "multiple"),
    (re.compile(r"\bno such [a-z]+(?: [a-z])?(?: exists?)?$"), "none"),
    (re.compile(r"\bconverge(?:s|d)? ([a-z]{4,}ly)\b"), r"\1 convergent"),
    (re.compile(r"\bskewed (?:to the )?(left|right)\b"), r"\1 skewed"),
    (re.compile(r"\bpositively skewed\b"), "right skewed"),
    (re.compile(r"\bnegatively skewed\b"), "left skewed"),
    (re.compile(r"\bdiverges\b"), "divergent"),
    (re.compile(r"\bconverges\b"), "convergent"),
    (re.compile(r"(?<=[a-z]{3})-(?=[a-z]{2})"), " "),  # "x-i" is a difference
)
_PLURAL = re.compile(r"(?<=[a-z]{3}[^s])s$")
_AMOUNTS = re.compile(r"\d\s?[a-zA-Z]{1,6}\.?,? (?:and )?\d")  # "5 h 20 min" is no product
_LEADING = frozenset(("on", "in", "by"))
_COMPARING = frozenset(
    "than least most more less up from to between minus plus times not no only except or and".split()
)


_SUBJECTS = frozenset(
    "function series sequence vector line point graph system matrix equation curve integral limit relation event answer sign".split()
)


def _same_words(one: Sequence[str], other: Sequence[str]) -> bool:
    """Are they the same, or is one without the noun at the head of the other that says what it is about?"""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return bool(short) and (long[0] in _SUBJECTS or long[0] == "all") and long[1:] == short


class Statement(NamedTuple):
    """`words` that say something, in order and one spelling, and the `formulas` between them; `pattern`: ``w`` and ``f`` as they
    alternate; `names`: the words before each formula.
    """

    words: tuple[str, ...]
    formulas: tuple[str, ...]
    pattern: str
    names: tuple[tuple[str, ...], ...]


def _opened(text: str) -> str:
    text = _TEXT.sub(r" \1 ", text)
    text = " ".join(_SPACING.sub(" ", text).split())
    for pattern, said in _PHRASES:
        text = pattern.sub(said, text)
    return " ".join(_ARTICLE.sub("", text).split())


def statement(text: str) -> Statement | None:
    """The words and formulas of an answer that has both; None for any other text."""
    if len(text) > _LONGEST or "\\begin" in text:
        return None
    plain = _opened(text)
    if _AMOUNTS.search(plain) is not None:
        return None
    words: list[str] = []
    formulas: list[str] = []
    names: list[tuple[str, ...]] = []
    pattern, at, named = "", 0, 0
    for match in _WORD.finditer(plain):
        word = match[0].lower()
        if word in _SYMBOLS:
            continue
        if piece := plain[at : match.start()].strip(" ,;.:="):
            formulas.append(piece)
            names.append(tuple(words[named:]))
            pattern, named = pattern + "f", len(words)
        at = match.end()
        if word not in _SILENT and word != "and":
            words.append(_PLURAL.sub("", word))
            pattern = pattern if pattern.endswith("w") else pattern + "w"
    if piece := plain[at:].strip(" ,;.:="):
        formulas.append(piece)
        names.append(tuple(words[named:]))
        pattern += "f"
    return (
        Statement(tuple(words), tuple(formulas), pattern, tuple(names))
        if formulas and any(len(word) > 2 for word in words)
        else None
    )


def paired(one: Statement, other: Statement) -> list[tuple[str, str]] | None:
    """The formulas of two statements that say the same words, one beside the other; None where the words differ.

    A single formula may stand on either side of the words; values with their names (``slope 2, intercept -3``) in any order.
    """
    if len(one.formulas) != len(other.formulas):
        return None
    turned = len(one.formulas) == 1 and not _COMPARING.intersection(one.words)
    if _same_words(one.words, other.words) and (one.pattern == other.pattern or turned):
        return list(zip(one.formulas, other.formulas, strict=True))
    values, others = (dict(zip(side.names, side.formulas, strict=True)) for side in (one, other))
    named = one.pattern == other.pattern == "wf" * len(values) and values.keys() == others.keys() and len(values) > 1
    return [(values[name], others[name]) for name in values] if named else None


def _content(said: str) -> list[str]:
    """The words of an answer in words that say something, each in the singular."""
    for pattern, instead in _PHRASES:
        said = pattern.sub(instead, said)
    kept = [_PLURAL.sub("", word.strip(".,;:()")) for word in said.split() if word.strip(".,;:()") not in _SILENT]
    return [word for word in kept if word]


def same_content(one: str, other: str) -> bool:
    """Do two answers in words, in one spelling, differ only in words that say nothing (``on Monday`` and ``Monday``)?"""
    mine, theirs = _content(one), _content(other)
    if mine[:1] != theirs[:1]:
        mine, theirs = (words[1:] if words[:1] and words[0] in _LEADING else words for words in (mine, theirs))
    return bool(mine) and _same_words(mine, theirs)
