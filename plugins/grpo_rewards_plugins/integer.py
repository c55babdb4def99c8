"""The reward `integer`: an answer that is a whole number."""

from __future__ import annotations

import re

from grpo_rewards import Outcome, reward
from grpo_rewards.types import SettingValues
from grpo_rewards_plugins.answers import Place, find_answer
from grpo_rewards_plugins.bounds import tag_name

_INTEGER = re.compile(r"[+\-−]?(?:[0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)")


def _check(settings: SettingValues) -> None:
    tag_name(settings)


@reward(range=(0.0, 1.0), check_settings=_check)
def integer(completion: str, *, place: Place = "auto", tag: str = "answer") -> Outcome:
    """The final answer is written as an integer.

    1 or 0. Digits 0 to 9 with a sign or not, in thousands groups or not: ``18``, ``-5``, ``1,000``. Not ``18.0``,
    ``$18``, ``18 apples`` or ``²``: the reward is about how the answer is written. (The GSM8K recipe asks
    ``str.isdigit``, which refuses ``-5`` and takes ``²``.)

    Args:
        place: where the answer stands: ``tag``, ``box``, ``hash`` (after ``####``), ``text`` (all of it), or ``auto``:
            the one of the first three that comes last, else all of it.
        tag: the tag that holds the answer (GSM8K recipe: answer).
    """
    answer = find_answer(completion, place=place, tag=tag)
    if answer is None:
        return Outcome(0.0, "scored", f"no answer found ({place})")
    if _INTEGER.fullmatch(answer):
        return Outcome(1.0, "scored", f"{answer[:60]} is written as an integer")
    return Outcome(0.0, "scored", f"{answer[:60]!r} is not written as an integer" if answer else "the answer is empty")
