"""A component's way through a stream: threads that evaluate what waits, and a watch that waits for none of it too long.

A batch has a way of its own for calls that hang (`evaluation`). One deadline holds for all of its rows, a thread calls one
after the other, and a hang shows by rows that no longer come. Here each row has a deadline from when it came, so a promise that
the watch can look at. A promise costs several times what composing a row does (microseconds), which batches shall not pay.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grpo_rewards._composition.component import Component
from grpo_rewards._composition.duplicates import Promise, columns_read, one_at_a_time, units_of
from grpo_rewards._composition.evaluation import MAX_STUCK, hanging, unfinished
from grpo_rewards._contract import Batch, Outcome, evaluate
from grpo_rewards.forks import PerProcess

if TYPE_CHECKING:
    from grpo_rewards._tier.tier import Tier

_log = logging.getLogger(__name__)

_THREADS = 4  # of a component that computes: rows that come while others are at work are begun beside them
_LINGER = 2.0  # seconds that a thread waits for rows before it ends


@dataclass(slots=True)
class _WaitingRows:
    """Rows that are seen together, a promise for each, and when they are late."""

    batch: Batch
    promises: list[Promise]
    deadline: float | None


class _Slots(list[Outcome | None]):
    """Slots that keep the promise of each row as its outcome is written."""

    def __init__(self, promises: list[Promise]) -> None:
        super().__init__([None] * len(promises))
        self._promises = promises

    def __setitem__(self, row, outcome):  # type: ignore[no-untyped-def]  # rows are written one by one
        super().__setitem__(row, outcome)
        if outcome is not None:
            keep(self._promises[row], outcome)


def keep(promise: Promise, outcome: Outcome) -> None:
    """Keep a promise, unless the watch did so meanwhile."""
    # done() and set_result() are two steps, and the watch may come between
    with _keeping():
        if not promise.done():
            promise.set_result(outcome)


# reentrant: keeping a promise calls whoever waits for it, who may submit the next row and keep another
_keeping = PerProcess(threading.RLock)


class Lane:
    """One component: units wait, threads take all that wait and evaluate it at once, or one row of a row reward.

    A reward that waits has as many threads as it has `workers`.
    """

    def __init__(self, component: Component, tier: Tier | None, watch: Watch) -> None:
        self._component = component
        self._tier = tier if tier is not None and tier.takes(component.reward) else None
        self._watch = watch
        reward = component.reward
        # rows of a row reward come one after another, so one that hangs would keep those behind it
        self._single = reward.style == "row" and self._tier is None
        self._most = reward.workers if reward.workers > 1 else _THREADS
        self._whole = not (reward.style == "group" or one_at_a_time(reward))  # sees all rows of a call
        self._waiting: deque[_WaitingRows] = deque()
        self._threads, self._idle, self._hanging = 0, 0, 0
        self._changed = threading.Condition()
        self._closed = False

    def put(self, batch: Batch, promises: list[Promise]) -> None:
        """Have a unit evaluated."""
        unit = _WaitingRows(batch, promises, self._watch.see(self, promises))
        with self._changed:
            given_up = hanging(self._hanging) if self._hanging >= MAX_STUCK else None
            if given_up is None:
                self._waiting.append(unit)
                if self._idle:
                    self._changed.notify()
                else:
                    self._begin_thread()
        # outside of the condition: keeping a promise calls back, and the caller may put the next row
        if given_up is not None:
            for promise in promises:
                keep(promise, given_up)

    def _begin_thread(self) -> None:
        if self._threads - self._hanging < self._most:
            self._threads += 1
            threading.Thread(target=self._work, daemon=True, name=f"grpo-rewards-{self._component.name}").start()

    def close(self) -> None:
        """End the threads once nothing waits."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _work(self) -> None:
        while units := self._take():
            before = time.monotonic()
            self._evaluate(units)
            late = units[0].deadline is not None and time.monotonic() > units[0].deadline
            _log.debug("%s: %d units in %.3f s", self._component.name, len(units), time.monotonic() - before)
            if late:  # the watch has counted this thread as one that hangs, and it came back
                with self._changed:
                    self._hanging = max(0, self._hanging - 1)

    def _take(self) -> list[_WaitingRows]:
        with self._changed:
            if not self._waiting and not self._closed:
                self._idle += 1
                self._changed.wait_for(lambda: self._waiting or self._closed, _LINGER)
                self._idle -= 1
            if not self._waiting:
                self._threads -= 1
                return []
            taken = [self._waiting.popleft()]
            if self._single or self._whole:
                return taken
            while self._waiting and _alike(self._waiting[0].batch, taken[0].batch):
                taken.append(self._waiting.popleft())
            return taken

    def _evaluate(self, units: list[_WaitingRows]) -> None:
        batch = units[0].batch
        if len(units) > 1:
            # where units are groups, each stays one
            grouped = None if batch.grouping is None else [n for n, unit in enumerate(units) for _ in unit.batch.rows]
            batch = Batch.joined([unit.batch for unit in units], grouping=grouped)
        promises = [promise for unit in units for promise in unit.promises]
        slots, reward = _Slots(promises), self._component.reward
        deadline = units[-1].deadline  # the latest: units that are late before are the watch's matter
        try:
            if self._tier is None:
                evaluate(reward, batch, deadline=deadline, into=slots)
            else:
                part = self._tier.part(
                    self._component.name, batch, units_of(reward, batch), slots, columns_read(reward)
                )
                self._tier.evaluate([part], deadline)
        except BaseException as error:  # noqa: BLE001 - handed to whoever asked for the rows
            for promise in promises:
                with _keeping():
                    if not promise.done():
                        promise.set_exception(error)

    def hangs(self) -> None:
        """Take note that a thread does not come back: another one may be begun."""
        with self._changed:
            self._hanging += 1
            if self._waiting and self._hanging < MAX_STUCK:
                self._begin_thread()


class Watch:
    """Looks that no promise is kept later than `timeout` seconds after it was given; None: it does not look."""

    def __init__(self, timeout: float | None) -> None:
        self._timeout = timeout
        self._given: deque[tuple[float, Lane, list[Promise]]] = deque()  # by deadline, as all have the one timeout
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def see(self, lane: Lane, promises: list[Promise]) -> float | None:
        """Watch promises; return when they are late (`time.monotonic`)."""
        if self._timeout is None:
            return None
        deadline = time.monotonic() + self._timeout
        with self._changed:
            self._given.append((deadline, lane, promises))
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, daemon=True, name="grpo-rewards-watch")
                self._thread.start()
        return deadline

    def close(self) -> None:
        """End once every promise is kept or late."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _look(self) -> None:
        timeout = self._timeout or 0.0
        late = unfinished(timeout)
        while True:
            with self._changed:
                while self._given and all(promise.done() for promise in self._given[0][2]):
                    self._given.popleft()
                if not self._given and self._closed:
                    return
                left = self._given[0][0] - time.monotonic() if self._given else timeout
                if left > 0:
                    # a promise that is kept wakes nobody, so its rows are let go of within a second
                    self._changed.wait(min(left, 1.0))
                    continue
                _, lane, promises = self._given.popleft()
            missing = [promise for promise in promises if not promise.done()]
            if missing:
                lane.hangs()
                for promise in missing:
                    keep(promise, late)


def _alike(one: Batch, other: Batch) -> bool:
    """Whether rows have the same columns, so that none gets a None for one that it does not have."""
    return (
        one.columns.keys() == other.columns.keys()
        and (one.prompts is None) == (other.prompts is None)
        and (one.completion_ids is None) == (other.completion_ids is None)
        and (one.grouping is None) == (other.grouping is None)
    )
