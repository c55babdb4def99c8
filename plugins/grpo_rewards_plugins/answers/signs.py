"""Weaker signs of an answer, where no mark stands: bold type, the last line, the last formula, a letter, the last number."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

import re

from .conclusions import DENIED, UNREAL, complement, han_statement, stated
from .formulas import CHOICE_LEAD, COUNTS, NUMBER, PROSE, WINDOW, carries, joined, segments
from .phrases import VERDICTS, phrase

_BOLD_WORDS = re.compile(r"\*\*([A-Z]?[a-z]{2,}(?: [A-Za-z]+){0,2})\*\*")
_BOLD = re.compile(r"\*\*(?!\s)([^*\n]{1,400}?)\*\*")
_DIGIT = re.compile(r"\d")
_LEAD = re.compile(
    r"^(?:(?:so|it|is|we|get|have|as|be|to|thus|hence|therefore|finally|then)\b[\s,:]*)+(?=[-\d$\\]|[a-z](?:_\d)?(?:\([a-z]\))?\s?=|(?-i:[A-Z]{1,3})\s?=)",
    re.IGNORECASE,
)
_CONCLUDING = re.compile(r"(?:So|Thus|Hence|Therefore|Then),?\s+(?=.*[=≈])(?:[a-zA-Zπ]\s?≈\s?)?")
_KNOWN = frozenset("sin cos tan log exp sqrt and mod min max gcd lcm infinity inf pi".split())
_FORMULA_END = re.compile(
    r"(?:=|\b(?:is|are|equals|gives|yields|becomes|obtain|get))\s+((?=\S*[a-zπ√^(])(?=\S*\d)[-\w^*/+().{}√]+(?:\s+[-+*/]\s+[-\w^*/+().{}√]+)*?)\.?$"
)


def bold(text: str) -> str | None:
    """The last bold text that carries an answer."""
    window = text[-WINDOW:]
    if "**" not in window:
        return None
    for match in reversed(list(_BOLD.finditer(window))):
        content = match[1].strip(" :")
        hit = phrase(content)
        if hit is not None and hit[1]:
            return hit[1]
        if (tested := _tested(content)) is not None:
            return tested
        plain = content.rstrip(".!,").lower()
        if plain in VERDICTS or (plain in COUNTS and DENIED.search(_line(window, match.start())) is None):
            return content.rstrip(".!,")
        if carries(content) and not match[1].rstrip().endswith(":") and not _heading(content):
            inner = segments(content)
            if not inner and len(PROSE.findall(content)) > _FEW_WORDS:  # "He saves \\$4,200 per year."
                return last_line(content) or last_number(content) or content
            return inner[-1][2].strip() if inner else content
        if _LETTERED.match(content):
            return content
    end = window.rstrip()
    line = end[max(end.rfind("\n"), end.rfind(". ")) + 1 :]
    sole = _BOLD_WORDS.findall(line)
    return str(sole[0]) if len(sole) == 1 and DENIED.search(line) is None else None


_FEW_WORDS = 2
_FEW = 32  # characters of a name at a line's end
_LETTERED = re.compile(r"\([a-j]\)\s[A-Za-z]{3}")


def _line(text: str, end: int) -> str:
    """What stands before a place on its line, of a long one the last 200 characters."""
    return text[max(text.rfind("\n", 0, end) + 1, end - 200) : end]


def _heading(content: str) -> bool:
    return (
        re.match(r"(?:step|part|case|problem|question|example|option|choice|\d+[.)](?!\d))", content, re.IGNORECASE)
        is not None
    )


def last_line(text: str) -> str | None:
    """The last line, where it is nothing but an answer."""
    window = text[-WINDOW:].rstrip()
    line = window[window.rfind("\n") + 1 :].strip().strip("*`").strip()
    if line.endswith("?"):
        return None
    if " and " in line and (named := _NUMERALS.search(line)) is not None and DENIED.search(line) is None:
        return named[1]
    if _LATER_PART.match(line) is not None and (parts := _PARTS.search(window)) is not None:
        return " ".join(parts[1].replace("*", "").split())
    if not line.isascii() and (said_so := han_statement(line)) is not None:
        return said_so
    if not line.isascii() and (said := _HAN_LINE.search(line)) is not None:
        return next(group for group in said.groups() if group)
    if (lead := _LEAD.match(line)) or ((lead := _CONCLUDING.match(line)) and not _in_prose(line[lead.end() :])):
        line = line[lead.end() :]
    if not line or len(line) > 400:
        return None
    if (said := _CONCLUDED.match(line)) is not None:
        return next(group for group in said.groups() if group)
    if (tested := _tested(line)) is not None:
        return tested
    if not line[-_FEW:].islower() and (said_so := complement(line)) is not None and said_so[0].isupper():
        return said_so
    if (clause := stated(line[line.rfind(". ") + 2 :] if ". " in line else line)) is not None:
        return clause
    inner = segments(line)
    if len(inner) == 1 and not line[: inner[0][0]].strip() and not line[inner[0][1] :].strip(" ."):
        return inner[0][2].strip()
    if inner or not _DIGIT.search(line):
        return None
    if not _in_prose(line):
        return line
    formula = _FORMULA_END.search(line)
    return formula[1] if formula is not None and not _in_prose(formula[1]) else None


_HAN_LINE = re.compile(
    r"(?:所以|因此|答)[:：,，]?[^\d$]{1,30}?(-?\d+(?:\.\d+)?(?:/\d+)?%?[\u4e00-\u9fff]{0,6})[。.]?$"
    r"|正确(?:选项|答案)[为是]\s?[:：]?\s?([A-F](?:[、,，]?[A-F]){0,5})\s?[。．.]?$|(?:本题|应|故|所以|答案)选\s?[:：]?\s?([A-F](?:[、,，]?[A-F]){0,5})\s?[。．.]?$"
)


def _tested(line: str) -> str | None:
    """What a test of a hypothesis comes to: "we fail to reject $H_0$"."""
    if "eject" not in line or (tested := _TESTED.search(line)) is None or _UNREAL.search(line) is not None:
        return None
    return tested[1].replace("*", "")


_TESTED = re.compile(
    r".*?\b((?:(?:(?:do|does|did|can|could)(?:\snot|n['’]t)|cannot|can['’]t|(?:fail(?:s|ed)?|unable)\sto|not)\s\**)?reject(?:s|ed)?"
    r"\s(?:the\snull(?:\shypothesis)?|\$?\\?\(?\s?H_?\{?0\}?))",
    re.IGNORECASE,
)
_UNREAL = re.compile(rf"\b(?:{UNREAL}|whether|or)\b", re.IGNORECASE)
_CONCLUDED = re.compile(  # "The probability is 1/6 or about 16.7%", "No, because ...", "The roots are 2 and 3"
    r"[^\d\n]{4,80}\s(?:is|equals)\s\$?(-?\d[\d,]*(?:[./]\d+)?)\$?,?\sor (?:about|approximately|roughly)\b|(Yes|No|True|False),?\s(?:because|since)\b"
    r"|[^\d\n]{4,80}\sare\s(-?\d+(?:[./]\d+)?(?:,\s-?\d+(?:[./]\d+)?){0,8},?\sand\s-?\d+(?:[./]\d+)?)\.?$"
)


def _in_prose(line: str) -> bool:
    """Has a line words that are no functions?"""
    return (
        any(match[0].lower() not in _KNOWN and not _GLUED.fullmatch(match[0]) for match in PROSE.finditer(line))
        or " is " in line
    )


_INSTEAD = re.compile(r"\b(?:not|rather than|instead of)\s\(?$|(?:不是|而非)\s?$")


_GLUED = re.compile(r"(?:or|and)[A-Za-z]")
_NUMERALS = re.compile(
    r"(?:^|\s)([IVX]{1,4}(?:, [IVX]{1,4})*(?:,? and [IVX]{1,4}))(?: only)? (?:is|are) (?:true|correct|right)[.!]?$"
)
_LATER_PART = re.compile(r"\(?[b-f]\)\s?\S")
_PARTS = re.compile(r"(?:\A|\n)[ \t*]*(\(?a\)[^\n]{1,200}(?:\n+[ \t*]*\(?[b-f]\)[^\n]{1,200})+)\s*\Z")


def _instead(text: str, place: int) -> bool:
    """Is what stands at a place said not to be the answer ("63, not 36")?"""
    return _INSTEAD.search(text, max(0, place - 16), place) is not None


_CODE = re.compile(r"(?<!`)`([^`\n]*\d[^`\n]*)`[\s.]*\Z")


def last_segment(text: str) -> str | None:
    """The last formula between math delimiters."""
    window = text[-WINDOW:]
    if "`" in window and (code := _CODE.search(window, max(0, len(window) - 200))) is not None:
        return code[1].strip()
    inner = segments(window)
    found = joined(window, [one for one in inner if not _instead(window, one[0])])
    if not found or NUMBER.search(window, inner[-1][1]):  # a number after it is nearer to the answer
        return None
    content = found[-1][2].strip()
    if _EVALUATED.search(content) is not None:  # "[x^3/3]_0^2 = 8/3": what an antiderivative comes to
        content = content.rpartition("=")[2].strip()
    return content or None


_EVALUATED = re.compile(r"(?:\\right|[bB]igg?r?)?\s?[\])|]\s?_")


def letter(text: str) -> str | None:
    """A choice letter: one that leads the text, or the only one that stands alone in its last line."""
    stripped = text[-WINDOW:].strip()
    if not stripped:
        return None
    lead = CHOICE_LEAD.match(stripped)
    if lead and len(stripped) < 400:
        return next(group for group in lead.groups() if group)
    line = _CONCLUDES.split(stripped[stripped.rfind("\n") + 1 :])[-1]
    if DENIED.search(line) is not None:
        return None
    said: set[str] = {next(filter(None, groups)) for groups in _CHOSEN.findall(line)}
    return said.pop() if len(said) == 1 else None


_CONCLUDES = re.compile(r"\b(?:[Ss]o|[Tt]hus|[Hh]ence|[Tt]herefore)\b,?\s*")
_CHOSEN = re.compile(  # "option B", "B is right", "the choice is B"
    r"(?:[Oo]ption|[Cc]hoice|选项)\s?\(?([A-J]|(?<=\()[a-j](?=\)))\)?(?!\w)"
    r"|(?:\A|,\s|\b(?:[Oo]nly|[Bb]ecause|[Ss]ince)\s)\W*([A-J])\)?\s(?:is|satisfies|works|holds|fits)\b"
    r"|(?:\b(?:is|es|be|with|choose|pick|select|leaves)|[:为是选])[\s*(]*([A-J])(?=\W*\Z)"
    r"|\A\W*([A-J])\W*\Z"
)


def last_number(text: str) -> str | None:
    """The last number."""
    window = text[-WINDOW:]
    for word in reversed(window.split()):  # no number goes across a space
        if _DIGIT.search(word) is not None and (found := [one[0] for one in NUMBER.finditer(word)]):
            return found[-1]
    return None


def whole(text: str) -> str | None:
    """What the last line of a text says that something is; all of a text that is short and a single line."""
    stripped = text.strip()
    line = stripped[stripped.rfind("\n") + 1 :]
    if (said := complement(line)) is not None:
        return said
    return stripped if stripped and len(stripped) <= 200 and "\n" not in stripped else None
