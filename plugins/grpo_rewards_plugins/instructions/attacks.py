"""The cheat that instructions invite: what is asked of each pair of neighbours holds for one word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grpo_rewards.types import Case


def one_word(case: Case) -> Iterator[str]:
    """replies with one word, which keeps every instruction about neighbours"""
    if case.columns.get("instruction_id_list") is not None or case.columns.get("ground_truth") is not None:
        yield from ("Yes", "strong", "Kayak!", "😀", "Yes.", "AN")
