"""Scoring files: reading rows, scoring them in chunks of whole groups, and an output that survives being killed."""

from grpo_rewards._scoring.run import Progress, Run, score_file

__all__ = ["Progress", "Run", "score_file"]
