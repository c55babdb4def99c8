"""Whether a difference could be chance: over groups, since the completions of one prompt are not independent."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import compress, product

_EXACT = 12  # up to so many groups that differ, all sign patterns are tried
_RESAMPLED = 2_000  # times, at most
_WORK = 30_000_000  # groups x repetitions, a second or two
_BITS = bytes(int(code == ord("1")) for code in range(256))


def sign_flip(differences: Sequence[float], *, seed: int = 0, repetitions: int = 10_000) -> float:
    """Return the two-sided p-value of a paired permutation test that flips the sign of each group's difference.

    `differences` holds one sum per group. Up to 12 groups that differ at all every pattern is tried; beyond, random
    ones from `seed`, where p is (1 + as extreme) / (1 + tried).
    """
    moved = [difference for difference in differences if difference != 0.0]
    if not moved:
        return 1.0
    observed = abs(sum(moved)) * (1 - 1e-12)  # sums in another order differ in the last bits
    if len(moved) <= _EXACT:
        sums = [
            abs(sum(s * d for s, d in zip(signs, moved, strict=True))) for signs in product((1, -1), repeat=len(moved))
        ]
        return sum(value >= observed for value in sums) / len(sums)
    chance, total = random.Random(seed), sum(moved)
    tries = max(1000, min(repetitions, _WORK // len(moved)))
    extreme = 0
    for _ in range(tries):
        # one draw for all signs, as zeros and ones that compress takes
        bits = f"{chance.getrandbits(len(moved)):0{len(moved)}b}".encode().translate(_BITS)
        # to flip a sign takes the difference away twice
        extreme += abs(total - 2 * sum(compress(moved, bits))) >= observed
    return (1 + extreme) / (1 + tries)


def interval(differences: Sequence[float], sizes: Sequence[int], *, seed: int = 0) -> tuple[float, float] | None:
    """Return the 95 % percentile bootstrap interval of the mean difference per row, resampling whole groups.

    None for fewer than two groups.
    """
    if len(differences) < 2:
        return None
    chance, groups = random.Random(seed), range(len(differences))
    tries = max(200, min(_RESAMPLED, _WORK // 5 // len(differences)))
    means = []
    for _ in range(tries):
        drawn = chance.choices(groups, k=len(groups))
        means.append(sum(differences[g] for g in drawn) / sum(sizes[g] for g in drawn))
    means.sort()
    return means[int(0.025 * tries)], means[min(tries - 1, int(0.975 * tries))]
