"""The shapes that cross rooms: what a reward call brings, what settings are, and how a scored row reads as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict, cast

SCORES = "grpo_rewards"
"""The key of an output line that holds its scores."""

RewardCall = Mapping[str, Any]
"""The keywords of a trainer's reward call before anything has looked at them; `Batch.from_call` checks them."""

SettingValues = Mapping[str, Any]
"""A reward's settings by name, after pydantic checked each against the annotation of its parameter."""


class PartScores(TypedDict):
    """One component's part in a row's reward: value × gate × weight is the contribution."""

    value: float | None
    weight: float
    gate: float
    contribution: float | None
    status: str
    reason: str
    unclipped: NotRequired[float | None]
    details: NotRequired[Mapping[str, object]]


class RowScores(TypedDict):
    """A scored row: what `ScoreTable.row` returns, and what the key ``grpo_rewards`` of an output line holds."""

    reward: float | None
    components: dict[str, PartScores]
    left_out: NotRequired[str]
    row: NotRequired[int]
    """The line of the input, from 1; in output lines alone, as the two below."""
    index: NotRequired[int | None]
    group: NotRequired[int]


def scores_in(row: Mapping[str, object]) -> RowScores:
    """Return the scores that a line of an output holds. Raises KeyError where it holds none."""
    return cast(RowScores, row[SCORES])
