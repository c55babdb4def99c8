"""The audit of data: is a data set fit to train on?"""

from __future__ import annotations

from grpo_rewards._audit.data.checks import CHECKS
from grpo_rewards._audit.data.marks import write_marked
from grpo_rewards._audit.data.report import DataReport, RowFinding
from grpo_rewards._audit.data.running import audit_data

__all__ = ["CHECKS", "DataReport", "RowFinding", "audit_data", "write_marked"]
