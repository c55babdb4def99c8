"""Characters of hostile texts, for every reward: Unicode's normal forms in linear time, and what of a text is to be seen."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

__all__ = ["holds", "normal_form", "seen"]

_SHORT = 500  # characters that any normal form has at once
_RUN = 128
# all combining marks are here: no word, no space
_MARKS = re.compile(rf"[^\w\s\x00-\x7f]{{1,{_RUN}}}")
_JOINER = "\u034f"
# blanks that no category tells from signs and letters
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]+")


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
