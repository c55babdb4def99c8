"""Rows scored one by one as a generator finishes them: each row's reward as soon as its components are done."""

from __future__ import annotations

import queue
import threading
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from grpo_rewards._composition.component import Component
from grpo_rewards._composition.duplicates import Memory, Promise
from grpo_rewards._composition.evaluation import Evaluated
from grpo_rewards._composition.lanes import Lane, Watch
from grpo_rewards._composition.table import ScoreTable
from grpo_rewards._contract import Batch, Outcome, check_group_size, group_key
from grpo_rewards.errors import InputError

if TYPE_CHECKING:
    from grpo_rewards._composition.composite import Composite

Rows = Iterable[Mapping[str, object]] | AsyncIterable[Mapping[str, object]]
"""Mappings with ``completion``, optionally ``prompt``, ``completion_ids`` and ``group_id``, and columns."""

_END = object()


@dataclass(frozen=True, slots=True)
class StreamedRow:
    """A scored row: its number in the stream (0 for the first that was given), itself, and its table of one row."""

    place: int
    row: Mapping[str, object]
    table: ScoreTable

    @property
    def reward(self) -> float | None:
        """The reward; None where nothing applies, or where the row was left out."""
        return self.table.totals[0]


class Stream:
    """Rows on their way through a composite's components; see `Composite.stream`. Threads may share it.

    Its threads end when it is left as a context manager, or when an iteration over it ends.
    """

    def __init__(
        self, composite: Composite, rows: Rows | None = None, *, group_size: int | None = None, ahead: int = 1024
    ) -> None:
        if group_size is not None:
            check_group_size(group_size)
        if ahead < (group_size or 1):
            raise InputError(
                f"ahead ({ahead}) must be at least group_size ({group_size}): a group is scored when it is complete"
            )
        self._composite, self._rows, self._group_size, self._ahead = composite, rows, group_size, ahead
        if composite.memory is None:
            composite.memory = Memory()
        self._memory = composite.memory
        self._watch = Watch(composite.config.errors.batch_timeout)
        self._lanes = {c.name: Lane(c, composite.tier, self._watch) for c in composite.components}
        self._groups: dict[object, list[_Waiting]] = {}
        self._lock = threading.Lock()
        self._given = 0
        self._closed = False

    # -------------------------------------------------------------------------------------------- one by one

    def submit(self, row: Mapping[str, object]) -> Future[StreamedRow]:
        """Begin to score a row; the future holds it once all of its components are done.

        Raises:
            ColumnError: a column is missing that a component needs which applies to the row.
            InputError: it has no ``completion``, or the stream is closed.
        """
        future: Future[StreamedRow] = Future()
        place, promises = self._begin(row)
        collected = _Collected(self._composite, place, row, promises, future)
        for promise in set(promises.values()):
            promise.add_done_callback(collected.arrived)
        if not promises:
            collected.finish()
        return future

    def begin(self, row: Mapping[str, object]) -> None:
        """Begin to score a row that will be asked for in a batch later: that batch waits for it instead of scoring it.

        Rewards that compare the rows of a group are left to the batch. Raises as `submit`.
        """
        self._begin(row, grouped=False)

    async def score(self, row: Mapping[str, object]) -> StreamedRow:
        """Score a row; the event loop goes on meanwhile. Raises as `submit`, and by the failure policy."""
        import asyncio  # half of the core's import time, needed on an event loop alone

        return await asyncio.wrap_future(self.submit(row))

    def flush(self) -> None:
        """Score incomplete groups as they are, as no more of their rows will come."""
        with self._lock:
            left, self._groups = list(self._groups.values()), {}
        for waiting in left:
            self._ask_group(waiting)

    def close(self) -> None:
        """Score what was given, incomplete groups as they are, and take no more rows; does not wait."""
        self._closed = True
        self.flush()
        for lane in self._lanes.values():
            lane.close()
        self._watch.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _begin(self, row: Mapping[str, object], *, grouped: bool = True) -> tuple[int, dict[str, Promise]]:
        if self._closed:
            raise InputError("the stream is closed; open another one with composite.stream()")
        batch = Batch.from_rows([row])
        self._composite.check_columns(batch.available, batch=batch)
        with self._lock:
            place, self._given = self._given, self._given + 1
        promises: dict[str, Promise] = {}
        shared: dict[str, Promise] = {}
        for component in self._composite.components:
            if not component.rows(batch):
                promises[component.name] = _done(component.elsewhere)
            elif component.reward.style == "group":
                if grouped and self._group_size is None:
                    raise InputError(
                        f"component {component.name!r} compares the completions of a group, and a stream has to know when "
                        f"one is complete: give group_size, the number of completions of a prompt"
                    )
                if grouped:
                    shared[component.name] = promises[component.name] = Future()
            else:
                promises[component.name] = self._ask(component, batch)[0]
        if shared:
            self._join(row, _Waiting(batch, shared))
        return place, promises

    def _ask(self, component: Component, batch: Batch) -> list[Promise]:
        """Have a unit of rows evaluated, unless it is known or under way."""
        rows = batch.rows
        keys = self._memory.keys(component.reward, batch, [rows])
        promises, new = self._memory.promise(component.name, keys)
        if new:
            self._lanes[component.name].put(batch, promises)
        return promises

    # -------------------------------------------------------------------------------------------- groups

    def _join(self, row: Mapping[str, object], waiting: _Waiting) -> None:
        key = group_key(row["group_id"] if "group_id" in row else row.get("prompt"))
        with self._lock:
            members = self._groups.setdefault(key, [])
            members.append(waiting)
            if len(members) < (self._group_size or 1):
                return
            del self._groups[key]
        # outside of the lock: a promise that is kept at once calls back, and the caller may submit the next row
        self._ask_group(members)

    def _ask_group(self, members: list[_Waiting]) -> None:
        names = dict.fromkeys(name for member in members for name in member.promises)
        for name in names:
            component = next(c for c in self._composite.components if c.name == name)
            asked = [member for member in members if name in member.promises]
            batch = Batch.joined([member.batch for member in asked], grouping=[0] * len(asked))
            for member, promise in zip(asked, self._ask(component, batch), strict=True):
                promise.add_done_callback(_passing_to(member.promises[name]))

    # -------------------------------------------------------------------------------------------- as an iterator

    def __iter__(self) -> Iterator[StreamedRow]:
        """Score the rows that the stream was made with; yield each as it is done.

        Raises:
            PluginError, InfrastructureError: by the failure policy.
            ColumnError, InputError: as `submit`.
        """
        rows = self._rows
        if not isinstance(rows, Iterable):
            raise InputError(
                "only a stream that was given rows can be iterated over: composite.stream(rows); async for takes rows of either kind"
            )
        found: queue.SimpleQueue[Future[StreamedRow] | BaseException | object] = queue.SimpleQueue()
        room = threading.Semaphore(self._ahead)
        given = 0

        def feed() -> None:
            nonlocal given
            try:
                for row in rows:
                    room.acquire()
                    if self._closed:
                        return
                    future = self.submit(row)
                    given += 1
                    future.add_done_callback(found.put)
                self.flush()
            except BaseException as error:  # noqa: BLE001 - raised where the rows are taken
                found.put(error)
            found.put(_END)

        threading.Thread(target=feed, daemon=True, name="grpo-rewards-stream").start()
        taken, over = 0, False
        try:
            while not over or taken < given:  # `given` is final once the end was seen
                item = found.get()
                if item is _END:
                    over = True
                elif isinstance(item, BaseException):
                    raise item
                else:
                    assert isinstance(item, Future)
                    taken += 1
                    room.release()
                    yield cast(Future[StreamedRow], item).result()
        finally:
            self.close()
            room.release()  # wakes a feeder that waits for room, so that it sees the end

    async def __aiter__(self) -> AsyncIterator[StreamedRow]:
        """The same for an event loop, with rows from an iterable of either kind."""
        import asyncio

        rows = self._rows
        if rows is None:
            raise InputError("only a stream that was given rows can be iterated over: composite.stream(rows)")
        found: asyncio.Queue[object] = asyncio.Queue()
        loop, room, given = asyncio.get_running_loop(), asyncio.Semaphore(self._ahead), 0

        # promises are kept in other threads, from which a loop's queue must not be touched
        def done(future: Future[StreamedRow]) -> None:
            loop.call_soon_threadsafe(found.put_nowait, future)

        async def feed() -> None:
            nonlocal given
            try:
                async for row in _each(rows):
                    await room.acquire()
                    future = self.submit(row)
                    given += 1
                    future.add_done_callback(done)
                self.flush()
            except Exception as error:  # noqa: BLE001 - raised where the rows are taken
                found.put_nowait(error)
            found.put_nowait(_END)

        feeding = asyncio.create_task(feed())
        taken, over = 0, False
        try:
            while not over or taken < given:
                item = await found.get()
                if item is _END:
                    over = True
                elif isinstance(item, BaseException):
                    raise item
                else:
                    taken += 1
                    room.release()
                    yield cast(Future[StreamedRow], item).result()
        finally:
            feeding.cancel()
            self.close()


@dataclass(slots=True)
class _Waiting:
    """A row whose group is not complete, and its promises of group rewards."""

    batch: Batch
    promises: dict[str, Promise]


class _Collected:
    """A row's outcomes as they come, and its table when they are there."""

    def __init__(
        self,
        composite: Composite,
        place: int,
        row: Mapping[str, object],
        promises: Mapping[str, Promise],
        future: Future[StreamedRow],
    ) -> None:
        self._composite, self._place, self._row, self._future = composite, place, row, future
        self._promises = promises
        self._left = len(set(promises.values()))
        self._lock = threading.Lock()

    def arrived(self, _promise: Promise) -> None:
        with self._lock:
            self._left -= 1
            if self._left:
                return
        self.finish()

    def finish(self) -> None:
        if not self._future.set_running_or_notify_cancel():  # whoever asked has cancelled it
            return
        try:
            found = {name: [promise.result()] for name, promise in self._promises.items()}
            seconds = {name: outcomes[0].seconds or 0.0 for name, outcomes in found.items()}
            table = self._composite.table([[0]], Evaluated(found, seconds, dict.fromkeys(found, 0)))
            self._composite.session.check(table, Batch.from_rows([self._row]))
        except BaseException as error:  # noqa: BLE001 - raised where the row is asked for
            self._future.set_exception(error)
        else:
            self._future.set_result(StreamedRow(self._place, self._row, table))


async def _each(rows: Rows) -> AsyncIterator[Mapping[str, object]]:
    if isinstance(rows, AsyncIterable):
        async for row in rows:
            yield row
        return
    import asyncio

    iterator = iter(rows)

    def following() -> Mapping[str, object] | None:
        return next(iterator, None)  # StopIteration cannot pass through a coroutine

    while (found := await asyncio.to_thread(following)) is not None:  # it may wait for a generator
        yield found


def _done(outcome: Outcome) -> Promise:
    promise: Promise = Future()
    promise.set_result(outcome)
    return promise


def _passing_to(target: Promise) -> Callable[[Future[Outcome]], None]:
    def passed(promise: Promise) -> None:
        if not target.done():
            if (error := promise.exception()) is not None:
                target.set_exception(error)
            else:
                target.set_result(promise.result())

    return passed
