"""The contract between a reward and everything that calls it."""

from grpo_rewards._contract.batch import Batch, check_group_size, group_key
from grpo_rewards._contract.boundary import CallLimits, evaluate
from grpo_rewards._contract.decorator import reward
from grpo_rewards._contract.outcome import LARGEST, STATUSES, Outcome, Status, plugin_error
from grpo_rewards._contract.reward import Reward, as_reward
from grpo_rewards._contract.text import completion_messages, completion_text

__all__ = [
    "LARGEST",
    "STATUSES",
    "Batch",
    "CallLimits",
    "Outcome",
    "Reward",
    "Status",
    "as_reward",
    "check_group_size",
    "completion_messages",
    "completion_text",
    "evaluate",
    "group_key",
    "plugin_error",
    "reward",
]
