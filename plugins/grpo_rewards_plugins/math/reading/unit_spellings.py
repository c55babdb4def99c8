"""Quantities spelled in pieces, put together: ``\\text{J/(g}\\cdot{}^\\circ\\text{C)}``, ``\\text{€}5``, ``12,50 €``, ``9.8 [\\mathrm{m/s^2}]``;
the direction behind a quantity (``5 m/s east``), and the unit behind an answer."""

from __future__ import annotations

import re

from .number_words import amount_in_words
from .unit_expressions import unit_pieces
from .units import SPELLED_POWERS, is_unit_word, named_unit

_FONT = r"\\(?:text(?:rm|normal|up)?|math(?:rm|sf)|mbox)"
_SIGN = r"(?:\\?\$|[€£¥₹]|\\pounds|\\euro|\\yen|\\text(?:euro|sterling|dollar|yen))"
_EMPTY_GROUP = re.compile(r"\{\s*\}(?=\s*\^\s*\{?\s*\\circ)")
_DEGREES_IN_A_UNIT = re.compile(
    rf"({_FONT}\s*\{{[^{{}}]*)\}}\s*(?:\\cdot|[*/]|\\[,;])?\s*\^\s*(?:\{{\s*\\circ\s*\}}|\\circ)\s*{_FONT}\s*\{{\s*([CF])(?![a-zA-Z])"
)
_DEGREES_BEHIND = re.compile(
    rf"({_FONT}\s*\{{[^{{}}]*\}}\s*\^\s*\{{?-?\d\}}?)(?:\s|\\[,;]|\\cdot)*\^\s*(?:\{{\s*\\circ\s*\}}|\\circ)\s*{_FONT}\s*\{{\s*([CF])(?![a-zA-Z])"
)
_BARE_DEGREES = re.compile(
    r"(?<=[\d}])(\s?[a-zA-Z]{1,3}(?:/[a-zA-Z]{1,3})?\s?(?:[/*]|\\cdot\s?)?)\s?\^\\circ\s?([CF])(?![a-zA-Z])"
)
_RECIPROCAL = re.compile(
    rf"(?<=[\d}}])(?:\s|~|\\[ ,;])*\\[dt]?frac\s?\{{\s?1\s?\}}\s?\{{\s?({_FONT}\s*\{{[^{{}}]*\}}(?:\s?\^\s?\{{?\d\}}?)?)\s?\}}"
)
_SIGN_IN_TEXT = re.compile(rf"{_FONT}\s*\{{\s*({_SIGN})\s*\}}")
_CENTS = re.compile(
    rf"(-?\s*{_SIGN}?\s*-?\d{{1,3}}(?:\.\d{{3}})*),(\d\d)(?:\s|~|\\[,;])*((?:{_SIGN}|EUR|euros?|{_FONT}\s*\{{[^{{}}]*\}})?)"
)
_MONEY = re.compile(rf"{_SIGN}|EUR|euro|USD|GBP|CHF|dollar")
_BRACKETS = re.compile(rf"(?<=[\d}}])((?:\s|\\[,;])*)\[\s*({_FONT}\s*\{{(?:[^{{}}]|\{{[^{{}}]*\}})*\}})\s*\]$")
_RING = re.compile(r"\\mathring\s*(?:\{\s*)?(?:\\(?:mathrm|text)\s*\{\s*A\s*\}|A)\s*\}?")
_HYPHENATED = re.compile(r"(?<=[\d}])[\s~]+([a-zA-Z]{1,6}-[a-zA-Z]{2,6}|[a-zA-Z]{2,5}-[a-zA-Z])((?:/[a-zA-Z]{1,4})?)$")
_SPLIT_BRACKETS = re.compile(  # "\\text{ J/(m}^2\\cdot\\text{K)}"
    rf"({_FONT}\s*\{{[^{{}}()]*\([^{{}}()]*)\}}((?:\s|\^\s*\{{?-?\d\}}?|\\cdot|\\[,;]){{1,8}}){_FONT}\s*\{{([^{{}}()]*\))"
)
_HOURS = re.compile(r"(\d+)\s?h(?:rs?)?\s?(\d+)\s?m(?:ins?)?")
_STOPPED = re.compile(r"(?<=\d)[\s~]*([a-z]{2,3})\.(?=\s?\^)")  # "in.^2"
_RING_SIGN = re.compile(r"(?<=[\d}])\s*Å")
_OF = re.compile(
    rf"(?<=\d)(.{{0,20}}?{_FONT}\s*\{{[^{{}}]*?)\s+of\s*\}}\s*\\(?:mathrm|ce|text)\s*\{{(?:[^{{}}]|\{{[^{{}}]*\}})*\}}$"
)

_RESTATED = re.compile(  # "30 minutes (half an hour)", "5 m (about 16 ft)"
    rf"(?P<amount>-?\s?{_SIGN}?\s?\d[^()=<>]{{0,80}}?)(?:\s|~|\\[ ,;]){{0,4}}\(\s?(?:(?:about|approximately|approx\.|roughly|or|i\.e\.|\\approx)\s)?"
    r"(?P<again>[^()=<>]{2,60}?)\s?\)(?P<close>\}?)\s?"
)
_AMOUNT = re.compile(r"(-?\d[\d.,/]{0,20})\s*([a-zA-Z].{0,40})")
_UPRIGHT = re.compile(rf"{_FONT}\s*\{{|[{{}}~]|\\[ ,;]")
_WORD = re.compile(r"[a-zA-Zμ$€£]+")
_SECONDS = re.compile(r"(?:(?<=\d)\s?|(?<=/))(?<!\\)secs?\b\.?(?=\s*(?:\^|[,;)}]|$))")  # no secant
_FLUID_OUNCES = re.compile(r"(?<=\d)\s?fl\.?\s?oz\b\.?")


def _restated(text: str) -> str:
    """An amount and the same in brackets behind it, in other words or units, as a chain of both."""
    match = _RESTATED.fullmatch(text)
    if match is None:
        return text
    again = _UPRIGHT.sub(" ", match["again"]).strip()
    spelled = amount_in_words(" ".join(word for word in again.split() if word not in ("a", "an")))
    if (digits := _AMOUNT.fullmatch(again)) is not None:
        number, unit = digits[1], digits[2]
    elif spelled is not None:
        number, unit = f"\\frac{{{spelled[0].numerator}}}{{{spelled[0].denominator}}}", spelled[1]
    else:
        return text
    if unit_pieces(unit) is None or not any(map(named_unit, _WORD.findall(match["amount"]))):
        return text
    sign = "=" if spelled else "\\approx"  # digits may be rounded
    amount = _AMOUNT.sub(r"\1\\text{ \2}", match["amount"]) if "\\" not in match["amount"] else match["amount"]
    return f"{amount}{match['close']} {sign} {number}\\text{{ {unit}}}"


def joined(text: str) -> str:
    """The text with each quantity in one spelling; unchanged where it has none of those above."""
    if "\\circ" in text:
        text = _DEGREES_IN_A_UNIT.sub(lambda m: f"{m[1]}{_operator(m)}deg{m[2]}", _EMPTY_GROUP.sub("", text))
        text = _DEGREES_BEHIND.sub(r"\1\\text{ deg\2", text)
        text = _BARE_DEGREES.sub(r"\1 deg\2", text)
    if "\\" in text:
        text = _SIGN_IN_TEXT.sub(r"\1", text)
        text = _SPLIT_BRACKETS.sub(r"\1\2\3", text) if "(" in text else text
    elif (match := _HOURS.fullmatch(text)) is not None:
        text = f"{match[1]}\\text{{ h }}{match[2]}\\text{{ min}}"
    if (match := _CENTS.fullmatch(text)) is not None and _MONEY.search(text) is not None:
        text = f"{match[1].replace('.', '')}.{match[2]} {match[3]}"
    hyphenated = _HYPHENATED.search(text) if "-" in text and text[-1].isalpha() else None
    if hyphenated is not None and all(map(named_unit, hyphenated[1].split("-"))):
        text = f"{text[: hyphenated.start()]} \\text{{ {hyphenated[1]}{hyphenated[2]}}}"
    if "sec" in text:
        text = _SECONDS.sub(lambda m: "s" if m[0][0] == "s" else r"\text{ s}", text)
    if "oz" in text:
        text = _FLUID_OUNCES.sub(r"\\text{ fl oz}", text)
    if text[-2:].rstrip("}")[-1:] == ")" and "(" in text:
        text = _restated(text)
    if not text.isascii():
        text = _RING_SIGN.sub(r"\\text{ Å}", text)
    if ".^" in text or ". ^" in text:
        text = _STOPPED.sub(r"\\text{ \1}", text)
    if "\\" in text:
        if text[-1] == "]":
            text = _BRACKETS.sub(r"\1\2", text)
        if "frac{1}" in text:
            text = _RECIPROCAL.sub(r" /\1", text)
        if "\\mathring" in text:
            text = _RING.sub(r"\\text{ Å}", text)
        if " of" in text:
            text = _OF.sub(r"\1}", text)
    return text


def _operator(match: re.Match[str]) -> str:
    """What stands between a unit and degrees behind it; a product where nothing does."""
    between = match[0][len(match[1]) + 1 :].lstrip()
    return "/" if between.startswith("/") else "" if match[1].rstrip()[-1] in "/*({" else "*"


_TAIL = 60  # characters from the end in which a direction may stand
_DIRECTION = re.compile(
    r"(?<=[\w}])(?P<left>[\s~,]*)(?P<open>\\(?:text|mathrm|mbox)\s*\{)?[\s~,]*(?P<bracket>\()?(?:(?:directed|pointing|vertically|horizontally)\s+)?(?:due|to the|toward the|towards the|in the)?\s*\b"
    r"(?P<name>(?:(?:north|south)[\s-]?)?(?:east|west)|north|south|up|down|left|right|clockwise|counter-?clockwise|anticlockwise|inward|outward"
    r"|[NSEW] of [NSEW]|(?:above|below|from|to|with) the (?:horizontal|vertical|ground|normal|[xyz][ -]axis))"
    r"(?:wards?|erly)?(?:\s+direction)?(?:(?P<of>\s+of\s+(?:north|south|east|west))|\s+of\s+(?:the|its)\s+[a-z]+)?[\s.]*(?(bracket)\))(?P<close>\}?)$",
    re.IGNORECASE,
)


def without_direction(text: str) -> tuple[str, str]:
    """A quantity without the direction that stands behind it, and that direction (``east``); "" where there is none."""
    # the letters in which most directions end: most texts are spared the pattern
    if not (text[-1:] in "}.)thnsedTHNSEDlr" and any(char.isdigit() for char in text)):
        return text, ""
    match = _DIRECTION.search(text, max(0, len(text) - _TAIL))
    if match is None or not _separate(text, match) or not any(char.isdigit() for char in text[: match.start()]):
        return text, ""
    kept = text[: match.start()] + ("" if match["open"] else match["close"])
    if " of " in match["name"]:  # "N of E"
        one, _, other = match["name"].upper().partition(" OF ")
        return kept, f"{_POINTS[one]} of {_POINTS[other]}"
    name = re.sub(r"[\s-]", "", match["name"].lower()) + (match["of"] or "").lower()
    return kept, _SAME.get(name, name)


_POINTS = {"N": "north", "S": "south", "E": "east", "W": "west"}
_SAME = {"anticlockwise": "counterclockwise"}


def _separate(text: str, match: re.Match[str]) -> bool:
    """Does the direction begin a word of its own?"""
    return bool(match["left"] or match["open"]) or not text[match.start("name") - 1].isalpha()


def unit_behind(behind: str) -> str:
    """The unit or percent sign that begins what stands behind an answer, outside of its box or its dollars; "" where none does."""
    match = _BEHIND.match(behind)
    if match is None:
        return ""
    if match["percent"]:
        return "\\%"
    if match["upright"] is not None:
        upright = f"\\text{{ {match['upright']}}}{match['power'] or ''}"
        return upright if unit_pieces(match["upright"]) is not None else ""
    said = _SENTENCE_END.split(match["words"].translate(_POWERS), maxsplit=1)[0].rstrip(" .").split()
    head = _SYMBOL.split(said[0], maxsplit=1)[0] if said else ""
    if said and said[0][:1] == "°":
        return f"\\text{{ {said[0]}}}"
    if not (
        is_unit_word(head)
        or head in SPELLED_POWERS
        or (len(said[0]) > len(head) and named_unit(head))
        or (len(head) == 1 and said[1:2] in ([], ["of"]) and named_unit(head))
        or (head[1:] != head[1:].lower() and named_unit(head))  # mA: in prose no product of letters
    ):
        return ""
    for size in range(min(len(said), _MOST_WORDS), 0, -1):
        unit = " ".join(said[:size])
        if unit_pieces(unit) is not None:
            return f"\\text{{ {unit}}}"
    return ""


_BEHIND = re.compile(
    r"(?:[\s$*)}\]~]|\\[)\],; ]|\\q?quad(?![a-z]))*+(?:(?P<percent>\\?%|per\s?cent\b)|\\(?:text|mathrm|mbox|rm)\s*\{\s*(?P<upright>[^{}]{1,30})\}(?:\s|\$)*(?P<power>\^\{?-?\d\}?)?"
    r"|(?P<words>(?:°\s?[CF]\b|[A-Za-zµμΩ])[^,;:!?()\n$\\*]*))"
)
_SENTENCE_END = re.compile(r"\.(?:\s|$)")
_POWERS = str.maketrans({"²": "^2", "³": "^3"})
_SYMBOL = re.compile(r"[/^·*²³⁻]")
_MOST_WORDS = 4
