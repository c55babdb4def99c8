"""Words of a long text as numbers, and how many of their n-grams are distinct; with numpy.

A word's number is its polynomial hash (Rabin) modulo 2**64, taken of all words at once from prefix sums, and then mixed. Two words
or n-grams that differ have one number with a chance of 2**-64; a text made for that would only seem to repeat itself more.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from grpo_rewards_plugins.words import LONGEST, UNSPACED, beyond_ascii

__all__ = ["count_distinct"]

Codes = NDArray[np.uint8] | NDArray[np.uint32]
Numbers = NDArray[np.uint64]

_BLOCK = 1 << 14  # characters whose sums fit in a processor's cache
_BASE = 0x5851F42D4C957F2D  # odd, so that it has an inverse
_SPACE, _SPACED, _UNSPACED = range(3)


def count_distinct(text: str, size: int) -> tuple[int, int]:
    """Return how many n-grams of `size` words a text has, and how many of them are distinct; words are those of `split_words`."""
    codes, kinds = _characters(text)
    words = _hashes(codes, *_words(kinds))
    total = len(words) - size + 1
    if total <= 0:
        return 0, 0
    grams = np.zeros(total, np.uint64)
    for place in range(size):
        grams += words[place : place + total] * np.uint64(pow(0xC2B2AE3D27D4EB4F, place + 1, 1 << 64))
    return total, _distinct(grams)


def _distinct(numbers: Numbers) -> int:
    """How many of the numbers are distinct: each takes a place in a table, and the few whose place another has are sorted."""
    bits = len(numbers).bit_length() + 2
    places = (numbers >> np.uint64(64 - bits)).astype(np.intp)
    order = np.arange(len(numbers), dtype=np.int32)  # half a table stays in the cache
    table = np.empty(1 << bits, np.int32)
    table[places] = order
    holders = table[places]
    others = numbers[numbers[holders] != numbers]
    others.sort()
    return (
        int(np.count_nonzero(holders == order)) + bool(len(others)) + int(np.count_nonzero(others[1:] != others[:-1]))
    )


def _characters(text: str) -> tuple[Codes, NDArray[np.uint8]]:
    """The code points of the text without its case, and the kind of each."""
    table = _kinds()
    raw = text.encode("utf-8", "surrogatepass").lower()
    if len(raw) == len(text):
        return np.frombuffer(raw, np.uint8), np.frombuffer(raw.translate(table[:256].tobytes()), np.uint8)
    beyond = beyond_ascii(raw)
    # to fold the whole text is slow and most often for nothing: ASCII is done
    folded = raw.decode("utf-8", "surrogatepass") if beyond == beyond.casefold() else text.casefold()
    codes = np.frombuffer(folded.encode("utf-32-le", "surrogatepass"), "<u4")
    kinds = np.frombuffer(bytearray(codes.astype(np.uint8).tobytes().translate(table[:256].tobytes())), np.uint8)
    wide = np.flatnonzero(codes > 0xFF)
    kinds[wide] = table[np.minimum(codes[wide], 0xFFFF)]
    return codes, kinds


@cache
def _kinds() -> NDArray[np.uint8]:
    """The kind of each character up to U+FFFF; those beyond are no spaces and stand in words."""
    table = np.full(1 << 16, _SPACED, np.uint8)
    table[[code for code in range(0x3001) if chr(code).isspace()]] = _SPACE
    for first, last in UNSPACED:
        table[ord(first) : ord(last) + 1] = _UNSPACED
    return table


def _words(kinds: NDArray[np.uint8]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where words begin, and how long they are."""
    begins = kinds != _SPACE
    ends = begins.copy()
    begins[1:] &= (kinds[1:] == _UNSPACED) | (kinds[:-1] != _SPACED)
    ends[:-1] &= (kinds[:-1] == _UNSPACED) | (kinds[1:] != _SPACED)
    starts = np.flatnonzero(begins)
    lengths = np.flatnonzero(ends) + 1 - starts
    long = np.flatnonzero(lengths > LONGEST)
    if len(long):
        runs = zip(starts[long].tolist(), lengths[long].tolist(), strict=True)
        cuts = np.concatenate([np.arange(start + LONGEST, start + length, LONGEST) for start, length in runs])
        begins[cuts] = ends[cuts - 1] = True
        starts = np.flatnonzero(begins)
        lengths = np.flatnonzero(ends) + 1 - starts
    return starts, lengths


def _hashes(codes: Codes, starts: NDArray[np.intp], lengths: NDArray[np.intp]) -> Numbers:
    """The words' numbers."""
    powers, inverses = _powers()
    found = np.empty(len(starts), np.uint64)
    sums = np.zeros(len(powers) + 1, np.uint64)
    for at in range(0, len(codes), _BLOCK):
        first, last = np.searchsorted(starts, (at, at + _BLOCK))
        block = codes[at : at + len(powers)]
        np.cumsum(block * powers[: len(block)], out=sums[1 : len(block) + 1])
        here = starts[first:last] - at
        found[first:last] = (sums[here + lengths[first:last]] - sums[here]) * inverses[here]
    found ^= found >> np.uint64(32)
    found *= np.uint64(0xD6E8FEB86659FD93)
    found ^= found >> np.uint64(32)
    return found


@cache
def _powers() -> tuple[Numbers, Numbers]:
    """The powers of the base, and those of its inverse, modulo 2**64; a word may reach beyond its block."""
    bases = np.array([[_BASE], [pow(_BASE, -1, 1 << 64)]], np.uint64)
    found = np.ones((2, _BLOCK + LONGEST), np.uint64)
    found[:, 1:] = bases
    powers, inverses = found.cumprod(axis=1)
    return powers, inverses
