"""The reward `repetition`: a penalty for saying the same again and again."""

from __future__ import annotations

from grpo_rewards import Outcome, reward
from grpo_rewards.types import SettingValues
from grpo_rewards_plugins.bounds import between
from grpo_rewards_plugins.words import count_distinct


def _check(settings: SettingValues) -> None:
    between(settings, "ngram", 1)
    between(settings, "max_penalty", 0, 1)


@reward(range=(-1.0, 0.0), check_settings=_check)
def repetition(completion: str, *, ngram: int = 3, max_penalty: float = 1.0) -> Outcome:
    """The completion repeats itself: minus the share of its n-grams that stood before, times `max_penalty`.

    Between -1 and 0; 0 for a completion shorter than one n-gram. Linear in the length.

    Args:
        ngram: how many words make an n-gram (open-r1: 3).
        max_penalty: the penalty of a completion that is nothing but repetition (open-r1: 1, written -1 there).
    """
    total, distinct = count_distinct(completion, ngram)
    if distinct == total:
        return Outcome(
            0.0, "scored", f"none of {total} {ngram}-grams repeats" if total else f"shorter than one {ngram}-gram"
        )
    return Outcome(
        -max_penalty * (1 - distinct / total), "scored", f"{total - distinct} of {total} {ngram}-grams repeat"
    )
