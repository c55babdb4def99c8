"""Words of a long text as numbers, and how many of their n-grams are distinct; with numpy.

A word's number is made of its characters, eight bytes of all words at a time, mixed after each. Two words or n-grams that differ
have one number with a chance of 2**-64; a text made for that would only seem to repeat itself more.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from grpo_rewards_plugins.words import LONGEST, UNSPACED, beyond_ascii

Codes = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]
Numbers = NDArray[np.uint64]
Places = NDArray[np.intp]

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
    # four to eight places for each number, so that few numbers meet
    bits = len(numbers).bit_length() + 2
    places = (numbers >> np.uint64(64 - bits)).astype(np.intp)
    order = np.arange(len(numbers), dtype=np.int32)  # half a table stays in the cache
    table = np.empty(1 << bits, np.int32)
    # numpy keeps the last of several that are put at one place
    table[places] = order
    holders = table[places]
    others = numbers[numbers[holders] != numbers]
    others.sort()
    return (
        int(np.count_nonzero(holders == order)) + bool(len(others)) + int(np.count_nonzero(others[1:] != others[:-1]))
    )


def _characters(text: str) -> tuple[Codes, NDArray[np.uint8]]:
    """The characters of the text without its case, in as few bytes each as they take, and the kind of each."""
    table = _kinds()
    # bytes know the case of ASCII alone; lone surrogates come in completions too, and UTF-8 has none
    raw = text.encode("utf-8", "surrogatepass").lower()
    if len(raw) == len(text):
        codes: Codes = np.frombuffer(raw, np.uint8)
        return codes, table.take(codes)
    beyond = beyond_ascii(raw)
    # to fold the whole text is slow and most often for nothing: ASCII is done
    folded = raw.decode("utf-8", "surrogatepass") if beyond == beyond.casefold() else text.casefold()
    codes = np.frombuffer(folded.encode("utf-16-le", "surrogatepass"), "<u2")
    # as many units as characters: none of them is beyond U+FFFF
    if len(codes) == len(folded):
        return codes, table.take(codes)
    codes = np.frombuffer(folded.encode("utf-32-le", "surrogatepass"), "<u4")
    return codes, table.take(np.minimum(codes, 0xFFFF))


@cache
def _kinds() -> NDArray[np.uint8]:
    """The kind of each character up to U+FFFF; those beyond are no spaces and stand in words."""
    table = np.full(1 << 16, _SPACED, np.uint8)
    # U+3000 is the last white space of Unicode
    table[[code for code in range(0x3001) if chr(code).isspace()]] = _SPACE
    for first, last in UNSPACED:
        table[ord(first) : ord(last) + 1] = _UNSPACED
    return table


def _words(kinds: NDArray[np.uint8]) -> tuple[Places, Places]:
    """Where words begin, and how long they are."""
    if not len(kinds) or kinds.max() < _UNSPACED:  # all stand between spaces: edges are a word's two ends by turns
        edged = np.zeros(len(kinds) + 2, np.uint8)
        edged[1:-1] = kinds
        edges = np.flatnonzero(edged[1:] != edged[:-1])
        starts, ends = edges[::2], edges[1::2]
    else:
        begins = kinds != _SPACE
        closes = begins.copy()
        begins[1:] &= (kinds[1:] == _UNSPACED) | (kinds[:-1] != _SPACED)
        closes[:-1] &= (kinds[:-1] == _UNSPACED) | (kinds[1:] != _SPACED)
        starts, ends = np.flatnonzero(begins), np.flatnonzero(closes) + 1
    long = np.flatnonzero(ends - starts > LONGEST)
    if len(long):
        runs = zip(starts[long].tolist(), ends[long].tolist(), strict=True)
        cuts = np.concatenate([np.arange(start + LONGEST, end, LONGEST) for start, end in runs])
        # stable: of two runs in order, it merges them
        starts = np.sort(np.concatenate([starts, cuts]), kind="stable")
        ends = np.sort(np.concatenate([ends, cuts]), kind="stable")
    return starts, ends - starts


def _hashes(codes: Codes, starts: Places, lengths: Places) -> Numbers:
    """The words' numbers."""
    each = 8 // codes.itemsize
    masks = np.array([(1 << 8 * codes.itemsize * held) - 1 for held in range(each + 1)], np.uint64)
    # a view of eight bytes from each place on; with eight zeros behind, the last ones have as many
    eights = np.ndarray(len(codes), "<u8", codes.tobytes() + bytes(8), strides=(codes.itemsize,))
    found = eights[starts]
    found &= masks.take(np.minimum(lengths, each))
    # else a word would be the same as it is with U+0000 behind it
    found += lengths.view(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    _mix(found)
    for place in range(each, LONGEST, each):
        longer = np.flatnonzero(lengths > place)
        if not len(longer):
            break
        more = eights[starts[longer] + place]
        more &= masks.take(np.minimum(lengths[longer] - place, each))
        more += found[longer]
        _mix(more)
        found[longer] = more
    return found


def _mix(numbers: Numbers) -> None:
    """Make each number another one, of which every bit depends on many; no two become one."""
    numbers *= np.uint64(0x5851F42D4C957F2D)
    numbers ^= numbers >> np.uint64(32)
    numbers *= np.uint64(0xD6E8FEB86659FD93)
    numbers ^= numbers >> np.uint64(32)
