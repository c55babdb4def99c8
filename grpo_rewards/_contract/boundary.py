"""The boundary around a plugin: the one place where whatever it raises or returns becomes an `Outcome`."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, TypeVar, cast

from grpo_rewards._contract.batch import Batch
from grpo_rewards._contract.outcome import (
    ANY,
    NOT_APPLICABLE,
    Outcome,
    Raised,
    broken,
    failed,
    outcome_of,
    restored,
    shown,
)
from grpo_rewards.errors import ConfigError, InfrastructureError
from grpo_rewards.forks import PerProcess

if TYPE_CHECKING:
    import asyncio

    from grpo_rewards._contract.reward import Reward

_Item = TypeVar("_Item")


class CallLimits:
    """Shared by batches that are evaluated at once: each reward has ``workers`` calls under way over all of them.

    After `stop` no further row is begun.
    """

    def __init__(self) -> None:
        self.stopped = False
        self._permits: dict[tuple[object, Callable[[int], object]], object] = {}
        self._lock = threading.Lock()

    def permits(self, reward: Reward, kind: Callable[[int], _Item]) -> _Item:
        """The permits of a reward's calls: a semaphore of this `kind`, for threads or for tasks on the one background loop."""
        with self._lock:
            return cast(_Item, self._permits.setdefault((reward, kind), kind(reward.workers)))

    def stop(self) -> None:
        """Begin no further row; what is under way goes on."""
        self.stopped = True


def evaluate(
    reward: Reward,
    batch: Batch,
    *,
    deadline: float | None = None,
    into: list[Outcome | None] | None = None,
    limits: CallLimits | None = None,
    go_on: list[Callable[[], None]] | None = None,
) -> list[Outcome | None]:
    """Score every row of `batch` with `reward`; nothing that the plugin does gets out of here.

    `deadline` is a `time.monotonic` instant after which no further row is begun. Outcomes are written to `into` (one
    slot per row, made when not given) as they come, so that another thread can read what is finished; slots of rows
    that were not reached stay None. `limits` bind the calls of rewards that wait over several batches at once. To `go_on`
    is added, for rows that are called one by one, what scores in another thread those that nobody has begun.
    """
    slots: list[Outcome | None] = [None] * len(batch) if into is None else into
    seen = batch.renamed(reward.columns) if reward.columns else batch
    if reward.needs:
        try:
            reward.check_packages()
        except ConfigError as error:
            outcome = failed(error, whole_batch=True)
            for row in seen.rows:
                slots[row] = outcome
            return slots
    if reward.is_async:
        _evaluate_async(reward, seen, slots, deadline, limits)
    elif reward.style == "row":
        call = _row_calls(reward, seen, slots, deadline, limits)
        if go_on is not None:
            go_on.append(call)
        call()
    else:
        for rows in _units(reward, seen):
            if deadline is not None and time.monotonic() > deadline:
                break
            part = seen if len(rows) == len(slots) else seen.select(rows)
            started = time.perf_counter()
            result = _attempt(reward, *_list_arguments(reward, part))
            if isinstance(result, Generator):
                _take_rows(reward, seen, slots, rows, result, deadline)
            else:
                _write_outcomes(reward, seen, slots, rows, result, time.perf_counter() - started)
    return slots


def _units(reward: Reward, batch: Batch) -> list[list[int]]:
    """The rows that go into one call: all of them, or group by group."""
    if reward.style == "group":
        return batch.groups
    return [list(batch.rows)] if batch.rows else []


def _attempt(reward: Reward, arguments: Sequence[object], keywords: Mapping[str, object]) -> object:
    """Call the plugin; `keywords` are its settings and what goes to ``**kwargs``."""
    try:
        return reward.function(*arguments, **keywords)
    # SystemExit too: a plugin's exit() must not end a training run; Ctrl-C must
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the boundary around a plugin's code
        return Raised(error)


async def _attempt_async(reward: Reward, arguments: Sequence[object], keywords: Mapping[str, object]) -> object:
    try:
        return await cast(Awaitable[object], reward.function(*arguments, **keywords))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the boundary around a plugin's code
        return Raised(error)


# ------------------------------------------------------------------------------------------------ arguments


def _sources(reward: Reward, batch: Batch) -> list[_Column]:
    """Per data parameter its list of values, or a `_Constant` for one that is the same for every row."""
    found: list[_Column] = []
    for parameter in reward.shape.data:
        values: _Column | None
        match parameter.source:
            case "text":
                values = batch.texts
            case "raw":
                values = batch.completions
            case "messages":
                values = batch.messages
            case "trainer":
                values = _Constant(batch.trainer[parameter.name])
            case "prompt":
                values = batch.column("prompt")
            case _:
                values = batch.column(parameter.name)
        found.append(_Constant(parameter.default) if values is None else values)
    return found


class _Constant:
    """One value for every row."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __getitem__(self, _row: int) -> object:
        return self.value


_Column = Sequence[object] | _Constant


def _rest(reward: Reward, batch: Batch) -> dict[str, Sequence[object]]:
    """The columns that go to ``**kwargs``: those that no parameter names."""
    if not reward.shape.takes_rest:
        return {}
    named = {parameter.name for parameter in reward.shape.data}
    rest = {name: values for name, values in batch.columns.items() if name not in named}
    if reward.style != "row":
        if batch.grouping is not None and "group_id" not in named:  # the trainer's groups, for who sends rows elsewhere
            rest["group_id"] = batch.grouping
        given = {"completions": batch.completions, "prompts": batch.prompts, "completion_ids": batch.completion_ids}
        rest.update({name: values for name, values in given.items() if values is not None and name not in named})
    settings = {parameter.name for parameter in reward.shape.settings}  # a column may have the name of one
    return {name: values for name, values in rest.items() if name not in settings and name not in reward.settings}


def _list_arguments(reward: Reward, batch: Batch) -> tuple[list[object], Mapping[str, object]]:
    arguments = [
        source.value if isinstance(source, _Constant) else source if isinstance(source, list) else list(source)
        for source in _sources(reward, batch)
    ]
    if not reward.shape.takes_rest:
        return arguments, reward.settings
    named = {parameter.name for parameter in reward.shape.data}
    trainer = {name: value for name, value in batch.trainer.items() if name not in named}
    return arguments, {**reward.settings, **_rest(reward, batch), **trainer}


# ------------------------------------------------------------------------------------------------ calling


def _row_calls(
    reward: Reward, batch: Batch, slots: list[Outcome | None], deadline: float | None, limits: CallLimits | None
) -> Callable[[], None]:
    """Return what calls a row reward with the rows that are left, until there are none; threads may do so beside each other."""
    sources, rest = _sources(reward, batch), _rest(reward, batch)  # once for all rows: some rewards take microseconds
    size = len(batch.rows)
    gaps = _gaps(reward, sources, size)
    settings, clock, now = reward.settings, time.perf_counter, time.monotonic
    function, nothing, (low, high) = reward.function, NOT_APPLICABLE.details, reward.range or ANY
    # lists: taking a row of them is one step under the interpreter's lock, so that threads can share the rows
    columns = [
        repeat(source.value) if isinstance(source, _Constant) else source if type(source) is list else list(source)
        for source in sources
    ]
    rows = zip(batch.rows, zip(*columns, strict=False) if columns else repeat(()), strict=False)
    threads = max(1, min(reward.workers, size - len(gaps)))

    def work(rows: Iterable[tuple[int, Sequence[object]]]) -> None:
        for row, arguments in rows:
            if deadline is not None and now() > deadline:
                return
            if gaps and row in gaps:
                slots[row] = gaps[row]
                continue
            started = clock()
            keywords = {**settings, **{name: values[row] for name, values in rest.items()}} if rest else settings
            try:  # as `_attempt` does, without a call for each row
                result: object = function(*arguments, **keywords)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - the boundary around a plugin's code
                result = Raised(error)
            if type(result) is float and low <= result <= high:  # nan compares false: `outcome_of` names it
                slots[row] = restored(result, "scored", "", nothing, clock() - started)
            else:
                slots[row] = outcome_of(result, reward, clock() - started)

    if limits is not None and reward.workers > 1:
        return partial(_within, limits, limits.permits(reward, threading.Semaphore), work, rows, threads, reward.name)
    return partial(work, rows) if threads == 1 else partial(_side_by_side, reward.name, partial(work, rows), threads)


def _side_by_side(name: str, work: Callable[[], None], threads: int) -> None:
    """Run `work` in that many threads until all have ended."""
    started = [threading.Thread(target=work, name=f"grpo-rewards-{name}", daemon=True) for _ in range(threads)]
    for thread in started:  # daemons, since a call that hangs must not keep the process from ending
        thread.start()
    for thread in started:
        thread.join()


def _within(
    limits: CallLimits,
    permits: threading.Semaphore,
    work: Callable[[Iterable[_Item]], None],
    items: Iterator[_Item],
    threads: int,
    name: str,
) -> None:
    """Run `work` in that many threads, each of which takes the next of `items` and holds a permit for it."""

    def run() -> None:
        while not limits.stopped:
            with permits:
                if (item := next(items, None)) is None:
                    return
                work((item,))

    _side_by_side(name, run, threads)


def _gaps(reward: Reward, sources: Sequence[_Column], size: int) -> dict[int, Outcome]:
    """The rows in which a column that a row reward needs is None: it does not apply there."""
    gaps: dict[int, Outcome] = {}
    for parameter, values in zip(reward.shape.data, sources, strict=True):
        if not parameter.nullable and not isinstance(values, _Constant):
            column = reward.columns.get(parameter.name, parameter.name)
            for row in range(size):
                if values[row] is None:
                    gaps[row] = Outcome(None, "not_applicable", f"column {column!r} is empty in this row")
    return gaps


def _evaluate_async(
    reward: Reward, batch: Batch, slots: list[Outcome | None], deadline: float | None, limits: CallLimits | None
) -> None:
    import asyncio  # half of the core's import time, needed by async rewards alone

    async def run() -> None:
        gate = (limits or CallLimits()).permits(reward, asyncio.Semaphore)

        async def one(arguments: Sequence[object], keywords: Mapping[str, object], rows: list[int]) -> None:
            async with gate:
                if limits is not None and limits.stopped:
                    return
                started = time.perf_counter()
                result = await _attempt_async(reward, arguments, keywords)
                seconds = time.perf_counter() - started
            if reward.style == "row":
                slots[rows[0]] = outcome_of(result, reward, seconds)
            else:
                _write_outcomes(reward, batch, slots, rows, result, seconds)

        if reward.style == "row":
            sources, rest = _sources(reward, batch), _rest(reward, batch)
            gaps = _gaps(reward, sources, len(batch))
            for row, outcome in gaps.items():
                slots[row] = outcome
            tasks = [
                one(
                    [source[row] for source in sources],
                    {**reward.settings, **{name: values[row] for name, values in rest.items()}},
                    [row],
                )
                for row in batch.rows
                if row not in gaps
            ]
        else:
            parts = [(batch.select(rows), rows) for rows in _units(reward, batch)]
            tasks = [one(*_list_arguments(reward, part), rows) for part, rows in parts]
        remaining = None if deadline is None else max(0.0, deadline - time.monotonic())
        try:
            async with asyncio.timeout(remaining):
                await asyncio.gather(*tasks)
        except TimeoutError:
            return

    asyncio.run_coroutine_threadsafe(run(), _loop()).result()


def _running_loop() -> asyncio.AbstractEventLoop:
    """One loop in the background, so that async rewards run from any thread, inside another loop or without one."""
    import asyncio

    # a loop of ours: asyncio.run refuses to start within a loop that runs, such as a notebook's
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="grpo-rewards-async", daemon=True).start()
    return loop


_loop = PerProcess(_running_loop)


# ------------------------------------------------------------------------------------------------ lists


def _take_rows(
    reward: Reward,
    batch: Batch,
    slots: list[Outcome | None],
    rows: list[int],
    found: Generator[object, None, None],
    deadline: float | None,
) -> None:
    """Write the outcomes that a list call yields as ``(row, value)``, each as it comes, until the deadline."""
    left = dict(enumerate(rows))  # by its place in the call
    before = time.perf_counter()
    problem: str | Raised | None = None
    while problem is None:
        item = _next(found)
        if isinstance(item, Raised):
            problem = item
            break
        if item is _END:
            break
        now = time.perf_counter()
        try:
            place, value = cast(tuple[int, object], item)
            row = left.pop(place)
        except (TypeError, ValueError, KeyError):
            problem = (
                f"it yielded {shown(item)}, not (row, value) for a row from 0 to {len(rows) - 1} that it had not yet"
            )
            break
        slots[row] = outcome_of(value, reward, now - before)
        before = now
        if deadline is not None and left and time.monotonic() > deadline:
            with contextlib.suppress(Exception):  # runs the plugin's own finally, which may have processes to end
                found.close()
            return
    if not left:
        return
    rest = list(left.values())
    if isinstance(problem, Raised):
        _write_outcomes(reward, batch, slots, rest, problem, time.perf_counter() - before)
        return
    problem = problem or f"it yielded {len(rows) - len(rest)} values for {len(rows)} completions"
    outcome = broken(problem, whole_batch=True)
    for row in rest:
        slots[row] = outcome


_END = object()


def _next(found: Iterator[object]) -> object:
    """What a plugin yields next, `_END` after the last."""
    try:
        return next(found, _END)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the boundary around a plugin's code
        return Raised(error)


def _write_outcomes(
    reward: Reward, batch: Batch, slots: list[Outcome | None], rows: list[int], result: object, seconds: float
) -> None:
    """Write the outcomes of one list call; a call that raised is repeated row by row to name the row at fault."""
    each = seconds / max(1, len(rows))
    if not isinstance(result, Sequence) and hasattr(result, "tolist"):  # numpy arrays, torch tensors
        try:
            result = result.tolist()
        except Exception as error:  # noqa: BLE001 - a tensor without data, say: the plugin's own
            result = Raised(error)
    if isinstance(result, Raised):
        alike = reward.style == "group" or isinstance(result.error, InfrastructureError)  # no row is at fault alone
        if not (alike or reward.is_async) and len(rows) > 1:
            alone = [_alone(reward, batch.select([row])) for row in rows]
            if any(isinstance(single, Raised) for single in alone):
                for row, single in zip(rows, alone, strict=True):
                    _write_outcomes(reward, batch, slots, [row], single, each)
                return
        outcome = failed(result.error, whole_batch=len(rows) > 1)
        for row in rows:
            slots[row] = outcome
        return
    if isinstance(result, str) or not isinstance(result, Sequence):
        problem = f"it returned {type(result).__name__}, not a list with one value per completion"
    elif len(result) != len(rows):
        problem = f"it returned {len(result)} values for {len(rows)} completions"
    else:
        for row, value in zip(rows, result, strict=True):
            slots[row] = outcome_of(value, reward, each)
        return
    outcome = broken(problem, whole_batch=True)
    for row in rows:
        slots[row] = outcome


def _alone(reward: Reward, batch: Batch) -> object:
    """What a list call gives for one row: a list, also where it yields rows, or what it raised."""
    result = _attempt(reward, *_list_arguments(reward, batch))
    if not isinstance(result, Generator):
        return result
    found = []
    while (item := _next(result)) is not _END:
        if isinstance(item, Raised):
            return item
        found.append(item[1] if isinstance(item, tuple) and len(item) == 2 else item)
    return found
