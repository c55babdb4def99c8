"""Comparing two scorings of the same rows: what changed, by which component, and whether it matters."""

from __future__ import annotations

from grpo_rewards._compare.comparison import Comparison, compare
from grpo_rewards._compare.sides import Side, pair_up, read_side, score_sides

__all__ = ["Comparison", "Side", "compare", "pair_up", "read_side", "score_sides"]
