"""What stands around a value and only says which one it is: before it an option's letter, a label (``vertex: (1, -4)``), ``(a)`` and
``(b)``; behind an amount words that say of what (``20 cups of feed``, ``45 miles from home``)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .chemistry import is_formula
from .number_words import number_in_words
from .suffixes import PARTS
from .text_answers import choice
from .units import SCALES, is_unit_word

OPTION = re.compile(
    r"(?:\\(?:text|math)(?:bf|rm)?\s*\{\s*(?:\([A-J]\)|[A-J][.):])[\s~]*\}|(?:\((?:[A-J]|\\text\{[A-J]\})\)|[A-J][.):])(?=\s|\\[ ,;q]))(?:\\[ ,;]|\\q?quad|[\s~])*(?=\S)"
)
_LABEL = re.compile(
    # "vertex: (1, -4)", "95% CI: [1, 2]", "p-value = 0.03", "pH 7.4"
    r"(?:\\text\{\s?)?(?:\d{1,2}\s?\\?%\s(?:CI|[a-z]+(?: [a-z]+)?)|(?=[a-zA-Z -]{0,40}[a-z]{4})[A-Za-z]+(?:[ -][A-Za-z]+){0,4})\s?[:=]\s?\}?\s?"
    r"(?=[^\s:=][^:=]*$)|(?:\\text\{\s?)?(?:pH|rank|nullity|degree|order|dimension|slope|radius(?:\sof\sconvergence)?)\s(?:of\s|is\s)?\}?\s?(?=\d)"
    r"|[Hh]_?\{?[01aA]\}?\s?:\s?(?=\S)"
    # "a total of 120", "Grandma has 5 apples"
    r"|(?:\\text\{\s?)?(?:[Tt]he year|[Aa] total of|[Ii]n total,?|[Ee]xactly|[Oo]nly|[Jj]ust|[Pp]recisely)\s\}?\s?(?=[-\d\\$(])"
    r"|(?:\\text\{\s?)?[A-Z][a-z]+(?:\s[a-z']+){0,3}\s(?:has|have|had|is|are|was|were|needs?|costs?|earn(?:s|ed)|makes?|made|gets?|got|sold|spent|bought|ate|saved"
    r"|received|read|ran|walked|will (?:be|have|need|take|cost))\s\}?\s?(?=\\?\$?\d[\d,.]*(?:[\s}][^\d]*)?$)"
    # "eigenvalues 1, 4"
    r"|(?:\\text\{\s?)?(?:[Tt]he )?(?:eigenvalues?|roots?|zeros?|solutions?|critical points?|values?)\s(?:are\s|is\s)?:?\s?\}?\s?(?=[-\d(\\$])"
    r"|[a-e]\)\s(?=\S)|(?:\\text\{\s?)?(?:(?:The|It)\s(?:[a-z]+\s)?)?(?:[Cc]onverges|[Dd]iverges(?=\sto\s\}?\s?[+-]?\\infty))\sto\s\}?\s?"
    r"|(?:\\text\{\s?)?(?:[Aa]n?\s|[Tt]he\s)?(?:standard deviation|mean|median|mode|range|variance|radius|diameter|length|width|height|area|volume|perimeter"
    r"|probability|slope|period|amplitude|speed|rate|average|total|sum|product)\sof\s\}?\s?(?=[-\d\\$])"
    r"|(?:[Tt]he\s)?(?:vector|point|vertex|cent(?:er|re)|ordered\spair|interval|matrix)\s(?=[(\[<\\])"
    # "the alternating group A_5"
    r"|(?:\\text\{\s?)?(?:(?:[Ii]t\s|G\s)?is\s)?(?:isomorphic\sto\s)?(?:[Tt]he\s)?"
    r"(?:alternating\sgroup\s\}?\s?(?=A_)|symmetric\sgroup\s\}?\s?(?=S_)|dihedral\sgroup\s\}?\s?(?=D_)|(?:cyclic\s)?group\s\}?\s?(?=[CZ]_|\\mathbb\{?\s?Z))"
    r"|(?:\\text\{\s?)?(?:(?:[Ii]t\s|G\s)?is\s)?isomorphic\sto\s\}?\s?(?=[A-Z\\])"
    # "The domain is x >= 0"
    r"|(?:\\text\{\s?)?(?:(?:The|Its?|Their|the)\s)?[a-z][a-z' -]{2,60}?\s(?:is|are|equals?)\s(?:approximately\s|about\s|equal to\s)?\}?\s?"
    r"(?=[-\d\\(\[]|[a-zA-Z]\s?(?:[<>=]|\\[lg]))"
)
_LEFT_SIDE = re.compile(  # "\ker T = \{0\}", a limit, a sum that a contest asks for ("m+n = 103")
    r"(?:\\(?:ker|dim|nabla\s?\\(?:cdot|times))(?![a-z])|\\(?:text|operatorname|mathrm)\{(?:rank|nullity|ker|dim|null|Null|Col|im|Im|tr|curl|div)\}"
    r"|\\mathcal\{?\s?L\}?\s?(?=\\left|\\\{|[({\[]))[^=<>]{0,40}=\s?(?=[^=<>]+$)"
    r"|\\(?:oint|i{1,3}nt)(?![a-z])[^=<>]{1,80}=\s?(?=[^=<>]+$)|\\lim\s?_\s?\{[^{}=]{1,60}\}[^=<>]{1,80}=\s?(?=[^=<>]+$)|[a-eh-wA-E](?:\s?\+\s?[a-eh-wA-E]){1,4}\s?=\s?(?=\d+$)|(?:\\(?:bar|overline)\s?\{?\s?)?[A-Z]\s?\}?(?:_\w)?\s?\\sim\s?(?=N|[A-Z]\(|\\mathcal|\\text)"
)
_TURNED = re.compile(
    r"\b(?:not|never|no|nobody|none|neither|but|than|wrong|incorrect|false|minus|negative|except|opposite|half|twice|double|inverse|reciprocal|complement|(?<!least )upper bound|(?<!greatest )lower bound)\b",
    re.IGNORECASE,
)
_PART = re.compile(
    r"(?:^|(?<=[\s,;.}]))(?:\\text\{\s?)?(?:\(?(?P<letter>[a-f])\)|\(?(?P<roman>i{1,3}|iv|v)\)|\((?P<number>\d)\)(?=\s{0,3}[^\s(,;.])"
    r"|[Hh]_?\{?(?P<hypothesis>[01aA])\}?\s?:)(?:\s|\\(?:[ ,;]|q?quad(?![a-z])))*\}?(?=\s*\S)"
)
_BEGINNINGS = frozenset("(\\abcdefivHh")
_NUMERALS = {name: at for at, name in enumerate(("i", "ii", "iii", "iv", "v"))}
_BLANKS = re.compile(r"(?:[\s,;.]|\\q?quad(?![a-z])|\\(?=\s|$))+$")
_LONGEST = 600


def without_lead(gold: str, answer: str) -> Iterator[tuple[str, str]]:
    """Both, the one that begins with an option's letter (``\\textbf{(D)}\\ 24``) or with what it is without that; nothing where
    neither or both do.
    """
    mine, theirs = _without_labels(gold), _without_labels(answer)
    if (mine is None) != (theirs is None):
        yield mine or gold, theirs or answer
    for lead in (OPTION, _LABEL, _LEFT_SIDE):
        one, other = lead.match(gold), lead.match(answer)
        if one is not None and other is not None and lead is OPTION and choice(one[0]) == choice(other[0]):
            yield gold[one.end() :], answer[other.end() :]
        if (one is None) == (other is None) or choice(answer if one else gold):
            continue
        match = one or other
        rest = answer if one else gold
        if (
            match is not None
            and "=" in rest
            and (lead is _LEFT_SIDE or ("=" in match[0] and not _initial(match[0], rest)))
        ):
            continue  # two left sides are two names
        if match is not None and _TURNED.search(match[0]) is None:
            rest = (gold if one else answer)[match.end() :]
            if match[0].count("{") > match[0].count("}"):
                rest = rest.removesuffix("}")
            yield (rest, answer) if one else (gold, rest)


def _initial(label: str, text: str) -> bool:
    """Is a text's left side the first letter of a label: ``r = 2`` for ``rate = 2``?"""
    return text.partition("=")[0].strip().lower() == label.removeprefix("\\text{").strip()[:1].lower()


def _without_labels(text: str) -> str | None:
    """``(1) W = 4 J; (2) F = 9 N`` as a list, values without names in their order; None where there are not two such parts at least."""
    parts = labelled_parts(text)
    if parts is None:
        return None
    return "; ".join(parts) if all("=" in part for part in parts) else f"({', '.join(parts)})"


def without_tail(gold: str, answer: str) -> Iterator[tuple[str, str]]:
    """Both, the one that has words behind an amount without those; nothing where neither or both have such words, but for two
    "for all" of which one does not say what of.
    """
    if "all" in gold and "all" in answer and max(len(gold), len(answer)) <= _LONGEST_TAIL:
        everywhere = [_FOR_ALL.fullmatch(text) for text in (gold, answer)]
        if all(match is not None and match[1] for match in everywhere) and any(
            match is not None and _SAYS_WHICH.search(match[0], match.end(1)) is None for match in everywhere
        ):
            yield tuple(match[1] for match in everywhere if match is not None)  # type: ignore[misc]
    one, other = _without_tail(gold), _without_tail(answer)
    if (one is None) != (other is None):
        yield (gold, other) if one is None else (one, answer)  # type: ignore[misc]


def _without_tail(text: str) -> str | None:
    if len(text) <= _LONGEST_TAIL and (whole := _FOR_ALL.fullmatch(text)) is not None:
        return whole[1] or whole[2]
    match = _TAIL.fullmatch(text) if len(text) <= _LONGEST_TAIL else None
    if match is None:
        return None
    amount = match["amount"] + "}" * (match["amount"].count("{") - match["amount"].count("}"))
    if match["said"] is None:
        return amount if is_formula(match["substance"]) else None
    said = match["said"].lower().split()
    if len(said) == 1 and said[0] not in _ALONE:
        return None  # "12 in" is a length
    named = said[0] == "of"
    if named and said[-1] in PARTS:
        return None
    if said[0] in ("after", "before") and any(word.endswith("ing") for word in said):
        return None  # "20 after subtracting the tax"
    if any(
        word in _CHANGING or word in SCALES or word.rstrip("s") in SCALES or number_in_words(word) is not None
        for word in said
    ):
        return None
    return None if not named and any(is_unit_word(word) for word in said) else amount


_AMOUNT = r"(?:\\?[$€£]\s?|-\s?)?(?:\d[\d,]*(?:\.\d+)?(?:/\d+)?|\\[dt]?frac\s?\{\d+\}\s?\{\d+\})(?:\s?\\?%)?"
_TAIL = re.compile(
    rf"(?P<amount>{_AMOUNT}(?:(?:\s|\\text\{{\s?|\\,|~){{0,3}}[a-zA-Z]+\.?){{0,2}}?)(?:\s|\\ |\\text\{{\s?|~)+"
    r"(?:(?P<said>(?:of|from|in|for|on|at|after|during|each|every|left|remaining|altogether|overall|before|with|who|that|are)\b"
    r"[a-zA-Z' ,-]*)|(?P<substance>[A-Z][A-Za-z\d()_]*))\}?"
)
_FOR_ALL = re.compile(  # "f(n) = n for all n", "C_n = n for all integers n \\ge 2", "x = 2 is the only solution"
    r"([a-zA-Z](?:\([a-z]\)|_\{?[a-z]\}?)\s?=.{1,80}?)(?:[\s,(]|\\[ ,;]|\\q?quad){1,4}"
    r"(?:\\forall(?:\\[ ,;])?|(?:\\text\{\s?)?for (?:all|every|any|each)(?: real| positive| natural| integers?| numbers?| rational)*)\s?\}?\s?"
    r"(?:[a-z](?:\s?\\in\s?\\mathbb\s?\{?[NZQR]\}?|\s?\\ge(?:q|qslant)?\s?\d)?)?\)?"
    r"|(.{1,80}?)\s(?:\\text\{\s?)?is the (?:only|unique) (?:solution|answer|root|value)\s?\}?"
)
_SAYS_WHICH = re.compile(r"\\in|\\ge|real|positive|natural|integer|rational")
_ALONE = frozenset(("left", "remaining", "altogether", "overall", "each"))
_LONGEST_TAIL = 120
_CHANGING = frozenset(
    [
        "less",
        "more",
        "fewer",
        "not",
        "minus",
        "plus",
        "than",
        "times",
        "or",
        "but",
        "base",
        "terms",
        "half",
        "twice",
        "double",
        "dozen",
        "percent",
        "percentage",
        "wrong",
        "incorrect",
        "false",
        "never",
        "except",
        "least",
        "most",
        "modulo",
        "mod",
        "squared",
        "cubed",
        "power",
        "degrees",
    ]
)


def labelled_parts(text: str) -> list[str] | None:
    """The answers behind ``(a)``, ``(b)`` and so on, ``(i)``, ``(ii)``, ``(1)``, ``(2)``, or ``H_0:`` and ``H_1:`` or ``H_a:``; None where
    there are not two at least, in order from the first.
    """
    if text[:1] not in _BEGINNINGS or len(text) > _LONGEST or _PART.match(text) is None:
        return None
    marks = list(_PART.finditer(text))
    if len(marks) < 2:
        return None
    kind = "roman" if marks[0]["letter"] is None and marks[0]["roman"] else marks[0].lastgroup
    places = [_place(kind, mark[kind]) for mark in marks] if kind else []
    if places != list(range(len(marks))):
        return None
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    parts = [_BLANKS.sub("", text[mark.end() : end]).strip() for mark, end in zip(marks, ends, strict=True)]
    return parts if all(parts) else None


def _place(kind: str, label: str | None) -> int:
    """The place of a label in its row, from 0; -1 where it is of another kind."""
    if label is None:
        return -1
    if kind == "roman":
        return _NUMERALS[label]
    if kind == "hypothesis":
        return int(label != "0")
    return int(label) - 1 if kind == "number" else ord(label) - ord("a")
