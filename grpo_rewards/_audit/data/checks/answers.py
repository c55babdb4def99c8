"""Whether nothing fails and the row's own answer passes."""

from __future__ import annotations

from collections.abc import Iterator

from grpo_rewards._audit.data.trial import Trial

__all__ = ["nop", "oracle"]

_PAID = 0.5
_SHOWN = 60


def nop(trial: Trial) -> Iterator[str]:
    """A completion that does nothing is paid: empty, or a stub that answers with a constant, with its argument, or (where elements are compared) with an empty array."""
    for text, outcome in zip(trial.probes.stubs, trial.stubs, strict=False):
        if (share := trial.share(outcome)) >= _PAID:
            yield f"{_shown(text)} gets {share:.0%} of the reward"
            return


def oracle(trial: Trial) -> Iterator[str]:
    """None of the row's own references passes: the reference is wrong, or what it is held against is."""
    judged = [one for one in (*trial.tried, *trial.again) if one.status in ("scored", "rejected")]
    if not judged or any(map(trial.passes, judged)) or any(one.status == "timeout" for one in trial.tried):
        return
    yield f"the reference fails: {judged[0].reason or f'it gets {trial.share(judged[0]):.0%} of the reward'}"


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return "an empty completion" if not text else f"the completion {text[:_SHOWN]!r}"
