"""TRL's experimental trainers that take no None: `OnlineDPOTrainer` and `SDPOTrainer` make it 0, `A2POTrainer` stops."""

from __future__ import annotations

from grpo_rewards import Composite
from grpo_rewards.errors import InputError
from grpo_rewards.types import check_group_size
from grpo_rewards_adapters.single import ScoredRow, chosen, filled_with_group_means, stand_in


class Floats:
    """A composite that returns a number for every row: ``reward_funcs=[Floats(composite, group_size=8)]``.

    With `group_size`, where a trainer compares that many rows in a row (`SDPOTrainer`: its ``num_generations``), the mean of
    a group's other rewards stands in for a missing one, whose advantage is 0; theirs are those of the group without it under
    ``scale_rewards="none"``, and larger where the trainer divides by the deviation. Elsewhere no number is neutral (a pair of
    `OnlineDPOTrainer` is trained on whichever is larger), so `missing` must be chosen, here or in
    ``$GRPO_REWARDS_MISSING``.

    Raises:
        ConfigError: neither is given.
        InputError: `group_size` is less than 1.
    """

    def __init__(self, composite: Composite, *, missing: float | None = None, group_size: int | None = None) -> None:
        self.composite = composite
        self.group_size = group_size
        self.missing = 0.0
        if group_size is not None:
            check_group_size(group_size)
        else:
            instead = "group_size=N where it compares N rows in a row"
            self.missing = chosen(missing, trainer="This trainer", setting="missing=NUMBER", instead=instead)
        self.__name__ = composite.__name__

    def __call__(self, **call: object) -> list[float]:
        """Score the rows of TRL's reward call.

        Raises:
            InputError: the rows are no whole groups of `group_size`.
        """
        log = call.get("log_metric")

        def logged(name: str, value: float) -> None:
            """Log, and hide the trainer, which need not take None."""
            if callable(log):
                log(name, value)

        rewards = self.composite(**{**call, "log_metric": logged})
        rows = [ScoredRow(reward, {}, "" if reward is not None else "left out", "see the log") for reward in rewards]
        if self.group_size is None:
            return [stand_in(row, self.missing) for row in rows]
        if len(rows) % self.group_size:
            raise InputError(f"{len(rows)} rows are no whole groups of group_size = {self.group_size}")
        starts = range(0, len(rows), self.group_size)
        return filled_with_group_means(rows, [range(start, start + self.group_size) for start in starts])
