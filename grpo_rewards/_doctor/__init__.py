"""The doctor: what this machine has, what is wrong with it, and what to do."""

from __future__ import annotations

from grpo_rewards._doctor.checks import examine, examine_config
from grpo_rewards._doctor.faults import DataFaults
from grpo_rewards._doctor.finding import Finding
from grpo_rewards._doctor.rows import examine_rows
from grpo_rewards._doctor.weights import Applied, asked_in_vain, idle_weights

__all__ = [
    "Applied",
    "DataFaults",
    "Finding",
    "asked_in_vain",
    "examine",
    "examine_config",
    "examine_rows",
    "idle_weights",
]
