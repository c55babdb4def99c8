"""The audit: trying to cheat the configured rewards, offline."""

from __future__ import annotations

from grpo_rewards._audit.auditing import AuditReport, Earned, audit
from grpo_rewards._audit.cases import Case, cases_of_file, sample_cases

__all__ = ["AuditReport", "Case", "Earned", "audit", "cases_of_file", "sample_cases"]
