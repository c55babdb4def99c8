"""Evaluating the components of a batch: which rows each sees, identical rows once, side by side, within a deadline.

Rows that a stream was asked for are waited for, not evaluated again; with a tier of Ray actors the others are sent there.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from grpo_rewards._composition.component import Component
from grpo_rewards._composition.duplicates import Memory, Promise, columns_read, distinct_rows, units_of
from grpo_rewards._contract import Batch, CallLimits, Outcome, evaluate

if TYPE_CHECKING:
    from grpo_rewards._tier.tier import ComponentRows, Tier

_log = logging.getLogger(__name__)

MAX_STUCK = 8
"""Calls that hang for good, per component, before it is given up."""

_RESCUES = 3  # how often the rows after one that hangs are begun again in another thread
_TURN = 0.01  # seconds after which another thread is begun for the components that still wait for their turn


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Outcomes per component and row, the wall-clock seconds of each component, and the rows that were copies."""

    outcomes: dict[str, list[Outcome]]
    seconds: Mapping[str, float]
    copies: Mapping[str, int]


@dataclass(slots=True)
class Attempt:
    """One thread at work on a component's rows; several share them, where one hangs."""

    thread: threading.Thread
    ended: bool = False

    @property
    def running(self) -> bool:
        """Whether it goes on; in a process that was forked since, it does not."""
        return not self.ended and self.thread.is_alive()


StuckAttempts = dict[str, list[Attempt]]
"""Attempts that were left behind, by component."""


@lru_cache(maxsize=1)
def unfinished(timeout: float) -> Outcome:
    """What stands for a row that took longer than the composition allows."""
    return Outcome(
        None, "unavailable", f"not finished within errors.batch_timeout = {timeout:g} s", {"batch_timeout": timeout}
    )


def hanging(calls: int) -> Outcome:
    """What stands for the rows of a component that is given up."""
    return Outcome(None, "unavailable", f"{calls} earlier calls of this component still hang; it is not called again")


_NOT_EVALUATED = Outcome(None, "unavailable", "not evaluated")


class _Evaluation:
    """One component's outcomes for one batch, filled row by row.

    `own` are the rows of `batch` that belong to this process, the others are there for the groups' sake; `chosen` ones are distinct.
    """

    def __init__(self, component: Component, batch: Batch, own: range, memory: Memory | None = None, *, chosen: bool = False) -> None:  # fmt: skip
        self.component = component
        self.own = own
        rows = list(own) if chosen else component.rows(batch)
        if len(own) < len(batch.rows):
            # of the other ranks' rows only those in groups that this rank has a row of
            mine = {key for key, members in enumerate(batch.groups) if any(row in own for row in members)}
            wanted = {row for key in mine for row in batch.groups[key]}
            rows = [row for row in rows if row in wanted]
        self.rows = rows
        seen = batch if len(rows) == len(batch.rows) else batch.select(rows)
        # first the copies within the batch, then what a stream knows: `promised` counts in distinct rows
        self.distinct, self.twin = (rows, None) if chosen else distinct_rows(component.reward, seen)
        self.batch = (
            seen if len(self.distinct) == len(rows) else seen.select(self.distinct, columns=component.read_columns)
        )
        self.promised: dict[int, Promise] = {}
        if memory is not None and (known := memory.known(component.name, component.reward, self.batch)):
            self.promised = known
            self.batch = self.batch.select([row for row in self.batch.rows if row not in known])
        size = len(self.batch.rows)
        self.slots: list[Outcome | None] = [None] * size  # what was found so far, per distinct row
        self.attempts: list[Attempt] = []
        self.failure: BaseException | None = None
        self._go_on: list[Callable[[], None]] = []
        self._rescues = 0
        self._left_before, self._since = size, 0.0
        self.seconds = 0.0
        self._started = time.perf_counter()

    def run(self, deadline: float | None, *, limits: CallLimits | None = None) -> None:
        """Evaluate the distinct rows in this thread; where another one hangs, those that nobody has begun."""
        attempt = Attempt(threading.current_thread())
        self._since = time.monotonic()
        self.attempts.append(attempt)
        try:
            if self._go_on:
                self._go_on[0]()
            else:
                self._started = time.perf_counter()
                reward, go_on = self.component.reward, self._go_on
                evaluate(reward, self.batch, deadline=deadline, into=self.slots, limits=limits, go_on=go_on)
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits, which raises it
            self.failure = error
        self.seconds = time.perf_counter() - self._started
        attempt.ended = True  # last, since whoever sees it reads failure and seconds

    def rows_for(self, tier: Tier) -> ComponentRows:
        """Return the rows as a tier takes them; what it finds is this component's only attempt."""
        # ended from the start: the tier keeps the deadline itself, and nothing of it hangs in this process
        self.attempts.append(Attempt(threading.current_thread(), ended=True))
        reward = self.component.reward
        units = units_of(reward, self.batch)
        return tier.part(self.component.name, self.batch, units, self.slots, columns_read(reward))

    def finished(self, deadline: float, patience: float) -> bool:
        """Whether nothing is left to wait for; begins anew after a row that has taken longer than `patience` seconds."""
        if not self.attempts:
            return False
        # an attempt that still hangs does not matter once others have found its rows
        if not self.stuck() or not self.left():
            return True
        if not self.attempts[-1].running:  # the latest is through; a row that an earlier one hangs on may come yet
            return False
        reward = self.component.reward
        if reward.style != "row" or reward.is_async:  # one call for all rows, or all rows under way: none to begin
            return False
        left, now = self.left(), time.monotonic()
        if left < self._left_before:
            self._left_before, self._since = left, now
        # each worker of each thread hangs on a row, and what is left beside those is begun in another
        elif now - self._since > patience and self._rescues < _RESCUES and left > len(self.attempts) * reward.workers:
            self._rescues += 1
            self._since = now
            _thread(self.component.name, self.run, deadline)
        return False

    def left(self) -> int:
        """How many distinct rows have no outcome yet."""
        # not `count`, which asks each outcome whether it equals None
        return sum(slot is None for slot in self.slots)

    def stuck(self) -> list[Attempt]:
        return [attempt for attempt in self.attempts if attempt.running]

    def raw(self, given_up: Outcome | None) -> list[Outcome | None]:
        """Per row what was found, None where it was not finished."""
        if self.failure is not None:
            raise self.failure
        found: list[Outcome | None] = self.slots[:] if given_up is None else [given_up] * len(self.distinct)
        return found if self.twin is None else [found[index] for index in self.twin]

    def _with_promised(self) -> list[Outcome | None]:
        """What was found and what a stream has found, per distinct row."""
        found = self.slots[:]  # a copy, as a thread may still be writing
        if not self.promised:
            return found
        rest = iter(found)
        promised = self.promised
        return [
            (promised[row].result() if promised[row].done() else None) if row in promised else next(rest)
            for row in range(len(found) + len(promised))
        ]

    def outcomes(self, unfinished: Outcome) -> list[Outcome]:
        """Spread over this process's rows: ``not_applicable`` where the component does not apply."""
        if self.failure is not None:
            raise self.failure
        distinct = [outcome if outcome is not None else unfinished for outcome in self._with_promised()]
        each = distinct if self.twin is None else [distinct[index] for index in self.twin]
        if len(self.rows) == len(self.own):
            return each
        spread = [self.component.elsewhere] * len(self.own)
        for row, outcome in zip(self.rows, each, strict=True):
            if row in self.own:
                spread[row - self.own.start] = outcome
        return spread


def evaluate_components(
    components: Iterable[Component],
    batch: Batch,
    *,
    timeout: float,
    whole: Batch | None,
    offset: int,
    stuck: StuckAttempts,
    tier: Tier | None,
    memory: Memory | None,
) -> Evaluated:
    """Return every component's outcome for every row of `batch`, within `timeout` (seconds, wall clock, for all of it).

    The components run in threads beside each other, and rows unfinished at the end of it are ``unavailable``: a row that
    hangs is left behind, and the rows after it are begun in another thread. The quick ones take turns in one thread;
    whichever still waits after `_TURN` seconds is begun in another.

    `whole` is the batch of all processes, with this one's rows from `offset` on; group rewards see it. `stuck` keeps
    what was left behind from call to call; a component with too much of it is not called again. A `tier` evaluates the
    components that it takes elsewhere meanwhile. `memory` knows the rows that streams were asked for.
    """
    evaluations = _evaluations(components, batch, whole, offset, memory)
    batch.texts  # noqa: B018 - computed once here, not by each thread
    given_up = _evaluate(evaluations, timeout, stuck, tier)
    return _evaluated(evaluations, unfinished(timeout), given_up)


def begin_components(
    components: Iterable[Component],
    batch: Batch,
    *,
    whole: Batch | None,
    offset: int,
    limits: CallLimits | None,
    tier: Tier | None,
    memory: Memory | None,
) -> UnderWay:
    """Begin every component that waits in a thread of its own, run the others here, and return what is under way.

    With `limits` several batches may be under way at once; without, the calls of one batch are all there are.
    """
    evaluations = _evaluations(components, batch, whole, offset, memory)
    sent, local = _sent_and_local(tier, evaluations)
    if limits is None:
        waiting = [evaluation for evaluation in local if evaluation.component.asks_beside]
        if not sent and len(waiting) == len(local):
            waiting = waiting[:-1]  # this thread has nothing else to do
    else:
        waiting = [evaluation for evaluation in local if evaluation.component.waits]
    threads = []
    if waiting or sent:
        batch.texts  # noqa: B018 - computed once here, not by each thread
        for evaluation in waiting:
            run = partial(evaluation.run, None, limits=limits)
            threads.append(_thread(evaluation.component.name, run))
    if tier is not None and sent:
        threads.append(_thread("tier", _run_on, tier, sent, None))
    for evaluation in local:
        if evaluation not in waiting:
            evaluation.run(None, limits=limits)
            if evaluation.failure is not None:  # Ctrl-C in this thread: not after the other components
                raise evaluation.failure
    return UnderWay(evaluations, threads)


class UnderWay:
    """The components of a batch, those that wait still under way in threads."""

    def __init__(self, evaluations: list[_Evaluation], threads: list[threading.Thread]) -> None:
        self._evaluations = evaluations
        self._threads = threads

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all are finished, at most so long; say whether they are."""
        until = None if seconds is None else time.monotonic() + seconds
        while self._threads:
            self._threads[0].join(None if until is None else max(0.0, until - time.monotonic()))
            if self._threads[0].is_alive():
                return False
            del self._threads[0]
        return _promises_kept(self._evaluations, until)

    def left(self) -> int:
        """How many rows are not finished: those of the component that has most of them."""
        return max((e.left() for e in self._evaluations), default=0) if self._threads else 0

    def evaluated(self) -> Evaluated:
        """Wait, and return the outcomes; raise what ended a component from outside, such as Ctrl-C."""
        self.wait()
        return _evaluated(self._evaluations, _NOT_EVALUATED, {})


def evaluate_parts(
    parts: Iterable[tuple[Component, Batch]], *, timeout: float | None, stuck: StuckAttempts
) -> list[tuple[list[Outcome | None], float]]:
    """Return each component's outcomes for rows that are its own and distinct, and its seconds; None where a row was not finished."""
    evaluations = [_Evaluation(component, batch, batch.rows, chosen=True) for component, batch in parts]
    if timeout is None:
        for evaluation in evaluations:
            evaluation.run(None)
        given_up: dict[str, Outcome] = {}
    else:
        given_up = _evaluate(evaluations, timeout, stuck, None)
    return [(evaluation.raw(given_up.get(evaluation.component.name)), evaluation.seconds) for evaluation in evaluations]


def _evaluations(
    components: Iterable[Component], batch: Batch, whole: Batch | None, offset: int, memory: Memory | None
) -> list[_Evaluation]:
    found = []
    for component in components:
        if whole is not None and component.reward.style == "group":
            found.append(_Evaluation(component, whole, range(offset, offset + len(batch)), memory))
        else:
            found.append(_Evaluation(component, batch, batch.rows, memory))
    return found


def _evaluate(
    evaluations: Sequence[_Evaluation], timeout: float, stuck: StuckAttempts, tier: Tier | None
) -> dict[str, Outcome]:
    """Run evaluations side by side until the time is over; return what stands for components that are given up."""
    deadline = time.monotonic() + timeout
    sent, local = _sent_and_local(tier, evaluations)
    thread = None if tier is None or not sent else _thread("tier", _run_on, tier, sent, deadline)
    given_up: dict[str, Outcome] = {}
    called = []
    for evaluation in local:
        name = evaluation.component.name
        # those that came back after all, or died with a fork, are forgotten
        stuck[name] = [attempt for attempt in stuck.get(name, ()) if attempt.running]
        if len(stuck[name]) >= MAX_STUCK:
            given_up[name] = hanging(len(stuck[name]))
        else:
            called.append(evaluation)
    _run_in_turns(called, deadline, timeout)
    for evaluation in called:
        stuck[evaluation.component.name].extend(evaluation.stuck())
    if thread is not None:
        thread.join()
    _promises_kept(evaluations, deadline)
    return given_up


def _promises_kept(evaluations: Sequence[_Evaluation], until: float | None) -> bool:
    """Wait for rows that a stream evaluates, at most until then (`time.monotonic`); say whether they are all there."""
    promised = [promise for evaluation in evaluations for promise in evaluation.promised.values()]
    return not promised or not wait(promised, None if until is None else max(0.0, until - time.monotonic())).not_done


def _evaluated(evaluations: list[_Evaluation], late: Outcome, given_up: Mapping[str, Outcome]) -> Evaluated:
    named = {evaluation.component.name: evaluation for evaluation in evaluations}
    return Evaluated(
        {name: evaluation.outcomes(given_up.get(name, late)) for name, evaluation in named.items()},
        {name: evaluation.seconds for name, evaluation in named.items()},
        {name: len(evaluation.rows) - len(evaluation.distinct) for name, evaluation in named.items()},
    )


def _sent_and_local(
    tier: Tier | None, evaluations: Sequence[_Evaluation]
) -> tuple[list[_Evaluation], list[_Evaluation]]:
    """Those of `evaluations` that a tier takes, and the others."""
    sent = [one for one in evaluations if tier is not None and tier.takes(one.component.reward)]
    return sent, [one for one in evaluations if one not in sent]


def _run_on(tier: Tier, evaluations: Sequence[_Evaluation], deadline: float | None) -> None:
    """Have a tier do evaluations; what ends them is raised with their outcomes."""
    try:
        parts = [evaluation.rows_for(tier) for evaluation in evaluations]
        tier.evaluate(parts, deadline)
        for evaluation, part in zip(evaluations, parts, strict=True):
            evaluation.seconds = part.seconds
    except BaseException as error:  # noqa: BLE001 - handed to the thread that waits, which raises it
        evaluations[0].failure = error


def _run_in_turns(evaluations: Sequence[_Evaluation], deadline: float, timeout: float) -> None:
    """Run evaluations in threads until all are finished or the deadline has come.

    One thread runs one after another: handing over between threads costs more than quick components themselves. As long
    as some wait for their turn another thread is begun every `_TURN` seconds, so that none waits for a slow one.
    """
    patience = timeout / (_RESCUES + 1)  # so that each rescue has its share of the time
    waiting = list(evaluations)
    pending = deque(evaluations)  # its popleft is atomic

    def take_turns() -> None:
        while True:
            try:
                evaluation = pending.popleft()
            except IndexError:  # the last one has been taken
                return
            evaluation.run(deadline)

    while waiting and (remaining := deadline - time.monotonic()) > 0:
        if pending:
            latest = _thread("components", take_turns)
        wanted = waiting[0].stuck()
        (wanted[-1].thread if wanted else latest).join(min(remaining, _TURN if pending else patience / 4))
        waiting = [evaluation for evaluation in waiting if not evaluation.finished(deadline, patience)]
    # a thread that comes back after the deadline would begin the next one
    pending.clear()
    for evaluation in waiting:
        evaluation.seconds = timeout
        _log.warning(
            "component %r did not finish %d rows within errors.batch_timeout = %g s; unfinished rows are left out",
            evaluation.component.name, len(evaluation.rows), timeout,
        )  # fmt: skip


def _thread(name: str, target: Callable[..., None], *arguments: object) -> threading.Thread:
    # a daemon: one that hangs for good must not keep the process from ending
    thread = threading.Thread(target=target, args=arguments, name=f"grpo-rewards-{name}", daemon=True)
    thread.start()
    return thread
