"""verl: ``reward.custom_reward_function.path=pkg://grpo_rewards_adapters.verl``, ``name=compute_score`` (or the async one).

verl wants the same keys from every sample and cannot take None, so each result has a flag beside each number. It shows
one sample at a time; advantages that leave samples out are those of `grpo_rewards_adapters.verl_survivors`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from grpo_rewards import Composite
from grpo_rewards_adapters.single import (
    ScoredRow,
    chosen,
    load_composite,
    score_row,
    score_rows,
    stand_in,
)

__all__ = ["compute_score", "compute_score_async"]

_SETTING = "reward.custom_reward_function.reward_kwargs.missing: NUMBER"
_INSTEAD = "reward_kwargs.missing: survivors with algorithm.adv_estimator: grpo_survivors, which leaves the sample out"
_OWN = ("completion", "data_source", "ground_truth")


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: object,
    extra_info: Mapping[str, object] | None = None,
    *,
    config: Composite | str | None = None,
    gold: str = "answer",
    missing: float | Literal["survivors"] | None = None,
    **_router: object,
) -> dict[str, float | str]:
    """Score one response; the keys are the same for every sample of a configuration.

    The reward sees the columns of `extra_info`, ``data_source`` and ``ground_truth``, the last also as the column `gold`
    unless `extra_info` has one. `config`, `gold` and `missing` come from verl's ``reward_kwargs``. Where there is no
    reward the score is `missing`: a number, or NaN with ``survivors``, which ``algorithm.adv_estimator:
    grpo_survivors`` leaves out of its group; any other estimator makes the whole update NaN, which verl skips.

    Returns:
        ``score``; ``valid`` (1.0, or 0.0 where `missing` stands in and nothing was measured); per component
        ``component/<name>`` (0.0 where it has no value) and ``applies/<name>`` (1.0 or 0.0, which tells the two apart);
        ``reason``.

    Raises:
        ConfigError: `missing` is not chosen, or a component compares whole groups, which verl does not show at once.
    """
    composite, absent = _chosen(config, missing)
    (scored,) = score_rows(composite, [_row(data_source, solution_str, ground_truth, extra_info, gold)])
    return _result(scored, absent)


async def compute_score_async(
    data_source: str,
    solution_str: str,
    ground_truth: object,
    extra_info: Mapping[str, object] | None = None,
    *,
    config: Composite | str | None = None,
    gold: str = "answer",
    missing: float | Literal["survivors"] | None = None,
    **_router: object,
) -> dict[str, float | str]:
    """Score one response while verl's reward loop goes on: responses that come meanwhile are scored beside it.

    Identical responses are evaluated once. Otherwise as `compute_score`.
    """
    composite, absent = _chosen(config, missing)
    scored = await score_row(composite, _row(data_source, solution_str, ground_truth, extra_info, gold))
    return _result(scored, absent)


def _chosen(config: Composite | str | None, missing: float | Literal["survivors"] | None) -> tuple[Composite, float]:
    """The composite, and what stands where there is no reward."""
    composite = load_composite(config, trainer="verl")
    if missing == "survivors":
        return composite, math.nan
    return composite, chosen(missing, trainer="verl", setting=_SETTING, instead=_INSTEAD)


def _row(
    data_source: str, solution: str, truth: object, extra_info: Mapping[str, object] | None, gold: str
) -> dict[str, object]:
    row = {gold: truth, **dict(extra_info or {})}
    # last: a column of `extra_info` must not take the place of the response
    row.update(zip(_OWN, (solution, data_source, truth), strict=True))
    return row


def _result(scored: ScoredRow, absent: float) -> dict[str, float | str]:
    return {"score": stand_in(scored, absent), **scored.numbers("/"), "reason": scored.reason}
