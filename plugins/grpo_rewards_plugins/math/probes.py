"""What ``audit DATA`` tries on a row with a mathematical reference."""

from __future__ import annotations

from fractions import Fraction

from grpo_rewards.types import Probes

# hardly a reference of any data set
_FAR_OFF = "-98765.4321"


def math_probes(answer: object = None) -> Probes | None:
    """Return right and wrong answers of a row; None where there is no reference column."""
    from grpo_rewards_plugins.math.extraction import gold_text
    from grpo_rewards_plugins.math.reward import check_gold, reference_text

    if answer is None:
        return None
    if problem := check_gold(answer):
        return Probes(faults={"gold": problem})
    gold = gold_text(answer if isinstance(answer, str) else reference_text(answer)).strip()
    return Probes(
        references=(f"\\boxed{{{gold}}}", f"The answer is {gold}", str(answer)),
        mutants=tuple(f"\\boxed{{{wrong}}}" for wrong in (*_beside(gold), _FAR_OFF) if wrong != gold),
        golds=(gold,),
    )


def _beside(gold: str) -> list[str]:
    """A number one larger, where the reference is one."""
    try:
        number = Fraction(gold.replace(",", ""))
    except (ValueError, ZeroDivisionError):
        return []
    return [str(number + 1)]
