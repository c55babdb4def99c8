"""What one generation batch shows, over all ranks: the figures that logs, adaptation and health work from."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from grpo_rewards._composition.component import Component
from grpo_rewards._composition.stats import group_spread, mean, spread_of
from grpo_rewards._composition.table import ScoreTable
from grpo_rewards._contract import Batch, Outcome
from grpo_rewards._contract.batch import group_key, rows_by_key

if TYPE_CHECKING:
    from grpo_rewards._composition.session import Caller

Cause = Literal["error", "unavailable", "unfinished"]
"""Why a row was left out: a plugin broke, a sandbox or service was down, or time ran out."""

CAUSES: tuple[Cause, ...] = get_args(Cause)


@dataclass(frozen=True, slots=True)
class Broken:
    """A row on which a plugin broke its contract."""

    component: str
    row: int
    outcome: Outcome
    completion: str


@dataclass(slots=True)
class Share:
    """One rank's part of a generation batch, as it is sent to the others."""

    keys: list[str]
    values: dict[str, list[float | None]]
    rates: dict[str, list[float | None]]
    totals: list[float | None]
    statuses: dict[str, list[str]]
    row_seconds: dict[str, list[float]]
    seconds: dict[str, float]
    copies: dict[str, int]
    broken: Broken | None
    lost: Mapping[Cause, int]
    lost_reason: str


@dataclass(frozen=True, slots=True)
class ComponentFigures:
    """One component in one generation batch, over all ranks.

    `mean` and `std` are of its values after clip and gate; `rate` is the mean of the ungated values on a scale from 0
    (low end of its range) to 1; `group_std` is the mean within-group spread and `flat_groups` the share of groups
    without any; each is None where there is nothing to take it of. `rates` holds the share of rows per status.
    `seconds` is the wall-clock time of the slowest rank, `p95_seconds` that of the rows.
    """

    weight: float
    n: int
    mean: float | None
    std: float | None
    rate: float | None
    group_std: float | None
    flat_groups: float | None
    rates: Mapping[str, float]
    seconds: float
    p95_seconds: float | None


@dataclass(frozen=True, slots=True)
class Observation:
    """One generation batch over all ranks. `values` and `groups` are those of all ranks, rank after rank."""

    components: Mapping[str, ComponentFigures]
    rows: int
    mean: float | None
    group_std: float | None
    flat_groups: float | None
    left_out: float
    copies: float
    step: int | None
    values: Mapping[str, list[float | None]] = field(repr=False)
    groups: list[list[int]] = field(repr=False)


def share_of(table: ScoreTable, batch: Batch, components: Sequence[Component], caller: Caller) -> Share:
    """Return this rank's part of the batch."""
    outcomes = table.components
    causes = {row: _cause([found[row] for found in outcomes.values()]) for row in table.left_out}
    # the reason that the log shows is one of the gravest cause
    worst = min(causes, key=lambda row: CAUSES.index(causes[row]), default=None)
    broken = min(
        (
            Broken(name, row, found[row], batch.texts[row])
            for name, found in outcomes.items()
            for row in sorted(causes)
            if found[row].status == "error"
        ),
        # a wrong configuration first: it stops the run whatever errors.plugin says
        key=lambda one: "configuration" not in one.outcome.details,
        default=None,
    )
    return Share(
        keys=_group_keys(batch, caller),
        values={name: table.values(name) for name in outcomes},
        rates={c.name: _rates(c, table) for c in components},
        totals=list(table.totals),
        statuses={name: table.statuses(name) for name in outcomes},
        row_seconds={name: [o.seconds for o in f if o.seconds is not None] for name, f in outcomes.items()},
        seconds=dict(table.seconds),
        copies=dict(table.copies),
        broken=broken,
        lost=Counter(causes.values()),
        lost_reason="" if worst is None else table.left_out[worst],
    )


def _cause(outcomes: Sequence[Outcome]) -> Cause:
    """Why a row was left out, from the outcomes of its components."""
    if any(outcome.status == "error" for outcome in outcomes):
        return "error"
    # not those that were set aside because another component was down
    down = [o for o in outcomes if o.status == "unavailable" and "left_out" not in o.details]
    return "unfinished" if all("batch_timeout" in outcome.details for outcome in down) else "unavailable"


def observe(shares: Sequence[Share], weights: Mapping[str, float], caller: Caller) -> Observation:
    """Put the ranks' parts together; the same on every rank, to the last bit."""
    rows = sum(len(share.totals) for share in shares)
    groups = _groups([key for share in shares for key in share.keys], caller.group_size)
    values = {name: [v for share in shares for v in share.values[name]] for name in weights}
    totals = [total for share in shares for total in share.totals]
    components = {}
    for name, weight in weights.items():
        spread = spread_of(values[name], groups)
        rates = [rate for share in shares for rate in share.rates[name] if rate is not None]
        statuses = [status for share in shares for status in share.statuses[name]]
        durations = sorted(s for share in shares for s in share.row_seconds[name])
        components[name] = ComponentFigures(
            weight=weight,
            n=spread.n,
            mean=spread.mean,
            std=group_spread([v for v in values[name] if v is not None]),
            rate=mean(rates),
            group_std=spread.group_std,
            flat_groups=spread.flat_groups,
            rates={status: statuses.count(status) / max(1, rows) for status in sorted(set(statuses))},
            seconds=max((share.seconds.get(name, 0.0) for share in shares), default=0.0),
            p95_seconds=durations[math.ceil(0.95 * len(durations)) - 1] if durations else None,
        )
    spread = spread_of(totals, groups)
    lost = sum(sum(share.lost.values()) for share in shares)
    copies = sum(sum(share.copies.values()) for share in shares)
    return Observation(
        components=components,
        rows=rows,
        mean=spread.mean,
        group_std=spread.group_std,
        flat_groups=spread.flat_groups,
        left_out=lost / max(1, rows),
        copies=copies / max(1, rows * len(weights)),
        step=caller.step,
        values=values,
        groups=groups,
    )


def _rates(component: Component, table: ScoreTable) -> list[float | None]:
    """Values before the gate on a scale from 0 to 1: by the declared range, else as they are."""
    low, high = component.reward.range or (0.0, 1.0)
    values = [outcome.value for outcome in table.components[component.name]]
    if (low, high) == (0.0, 1.0) and component.reward.range is not None:
        return values  # already, and within the range by contract
    scale = high - low
    return [None if value is None else min(1.0, max(0.0, (value - low) / scale)) for value in values]


def _group_keys(batch: Batch, caller: Caller) -> list[str]:
    """A short key per row, equal on all ranks for rows of one group; unknown groups have one row each."""
    if caller.world.size > 1 and batch.grouping is None and not batch.ungrouped:
        # every rank gets these: prompts may be long, and hash() differs from process to process
        keys = (repr(group_key(key)) for key in batch.columns.get("group_id", batch.prompts) or ())
        return [hashlib.blake2b(key.encode(errors="replace"), digest_size=8).hexdigest() for key in keys]
    # with the rank in front, so that unknown groups of two ranks do not become one
    names = [""] * len(batch.rows)
    for index, rows in enumerate(batch.groups):
        for row in rows:
            names[row] = f"{caller.world.rank}:{index}"
    return names


def _groups(keys: Sequence[str], size: int | None) -> list[list[int]]:
    """The rows of each group: blocks of the trainer's group size where that is known, else by key."""
    if size is not None and keys and len(keys) % size == 0:
        return [list(range(start, start + size)) for start in range(0, len(keys), size)]
    return rows_by_key(keys)
