"""IFBench's checks `sentence:`."""

from __future__ import annotations

import re
from itertools import pairwise

from grpo_rewards_plugins.instructions import arguments as of
from grpo_rewards_plugins.instructions.checks.counts import AROUND, NO_MARKS
from grpo_rewards_plugins.instructions.registry import check
from grpo_rewards_plugins.instructions.sentences import punkt


def _alliterating(sentence: str) -> int:
    """How many words begin like a neighbour, counted run by run."""
    firsts = [bare[0] for word in sentence.lower().split() if (bare := word.lstrip(AROUND))]
    same = [one == other for one, other in pairwise(firsts)]
    return sum(1 if before else 2 for before, now in zip([False, *same], same, strict=False) if now)


@check("sentence:alliteration_increment", "ifbench", needs="nltk")
def alliteration_increment(text: str) -> bool:
    """Each sentence has more alliterating words than the one before; one sentence will do."""
    return all(one < other for one, other in pairwise([-1, *map(_alliterating, punkt(text))]))


@check("sentence:keyword", "ifbench", needs="nltk", word=of.text, N=of.position)
def keyword(text: str, word: str, N: int) -> bool:
    """The N-th sentence has the word, case ignored."""
    found = punkt(text)
    return len(found) >= N and re.search(rf"\b{re.escape(word)}\b", found[N - 1], re.IGNORECASE) is not None


@check("sentence:increment", "ifbench", needs="nltk", small_n=of.count)
def increment(text: str, small_n: int) -> bool:
    """Each sentence has so many words more than the one before; one sentence will do."""
    sizes = [len(sentence.translate(NO_MARKS).split()) for sentence in punkt(text)]
    return all(other == one + small_n for one, other in pairwise(sizes))
