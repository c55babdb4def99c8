"""TRL: a composite goes into ``reward_funcs`` as it is; `attach` and `trl_kwargs` add what needs the trainer.

Works with `GRPOTrainer` and `RLOOTrainer`. The asynchronous trainer (``trl.experimental.async_grpo``) takes the fused
form, whose weights stay as configured there, since it tells rewards no step.
"""

from grpo_rewards_adapters.trl.health import HealthCallback, HealthLimits
from grpo_rewards_adapters.trl.setup import Form, attach, trl_kwargs

__all__ = ["Form", "HealthCallback", "HealthLimits", "attach", "trl_kwargs"]
