"""Normalisation, exact match, sub-match and F1 of short answers.

The rules are those of SQuAD 1.1 (Rajpurkar et al. 2016), SQuAD 2.0, HotpotQA and Search-R1 (arXiv 2503.09516).
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_VERDICTS = ("yes", "no", "noanswer")


def normal(text: str) -> str:
    """Lower case, ASCII punctuation taken out, then the words a, an, the, then single spaces; the order matters."""
    # marks first, as in SQuAD's script: in "a-b" no article is left to take out
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split())


gold_normal = lru_cache(maxsize=65536)(normal)
"""The same for golds: every completion of a group is held against the same ones."""


def exact_match(found: str, gold: str) -> float:
    """Return 1 where both are the same."""
    return 1.0 if found == gold else 0.0


def sub_match(found: str, gold: str) -> float:
    """Return 1 where the gold stands anywhere in the completion's answer; an empty one always does."""
    return 1.0 if gold in found else 0.0


def f1(found: str, gold: str) -> float:
    """Return the harmonic mean of precision and recall over bags of words (SQuAD 1.1)."""
    ours, theirs = found.split(), gold.split()
    shared = (Counter(ours) & Counter(theirs)).total()
    if not shared:
        return 0.0
    precision, recall = shared / len(ours), shared / len(theirs)
    return 2 * precision * recall / (precision + recall)


def f1_squad2(found: str, gold: str) -> float:
    """Return the same, but where either side has no words 1 only if neither has."""
    return f1(found, gold) if found and gold else exact_match(found, gold)


def f1_hotpot(found: str, gold: str) -> float:
    """Return the same, but 0 where either side is yes, no or noanswer and the other is not the same."""
    return 0.0 if found != gold and (found in _VERDICTS or gold in _VERDICTS) else f1(found, gold)


METRICS: dict[tuple[str, str], Callable[[str, str], float]] = {
    **{(name, variant): metric for name, metric in (("em", exact_match), ("subem", sub_match), ("f1", f1))
       for variant in ("squad", "squad2", "hotpot", "search_r1")},
    ("f1", "squad2"): f1_squad2,
    ("f1", "hotpot"): f1_hotpot,
}  # fmt: skip
"""What compares an answer with one gold, both normalised, by metric and variant."""
