"""The report: what a reward did to a file of completions, as one page that needs nothing else."""

from __future__ import annotations

from grpo_rewards._report.rescoring import Rescoring
from grpo_rewards._report.tables import ReportPage, page_of
from grpo_rewards._report.writing import PageLimits, Written, write_report

__all__ = ["PageLimits", "ReportPage", "Rescoring", "Written", "page_of", "write_report"]
