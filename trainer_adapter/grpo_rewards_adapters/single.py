"""Scoring for trainers other than TRL: one composite, rows in, plain numbers and a flag out.

Those trainers cannot leave a sample out the way TRL does with None. Where an adapter sees a whole group, the mean of its
other rewards stands in (`filled_with_group_means`), whose advantage is 0; where a trainer has a mark of its own for such
a sample, the adapter sets it; else nothing is scored until somebody has said what stands in (`chosen`).
"""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

import grpo_rewards
from grpo_rewards import Composite, ScoreTable, load
from grpo_rewards.errors import ConfigError
from grpo_rewards.types import Batch, Stream

MISSING_VARIABLE = "GRPO_REWARDS_MISSING"
"""The environment variable that chooses a number for samples without a reward, where a trainer passes no settings on."""

_log = logging.getLogger(__name__)


class ScoringStopped(BaseException):
    """A reward cannot go on, told to a trainer that takes any Exception of one for a row without worth and goes on.

    verifiers 0.1 makes an Exception 0 for all of a group, and OpenRLHF no reward, each with a line in a log; this passes
    through both, and ends the run. Its text names the error, which is its ``__cause__``.
    """


@contextmanager
def stopping() -> Iterator[None]:
    """Raise `ScoringStopped` in place of whatever Exception comes from within."""
    try:
        yield
    except Exception as error:
        raise ScoringStopped(f"{type(error).__name__}: {error}") from error


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """One row: `reward` and each component's clipped and gated value, None where there is none, and why.

    `failure` is ``""``, ``"not_applicable"`` (no component applies), ``"unavailable"`` or ``"error"``.
    """

    reward: float | None
    values: Mapping[str, float | None]
    failure: str
    reason: str

    @property
    def valid(self) -> bool:
        """Whether `reward` is a measurement."""
        return self.reward is not None

    def numbers(self, separator: str = "_") -> dict[str, float]:
        """Return ``valid``, and per component ``component_<name>`` (0.0 where it has no value) and ``applies_<name>``."""
        found = {"valid": float(self.valid)}
        for name, value in self.values.items():
            found[f"component{separator}{name}"] = 0.0 if value is None else value
            found[f"applies{separator}{name}"] = float(value is not None)
        return found


@lru_cache(maxsize=8)
def _loaded(path: str) -> Composite:
    return load(path)


def load_composite(config: Composite | str | None, *, trainer: str = "") -> Composite:
    """Return `config` itself, the composite of that file (read once), or the default one (``$GRPO_REWARDS_CONFIG``).

    Raises:
        ConfigError: a component must see a whole group, and `trainer` is the name of one that never shows it at once.
    """
    if isinstance(config, Composite):
        composite = config
    else:
        composite = _loaded(str(config)) if config is not None else grpo_rewards.composite_reward
    for component in composite.components if trainer else ():
        if component.reward.style == "group":
            raise ConfigError(
                f"{trainer} hands over one completion at a time, but reward {component.reward.name!r} compares all "
                f"completions of a prompt; leave it out, or train with TRL",
                path=f"rewards.{component.name}",
                source=composite.source,
            )
    return composite


def score_rows(
    composite: Composite, rows: Sequence[Mapping[str, object]], *, grouping: Sequence[object] | None = None
) -> list[ScoredRow]:
    """Score rows under the failure policy of training (``errors:`` of the configuration, with its batch timeout).

    `grouping` holds a key per row that says which group it is in, for rewards that compare the rows of one.

    Raises:
        ColumnError: a column that a component needs is missing.
        PluginError: a plugin broke its contract (unless ``errors.plugin: drop_row``).
        InfrastructureError: more rows than ``errors.max_infra_rate`` were left out.
    """
    batch = Batch.from_rows(rows, grouping=grouping)
    composite.check_columns(batch.available)
    return rows_of(composite.session.table(batch))


def rows_of(table: ScoreTable) -> list[ScoredRow]:
    """Return the rows of a table as plain numbers and a flag."""
    values = {name: table.values(name) for name in table.components}
    scored = []
    for row, reward in enumerate(table.rewards()):
        failure, reason = "", ""
        if reward is None:
            statuses = {
                outcomes[row].status
                for outcomes in table.components.values()
                # a component that is blank only because another one failed in this row says nothing of why
                if "left_out" not in outcomes[row].details
            }
            # a plugin that broke before a service that was away: the former has to be mended
            failure = next((kind for kind in ("error", "unavailable") if kind in statuses), "not_applicable")
            reason = table.left_out.get(row, "no component with a weight applies to this row")
        scored.append(ScoredRow(reward, {name: column[row] for name, column in values.items()}, failure, reason))
    return scored


@lru_cache(maxsize=8)
def _stream(composite: Composite) -> Stream:
    return composite.stream()


async def score_row(composite: Composite, row: Mapping[str, object]) -> ScoredRow:
    """Score one row as `score_rows` does, in a stream of this process: rows that come meanwhile are scored beside it."""
    (scored,) = rows_of((await _stream(composite).score(row)).table)
    return scored


def chosen(missing: float | None, *, trainer: str, setting: str, instead: str = "") -> float:
    """Return `missing`, else the number in ``$GRPO_REWARDS_MISSING``: what stands for the reward of a sample without one.

    Raises:
        ConfigError: nobody has chosen, or not a finite number (NaN and inf would poison the batch).
    """
    named = os.environ.get(MISSING_VARIABLE)
    try:
        number = float(named) if missing is None and named is not None else missing
    except ValueError:
        raise ConfigError(f"${MISSING_VARIABLE} must be a number, not {named!r}") from None
    if number is None:
        raise ConfigError(
            f"{trainer} takes no None and does not show its groups, so a sample that could not be graded needs a number, "
            f"which moves its group's baseline like a graded one. Choose it: {setting}, or ${MISSING_VARIABLE} (0 counts "
            f"the sample as wrong){instead and '; or ' + instead}"
        )
    if not math.isfinite(number):
        raise ConfigError(f"missing must be a finite number, not {number!r}: the trainer would average it")
    return number


def stand_in(scored: ScoredRow, missing: float) -> float:
    """Return the reward, or `missing` where there is none, which is logged each time."""
    if scored.reward is not None:
        return scored.reward
    _log.warning("no reward for a sample (%s): %s; %g stands in and it is marked invalid", scored.failure, scored.reason,
                 missing)  # fmt: skip
    return missing


def filled_with_group_means(scored: Sequence[ScoredRow], groups: Sequence[Sequence[int]]) -> list[float]:
    """Return the rewards, each gap filled by the mean of its group's others, or 0 in a group that has no reward at all.

    The others' mean does not move and the gap's advantage is 0. A group's deviation shrinks by
    sqrt((n - 1) / (N - 1)) with n of N rewards there, which a trainer that divides by it undoes in the survivors' favour.
    """
    filled = [0.0] * len(scored)
    for rows in groups:
        present = [reward for row in rows if (reward := scored[row].reward) is not None]
        mean = math.fsum(present) / len(present) if present else 0.0
        for row in rows:
            filled[row] = stand_in(scored[row], mean)
    return filled
