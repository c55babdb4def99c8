"""`Probes`: what a reward says is to be tried on a row, and what is tried where it says nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from grpo_rewards._audit.attacks import wraps
from grpo_rewards._audit.cases import GOLD_COLUMNS, Case, gold_texts, wrong_answers
from grpo_rewards._registry import registered

if TYPE_CHECKING:
    from grpo_rewards._contract import Reward

STUBS = ("", " \n", "...")
"""Completions that deserve nothing from any reward."""

_REASONING = "We work it out step by step."


@dataclass(frozen=True, slots=True)
class Probes:
    """What ``audit DATA`` tries on one row, as the reward that knows such rows says.

    `stubs` are completions that deserve nothing, and fail if the row is sound; `references` are alternatives that the row
    itself says are right, of which one must get the most that the reward gives; `mutants` are completions that are wrong,
    and nearly the first of `references`: most must fail, and the first `telling` of them all. `golds` are short answers and
    `passages` long ones, which must not stand in the prompt. `faults` says what is wrong by looking at the row alone, by
    the name of the check that it counts under; with one of ``gold``, ``format``, ``contradictory`` or ``vacuous`` nothing is
    run. `seconds` is the time limit of one completion, None where there is none, and `half_settings` are the reward's settings
    with half of it: a reference that seems slow is scored again under them, since the clock of a busy machine proves nothing.
    `mutant_settings` are the settings for the mutants (a shorter limit, say); `repeats` is how often the reference is
    scored to see whether the verdict stays.
    """

    stubs: tuple[str, ...] = STUBS
    references: tuple[str, ...] = ()
    mutants: tuple[str, ...] = ()
    telling: int = 0
    golds: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    faults: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None
    half_settings: Mapping[str, object] = field(default_factory=dict)
    mutant_settings: Mapping[str, object] = field(default_factory=dict)
    repeats: int = 2


Probing = Callable[..., Probes | None]
"""Called with a row's columns by the reward's parameter names, and those settings that it names, as ``check_row`` is."""


@cache
def probing() -> dict[str, Probing]:
    """Return what plugins say with the hook ``register_probes``, by the name of the reward; the first keeps a name."""
    return registered("register_probes")


def probes_for(reward: Reward, data: Mapping[str, object]) -> Probes | None:
    """Return what to try on a row; None where `reward` finds nothing in it.

    A reward without a function of its own in ``register_probes`` is tried with the answers of the columns that it reads,
    if it scores by itself: what compares a group or asks a service is not.
    """
    if (known := probing().get(reward.name)) is not None:
        return reward.ask_of_row(known, data)
    if reward.style == "group" or reward.is_async:
        return None
    read = [parameter.name for parameter in reward.shape.data if parameter.name in GOLD_COLUMNS]
    golds = [text for name in read for text in gold_texts(data.get(reward.columns.get(name, name)))]
    if not golds:
        return None
    if problem := reward.row_problem(data):
        return Probes(faults={"gold": problem})
    case = Case("", {}, formats=(("answer",), ("think", "answer")))
    right = [golds[0], *wraps(case, golds[0], _REASONING)]
    wrong = [text for answer in wrong_answers(golds[0])[:2] for text in [answer, *wraps(case, answer, _REASONING)][:3]]
    return Probes(references=tuple(right), mutants=tuple(wrong), golds=(golds[0],))
