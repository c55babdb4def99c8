"""The reward `math`: the completion's final answer equals the reference, as mathematical objects."""

from __future__ import annotations

import math as _math
from collections.abc import Mapping
from typing import Any, Literal

from grpo_rewards import Outcome, reward

__all__ = ["math"]

_SHOWN = 80
_KEPT = 500  # characters of an extracted answer that the details keep


def _check(settings: Mapping[str, Any]) -> None:
    timeout = settings["timeout"]
    if not (_math.isfinite(timeout) and timeout > 0):
        raise ValueError(f"timeout must be a positive number of seconds, not {timeout!r}")
    if not settings["places"]:
        raise ValueError("places must name at least one place where an answer may stand")


def _check_gold(answer: Any = None, **_columns: Any) -> str | None:
    from grpo_rewards_plugins.math.grading import read, unreadable

    text = _gold(answer)
    if text is None:
        return f"the reference must be text or a finite number, not {type(answer).__name__}"
    problem = unreadable(read(text))
    return None if problem is None else f"the reference {_short(text)} cannot be read: {problem}"


Place = Literal["box", "tag", "hash", "phrase", "bold", "line", "segment", "letter", "number", "text"]


@reward.batch(range=(0.0, 1.0), check_settings=_check, check_row=_check_gold)
def math(
    completions: list[str],
    answer: list[Any],
    *,
    timeout: float = 1.0,
    places: tuple[Place, ...] = (
        "box",
        "tag",
        "hash",
        "phrase",
        "bold",
        "line",
        "segment",
        "letter",
        "number",
        "text",
    ),
) -> list[Outcome]:
    """The completion's final answer equals the reference as a mathematical object.

    1 or 0; None where the reference cannot be read. Text up to the last ``</think>`` does not count. The answer is found
    first (last ``\\boxed{}``, ``<answer>``, ``####`` or "the answer is"), then compared: as text, as exact numbers, part by
    part, by certified numeric evaluation, and last by sympy in a worker process that is killed at its deadline.

    Args:
        answer: the reference: a number, an expression, or text with it in ``$...$``, ``\\boxed{}`` or after ``####``.
        timeout: seconds that the last step may take for one pair (ours; TRL's accuracy_reward gives each of its steps 5).
        places: where an answer may stand; without a mark, the others are tried in this order.
    """
    from grpo_rewards_plugins.math.extraction.finding import extract
    from grpo_rewards_plugins.math.grading import Reading

    golds: dict[Any, tuple[str, Reading] | Outcome] = {}
    done: dict[tuple[str, str], Outcome] = {}
    out: list[Outcome] = []
    for completion, given in zip(completions, answer, strict=True):
        gold = golds.get(given) if type(given) is str else None
        if gold is None:
            gold = _read_gold(given)
            if type(given) is str:
                golds[given] = gold
        if isinstance(gold, Outcome):
            out.append(gold)
            continue
        text, reading = gold
        found = done.get((text, completion))
        if found is None:
            found = done[text, completion] = _score(reading, extract(completion, order=places), timeout)
        out.append(found)
    return out


def _gold(given: Any) -> str | None:
    """A reference as text; None where it is none."""
    if isinstance(given, bool) or given is None:
        return None
    if isinstance(given, int):
        return str(given) if abs(given) < 10**4000 else None
    if isinstance(given, float):
        return _plain(given) if _math.isfinite(given) else None
    if isinstance(given, str):
        from grpo_rewards_plugins.math.extraction.finding import gold_text

        return gold_text(given)
    return None


def _plain(number: float) -> str:
    """A float as it was meant: 18.0 is the integer 18."""
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _read_gold(given: Any) -> Any:
    """A reference's text and its reading, or the outcome where there is none."""
    from grpo_rewards_plugins.math.grading import read, unreadable

    text = _gold(given)
    if text is None:
        kind = "there is no reference" if given is None else f"a reference of type {type(given).__name__}"
        return Outcome(None, "not_applicable", kind)
    gold = read(text)
    if gold.numeral is None and not gold.text:
        return Outcome(None, "not_applicable", f"the reference {_short(text)} cannot be read: {unreadable(gold)}")
    return text, gold


def _score(gold: Any, found: Any, timeout: float) -> Outcome:
    from grpo_rewards_plugins.math.grading import grade

    if found.text is None:
        return Outcome(0.0, "rejected", "no answer found")
    verdict = grade(gold, found.text, timeout=timeout)
    if verdict.status == "unreadable_gold":
        return Outcome(None, "not_applicable", f"the reference {_short(gold.text)} cannot be read: {verdict.rule}")
    details = {"extracted": found.text[:_KEPT], "rule": found.rule}
    how = f"{_short(found.text)} (by {found.rule})"
    if verdict.status == "timeout":
        return Outcome(0.0, "timeout", f"{how} against {_short(gold.text)}: {verdict.rule}", details)
    word = "is" if verdict.equal else "is not"
    return Outcome(float(verdict.equal), "scored", f"{how} {word} {_short(gold.text)}: {verdict.rule}", details)


def _short(text: str) -> str:
    text = text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
    return repr(text)
