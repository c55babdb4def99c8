"""How much the tests see: small changes of the reference must fail."""

from __future__ import annotations

from collections.abc import Iterator

from grpo_rewards._audit.data.trial import Trial

__all__ = ["weak"]

_ENOUGH = 0.5
_PASSED = 3


def weak(trial: Trial) -> Iterator[str]:
    """Wrong answers pass: a reference with its result changed, or more than half of those with a changed operator or constant."""
    told = trial.mutants[: trial.probes.telling]
    if passed := sum(map(trial.passes, told)):
        yield f"the reference with another result passes ({passed} of {len(told)} such changes)"
        return
    judged = [outcome for outcome in trial.mutants if outcome.value is not None]
    strength = trial.strength
    passed = sum(map(trial.passes, judged))
    # a change or two may make an equivalent program, which no test can tell
    if strength is not None and strength < _ENOUGH and (passed >= _PASSED or strength == 0.0):
        yield f"{passed} of {len(judged)} small changes of the reference pass"
