"""Signs of an answer in running text: phrases, bold type, the last line, the last formula, the last number."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

__all__ = ["bold", "last_line", "last_number", "last_segment", "letter", "phrase", "segments", "spoken", "whole"]

_PHRASE = re.compile(
    r"(?:\b(?:(?:answer|respuesta|réponse|antwort|resposta|risposta|ответ)s?\b|(?:solution|result)s?\b(?=[^.:\n]{0,90}?\b(?:is|are)\b))"
    r"(?:\s+(?:to|for|of)\s[^.\n:=$\\]{1,80}?)?"
    r"(?:\s*\*{0,2}\s*(?:is|are|es|est|ist|é|è|equals|must be|should be|will be|would be)\b(?:\s+(?:therefore|thus|simply|just|then|equal to))?"
    r"\s*:?|\s*\*{0,2}\s*[:=]\s*\*{0,2})|^\s*A\s*:|答案\s*(?:是|为|[:：]))\s*",
    re.IGNORECASE | re.MULTILINE,
)
_DELIMITER = re.compile(r"\\.|\$\$?", re.DOTALL)
_CLOSERS = {"$$": "$$", "$": "$", "\\[": "\\]", "\\(": "\\)"}
_CARRIES = re.compile(r"\d|\\[a-zA-Z]|\$|[=+^√π∞∅]")
_CHOICE = re.compile(r"[\s*(\[{$]*(?:\\text\w*\{)?\(?([A-Ja-j])\)?\}?[\s*)\]}$.,;:!?]*$")
_PHRASE_WORDS = (
    "answer",
    "solution",
    "result",
    "respuesta",
    "réponse",
    "antwort",
    "resposta",
    "risposta",
    "ответ",
    "答案",
)
_ASCII_WORDS = tuple(word for word in _PHRASE_WORDS if word.isascii())
_ANSWER = re.compile(r"\s*(?:answer|respuesta|réponse|antwort|resposta|risposta|ответ|答案|A\s*:)", re.IGNORECASE)
_CHECKING = re.compile(
    r"\b(?:check|verify|confirm|test)(?:s|ed|ing)?\b[^.\n]{0,25}\Z|\bverifying\b[^.\n]{0,25}\Z", re.IGNORECASE
)
_ANY = re.compile(r"[Aa][NnSs]|[Ss][Oo]|[Rr][EeÉéIi]|[Оо]т|A\s*:|答")  # one of its words may begin here
_FEW = 40  # characters in which one search costs less than one for each word
_SHORT = re.compile(r"A\s*:")
_SHORT_LINE = re.compile(r"^\s*A\s*:", re.IGNORECASE | re.MULTILINE)
_SPOKEN = re.compile(r"(?!not\b)[^\W\d_]{2,30}(?:[ -][^\W\d_]{1,30}){0,4}", re.IGNORECASE)
_DENIED = re.compile(r"\d|\b(?:not|neither|nor)\b|n't\b", re.IGNORECASE)
_CHOICE_LEAD = re.compile(r"[\s*(\[$]*(?:\(?([A-J])\)|([A-J])[.:,]|([A-J])(?=\*\*|$)|([A-Z])(?=\.?\**$))(?:[\s.]|\*|$)")
_SENTENCE = re.compile(r"(?<![A-Z\d])\.(?=\s+[A-Z\\(]|\s*$)|(?<=\d)\.(?=\s|$)|[!?](?=\s|$)|\n")
_BOLD = re.compile(r"\*\*(?!\s)([^*\n]{1,400}?)\*\*")
_NUMBER = re.compile(
    r"(?<![\w.,])[-+−]?(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+(?:,\d{1,2}(?![\d,]))?)(?:\.\d+)?(?:/\d+)?(?:[eE][+-]?\d+)?%?|(?<!\w)[-+]?\.\d+"
)
_DIGIT = re.compile(r"\d")
_COMMAND = re.compile(r"\\[a-zA-Z]+\{[^{}]*\}")
_PROSE = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]{3,}(?![a-zA-Z{])")
_LEAD = re.compile(r"^(?:(?:so|it|is|we|get|as|be|to)\b[\s,:]*)+(?=[-\d$\\])", re.IGNORECASE)
_NOT = re.compile(r",?\s+(?:and\s+not|not|rather than|instead of)\b|\s*\((?:and\s+)?not\b")
_KNOWN = frozenset("sin cos tan log exp sqrt and mod min max gcd lcm infinity inf pi".split())
_GLUED = re.compile(r"(?:or|and)[A-Za-z]")
_IS = re.compile(r"^[^.\n]{0,60}?\b(?:is|are|equals)\s*:?\s*(?=[\d$\\-])")
_MOST_PHRASES = 24  # from the end, that may carry no answer before the search is given up
_TAIL = 20_000  # characters from the end that the weaker signs look at


def segments(text: str) -> list[tuple[int, int, str]]:
    """Start, end and content of each formula between math delimiters; one pass, whatever is left open."""
    out: list[tuple[int, int, str]] = []
    if "$" not in text and "\\" not in text:
        return out
    marks = [(m.start(), m[0]) for m in _DELIMITER.finditer(text)]
    at, count = 0, len(marks)
    never: set[str] = set()  # closers that do not come any more
    while at < count:
        start, mark = marks[at]
        at += 1
        closer = _CLOSERS.get(mark)
        if closer is None or closer in never:
            continue
        dollar = mark[0] == "$"
        end = next((i for i in range(at, count) if marks[i][1] == closer or (dollar and marks[i][1][0] == "$")), None)
        if end is None:
            never.add(closer)
            continue
        place, found = marks[end]
        if mark == "$$" and found == "$":  # the first of the two dollars is stray
            start, mark = start + 1, "$"
        elif mark == "$" and found == "$$":
            found = "$"
        content = text[start + len(mark) : place]
        if content:
            out.append((start, place + len(found), content))
            at = end + 1
    return out


def _carries(text: str) -> bool:
    return _CARRIES.search(text) is not None or _CHOICE.match(text) is not None or _CHOICE_LEAD.match(text) is not None


def phrase(text: str, *, after_box: bool = False) -> tuple[int, str] | None:
    """Place and text of the last "answer is" that carries a digit, a formula or a choice letter.

    One that is about a check ("we verify our answer: 17 * 44 = 748") does not count; behind a box only the word "answer"
    does, not "the solutions are".
    """
    if len(text) < _FEW and _ANY.search(text) is None:
        return None
    tail = max(0, len(text) - _TAIL)
    window = text[tail:]
    for match in islice(_phrases(window), _MOST_PHRASES):
        rest = window[match.end() : match.end() + 2_000]
        if "\\boxed" in rest[:400]:
            continue  # the box is a mark of its own
        if after_box and _ANSWER.match(match[0]) is None:
            continue
        if _CHECKING.search(window[max(0, match.start() - 40) : match.start()]):
            continue
        found = _sentence(rest)
        if found and _carries(found) and (number := _told(found)) is not None:
            return tail + match.start(), number or found
    return None


def _phrases(window: str) -> Iterator[re.Match[str]]:
    """Matches of the phrase, the last one first: its words are looked for as plain text, which is much faster."""
    low = window.lower()
    if len(low) != len(window):  # a letter whose lower case is longer moves all places
        yield from reversed(list(_PHRASE.finditer(window)))
        return
    for place in sorted([*_words(low), *_short(window)], reverse=True):
        match = _PHRASE.match(window, place)
        if match is not None:
            yield match


def _words(low: str) -> list[int]:
    """Where a phrase may begin with one of its words, in text of lower case."""
    places: list[int] = []
    for word in _ASCII_WORDS if low.isascii() else _PHRASE_WORDS:
        at = low.find(word)
        while at >= 0:
            places.append(at)
            at = low.find(word, at + 1)
    return places


def _short(window: str) -> list[int]:
    """Where a line may begin with ``A:``."""
    places: list[int] = []
    at = window.find("A")
    while at >= 0:
        if _SHORT.match(window, at):
            start = at
            while start and window[start - 1] in " \t":
                start -= 1
            places.append(start)
        at = window.find("A", at + 1)
    return places


def _last_phrase(window: str) -> re.Match[str] | None:
    """The last of the phrases that follow each other, none inside another."""
    low = window.lower()
    if len(low) != len(window) or "\u017f" in low:  # the long s counts as an s
        return next(reversed(list(_PHRASE.finditer(window))), None)
    found, done = None, 0
    lines = [match.start() for match in _SHORT_LINE.finditer(window)] if ":" in window else []
    for place in sorted([*_words(low), *lines]):
        match = _PHRASE.match(window, max(place, done))
        if match is not None:
            found, done = match, match.end()
    return found


def _told(found: str) -> str | None:
    """The one number of a sentence in words ("she left 3 hours ago"); "" where it is no such sentence; None to look further."""
    if "\\" in found or len(_PROSE.findall(found)) < 3:
        return ""
    numbers = [match[0] for match in islice(_NUMBER.finditer(found), 2)]
    if len(numbers) == 1:
        return numbers[0]
    return "" if len(found) < 60 else None


def _sentence(rest: str) -> str:
    """The answer at the head of what follows the phrase."""
    rest = rest.lstrip(" \t\n*:")
    found = segments(rest[:2_000])
    if found:
        start, end, content = found[0]
        head = rest[:start].strip(" *")
        later = _IS.search(rest[end : end + 200])
        if later and not re.search(r"\d|\\", content):  # "the largest $n$ is 34"
            return _sentence(rest[end + later.end() :])
        if len(head) <= 40 and "\n" not in head and not re.search(r"[.\d]", head):
            parts = [content]
            for here in found[1:]:
                between = rest[end : here[0]].strip().lower().strip(" *")
                if between not in ("and", "or", ",", ", and", ", or"):
                    break
                parts.append(" \\text{or} " if "or" in between else ", ")
                parts.append(here[2])
                end = here[1]
            after = rest[end:].lstrip(" *")
            unit = (
                re.match(r"(%|°|[a-zA-Z]+(?:\s(?:per|of)\s[a-zA-Z]+)?)(?=[.\s*]|$)", after) if len(parts) == 1 else None
            )
            if unit and unit[1] == "%":
                return content.strip() + "\\%"
            return "".join(parts).strip()
    choice = _CHOICE_LEAD.match(rest)
    if choice and not re.match(r"[\s*(\[$]*[A-J][.:,]\d", rest):
        return next(group for group in choice.groups() if group)
    end_of = _SENTENCE.search(rest)
    found_text = (rest[: end_of.start()] if end_of else rest).strip(" *\"'`")
    denied = _NOT.search(found_text)
    return found_text[: denied.start()] if denied and denied.start() else found_text


def spoken(text: str) -> str | None:
    """The words of a last sentence such as "The answer is Paris."; weaker than every other mark."""
    tail = text[-400:]
    if tail.rstrip().rstrip("*\"'.").rstrip()[-1:].isdecimal():  # words do not end in a digit
        return None
    found = _last_phrase(tail)
    if found is None:
        return None
    words = tail[found.end() :].strip().strip("*\"'.").strip()
    return words if _SPOKEN.fullmatch(words) else None


def bold(text: str) -> str | None:
    """The last bold text that carries an answer."""
    window = text[-_TAIL:]
    if "**" not in window:
        return None
    for match in reversed(list(_BOLD.finditer(window))):
        content = match[1].strip(" :")
        hit = phrase(content)
        if hit is not None:
            return hit[1]
        if _carries(content) and not match[1].rstrip().endswith(":") and not _heading(content):
            inner = segments(content)
            return inner[-1][2].strip() if inner else content
    return None


def _heading(content: str) -> bool:
    return (
        re.match(r"(?:step|part|case|problem|question|example|option|choice|\d+[.)])", content, re.IGNORECASE)
        is not None
    )


def last_line(text: str) -> str | None:
    """The last line, where it is nothing but an answer."""
    window = text[-_TAIL:].rstrip()
    line = window[window.rfind("\n") + 1 :].strip().strip("*").strip()
    if lead := _LEAD.match(line):
        line = line[lead.end() :]
    if not line or len(line) > 400:
        return None
    inner = segments(line)
    if len(inner) == 1 and not line[: inner[0][0]].strip() and not line[inner[0][1] :].strip(" ."):
        return inner[0][2].strip()
    if inner or not _DIGIT.search(line):
        return None
    prose = _PROSE.finditer(_COMMAND.sub("", line) if "\\" in line else line)
    if any((word := match[0]).lower() not in _KNOWN and not _GLUED.fullmatch(word) for match in prose):
        return None
    return line


def last_segment(text: str) -> str | None:
    """The last formula between math delimiters."""
    window = text[-_TAIL:]
    found = segments(window)
    if not found or _NUMBER.search(window, found[-1][1]):  # a number after it is nearer to the answer
        return None
    return found[-1][2].strip() or None


def letter(text: str) -> str | None:
    """A choice letter: one that leads the text, or the only one that stands alone in its last line."""
    stripped = text[-_TAIL:].strip()
    if not stripped:
        return None
    lead = _CHOICE_LEAD.match(stripped)
    if lead and len(stripped) < 400:
        return next(group for group in lead.groups() if group)
    line = stripped[stripped.rfind("\n") + 1 :]
    if _DENIED.search(line):
        return None
    alone = set(re.findall(r"(?<![\w'])[B-HJ](?![\w'])|(?<![\w'])[AI](?=[.),]|$|\s+(?:or|and)\s)", line))
    return alone.pop() if len(alone) == 1 else None


def last_number(text: str) -> str | None:
    """The last number."""
    for word in reversed(text[-_TAIL:].split()):  # no number goes across a space
        if _DIGIT.search(word) is not None and (found := list(_NUMBER.finditer(word))):
            return found[-1][0]
    return None


def whole(text: str) -> str | None:
    """All of a text that is short and a single line."""
    stripped = text.strip()
    return stripped if stripped and len(stripped) <= 200 and "\n" not in stripped else None
