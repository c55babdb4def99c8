"""Marks of a final answer: boxes, a tag, the line behind ``####``. Every search is linear in the length of the text."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from .phrases import phrase

Rule = Literal["box", "tag", "hash", "phrase", "bold", "line", "segment", "letter", "number", "text"]
"""The places where an answer may stand; every reward takes some of them."""


class Extraction(NamedTuple):
    """What was found: `text` (None where nothing was), by which `rule`, and whether several candidates stand side by side.

    `parts` holds those candidates; `text` has them joined, so that ``\\boxed{3} or \\boxed{4}`` is the list of both and
    never just the right one. `behind` is what stands behind it: the unit of an answer may stand outside of its box or its dollars.
    """

    text: str | None
    rule: Rule | None
    parts: tuple[str, ...] = ()
    hedged: bool = False
    behind: str = ""


_BOX = re.compile(r"\\f?boxed\s*(?=[{\w$\\-])|\\fbox\s*(?=\{)")
_LONGEST_BOX = 4_000_000
_MOST_BOXES = 512  # from the end, that are looked at
_BETWEEN = re.compile(r"\\text\{([^{}]*)\}|\\(?:quad|qquad|left|right|[()\[\],;!]|\\)|[$~.:*\s]+")
_LABEL = re.compile(r"[A-Za-z](?:_\{?\w{1,3}\}?)?\s*(?:\([a-z]\))?\s*=")
_HEADING = re.compile(r"[A-Za-z]{3,}")


def boxes(text: str) -> list[tuple[int, int, str]]:
    """Start, end and content of each outermost box with balanced braces; one that is never closed is left out.

    Of thousands only the last are looked at.
    """
    out: list[tuple[int, int, str]] = []
    starts = _starts(text)
    if not starts:
        return out
    closing = _closings(text, [inside for _, inside in starts if text[inside : inside + 1] == "{"])
    done = -1
    for start, inside in starts:
        if start < done:
            continue
        if text[inside : inside + 1] != "{":
            match = _BARE.match(text, inside)
            if match:
                out.append((start, match.end(), match[0]))
                done = match.end()
            continue
        end = closing.get(inside)
        if end is not None:
            out.append((start, end + 1, text[inside + 1 : end]))
            done = end + 1
    return out


def _starts(text: str) -> list[tuple[int, int]]:
    """Where the last boxes begin, and their braces; looked for as plain text, which is much faster."""
    if "\\fbox" in text:
        return [(m.start(), m.end()) for m in _BOX.finditer(text)][-_MOST_BOXES:]
    out: list[tuple[int, int]] = []
    at = text.rfind("\\boxed")
    while at >= 0 and len(out) < _MOST_BOXES:
        match = _BOX.match(text, at)
        if match is not None:
            out.append((at, match.end()))
        at = text.rfind("\\boxed", 0, at)
    return out[::-1]


_BARE = re.compile(r"-?\d+(?:\.\d+)?|\w")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


def _closings(text: str, openings: list[int]) -> dict[int, int]:
    """Where the braces close that open at some places, in order; one pass."""
    out: dict[int, int] = {}
    if not openings or text.find("}", openings[0]) < 0:
        return out
    wanted, left = set(openings), len(openings)
    open_at: list[int] = []
    for match in _BRACE.finditer(text, openings[0], openings[0] + _LONGEST_BOX):
        char = match[0]
        if char == "{":
            open_at.append(match.start())
        elif char == "}" and open_at:
            opening = open_at.pop()
            if opening in wanted:
                out[opening] = match.start()
                left -= 1
                if not left:
                    break
    return out


def _joins(between: str) -> str | None:
    """The connective between two boxes, or None where they are two statements."""
    if _ALTERNATIVE.search(between, 0, 2_000) is not None:
        return "or"
    if len(between) > 120:
        return None
    if not between.isascii() and _HAN_BLANKS.fullmatch(between) is not None:
        return ","
    if _NEXT_PART.fullmatch(between) is not None:
        return ","
    plain = _LABEL.sub(" ", _BETWEEN.sub(lambda m: f" {m[1] or ''} ", between)).lower()
    words = plain.replace(",", " , ").replace(";", " ; ").replace("&", " and ").split()
    rest = [word for word in words if word not in ("and", "or", ",", ";")]
    mark = "or" if "or" in words else "and" if "and" in words else ","
    if not rest:
        return mark
    if mark != "," and len(rest) <= 4 and all(_ASIDE.fullmatch(word) and word not in _TURNS for word in rest):
        return mark
    return None


# the blanks of one sentence: "焦点的坐标为 \\boxed{(3,0)}，距离为 \\boxed{2}"
_HAN_BLANKS = re.compile(
    r"[\s$]*[，；]\s*(?:(?!所以|则|因此|故|即|从而|得|于是|应|不|而)[\u4e00-\u9fff]){2,24}[:：]?[\s$]*"
)
_NEXT_PART = re.compile(  # "(a) \\boxed{3}\n(b) \\boxed{5}"
    r"[\s$.,;\\\])*]*(?:\([b-h2-9]\)|\bPart\s\(?[b-hB-H2-9]\)?)[\s*$:.\\(\[]*"
)
_ALTERNATIVE = re.compile(r"\n\W*(?:Option|Alternative|Possibility)\s#?(?:[2-9]|[B-H]\b)")
_ASIDE = re.compile(r"[^\W\d_]+|\([a-z]\)")
_TURNS = frozenset("but not so thus hence therefore then wait no actually is was it i we instead".split())


def from_boxes(text: str) -> tuple[int, Extraction] | None:
    """Place and answer of the last box, or of the last boxes side by side; one that is never closed reaches to its line's end."""
    if "box" not in text:
        return None
    start = text.rfind("\\boxed{")
    if start < 0:
        if "\\boxed" not in text and "\\fbox" not in text:
            return None
    elif text.find("\\boxed") == start and "\\fbox" not in text:  # the only one, with nothing but an answer in it
        end = text.find("}", start)
        content = text[start + 7 : end].strip() if end > 0 else ""
        if content and "{" not in content and "\\" not in content:
            return start, Extraction(content, "box", (content,))
    found = boxes(text)
    found = [box for box in found if box[2].strip()]
    cut = _unclosed(text, found[-1][1] if found else 0)
    if cut is not None:
        return cut
    if not found:
        return None
    group = [found[-1]]
    marks: list[str] = []
    for box in reversed(found[:-1]):
        if len(group) >= 32:
            break
        mark = _joins(text[box[1] : group[0][0]])
        if mark is None:
            break
        group.insert(0, box)
        marks.append(mark)
    position = group[-1][0]
    parts = list(dict.fromkeys(_inner(box[2]) for box in group))
    if len(parts) == 1:
        return position, Extraction(parts[0], "box", (parts[0],))
    joined = f" {'or' if 'or' in marks else ','} ".join(parts)
    return position, Extraction(joined, "box", tuple(parts), "or" in marks)


def _unclosed(text: str, after: int) -> tuple[int, Extraction] | None:
    """A last box that is never closed: what stands on its line, up to the end of the formula."""
    start = text.rfind("\\boxed{", after)
    if start < 0:
        return None
    content = _FORMULA_END.split(text[start + 7 : start + 7 + 2_000], maxsplit=1)[0].rstrip(" .*}\\").lstrip(" *")
    return (start, Extraction(content, "box", (content,))) if content else None


_FORMULA_END = re.compile(r"\n|\$|\\[)\]]")


def _inner(content: str) -> str:
    """A box in a box: the innermost one's content."""
    for _ in range(4):
        if "\\boxed" not in content:
            break
        nested = boxes(content)
        if len(nested) != 1:
            break
        before = content[: nested[0][0]] + content[nested[0][1] :]
        if before.strip(" $.\\()[]"):
            break
        content = nested[0][2]
    return content.strip()


def tagged(text: str, tag: str) -> tuple[int, str] | None:
    """Return position and content of the last ``<tag>``; one that is never closed reaches to the end of the text.

    An unclosed tag counts because a stop string such as ``</answer>`` is cut off by the generator.
    """
    opening = f"<{tag}>"
    start = text.rfind(opening)
    if start < 0:
        return None
    inside = start + len(opening)
    end = text.find(f"</{tag}>", inside)
    return start, text[inside : end if end >= 0 else len(text)]


def from_tag(text: str, tag: str = "answer", *, phrases: bool = True) -> tuple[int, Extraction] | None:
    """Place and answer of the last tag; a box in it is opened, and with `phrases` "the answer is" too."""
    hit = tagged(text, tag)
    if hit is None:
        return None
    content = hit[1].strip()
    end = text.find(f"</{tag}>", hit[0])
    position = end if end >= 0 else len(text)  # a phrase inside the tag is a part of it
    if _BARE_NUMBER.fullmatch(content):  # nearly always, and no mark is in it
        return position, Extraction(content, "tag")
    if (inner := from_boxes(content)) is not None:
        return position, Extraction(inner[1].text, "tag", inner[1].parts, inner[1].hedged)
    said = phrase(content) if phrases else None
    return position, Extraction(said[1] if said else _undressed(content), "tag")


_BARE_NUMBER = re.compile(r"[-+]?[0-9][0-9.,]*")


def _undressed(content: str) -> str:
    """Without the math delimiters around all of it."""
    if content[:1] not in ("$", "\\", "*"):
        return content
    for opener, closer in (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"), ("**", "**")):
        inside = content[len(opener) : -len(closer)]
        if inside and opener not in inside and content.startswith(opener) and content.endswith(closer):
            return inside.strip()
    return content


def from_hash(text: str) -> tuple[int, Extraction] | None:
    """Place and answer of the last ``####`` that is no heading."""
    if "####" not in text:
        return None
    start = len(text)
    for _ in range(6):
        start = text.rfind("####", 0, start)
        if start < 0:
            return None
        content, _, below = text[start + 4 : start + 4 + 2_000].lstrip(" \t#").partition("\n")
        content = content.strip().strip("*").strip()
        # with nothing below it, words are an answer
        heading = (
            _HEADING.match(content) is not None
            and len(content.split()) > 1
            and (below.strip() != "" or any(char.isdigit() for char in content))
        )
        if content and not heading:
            return start, Extraction(_undressed(content), "hash")
    return None
