"""The reward `exact`: an answer equal to the reference as text or as a number."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from grpo_rewards import Outcome, reward
from grpo_rewards.types import SettingValues
from grpo_rewards_plugins.answers import KEPT, Place, find_answer, from_boxes, from_hash
from grpo_rewards_plugins.bounds import between, finite, tag_name
from grpo_rewards_plugins.cells import plain
from grpo_rewards_plugins.characters import typed
from grpo_rewards_plugins.numbers import read_number

_IN_WORDS = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mbox)\s?\{([^{}]*)\}")
_SPACE = re.compile(r"\s+")
_FLOAT_SLACK = 1e-9  # relative; a gold stored as a float is not exact


def _check(settings: SettingValues) -> None:
    finite(settings)
    tag_name(settings)
    between(settings, "tolerance", 0)


def _check_row(answer: object = None, **_columns: object) -> str | None:
    return _problem(_golds(answer))


@reward(range=(0.0, 1.0), check_settings=_check, check_row=_check_row)
def exact(
    completion: str,
    answer: str | int | float | list[object],
    *,
    place: Place = "auto",
    tag: str = "answer",
    ignore_case: bool = True,
    tolerance: float = 0.0,
) -> Outcome:
    """The completion's final answer equals the reference.

    1 or 0. Two numbers are compared by value, exactly: ``18`` equals ``18.0``, ``$18``, ``18.`` and, written
    ``1,000``, 1000. Anything else is compared as text, after NFKC normalisation, with runs of white space as one space,
    curly quotes and long dashes as ASCII's, without characters of no width, and without quotes, a full stop, asterisks or ``\\text{}`` around it. Nothing is evaluated: ``2+2`` is not 4 (use `math`).

    Args:
        answer: the reference: text, a number, or a list of which any may match. Of text with ``####`` or ``\\boxed{}``
            in it (GSM8K's and MATH's own columns) what stands there is the reference.
        place: where the completion's answer stands: ``tag``, ``box``, ``hash`` (after ``####``), ``text`` (all of
            it), or ``auto``: the one of the first three that comes last, else all of it.
        tag: the tag that holds the answer (GSM8K recipe: answer).
        ignore_case: whether ``Paris`` equals ``paris`` (ours).
        tolerance: the largest difference of two numbers that counts as equal (ours: none; a reference stored as a
            float always has 1e-9 of its size).
    """
    golds = _golds(answer)
    if (problem := _problem(golds)) is not None:
        return Outcome(None, "not_applicable", problem)
    found = find_answer(completion, place=place, tag=tag)
    if found is None:
        return Outcome(0.0, "scored", f"no answer found ({place})")
    details = {"extracted": found[:KEPT]}
    for gold in golds:
        if _equal(found, gold, ignore_case, tolerance):
            return Outcome(1.0, "scored", f"{found[:60]!r} equals {gold!r:.60}", details)
    shown = " or ".join(repr(gold)[:60] for gold in golds[:3])
    reason = f"{found[:60]!r} is not {shown}" if found else f"the answer is empty, not {shown}"
    return Outcome(0.0, "scored", reason, details)


def _golds(answer: object) -> Sequence[object]:
    """The accepted answers; arrays of columnar files as lists."""
    answer = plain(answer)
    return answer if isinstance(answer, list | tuple) else (answer,)


def _problem(golds: Sequence[object]) -> str | None:
    """Why no completion can be held against these."""
    if not golds:
        return "the list of accepted answers is empty"
    for gold in golds:
        if isinstance(gold, str):
            if not _gold(gold, True)[0]:
                return f"the reference {gold[:60]!r} says nothing"
        elif not isinstance(gold, int | float | Decimal):
            return f"an answer is text or a number, not {type(gold).__name__}"
        elif not math.isfinite(gold):
            return "the reference is no finite number"
    return None


def _equal(found: str, gold: object, ignore_case: bool, tolerance: float) -> bool:
    if isinstance(gold, bool) or not isinstance(gold, int | float | str):
        gold = str(gold)  # a bool is an int to Python, and True is not 1 here
    if isinstance(gold, str):
        text, value = _gold(gold, ignore_case)
    else:
        text, value = str(gold).casefold() if ignore_case else str(gold), Fraction(gold)
    mine = normal_text(found, ignore_case=ignore_case)
    if mine == text:
        return True
    number = None if value is None else read_number(mine)
    if number is None or value is None:
        return False
    if number == value:
        return True
    slack = Fraction(tolerance)
    if isinstance(gold, float):
        slack = max(slack, abs(value) * Fraction(_FLOAT_SLACK))
    return abs(number - value) <= slack


@lru_cache(maxsize=4096)
def _gold(gold: str, ignore_case: bool) -> tuple[str, Fraction | None]:
    """A reference as text and, where it is one, as a number."""
    hit = from_hash(gold) or from_boxes(gold)
    text = normal_text((hit[1].text or "") if hit is not None else gold, ignore_case=ignore_case)
    return text, read_number(text)


def normal_text(text: str, *, ignore_case: bool = True) -> str:
    """Return `text` in the form that is compared: NFKC as typed, single spaces, bare of quotes, asterisks and a full stop."""
    text = _SPACE.sub(" ", typed("NFKC", text)).strip(" \"'`*")
    # as answers in words stand in a box
    if text.startswith("\\") and (words := _IN_WORDS.fullmatch(text)) is not None:
        text = words[1].strip(" \"'`*")
    # an ellipsis stays
    if text.endswith(".") and not text.endswith(".."):
        text = text[:-1].rstrip(" \"'`*")
    return text.casefold() if ignore_case else text
