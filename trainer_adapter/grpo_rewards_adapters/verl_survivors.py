"""Advantages for verl that leave samples without a reward out: ``algorithm.adv_estimator: grpo_survivors``.

verl finds this module by the entry point ``verl.plugins`` and so knows the estimators in every process. Each calls verl's
own estimator with the samples that have a reward, so that their advantages are those of a batch without the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import torch
from verl.trainer.ppo.core_algos import get_adv_estimator_fn, register_adv_est

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ESTIMATORS = ("grpo", "grpo_vectorized", "rloo", "rloo_vectorized", "opo", "reinforce_plus_plus_baseline")
"""verl's estimators with a baseline per prompt; each is there again with ``_survivors`` behind its name."""

_Estimator = Callable[..., tuple[torch.Tensor, torch.Tensor]]


def survivors_of(name: str) -> _Estimator:
    """Return verl's estimator `name`, over the samples whose rewards are numbers; the others' advantages are 0.

    A sample that is the only survivor of its group has nothing to be compared with: its advantage is 0 too.
    """

    def estimate(
        token_level_rewards: torch.Tensor,
        response_mask: torch.Tensor,
        index: NDArray[np.object_],
        config: Mapping[str, object] | None = None,
        **_unused: object,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        # verl lays a response's score on its last token, so one NaN marks the row
        present = [row for row, lost in enumerate(torch.isnan(token_level_rewards).any(dim=-1).tolist()) if not lost]
        whole, left = Counter(index.tolist()), Counter(index[present].tolist())
        # a group that was of one from the start is left to verl, as without this module
        rows = [row for row in present if left[index[row]] > 1 or whole[index[row]] == 1]
        advantages, returns = torch.zeros_like(token_level_rewards), torch.zeros_like(token_level_rewards)
        if rows:
            settings: dict[str, object] = {"config": config}
            if config is not None and name == "grpo":  # verl passes this on to GRPO alone
                settings["norm_adv_by_std_in_grpo"] = config.get("norm_adv_by_std_in_grpo", True)
            advantages[rows], returns[rows] = get_adv_estimator_fn(name)(
                token_level_rewards=token_level_rewards[rows],
                response_mask=response_mask[rows],
                index=index[rows],
                **settings,
            )
        return advantages, returns

    return estimate


for _name in ESTIMATORS:
    register_adv_est(f"{_name}_survivors")(survivors_of(_name))
