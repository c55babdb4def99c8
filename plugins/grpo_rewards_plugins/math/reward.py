"""The reward `math`: the completion's final answer equals the reference, as mathematical objects."""

from __future__ import annotations

import math as _math
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from grpo_rewards import Outcome, reward
from grpo_rewards.slots import slots
from grpo_rewards.types import SettingValues
from grpo_rewards_plugins.answers import KEPT, Rule

if TYPE_CHECKING:
    from grpo_rewards_plugins.answers import Extraction
    from grpo_rewards_plugins.math.grades import Grade
    from grpo_rewards_plugins.math.grading import Reading

_SHOWN = 80
_NONE = "\x00"  # begins what stands for a reference that there is not
_SHORT = 0.1  # seconds that sympy gets for a pair before the other pairs have had their turn
_SHORT_GOLD = 2_000  # characters; the readings of longer references are not kept from call to call


_Slow = tuple["Reading", "Extraction", list[int]]  # a pair that sympy has to decide, and the rows that have it


def _check(settings: SettingValues) -> None:
    timeout = settings["timeout"]
    if not (_math.isfinite(timeout) and timeout > 0):
        raise ValueError(f"timeout must be a positive number of seconds, not {timeout!r}")
    tolerance = settings["tolerance"]
    if not 0 <= tolerance < 1:
        raise ValueError(f"tolerance must be a share of the reference from 0 to 1, not {tolerance!r}")
    if not settings["places"]:
        raise ValueError("places must name at least one place where an answer may stand")


def check_gold(answer: object = None, **_columns: object) -> str | None:
    """Return why a reference cannot be read, or None."""
    from grpo_rewards_plugins.math.extraction import gold_text
    from grpo_rewards_plugins.math.grading import read, unreadable

    text = answer if type(answer) is str else reference_text(answer)
    if text.startswith(_NONE):
        return f"the reference must be text or a finite number: {text.removeprefix(_NONE)}"
    problem = unreadable(read(gold_text(text)))
    return None if problem is None else f"the reference {_short(text)} cannot be read: {problem}"


@reward.batch(range=(0.0, 1.0), check_settings=_check, check_row=check_gold)
def math(
    completions: list[str],
    answer: list[object],
    *,
    timeout: float = 1.0,
    tolerance: float = 0.0,
    convert_units: bool = True,
    partial: bool = False,
    places: tuple[Rule, ...] = (
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
) -> Iterator[tuple[int, Outcome]]:
    """The completion's final answer equals the reference as a mathematical object.

    1 or 0; None where the reference cannot be read. Text up to the last ``</think>`` does not count. The answer is found
    first (last ``\\boxed{}``, ``<answer>``, ``####`` or "the answer is"), then compared: as text, as exact numbers, part by
    part, by certified numeric evaluation, and last by sympy in a worker process that is killed at its deadline.

    Args:
        answer: the reference: a number, an expression, or text with it in ``$...$``, ``\\boxed{}`` or after ``####``.
        timeout: processor seconds that the last step may take for one pair (ours; TRL's accuracy_reward gives each of its steps 5).
        tolerance: the largest difference of two numbers that counts as equal, as a share of the reference (ours: none).
        convert_units: whether one quantity in other units is equal (ours: yes): ``180 cm`` is ``1.8 m``; never rounded.
        partial: whether a wrong answer of several parts gets the share of its parts that is right (ours: no).
        places: where an answer may stand; without a mark, the others are tried in this order.
    """
    extract, grade, *_ = _engine()
    golds: dict[str, Reading | Outcome] = {}
    done: dict[tuple[str | None, ...], Outcome] = {}  # by reference and completion, and by reference, answer and place
    slow: dict[tuple[str | None, ...], _Slow] = {}
    first = 0.0 if len(completions) > 1 else timeout  # pairs that need sympy wait until the others are graded
    for row, (completion, given) in enumerate(zip(completions, answer, strict=True)):
        text = given if type(given) is str else reference_text(given)
        gold = golds.get(text)
        if gold is None:
            gold = golds[text] = _read_gold(text) if len(text) < _SHORT_GOLD else _read_gold.__wrapped__(text)
        if isinstance(gold, Outcome):
            yield row, gold
            continue
        found = done.get((text, completion))
        if found is None:
            answered = extract(completion, order=places)
            pair = (text, answered.text, answered.rule, answered.behind)
            if pair in slow:
                slow[pair][2].append(row)
                continue
            found = done.get(pair)
            if found is None:
                found = _score(gold, answered, grade, first, tolerance, convert_units, partial)
                if found.status == "timeout" and first < timeout:
                    slow[pair] = (gold, answered, [row])
                    continue
                done[pair] = found
            done[text, completion] = found
        yield row, found

    def score(gold: Reading, answered: Extraction, seconds: float) -> Outcome:
        return _score(gold, answered, grade, seconds, tolerance, convert_units, partial)

    for rows, found in _together([*slow.values()], timeout, score):
        for row in rows:
            yield row, found


def _together(
    pairs: list[_Slow], timeout: float, score: Callable[[Reading, Extraction, float], Outcome]
) -> Iterator[tuple[list[int], Outcome]]:
    """The rows and the outcome of pairs that need sympy, as they come: as many at once as there are slots.

    Each gets a short time first, and all of its own after the others, so that no row waits for one that hangs.
    """
    from concurrent.futures import ThreadPoolExecutor, as_completed

    if not pairs:
        return
    threads = ThreadPoolExecutor(slots(), "grpo-rewards-math")
    try:
        for seconds in [min(timeout, _SHORT), timeout] if len(pairs) > slots() else [timeout]:
            under_way = {threads.submit(score, pair[0], pair[1], seconds): pair for pair in pairs}
            pairs = []
            for future in as_completed(under_way):
                found, pair = future.result(), under_way[future]
                if found.status == "timeout" and seconds < timeout:
                    pairs.append(pair)
                else:
                    yield pair[2], found
    finally:
        # a caller that has had enough waits for nobody
        threads.shutdown(wait=False, cancel_futures=True)


class _Engine(NamedTuple):
    extract: Callable[..., Extraction]
    grade: Callable[..., Grade]
    share: Callable[[Reading, str], float]
    with_unit: Callable[[Reading, str, str], str]


@cache
def _engine() -> _Engine:
    """What finds and grades answers, imported with the first call."""
    from grpo_rewards_plugins.math.extraction import extract
    from grpo_rewards_plugins.math.grading import grade, share, with_unit

    return _Engine(extract, grade, share, with_unit)


def reference_text(given: object) -> str:
    """Return a reference that is no text as one; what cannot be a reference becomes a text that says so."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return _NONE + ("there is no reference" if given is None else f"a reference of type {type(given).__name__}")
    if isinstance(given, int):
        # Python writes no integer of more than 4,300 digits
        return str(given) if abs(given) < 10**4000 else _NONE + "a reference of more than 4,000 digits"
    if not _math.isfinite(given):
        return _NONE + "a reference that is no finite number"
    return str(int(given)) if given.is_integer() and abs(given) < 1e15 else repr(given)  # 18.0 is the integer 18


@lru_cache(maxsize=4096)
def _read_gold(text: str) -> Reading | Outcome:
    """The reading of a reference, or the outcome where there is none."""
    from grpo_rewards_plugins.math.extraction import gold_text
    from grpo_rewards_plugins.math.grading import read, unreadable

    if text.startswith(_NONE):
        return Outcome(None, "not_applicable", text.removeprefix(_NONE))
    gold = read(gold_text(text))
    if gold.numeral is None and not gold.text:
        return Outcome(None, "not_applicable", f"the reference {_short(text)} cannot be read: {unreadable(gold)}")
    return gold


def _score(
    gold: Reading,
    found: Extraction,
    grade: Callable[..., Grade],
    timeout: float,
    tolerance: float,
    convert_units: bool,
    partial: bool,
) -> Outcome:
    text, rule = found.text, found.rule
    if text is None:
        return Outcome(0.0, "rejected", "no answer found; ask for answers that are marked, as in \\boxed{}")
    if found.behind:
        text = _engine().with_unit(gold, text, found.behind)
    verdict = grade(gold, text, timeout=timeout, tolerance=tolerance, convert_units=convert_units)
    if verdict.status == "unreadable_gold":
        return Outcome(None, "not_applicable", f"the reference {_short(gold.text)} cannot be read: {verdict.rule}")
    details = {"extracted": text[:KEPT], "rule": rule}
    how = f"{_short(text)} (by {rule})"
    if verdict.status == "timeout":
        return Outcome(0.0, "timeout", f"{how} against {_short(gold.text)}: {verdict.rule}", details)
    if partial and not verdict.equal and (part := _engine().share(gold, text)):
        return Outcome(part, "scored", f"{how} has {part:.0%} of the parts of {_short(gold.text)}", details)
    word = "is" if verdict.equal else "is not"
    return Outcome(float(verdict.equal), "scored", f"{how} {word} {_short(gold.text)}: {verdict.rule}", details)


def _short(text: str) -> str:
    text = text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
    return repr(text)
