"""The reward `countdown`: an expression of given numbers that hits a target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

from grpo_rewards import Outcome, reward
from grpo_rewards_plugins.answers import KEPT, Place, find_answer
from grpo_rewards_plugins.arithmetic import ArithmeticProblem, read_expression
from grpo_rewards_plugins.bounds import between, tag_name
from grpo_rewards_plugins.cells import plain
from grpo_rewards_plugins.numbers import read_number

_MOST_NUMBERS = 100


def _check(settings: Mapping[str, object]) -> None:
    tag_name(settings)
    between(settings, "partial", 0, 1)


def _check_row(numbers: object = None, target: object = None, **_columns: object) -> str | None:
    given, goal = _given(numbers), _number(target)
    if given is None:
        return (
            f"numbers must be a list of 1 to {_MOST_NUMBERS} numbers, none below 0 or a fraction, not {numbers!r:.80}"
        )
    return None if goal is not None else f"target must be a number, not {target!r:.80}"


@reward(range=(0.0, 1.0), check_settings=_check, check_row=_check_row)
def countdown(
    completion: str,
    numbers: list[object] | str,
    target: int | float | str,
    *,
    use: Literal["all", "any"] = "all",
    partial: float = 0.0,
    place: Place = "auto",
    tag: str = "answer",
) -> Outcome:
    """The answer is an expression of the given numbers, each used once, that equals the target.

    1 or 0 (or `partial`). The expression is read by a parser of its own and computed in exact fractions; nothing is
    ever evaluated as code. Known are ``+ - * /``, ``× ÷ · −``, ``x`` between numbers, LaTeX's ``\\times \\div \\cdot
    \\frac{}{}``, signs, and brackets; no powers, no ``//``, no numbers run together. ``= 24`` may follow, or ``24 =``
    stand before, and must then be the target. At most 1,000 characters and 50 levels of brackets.

    Args:
        numbers: the numbers to use, as a list (or ``"3, 7, 8"``), none below 0 or a fraction.
        target: the value to reach.
        use: ``all``: each number exactly once (nanoAhaMoment, GRPO-Zero, TinyZero). ``any``: at most once.
        partial: the value of a readable expression that breaks a rule or misses the target (ours: 0, as in
            nanoAhaMoment; TinyZero: 0.1).
        place: where the expression stands: ``tag``, ``box``, ``hash`` (after ``####``), ``text`` (all of it), or
            ``auto``: the one of the first three that comes last, else all of it.
        tag: the tag that holds the expression (all three recipes: answer).
    """
    given, goal = _given(numbers), _number(target)
    if given is None or goal is None:
        return Outcome(
            None, "not_applicable", "the columns numbers and target are not a list of numbers from 0 on and a number"
        )
    found = find_answer(completion, place=place, tag=tag)
    if found is None:
        return Outcome(0.0, "scored", f"no answer found ({place})")
    details = {"extracted": found[:KEPT]}
    try:
        expression = read_expression(found)
        if problem := _misused(given, expression.numbers, use):
            return Outcome(partial, "scored", problem, details)
        value = expression.value()
    except ArithmeticProblem as problem_found:
        return Outcome(
            partial if problem_found.readable else 0.0,
            "scored",
            str(problem_found),
            {**details, "readable": problem_found.readable},
        )
    if value != goal:
        return Outcome(partial, "scored", f"the expression makes {_shown(value)}, not {_shown(goal)}", details)
    if expression.claimed is not None and expression.claimed != goal:
        return Outcome(
            partial, "scored", f"the equation says {_shown(expression.claimed)}, not {_shown(goal)}", details
        )
    return Outcome(1.0, "scored", f"the expression makes {_shown(goal)}", details)


def _misused(given: Counter[Fraction], used: list[Fraction], use: str) -> str | None:
    """Say which number is used too often, or not at all."""
    counts = Counter(used)
    if extra := counts - given:
        number = next(iter(extra))
        if number not in given:
            return f"{_shown(number)} is not among the numbers"
        return f"{_shown(number)} is used {counts[number]} times, but given {given[number]} times"
    if use == "all" and (unused := given - counts):
        return f"{_shown(next(iter(unused)))} is not used"
    return None


def _given(numbers: object) -> Counter[Fraction] | None:
    numbers = plain(numbers)
    if isinstance(numbers, str):
        numbers = numbers.strip(" \t\n[]()").replace(",", " ").split()
    if not isinstance(numbers, list | tuple) or not 1 <= len(numbers) <= _MOST_NUMBERS:
        return None
    read = [_number(number) for number in numbers]
    # "7 - 3" has no -3 and "1/2" no half: such numbers could not be told from operations, and no answer would use them
    if any(number is None or number < 0 for number in read) or any("/" in str(number) for number in numbers):
        return None
    return Counter(number for number in read if number is not None)


def _number(value: object) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    # a float as it is written: 0.1 is meant as a tenth, which no float is
    return read_number(value if isinstance(value, str) else repr(value)) if not _too_large(value) else None


def _too_large(value: int | float | str) -> bool:
    """Whether writing an integer out would be refused by Python itself."""
    return isinstance(value, int) and value.bit_length() > 1000


def _shown(value: Fraction) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
