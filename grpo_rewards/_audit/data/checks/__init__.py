"""The checks of ``audit DATA``, one module for each kind: a check is a function of a `Trial` that yields what is wrong, in words.

`CHECKS` is the table: names are marks. The documentation's table is made from the functions' docstrings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from grpo_rewards._audit.data.checks.answers import nop, oracle
from grpo_rewards._audit.data.checks.duplicates import contradictory
from grpo_rewards._audit.data.checks.leaks import leak
from grpo_rewards._audit.data.checks.repeats import flaky, slow
from grpo_rewards._audit.data.checks.strength import weak
from grpo_rewards._audit.data.checks.texts import format, gold, row, vacuous
from grpo_rewards._audit.data.trial import Trial

__all__ = ["CHECKS", "Check"]

Check = Callable[[Trial], Iterator[str]]

CHECKS: Mapping[str, Check] = {
    "nop": nop,
    "oracle": oracle,
    "weak": weak,
    "flaky": flaky,
    "slow": slow,
    "vacuous": vacuous,
    "contradictory": contradictory,
    "leak": leak,
    "gold": gold,
    "format": format,
    "row": row,
}
"""Every check by its name, which is also the mark of a row that it finds something in."""
