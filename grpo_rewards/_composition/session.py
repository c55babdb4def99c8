"""A session: what a trainer's run adds to a composite, and how a reward call goes from columns to one number per row.

An adapter opens one through the hook ``open_session``. What is here is the same for every trainer: weights of the step,
rows of all ranks for groups, the failure policy, normalisation, adaptation. What a trainer knows (`Session.read`) and
what becomes of the figures (`Session.scored`) is the adapter's.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from grpo_rewards._composition.adaptation import Adaptation
from grpo_rewards._composition.failures import FailureWatch
from grpo_rewards._composition.normalize import Running, exactly_flat, standardised_in_groups
from grpo_rewards._composition.observation import Observation, observe, share_of
from grpo_rewards._composition.table import ScoreTable, combined
from grpo_rewards._contract import Batch
from grpo_rewards._contract.batch import groups_unknown, incomplete_groups
from grpo_rewards._contract.shapes import RewardCall
from grpo_rewards.errors import InputError

if TYPE_CHECKING:
    from grpo_rewards._composition.composite import Composite

_log = logging.getLogger(__name__)
_GDPO = "combine.normalize: gdpo"
_Thing = TypeVar("_Thing")


@dataclass(frozen=True, slots=True)
class World:
    """The processes that train together, `rank` being this one's number. Where there are several, a subclass gathers."""

    rank: int = 0
    size: int = 1

    def gather(self, thing: _Thing) -> list[_Thing]:
        """Return every rank's `thing`, in order of rank, on every rank. All ranks must call it at the same point."""
        if self.size > 1:
            raise NotImplementedError(f"{type(self).__name__} of {self.size} processes needs a gather of its own")
        return [thing]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls.

    `step` is the optimizer step, None where none is known: nothing adapts then. `training` says whether the batch is
    trained on, `group_size` how many rows in a row form one group, where that is known.
    """

    step: int | None = None
    training: bool = False
    group_size: int | None = None
    world: World = World()


@dataclass(frozen=True, slots=True)
class ScoredCall:
    """A scored reward call: this rank's rows and their table, what the trainer gets per component, what all ranks saw.

    `expanded` says that the trainer gets the components one by one, `seconds` is the wall-clock time of the call.
    """

    batch: Batch
    table: ScoreTable
    values: Mapping[str, list[float | None]]
    seen: Observation
    caller: Caller
    expanded: bool
    seconds: float

    def figures(self) -> dict[str, float]:
        """Return what is worth logging by its stable name (docs/training.md lists them), finite numbers only."""
        return {name: value for name, value in self._every_figure() if value is not None and math.isfinite(value)}

    def _every_figure(self) -> Iterator[tuple[str, float | None]]:
        for name, figures in self.seen.components.items():
            if not self.expanded:  # a trainer logs these itself for components in a list
                yield f"rewards/{name}/mean", figures.mean
                yield f"rewards/{name}/std", figures.std
            place = f"grpo_rewards/{name}"
            yield f"{place}/weight", figures.weight
            yield f"{place}/group_std", figures.group_std
            yield f"{place}/zero_std_groups", figures.flat_groups
            yield f"{place}/seconds", figures.seconds
            yield f"{place}/p95_seconds", figures.p95_seconds
            yield f"{place}/timeout_rate", figures.rates.get("timeout", 0.0)
            yield f"{place}/rejected_rate", figures.rates.get("rejected", 0.0)
            yield f"{place}/failure_rate", figures.rates.get("unavailable", 0.0) + figures.rates.get("error", 0.0)
        yield "grpo_rewards/total/mean", self.seen.mean
        yield "grpo_rewards/total/group_std", self.seen.group_std
        yield "grpo_rewards/total/zero_std_groups", self.seen.flat_groups
        yield "grpo_rewards/left_out_rate", self.seen.left_out
        yield "grpo_rewards/duplicate_rate", self.seen.copies
        yield "grpo_rewards/seconds", self.seconds


class Session:
    """A composite's reward calls within one run. As it is: calls of nobody in particular, which adapt and log nothing.

    An adapter overrides `serves`, `begin`, `read` and `scored`, and takes up a saved state with `restore` when it opens one. A
    composite asks one session after the other, so those of two composites never meet. `latest` is the call scored last.
    """

    def __init__(self, composite: Composite) -> None:
        self.composite = composite
        self.latest: ScoredCall | None = None
        self._adaptation = Adaptation(composite.config, source=composite.source)
        self._failures = FailureWatch(composite.config.errors)
        self._begun = self._warned_that_weights_stay = False
        self._lock = threading.RLock()

    # ------------------------------------------------------------------------------------------ for an adapter

    def serves(self, call: RewardCall) -> bool:
        """Whether a reward call, by its keywords, belongs to this run."""
        return True

    def begin(self, *, expanded: bool) -> None:
        """Check before the first call that trainer and composite fit; where this raises, it is called again."""

    def read(self, call: RewardCall) -> tuple[Batch, Caller]:
        """Return the rows of a reward call, and who makes it. Keywords that are no columns are taken out here."""
        if "completions" not in call:
            raise InputError(
                f"a reward call with {', '.join(sorted(map(str, call))) or 'no keywords'} has no completions, and no installed adapter "
                f"answers it (hook open_session); see: grpo-rewards list"
            )
        return Batch.from_call(**call), Caller()

    def scored(self, found: ScoredCall) -> None:
        """Take in a call that has been scored: log its figures, keep the state."""

    # ------------------------------------------------------------------------------------------ what it knows

    @property
    def weights(self) -> dict[str, float]:
        """The present weight of each component, after schedule, stage and adaptation."""
        return self.weights_at(self._adaptation.step)

    def weights_at(self, step: int | None) -> dict[str, float]:
        """Return the weights at an optimizer step; None means outside a run: those that are configured."""
        return self._adaptation.weights(step)

    def at_bound(self, component: str) -> bool:
        """Whether adaptation has driven the component's weight to one of its bounds."""
        return self._adaptation.at_bound(component)

    def state(self) -> dict[str, object]:
        """Return adapted weights and running figures, with what they belong to, as plain data for a checkpoint."""
        return self._adaptation.state(self.composite.identity)

    def restore(self, state: Mapping[str, object], *, accept_changes: bool = False) -> None:
        """Go on from what `state` gave.

        Raises:
            ResumeError: it is of another configuration or plugin version, and changes are not accepted.
        """
        self._adaptation.restore(state, self.composite.identity, accept_changes=accept_changes)

    # ------------------------------------------------------------------------------------------ a call

    def rewards(self, call: RewardCall) -> list[float | None]:
        """Score a reward call and return one number per row, for a trainer that knows the composite as one function."""
        return self._totals(self.score(call))

    def score(self, call: RewardCall, *, expanded: bool = False) -> ScoredCall:
        """Score a reward call; `expanded` when the components go to the trainer one by one.

        Collective where several ranks train: each must call it at the same point. Calls of a run come one after
        another; where no step is known nothing adapts, and they may run side by side.

        Raises:
            ColumnError: a column is missing; found before the first row.
            InputError: a component or GDPO compares the rows of a group, and the groups cannot be known.
            PluginError: a plugin broke its contract (unless ``errors.plugin: drop_row``).
            InfrastructureError: more rows than ``errors.max_infra_rate`` were left out.
        """
        if not self._begun:
            self.begin(expanded=expanded)
            self._begun = True
        batch, caller = self.read(call)
        if batch.group_size is None and caller.group_size is not None:
            batch = batch.in_groups_of(caller.group_size)
        self.composite.check_columns(batch.available)
        if caller.step is None:
            self._warn_that_weights_stay()
        with nullcontext() if caller.step is None else self._lock:
            self.latest = found = self._score(batch, caller, expanded=expanded)
            self.scored(found)
        return found

    def table(self, batch: Batch) -> ScoreTable:
        """Score rows under the failure policy of training and no more: for callers that show one row at a time.

        Raises:
            PluginError: a plugin broke its contract (unless ``errors.plugin: drop_row``).
            InfrastructureError: more rows than ``errors.max_infra_rate`` were left out.
        """
        composite = self.composite
        table = composite.evaluate(batch, timeout=composite.config.errors.batch_timeout)
        self.check(table, batch)
        return table

    def check(self, table: ScoreTable, batch: Batch) -> None:
        """Apply the failure policy of training to rows that were scored one by one. Raises as `table`."""
        composite = self.composite
        share = share_of(table, batch, composite.components, Caller())
        self._failures.check([share], {c.name: c.reward for c in composite.components}, rank=0)

    def _score(self, batch: Batch, caller: Caller, *, expanded: bool) -> ScoredCall:
        started = time.perf_counter()
        composite, world = self.composite, caller.world
        weights = self._adaptation.weights(caller.step)
        standardised = composite.config.combine.normalize == "gdpo" and not expanded
        if standardised and (caller.group_size is None or world.size == 1):
            batch.check_groups(_GDPO)
        whole, offset = self._whole_batch(batch, caller)
        table = composite.evaluate(
            batch, timeout=composite.config.errors.batch_timeout, weights=weights, whole=whole, offset=offset
        )
        mine = share_of(table, batch, composite.components, caller)
        shares = world.gather(mine)
        seen = observe(shares, weights, caller)
        group_size = caller.group_size or 1
        if standardised and world.size > 1 and seen.rows % group_size and "group_id" not in batch.columns:
            # after the gather, so that all ranks raise
            raise groups_unknown(_GDPO, incomplete_groups(seen.rows, group_size))
        # after the gather, on the parts of all ranks: a rank that raised before it would leave the others waiting in it
        self._failures.check(shares, {c.name: c.reward for c in composite.components}, world.rank)
        values = self._normalised(mine.values, seen, caller, expanded=expanded)
        for row, total in enumerate(table.totals) if expanded else ():
            if total is None:  # nothing that counts applies: a shadow's value would make the trainer's sum 0 there
                for column in values.values():
                    column[row] = None
        if caller.training:  # an evaluation's batches move no weight
            self._adaptation.observe(seen)
        return ScoredCall(batch, table, values, seen, caller, expanded, time.perf_counter() - started)

    def _totals(self, found: ScoredCall) -> list[float | None]:
        combine = self.composite.config.combine
        if combine.normalize == "none":
            return found.table.rewards()
        weights = tuple(found.table.weights.values())
        gates = [[1.0] * len(found.table)] * len(weights)  # the values are past their gates
        return combined(found.values.values(), gates, weights, combine)

    def _whole_batch(self, batch: Batch, caller: Caller) -> tuple[Batch | None, int]:
        """The rows of all ranks and where this rank's begin, when a group reward needs them; else None."""
        needed = [component for component in self.composite.components if component.reward.style == "group"]
        if caller.world.size == 1 or not needed or batch.grouping is not None:
            return None, 0
        everything = any(component.reward.shape.takes_rest for component in needed)
        wanted = {"group_id"}
        for component in needed:
            wanted.update(component.columns, component.reward.optional_columns)
        # environments are live objects of the trainer; other columns are sent only where a reward reads them
        columns = {k: list(v) for k, v in batch.columns.items() if (everything and k != "environments") or k in wanted}
        parts = caller.world.gather(Batch(list(batch.completions), batch.prompts, batch.completion_ids, columns))
        whole = replace(Batch.joined(parts, grouping=None), trainer=batch.trainer).in_groups_of(batch.group_size)
        return whole, sum(map(len, parts[: caller.world.rank]))

    def _normalised(
        self, values: dict[str, list[float | None]], seen: Observation, caller: Caller, *, expanded: bool
    ) -> dict[str, list[float | None]]:
        """This rank's `values` per component, past clip and gate, normalised (GDPO is the trainer's own if expanded)."""
        method = self.composite.config.combine.normalize
        if method == "none":
            return values
        if method == "gdpo":
            size = len(next(iter(values.values())))  # ranks have equally many rows, or there is one
            mine = slice(caller.world.rank * size, (caller.world.rank + 1) * size)
            prepared = exactly_flat if expanded else standardised_in_groups
            return {name: prepared(every, seen.groups)[mine] for name, every in seen.values.items()}
        found = {}
        for name, every in seen.values.items():
            running = self._adaptation.running[name]
            if caller.training:
                running.add(every)
            if not running.count:  # nothing was trained on yet: by the figures of this batch alone
                running = Running()
                running.add(every)
            found[name] = running.normalised(values[name])
        return found

    def _warn_that_weights_stay(self) -> None:
        config = self.composite.config
        moves = (
            config.adapt is not None or config.stages or any(c.schedule != c.weight for c in self.composite.components)
        )
        if moves and not self._warned_that_weights_stay:
            self._warned_that_weights_stay = True
            _log.warning(
                "called without trainer_state (as TRL's asynchronous trainer does), so no step is known: schedules "
                "have arrived, stages and adapt change nothing, and the weights are those under rewards"
            )
