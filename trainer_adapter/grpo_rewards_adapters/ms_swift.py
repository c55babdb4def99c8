"""ms-swift: ``orms["grpo_rewards"] = orm_class()`` in a plugin file, then ``--reward_funcs grpo_rewards``.

ms-swift sums rewards with ``nansum``, which makes a sample without any reward 0 without a word, so each has to get a number.
The mean of its group's others leaves theirs as it is, but lowers the deviation that ms-swift divides by, and no number
avoids that. So whoever wants rewards divided by it has it done here, over the samples that have one.
"""

from __future__ import annotations

import logging
import math
import statistics
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from grpo_rewards import Composite
from grpo_rewards.errors import ConfigError, GrpoRewardsError, InputError
from grpo_rewards_adapters.ranks import world
from grpo_rewards_adapters.single import ScoredRow, load_composite, score_rows, stand_in

__all__ = ["CompositeORM", "groups_of", "neutral_rewards", "orm_class"]

_log = logging.getLogger(__name__)
# what the trainer hands to every reward and is no column of the data
_NOT_COLUMNS = ("trainer_state", "trajectory_inputs", "log_extra", "log_metric")
_IDS = ("prompt_id", "request_id", "group_id")
_EPSILON = 1e-4  # what ms-swift adds to a deviation


class CompositeORM:
    """A composite in the shape of ms-swift's ``ORM``: made with ``args``, called with lists, answers floats.

    A missing reward is filled (`neutral_rewards`), with an eye on the group's rows of other processes too. Each is logged.

    Raises:
        ConfigError: with these ``args`` a sample without a reward would move the advantages of others; see `orm_class`.
    """

    config: Composite | str | None = None
    divide: bool = False
    accept_growth: bool = False

    def __init__(self, args: object = None, **_kwargs: object) -> None:
        self.args = args
        self._check_arguments()
        self.composite = load_composite(self.config)
        self.components: dict[str, list[float | None]] = {}
        """Each component's values in the latest call."""

    def __call__(self, completions: Sequence[object], **columns: Any) -> list[float]:
        """Score a batch: `completions` are strings, every dataset column a list of the same length.

        Collective where several processes train: each must call it at the same point, as ms-swift does.

        Raises:
            InputError: the groups cannot be known, or rows of a group that a reward compares lie on several processes.
        """
        size = len(completions)
        given = {name: values for name, values in columns.items() if _is_column(name, values, size)}
        parts = world().gather({name: given[name] for name in _IDS if name in given} | {"rows": size})
        # groups are counted over the rows of all processes, in order of rank
        start = sum(part["rows"] for part in parts[: world().rank])
        ids = {
            name: [value for part in parts for value in part[name]] for name in _IDS if all(name in p for p in parts)
        }
        groups = groups_of(ids, sum(part["rows"] for part in parts), self.args)
        group = {row: number for number, rows in enumerate(groups) for row in rows}
        for component in self.composite.components:
            mine = range(start, start + size)
            if component.reward.style == "group" and any(len({row in mine for row in rows}) > 1 for rows in groups):
                raise InputError(
                    f"component {component.name!r} compares the completions of a group, and a group lies on several "
                    f"processes; make per_device_train_batch_size a multiple of num_generations"
                )
        rows = [
            {**{name: values[row] for name, values in given.items()}, "completion": completion}
            for row, completion in enumerate(completions)
        ]
        shared = world().gather(self._scored(rows, [group[start + row] for row in range(size)]))
        everything: list[ScoredRow] = []
        for part in shared:
            if isinstance(part, GrpoRewardsError):  # of whichever process: the others would wait for it
                raise part
            everything += part
        self._log_means(everything[start : start + size])
        filled = neutral_rewards(
            everything, groups, ids.get("request_id"), divide=self.divide,
            rloo=getattr(self.args, "advantage_estimator", None) == "rloo",
        )  # fmt: skip
        return filled[start : start + size]

    def _check_arguments(self) -> None:
        scale = getattr(self.args, "scale_rewards", None)
        if self.divide and scale not in (None, "none"):
            raise ConfigError(
                f"orm_class(divide=True) divides rewards by their group's deviation, and so would ms-swift with "
                f"--scale_rewards {scale}; set --scale_rewards none"
            )
        if self.accept_growth:
            return
        if scale not in (None, "none"):
            raise ConfigError(
                f"with --scale_rewards {scale} a sample that could not be graded changes the deviation that ms-swift "
                f"divides by, and so the advantages of others. Set --scale_rewards none and orm_class(..., divide=True), "
                f"which divides by the deviation of each group's graded samples; or choose orm_class(..., accept_growth=True)"
            )
        if getattr(self.args, "kl_in_reward", False) and getattr(self.args, "beta", 0.0):
            raise ConfigError(
                "with --kl_in_reward true a sample that could not be graded enters its group's mean with its KL, and so "
                "changes the advantages of others. Set --kl_in_reward false or --beta 0; or choose "
                "orm_class(..., accept_growth=True)"
            )

    def _scored(
        self, rows: Sequence[Mapping[str, object]], grouping: Sequence[int]
    ) -> list[ScoredRow] | GrpoRewardsError:
        try:
            return score_rows(self.composite, rows, grouping=grouping)
        except GrpoRewardsError as error:
            return error

    def _log_means(self, scored: Sequence[ScoredRow]) -> None:
        self.components = {name: [one.values[name] for one in scored] for name in self.composite.weights}
        for name, values in self.components.items():
            present = [value for value in values if value is not None]
            if present:
                _log.info("rewards/%s/mean %.6g over %d of %d", name, math.fsum(present) / len(present), len(present), len(values))  # fmt: skip


def orm_class(
    config: Composite | str | None = None, *, divide: bool = False, accept_growth: bool = False
) -> type[CompositeORM]:
    """Return the class to put into ms-swift's ``orms``, bound to a composition.

    `divide` gives ms-swift rewards that are centred and divided by their group's deviation, over the samples that have
    one: what ``--scale_rewards group`` would make of the group without the others. It wants ``--scale_rewards none``.
    `accept_growth` takes ms-swift's own division, or its KL in the reward, and with it that advantages of a group's graded
    samples are another's (by sqrt((N - 1) / (n - 1)) for n of N graded ones with ``group``).
    """
    return type("CompositeORM", (CompositeORM,), {"config": config, "divide": divide, "accept_growth": accept_growth})


def neutral_rewards(
    scored: Sequence[ScoredRow],
    groups: Sequence[Sequence[int]],
    requests: Sequence[Hashable] | None = None,
    *,
    divide: bool = False,
    rloo: bool = False,
) -> list[float]:
    """Return rewards with which ms-swift gives graded samples the advantages of a group without the others, which get 0.

    A sample without a reward gets the mean of its group's others, 0 in a group that has none. Rows of one `requests` are one
    sample, as for ms-swift, which wants one reward in all of them: one row without a reward costs them all. `divide`
    standardises the graded ones. `rloo` makes up for the factor N / (N - 1) of that estimator, N being a group's size.
    """
    filled = [0.0] * len(scored)
    for rows in groups:
        samples = [
            [rows[at] for at in found] for found in _by_key([requests[row] if requests else row for row in rows])
        ]
        graded = [sample for sample in samples if all(scored[row].valid for row in sample)]
        values = [reward for sample in graded if (reward := scored[sample[-1]].reward) is not None]
        mean = math.fsum(values) / len(values) if values else 0.0
        factor, several = 1.0, len(graded) > 1
        if rloo and several:
            factor = len(graded) * (len(samples) - 1) / (len(samples) * (len(graded) - 1))
        if divide:
            factor = factor / (statistics.stdev(values) + _EPSILON) if several else 0.0
        for sample in samples:
            for row in sample:
                if sample not in graded:
                    missing = stand_in(replace(scored[row], reward=None), mean)
                    filled[row] = 0.0 if divide else missing
                elif (reward := scored[row].reward) is not None:
                    filled[row] = (0.0 if divide else mean) + (reward - mean) * factor if factor != 1.0 else reward
    return filled


def groups_of(ids: Mapping[str, Sequence[object]], size: int, args: object) -> list[list[int]]:
    """Return ms-swift's groups of `size` rows: blocks of ``num_generations`` (in evaluation ``num_generations_eval``).

    A ``prompt_id`` is no group: ms-swift gives one to all rows with equal messages. But no block holds two of them, which
    tells training from evaluation; and where a ``request_id`` comes back (multi-turn, with rows of its own for each
    turn) ms-swift itself groups by ``prompt_id``. Without ``args`` a ``group_id`` or ``prompt_id`` of the data counts.

    Raises:
        InputError: neither is there, or no block size fits.
    """
    prompts, requests = ids.get("prompt_id"), ids.get("request_id")
    repeated = requests is not None and len(set(requests)) < size
    sizes = [getattr(args, name, None) for name in ("num_generations", "num_generations_eval")]
    if prompts is not None and repeated:
        return _by_key(prompts)
    for length in sizes:
        if isinstance(length, int) and length > 0 and size % length == 0:
            blocks = [list(range(first, first + length)) for first in range(0, size, length)]
            if prompts is None or all(len({prompts[row] for row in rows}) == 1 for rows in blocks):
                return blocks
    keys = ids.get("group_id", prompts if not any(sizes) else None)
    if keys is None:
        raise InputError(
            f"the groups of {size} rows cannot be known: num_generations of ms-swift's arguments is {sizes[0]!r}, "
            f"num_generations_eval {sizes[1]!r}, and the data have no column group_id"
        )
    return _by_key(keys)


def _by_key(keys: Sequence[object]) -> list[list[int]]:
    found: dict[object, list[int]] = {}
    for row, key in enumerate(keys):
        found.setdefault(key, []).append(row)
    return list(found.values())


def _is_column(name: str, values: object, size: int) -> bool:
    return name not in _NOT_COLUMNS and isinstance(values, list | tuple) and len(values) == size
