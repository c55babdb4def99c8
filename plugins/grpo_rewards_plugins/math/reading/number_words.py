"""Numbers in words: "twenty-one", "one hundred and five", "two thirds", "third"."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

from fractions import Fraction

from grpo_rewards_plugins.answers.formulas import NUMBER_WORDS

_SMALL = {word: at for at, word in enumerate(NUMBER_WORDS)}
_TENS = {word: 10 * (at + 2) for at, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split())}
_LARGE = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_PARTS = {
    "half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "twelfth": 12, "hundredth": 100,
}  # fmt: skip
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
_LONGEST = 80


def number_in_words(plain: str) -> Fraction | None:
    """The number that words in lower case say, or None where they say anything else."""
    if len(plain) > _LONGEST:
        return None
    words = plain.replace("-", " ").split()
    if words == ["half"]:
        return Fraction(1, 2)
    sign = 1
    if words[:1] in (["minus"], ["negative"]):
        sign, words = -1, words[1:]
    if not words or not (words[0] in _SMALL or words[0] in _TENS or words[0] in ("a", "hundred", "dozen", *_LARGE)):
        return None
    part = _PARTS.get(words[-1]) or (_PARTS.get(words[-1][:-1]) if words[-1].endswith("s") else None)
    part = 2 if words[-1] == "halves" else part
    if part is not None and len(words) > 1:
        above = 1 if words[:-1] == ["a"] else _whole(words[:-1])
        return None if above is None else sign * Fraction(above, part)
    whole = _whole(words)
    return None if whole is None else sign * Fraction(whole)


def ordinal_in_words(plain: str) -> int | None:
    """The place that a word in lower case says: "third"; None where it says anything else."""
    return _ORDINALS.index(plain) + 1 if plain in _ORDINALS else None


def amount_in_words(plain: str) -> tuple[Fraction, str] | None:
    """The number that words begin with, and what it counts: "five apples"; None where there is no such number."""
    words = plain.split()
    for size in range(min(len(words) - 1, _LONGEST_COUNT), 0, -1):
        if (number := number_in_words(" ".join(words[:size]))) is not None:
            counted = words[size:]
            fits = len(counted) <= _MOST_COUNTED and all(word.isalpha() for word in counted)
            share = number.denominator > 1 and counted[0] == "of"
            return (number, " ".join(counted)) if fits and (share or counted[0] not in _NOT_COUNTED) else None
    return None


_LONGEST_COUNT, _MOST_COUNTED = 8, 3
_NOT_COUNTED = frozenset(
    ("or", "and", "to", "of", "times", "point", "over", "percent", *_SMALL, *_TENS, *_LARGE, *_PARTS)
)


def _whole(words: list[str]) -> int | None:
    total, group, last = 0, 0, "start"
    # each large word is below the one before it: "one thousand million" is no number here
    largest = 10**12
    for at, word in enumerate(words):
        # "one hundred and five", but no number "twenty and five"
        if word == "and" and last in ("hundred", "large") and at + 1 < len(words):
            continue
        if word == "a" and at == 0 and len(words) > 1 and words[1] in ("hundred", *_LARGE):
            group, last = 1, "unit"
        elif word in _SMALL and (last in ("start", "hundred", "large") or (last == "tens" and 0 < _SMALL[word] < 10)):
            group, last = group + _SMALL[word], "unit"
        elif word in _TENS and last in ("start", "hundred", "large"):
            group, last = group + _TENS[word], "tens"
        elif word == "dozen" and last in ("start", "unit") and group < 100:
            group, last = (group or 1) * 12, "dozen"
        elif word == "hundred" and last in ("start", "unit") and group < 100 and not (group == 0 and at):
            group, last = (group or 1) * 100, "hundred"
        elif word in _LARGE and (group or at == 0) and _LARGE[word] < largest:
            largest = _LARGE[word]
            total, group, last = total + (group or 1) * largest, 0, "large"
        else:
            return None
    return total + group
