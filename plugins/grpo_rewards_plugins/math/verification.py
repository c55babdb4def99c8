"""`parse` and `verify` with Math-Verify's arguments and return values; docs/math.md has the table of differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from grpo_rewards_plugins.answers import extract, final_text
from grpo_rewards_plugins.answers.formulas import PROSE

from .extraction import gold_text
from .grading import Reading, grade

_LONGEST_REFERENCE = 400  # characters of a text that may be nothing but an answer
_MARKS: tuple[Literal["box", "tag", "hash", "phrase"], ...] = ("box", "tag", "hash", "phrase")
_COMMANDS = ("\\text", "\\mathrm", "\\mbox")  # whose words are part of an answer


def parse(
    pred: str,
    extraction_config: Sequence[object] = (),
    fallback_mode: Literal["no_fallback", "first_match"] = "first_match",
    extraction_mode: Literal["first_match", "any_match"] = "any_match",
    parsing_timeout: int | None = 5,
    raise_on_error: bool = False,  # Math-Verify's order
) -> list[Reading | str]:
    """Find and read the answer in a reference or a completion.

    Returns the reading and its text, or an empty list where there is no answer. With ``fallback_mode="no_fallback"`` an answer
    that cannot be read as mathematics or words is none. Formulas, plain expressions and words are always all looked for, nothing
    is slow and nothing raises, so `extraction_config`, `extraction_mode`, `parsing_timeout` and `raise_on_error` change nothing.
    """
    del extraction_config, extraction_mode, parsing_timeout, raise_on_error
    marked = extract(pred, order=_MARKS)
    text = marked.text
    if text is None:
        text = gold_text(pred) if _is_answer(pred) else extract(pred).text
    if not text:
        return []
    reading = Reading(text)
    # a `Node` is a tuple; what stands there otherwise is why there is none
    if fallback_mode == "no_fallback" and not isinstance(reading.tree, tuple) and reading.numeral is None:
        return []
    return [reading, text]


def _is_answer(text: str) -> bool:
    """Is a text nothing but an answer, as a reference is?"""
    plain = final_text(text).strip()
    if not plain or "\n" in plain or len(plain) > _LONGEST_REFERENCE:
        return False
    return len(PROSE.findall(plain)) <= 3 or any(command in plain for command in _COMMANDS)


def verify(
    gold: Reading | str | Sequence[Reading | str],
    target: Reading | str | Sequence[Reading | str],
    float_rounding: int = 6,
    numeric_precision: int = 15,
    strict: bool = True,  # Math-Verify's order
    allow_set_relation_comp: bool = False,
    timeout_seconds: float | None = 5,
    raise_on_error: bool = False,
) -> bool:
    """Whether the target is the gold: texts, readings, or what `parse` returned; False where either holds no answer.

    `timeout_seconds` bounds the last, symbolic step. Numbers are compared exactly and sets in any form, so `float_rounding`,
    `numeric_precision`, `strict` and `allow_set_relation_comp` change nothing, and nothing raises.
    """
    del float_rounding, numeric_precision, strict, allow_set_relation_comp, raise_on_error
    seconds = 5.0 if timeout_seconds is None else float(timeout_seconds)
    return any(grade(one, other, timeout=seconds).equal for one in _answers(gold) for other in _answers(target))


def _answers(given: Reading | str | Sequence[Reading | str]) -> list[Reading]:
    """The readings in what was given; texts beside readings are their sources."""
    several = [given] if isinstance(given, Reading | str) else list(given)
    readings = [one for one in several if isinstance(one, Reading)]
    return readings or [Reading(one) for one in several if isinstance(one, str) and one]
