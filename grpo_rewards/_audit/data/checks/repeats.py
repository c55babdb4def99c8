"""What the same answer gets from time to time, and how long that takes."""

from __future__ import annotations

from collections.abc import Iterator

from grpo_rewards._audit.data.trial import Trial

__all__ = ["flaky", "slow"]


def flaky(trial: Trial) -> Iterator[str]:
    """The reference gets another verdict when it is scored again."""
    found = [one for one in (*trial.tried[:1], *trial.again) if one.status in ("scored", "rejected")]
    passed = sum(map(trial.passes, found))
    if 0 < passed < len(found):
        failed = next(one for one in found if not trial.passes(one))
        yield f"the reference passes {passed} of {len(found)} times; else {failed.reason[:120]}"


def slow(trial: Trial) -> Iterator[str]:
    """The reference takes more than half of the time limit, or runs into it: load makes a right answer fail."""
    if any(one.status == "timeout" for one in trial.tried) and trial.reference is None:
        yield "the reference runs into the time limit"
    elif trial.seems_slow and (not trial.probes.half_settings or any(one.status == "timeout" for one in trial.hurried)):
        yield f"the reference takes more than half of its {trial.probes.seconds:.3g} s"
