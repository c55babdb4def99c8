"""Characters of hostile texts, for every reward: Unicode's normal forms in linear time, what of a text is to be
seen, and how a keyboard writes it."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

_SHORT = 500  # characters that any normal form has at once
_RUN = 128
# all combining marks are here: no word, no space
_MARKS = re.compile(rf"[^\w\s\x00-\x7f]{{1,{_RUN}}}")
_JOINER = "\u034f"
# blanks that no category tells from signs and letters
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]+")

# of no width, by Unicode's own list (Default_Ignorable_Code_Point): joiners, marks of direction, soft hyphens, fillers
_IGNORED = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
# behind a sign they make one of several (families of emoji), or choose its picture
_BETWEEN_LETTERS = re.compile(rf"(?<![^\w\s\x00-\x7f]){_IGNORED.pattern}")
_ON_KEYBOARDS = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033"), '"'),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), "-"),
}


def typed(form: Literal["NFC", "NFKC"], text: str) -> str:
    """Return a text in a normal form of Unicode as a keyboard writes it: ASCII's quotes and dashes, and nothing of no width."""
    if text.isascii():
        return text
    return normal_form(form, _IGNORED.sub("", text)).translate(_ON_KEYBOARDS)


def shown(text: str) -> str:
    """Return a text with its letters put together, and nothing of no width among them; signs such as emoji stay as they are."""
    return text if text.isascii() else normal_form("NFC", _BETWEEN_LETTERS.sub("", text))


def normal_form(form: Literal["NFC", "NFKC", "NFKD"], text: str) -> str:
    """Return a text in a normal form of Unicode, in linear time.

    The standard library sorts a run of combining marks by insertion, which takes an hour for a million of them. A joiner after
    each 128 of a run, as Unicode's stream-safe form has it after 30, ends what is sorted together.
    """
    if text.isascii():
        return text
    if len(text) > _SHORT:
        text = _MARKS.sub(_joined, text)
    return unicodedata.normalize(form, text)


def _joined(run: re.Match[str]) -> str:
    return run[0] if len(run[0]) < _RUN else run[0] + _JOINER


def holds(text: str) -> int:
    """Return how many characters a text has from the first that is to be seen to the last."""
    return len(seen(text))


def seen(text: str) -> str:
    """Return a text from the first character that is to be seen to the last: without those of white space, of control, of format (a
    zero-width space) or of a blank sign around it.
    """
    text = text.strip()
    start, stop = 0, len(text)
    while start < stop and _unseen(text[start]):
        start += 1
    while start < stop and _unseen(text[stop - 1]):
        stop -= 1
    return text[start:stop]


def _unseen(char: str) -> bool:
    return char.isspace() or unicodedata.category(char) in ("Cc", "Cf", "Cs") or _BLANK.match(char) is not None
