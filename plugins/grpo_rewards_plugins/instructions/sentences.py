"""Sentences and words as the originals cut them: Punkt and Treebank tokens of nltk, and IF-RLVR's substitutions."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from grpo_rewards_plugins.instructions.punkt import sentences

MOST = 50_000
"""Characters of a text that Punkt and the tokenizer are given; they are too slow for more."""


class TooLong(Exception):
    """A text is too long for the tokenizer."""


# ------------------------------------------------------------------------------------------------ substitutions

_STOP, _DOT = "\x01", "\x00"  # the end of a sentence; a full stop that ends none
_STARTS = (
    r"(Mr|Mrs|Ms|Dr|Prof|Capt|Cpt|Lt|He\s|She\s|It\s|They\s|Their\s|Our\s|We\s|But\s|However\s|That\s|This\s|Wherever)"
)
_COMPANY = r" (Inc|Ltd|Jr|Sr|Co)\."
_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), instead.replace("·", _DOT).replace("|", _STOP))
    for pattern, instead in (
        (r"(Mr|St|Mrs|Ms|Dr)\.", r"\1·"),
        (r"\.(com|net|org|io|gov|edu|me)", r"·\1"),
        (r"([0-9])\.([0-9])", r"\1·\2"),
        (r"(\.{2,})", ""),  # as many dots that end nothing, then a stop
        (r"Ph\.D\.", r"Ph·D·"),
        (r"\s([A-Za-z])\. ", r" \1· "),
        (r"([A-Z]\.[A-Z]\.(?:[A-Z]\.)?) " + _STARTS, r"\1| \2"),
        (r"([A-Za-z])\.([A-Za-z])\.([A-Za-z])\.", r"\1·\2·\3·"),
        (r"([A-Za-z])\.([A-Za-z])\.", r"\1·\2·"),
        (_COMPANY + " " + _STARTS, r" \1| \2"),
        (_COMPANY, r" \1·"),
        (r" ([A-Za-z])\.", r" \1·"),
    )
)
_QUOTES = ((".”", "”."), ('."', '".'), ('!"', '"!'), ('?"', '"?'))


@lru_cache(maxsize=256)
def ruled(text: str) -> tuple[str, ...]:
    """Return the sentences of the substitutions that IF-RLVR's checks use: titles, web sites, numbers, acronyms first."""
    text = f" {text}  ".replace("\n", " ")
    for pattern, instead in _RULES:
        text = pattern.sub(instead or (lambda dots: _DOT * len(dots[0]) + _STOP), text)
    for inside, outside in _QUOTES:
        text = text.replace(inside, outside)
    for mark in ".?!":
        text = text.replace(mark, mark + _STOP)
    found = [sentence.strip() for sentence in text.replace(_DOT, ".").split(_STOP)]
    return tuple(found if found[-1] else found[:-1])


# ------------------------------------------------------------------------------------------------ nltk


@lru_cache(maxsize=1)
def _treebank() -> Callable[[str], list[str]]:
    from nltk.tokenize.destructive import NLTKWordTokenizer

    tokenize: Callable[[str], list[str]] = NLTKWordTokenizer().tokenize
    return tokenize


@lru_cache(maxsize=256)
def punkt(text: str) -> tuple[str, ...]:
    """Return the sentences of nltk's English Punkt; TooLong for a text of more than `MOST` characters."""
    if len(text) > MOST:
        raise TooLong(text)
    return sentences(text)


@lru_cache(maxsize=8192)
def _sentence_tokens(sentence: str) -> tuple[str, ...]:
    return tuple(_treebank()(sentence))


def tokens(text: str) -> list[str]:
    """Return the words and marks of `nltk.word_tokenize`; TooLong for a text of more than `MOST` characters."""
    return [token for sentence in punkt(text) for token in _sentence_tokens(sentence)]


# Where nltk's tokenizer always cuts, and what may stand beside: a full stop has no case, so that of the last word does not matter.
_CUT = re.compile(r'[;@#$%&?!*<>(){}\[\]"]|--|\.{2,}|[:,](?!\d)')
_CLEAR = re.compile(r"[\x21-\x26\x28-\x5f\x61-\x7e\w]*")  # no apostrophe, no backtick, no mark of another alphabet
_CONTRACTED = re.compile(r"[A-Z](?:[a-z]+'(?:s|d|m|ll|re|ve)|[a-z]{2,}'t)[.,!?;:]*")
_JOINED = re.compile(r"cannot|gimme|gonna|gotta|lemme|wanna", re.IGNORECASE)


def capitals(text: str) -> int:
    """Return how many of `tokens` are all capitals; TooLong as there.

    A word without apostrophes is told without the tokenizer, which takes fifty times as long; a sentence with any other word that
    holds a capital is left to it.
    """
    return sum(map(_capitals, punkt(text)))


def _capitals(sentence: str) -> int:
    count = 0
    for part in sentence.split():
        if part.islower() or _CONTRACTED.fullmatch(part) is not None:
            continue
        if _CLEAR.fullmatch(part) is None or _JOINED.search(part) is not None:
            return sum(map(str.isupper, _sentence_tokens(sentence)))
        count += sum(map(str.isupper, _CUT.split(part)))
    return count


_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Return the runs of letters, digits and underscores.

    Of those of nltk's tokenizer since 3.10, where a mark that joins or combines (``U+200D``, ``U+0303``) is part of a word.
    """
    return _WORD.findall(text) if text.isascii() else _wide_words()(text)


@lru_cache(maxsize=1)
def _wide_words() -> Callable[[str], list[str]]:
    import regex

    return regex.compile(r"\w+").findall
