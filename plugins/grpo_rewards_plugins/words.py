"""Words and n-grams of a text in any script, for rewards that count them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

# Scripts without spaces count by the character; a long run without spaces is cut, so that "aaaa..." repeats itself.
UNSPACED = (("\u3040", "\u30ff"), ("\u3400", "\u9fff"), ("\uac00", "\ud7af"))
LONGEST = 24

_CLASS = "".join(f"{first}-{last}" for first, last in UNSPACED)
_WORD = re.compile(rf"[{_CLASS}]|[^\s{_CLASS}]{{1,{LONGEST}}}")
_ANY_UNSPACED = re.compile(f"[{_CLASS}]")
_ASCII = bytes(range(128))
_HASHED = 4096  # characters, from which on numpy is quicker


def count_distinct(text: str, size: int) -> tuple[int, int]:
    """Return how many n-grams of `size` words a text has, and how many of them are distinct."""
    if len(text) >= _HASHED and (hashed := _hashed()) is not None:
        return hashed(text, size)
    words = split_words(text)
    return max(0, len(words) - size + 1), len(set(ngrams(words, size)))


@cache
def _hashed() -> Callable[[str, int], tuple[int, int]] | None:
    """The way of long texts, where numpy is there, as it is beside every trainer."""
    try:
        from grpo_rewards_plugins.word_hashes import count_distinct
    except ImportError:
        return None
    return count_distinct


def ngrams(words: list[str], size: int) -> Iterator[tuple[str, ...]]:
    """Return every run of `size` words, in order; none where there are fewer words."""
    return zip(*(words[start:] for start in range(size)), strict=False)


def split_words(text: str) -> list[str]:
    """Return a text's words, case aside, punctuation with them; characters of scripts without spaces stand alone."""
    text = text.casefold()
    # most texts are words between spaces, which split finds four times as fast as the pattern, with the same result
    if text.isascii() or not _ANY_UNSPACED.search(text):
        words = text.split()
        if max(map(len, set(words)), default=0) <= LONGEST:
            return words
        return [
            piece
            for word in words
            for piece in (
                (word,)
                if len(word) <= LONGEST
                else [word[start : start + LONGEST] for start in range(0, len(word), LONGEST)]
            )
        ]
    return _WORD.findall(text)


def beyond_ascii(raw: bytes) -> str:
    """Return the characters beyond ASCII of a text in UTF-8 (surrogates passed), in order."""
    if raw.isascii():
        return ""
    return raw.translate(None, _ASCII).decode("utf-8", "surrogatepass")
