"""The reward `diversity`: a completion unlike the others of its group."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Literal

from grpo_rewards import Outcome, reward
from grpo_rewards_plugins.answers import find_answer
from grpo_rewards_plugins.bounds import between, tag_name
from grpo_rewards_plugins.exact import normal_text
from grpo_rewards_plugins.words import ngrams, split_words


def _check(settings: Mapping[str, object]) -> None:
    tag_name(settings)
    between(settings, "ngram", 1, 20)


@reward.group(range=(0.0, 1.0), check_settings=_check)
def diversity(
    completions: list[str],
    *,
    mode: Literal["ngrams", "texts", "answers"] = "ngrams",
    ngram: int = 2,
    tag: str = "answer",
) -> list[Outcome]:
    """The completion differs from the others of its group.

    Between 0 and 1, one value per completion: what a whole group shares would cancel within it. Does not apply to a
    completion that is alone. Say it quietly: being different is no virtue of its own, so give it a small weight or a
    gate on correctness. Linear in the length of the group's texts.

    Args:
        mode: ``ngrams``: the share of its different n-grams that no other completion has (distinct-n, Li et al. 2016,
            arXiv 1510.03055, made per completion); where none has any, as ``texts``. ``texts``: 1 minus the share of
            the others that have the same text, white space and case aside. ``answers``: the same of the final answers,
            found in the tag, ``\\boxed{}`` or after ``####``, else the whole text.
        ngram: how many words make an n-gram (distinct-2).
        tag: the tag of ``answers``.
    """
    size = len(completions)
    if size < 2:
        return [Outcome(None, "not_applicable", "alone in its group")] * size
    if mode == "ngrams":
        own = [set(ngrams(split_words(text), ngram)) for text in completions]
        holders = Counter(gram for grams in own for gram in grams)
        if any(own):
            return [_distinct(grams, holders, ngram) for grams in own]
    if mode == "answers":
        # no answer at all is one too, which several may share
        keys = [normal_text(find_answer(text, tag=tag) or "") for text in completions]
    else:
        keys = [_SPACE.sub(" ", text).strip().casefold() for text in completions]
    counts = Counter(keys)
    what = "answer" if mode == "answers" else "text"
    return [
        Outcome(
            1.0 - (counts[key] - 1) / (size - 1),
            "scored",
            f"{counts[key] - 1 or 'none'} of {size - 1} others {'have' if counts[key] > 2 else 'has'} the same {what}",
        )
        for key in keys
    ]


_SPACE = re.compile(r"\s+")


def _distinct(grams: set[tuple[str, ...]], holders: Counter[tuple[str, ...]], ngram: int) -> Outcome:
    if not grams:
        return Outcome(0.0, "scored", f"shorter than one {ngram}-gram")
    alone = sum(holders[gram] == 1 for gram in grams)
    shared = len(grams) - alone
    return Outcome(alone / len(grams), "scored", f"{shared or 'none'} of {len(grams)} {ngram}-grams stand in others")
