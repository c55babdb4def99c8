"""IFBench's checks `format:`."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

from grpo_rewards_plugins.instructions import arguments as of
from grpo_rewards_plugins.instructions.checks.counts import AROUND, MARKS, NO_MARKS
from grpo_rewards_plugins.instructions.registry import check, mended
from grpo_rewards_plugins.instructions.sentences import punkt, tokens

_OPENING = {")": "(", "]": "[", "}": "{"}


@check("format:parentheses", "ifbench")
def parentheses(text: str) -> bool:
    """Brackets of any kind are nested five deep, and one of them is closed; a wrong one begins anew."""
    opened: list[str] = []
    deepest = 0
    for char in text:
        if char in "([{":
            opened.append(char)
            deepest = max(deepest, len(opened))
        elif char in _OPENING:
            if opened and opened[-1] == _OPENING[char]:
                opened.pop()
                if deepest >= 5:
                    return True
            else:
                opened, deepest = [], 0
    return False


@check("format:quotes", "ifbench")
def quotes(text: str) -> bool:
    """Straight quotes, double and single in turn, are nested three deep and closed."""
    opened: list[str] = []
    deepest = 0
    for char in text:
        if opened and char == opened[-1]:
            opened.pop()
            if deepest - len(opened) >= 3:
                return True
        elif char in "\"'":
            opened.append(char)
            deepest = max(deepest, len(opened))
    return False


@mended("format:quotes")
def quotes_open_before_text(text: str) -> bool:
    """The same, but a quote within a word is an apostrophe."""
    return quotes(re.sub(r"(?<=\w)'(?=\w)", "", text))


_LETTERED = re.compile(r"\W*[aA]\W*[bB]\W*[cC]\W*")


@check("format:options", "ifbench", options=of.text)
def options(text: str, options: str) -> bool:
    """The text is one of the options; of lettered ones to the character, else without case and marks around it."""
    divider = "/" if "/" in options else "or" if "or" in options else ","
    known = [option.strip() for option in options.split(divider)]
    if _LETTERED.match(options[:1000]):
        return text in known
    return text.strip(AROUND).lower() in [option.strip(AROUND).lower() for option in known]


@check("format:newline", "ifbench")
def newline(text: str) -> bool:
    """Every word stands on a line of its own."""
    text = text.translate(NO_MARKS).strip()
    return sum(1 for line in text.split("\n") if line) == len(text.split())


@lru_cache(maxsize=1)
def _emoji() -> Callable[[str], bool]:
    import emoji

    return emoji.is_emoji


@check("format:emoji", "ifbench", needs="emoji nltk")
def emoji(text: str) -> bool:
    """An emoji of one code point ends every sentence, or begins the next one."""
    is_emoji = _emoji()
    bare = [sentence.translate(NO_MARKS).strip() for sentence in punkt(text)]
    for place, sentence in enumerate(bare):
        if not sentence:
            return False
        # the last but one too: a variation selector may stand behind the emoji
        if is_emoji(sentence[-1]) or is_emoji(sentence[-2:][0]):
            continue
        following = bare[place + 1] if place + 1 < len(bare) else ""
        if not following or not is_emoji(following[0]):
            return False
    return True


def _indents(lines: list[str]) -> list[int]:
    return [len(line) - len(line.lstrip(" ")) for line in lines]


@check("format:line_indent", "ifbench")
def line_indent(text: str) -> bool:
    """Each line is indented more than the one before; of blank lines side by side every second one counts as a line."""
    lines = text.split("\n")
    if len(lines) ** 2 > 8 * len(text) + 64:  # half of them stay at least, and none is as short as the one before
        return False
    place = 0
    while place < len(lines):  # the original removes from the list that it walks over, and the first that is equal
        if not lines[place].strip():
            lines.remove(lines[place])
        place += 1
    return all(one < other for one, other in pairwise(_indents(lines)))


@mended("format:line_indent")
def line_indent_written(text: str) -> bool:
    """The same, without any blank line, of two lines or more."""
    found = _indents([line for line in text.split("\n") if line.strip()])
    return len(found) > 1 and all(one < other for one, other in pairwise(found))


_NO_QUOTES = string.digits + MARKS.replace('"', "")


@check("format:quote_unquote", "ifbench")
def quote_unquote(text: str) -> bool:
    """No quotation follows another, and none ends the text; what stands between is the explanation."""
    joined = "".join(text.replace("'\"'", "").split())
    return '""' not in joined and not joined.strip(_NO_QUOTES).endswith('"')


@check("format:list", "ifbench", sep=of.text)
def list_of(text: str, sep: str) -> bool:
    """The mark of a list stands twice or more."""
    return text.count(sep) >= 2


def _first_of(text: str, *marks: str) -> int:
    """Where the first mark that stands in the text begins, or -1."""
    return next((at for mark in marks if (at := text.find(mark)) >= 0), -1)


@check("format:thesis", "ifbench")
def thesis(text: str) -> bool:
    """Something stands in italics of HTML, and something after it."""
    start = _first_of(text, "<i>", "<em>")
    if start < 0:
        return False
    text = text[start:]
    end = _first_of(text, "</i>", "</em>")
    # 3 and 4 characters for `<em>` and `</em>` too, as in the original
    return end >= 0 and bool(text[3:end].strip()) and bool(text[end + 4 :].strip())


@check("format:sub-bullets", "ifbench")
def sub_bullets(text: str) -> bool:
    """After every ``*`` stands a ``-`` before the next; a text without any will do."""
    return all("-" in bullet for bullet in text.split("*")[1:])


@check("format:no_bullets_bullets", "ifbench", needs="nltk")
def no_bullets_bullets(text: str) -> bool:
    """Two sentences or more, then two lines that begin with ``*`` or more, and nothing after them."""
    before = bullets = 0
    prose = True
    for line in text.split("\n"):
        if line.strip().startswith("*"):
            prose = False
            if before < 2:
                return False
            bullets += 1
        elif prose:
            found = punkt(line.strip())
            prose = bool(found)  # as in the original, where a blank line ends the prose
            before += len(found)
        else:
            return False
    return bullets >= 2


def _is_titled(word: str) -> bool:
    if not word[:1].isalpha():
        return True
    if len(word) == 1:
        return not word.islower()
    return not (word[0].islower() and (word[1:].isupper() or word[1:].islower()))


@check("format:title_case", "ifbench", needs="nltk")
def title_case(text: str) -> bool:
    """No token is in lower case, or has only its first letter so; other mixtures pass."""
    return all(map(_is_titled, tokens(text)))


@check("format:output_template", "ifbench")
def output_template(text: str) -> bool:
    """Three headings stand somewhere."""
    return all(heading in text for heading in ("My Answer:", "My Conclusion:", "Future Outlook:"))


@check("format:no_whitespace", "ifbench")
def no_whitespace(text: str) -> bool:
    """There is no white space."""
    return text.split(None, 1) == [text]
