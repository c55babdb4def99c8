"""The reward `length`: how long a completion is, against what is wanted."""

from __future__ import annotations

import functools
import logging
import math
from collections.abc import Sized
from typing import Literal, cast

from grpo_rewards import Outcome, reward
from grpo_rewards.types import SettingValues
from grpo_rewards_plugins.bounds import between
from grpo_rewards_plugins.cells import is_blank
from grpo_rewards_plugins.exact import exact

_log = logging.getLogger(__name__)


@functools.cache
def _say_characters() -> None:
    """Say once in a process what each row's reason says: limits in tokens mean something else in characters."""
    _log.warning("length counts characters: the rows have no completion_ids")


def _check(settings: SettingValues) -> None:
    between(settings, "target", 1)
    between(settings, "band", 1)
    between(settings, "max_length", 1)
    if settings["mode"] == "soft_overlong":
        between(settings, "cache", 1, settings["max_length"])


@reward(range=(-1.0, 1.0), check_settings=_check)
def length(
    completion: str,
    completion_ids: Sized | None = None,
    correct: bool | float | None = None,
    answer: object = None,
    *,
    mode: Literal["target", "ideal", "longer", "soft_overlong", "cosine"] = "target",
    target: int = 400,
    band: int = 200,
    max_length: int = 20480,
    cache: int = 4096,
) -> Outcome:
    """The completion is about as long as wanted, in tokens where ``completion_ids`` are there, else in characters.

    The reason always names the length and its unit.

    Args:
        correct: for ``cosine``: whether the completion is right (true, or at least 0.5), where the data knows.
        answer: for ``cosine`` where the data does not: the reference, compared as the reward `exact` does.
        mode: ``target``: 1 within `band` of `target`, from there falling to 0 over another band. ``ideal``: minus the
            distance to `target`, in bands, at least -1 (the course's recipe, which has no bound). ``longer``: the share
            of `target` that is reached, at most 1 (the same). ``soft_overlong``: 0 up to `max_length` - `cache`, from
            there falling to -1 at `max_length` and beyond (DAPO, arXiv 2503.14476, eq. 13). ``cosine``: on a half wave, a
            right completion falls from 1 to 0.5 and a wrong one rises from -1 to -0.5 as the length goes from 0 to
            `max_length`, and stays there beyond (open-r1, where the wave turns back; from arXiv 2502.03373). Does not
            apply where neither `correct` nor `answer` is there.
        target: the length wanted (ours: 400).
        band: the distance that ``target`` forgives, and the unit of ``ideal`` (ours: 200).
        max_length: L_max of DAPO (there 20480 tokens; open-r1's cosine: 1000 characters): set it to the trainer's
            ``max_completion_length``.
        cache: L_cache of DAPO (there 4096 tokens).
    """
    if isinstance(completion_ids, str):
        return Outcome(None, "not_applicable", "completion_ids is text, no list of token ids")
    if completion_ids is None:
        _say_characters()
    n = len(completion) if completion_ids is None else len(completion_ids)
    if mode == "target":
        value = min(1.0, max(0.0, 2.0 - abs(n - target) / band))
        wanted = f"{target} ± {band} wanted"
    elif mode == "ideal":
        value = -min(abs(n - target) / band, 1.0)
        wanted = f"{target} wanted"
    elif mode == "longer":
        value = min(n / target, 1.0)
        wanted = f"at least {target} wanted"
    elif mode == "cosine":
        right = _is_right(completion, correct, answer)
        if right is None:
            return Outcome(None, "not_applicable", _no_verdict(correct))
        wave = (1.0 + math.cos(math.pi * min(n / max_length, 1.0))) / 2
        value = 0.5 + 0.5 * wave if right else -0.5 - 0.5 * wave
        wanted = f"{'right, short' if right else 'wrong, longer'} is better, up to {max_length}"
    else:
        value = min(0.0, max(-1.0, (max_length - cache - n) / cache))
        wanted = f"at most {max_length - cache} wanted"
    unit = "characters (no completion_ids)" if completion_ids is None else "tokens"
    return Outcome(value, "scored", f"{n} {unit}, {wanted}")


def _no_verdict(correct: object) -> str:
    if is_blank(correct):
        return "mode cosine needs the column correct or answer, and both are empty"
    return f"correct must be true, false or a number, not {correct!r:.40}"


def _is_right(completion: str, correct: object, answer: object) -> bool | None:
    """Whether the completion is right, by the first of the two that is there."""
    if isinstance(correct, bool | int | float) and correct == correct:
        return correct >= 0.5
    # NaN is how tables write that nothing is there; a text says something that is not understood
    if answer is None or not is_blank(correct):
        return None
    # the plain function, without what the contract does around a reward
    verdict = exact.function(completion, answer)
    value = verdict.value if isinstance(verdict, Outcome) else verdict
    return None if value is None else cast(float, value) >= 0.5
