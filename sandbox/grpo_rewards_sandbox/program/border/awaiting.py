"""Awaiting across the border, the tests' side: a coroutine of the candidate advances beside what the tests' loop runs.

Each side has an event loop, and one of the two runs at a time. The candidate's is let turn until one of the coroutines that
the tests wait for is done, nothing is ready over there, or the tests' loop has something to do. So timeouts, cancelling and
coroutines that wait at the same time work as they do where there is one loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
from collections.abc import Coroutine
from typing import Any

from .mirrors import Border

_LONGEST, _SHORTEST = 0.05, 0.001  # seconds that one side runs, or waits, without a look at the other


class Waiting:
    """The tests' side: what the tasks of one event loop wait for over there."""

    def __init__(self, loop: Any) -> None:
        self.loop = loop
        self._waiters: dict[int, asyncio.Future[None]] = {}
        self._news = asyncio.Event()
        self._driver: asyncio.Task[None] | None = None
        self._started: dict[int, asyncio.Task[Any]] = {}
        self._ended: list[int] = []
        self._numbers = itertools.count()

    def patience(self) -> float:
        """How long this loop has nothing to do."""
        if self.loop._ready:
            return 0.0
        timers = [timer.when() for timer in self.loop._scheduled if not timer.cancelled()]
        return float(max(0.0, min([_LONGEST, *(when - self.loop.time() for when in timers)])))

    async def until_done(self, number: int) -> None:
        """Wait until a task over there is done, and cancel it when this one is."""
        while True:
            future = self._waiters[number] = self.loop.create_future()
            self._news.set()
            if self._driver is None:
                self._driver = self.loop.create_task(self._drive())
            try:
                await future
                return
            except asyncio.CancelledError:
                self._waiters.pop(number, None)
                if future.done() and not future.cancelled():
                    raise
                Border.peer.request("cancel", number)

    def start(self, coroutine: Coroutine[Any, Any, Any]) -> int:
        """Start a coroutine of the tests that the candidate awaits; return its number."""
        number = next(self._numbers)
        task = self._started[number] = self.loop.create_task(coroutine)
        task.add_done_callback(lambda _: self._end(number))
        return number

    def stop(self, number: int) -> None:
        """Cancel it, as the one that awaits it over there was."""
        self._started[number].cancel()

    def ended(self, number: int) -> Any:
        """Return what it returned, or raise what it raised."""
        task = self._started[number]
        if task.done():
            del self._started[number]
        return task.result()

    def _end(self, number: int) -> None:
        task = self._started[number]
        error = None if task.cancelled() else task.exception()
        if error is not None:
            Border.peer.note(error)
        self._ended.append(number)
        self._news.set()

    async def _drive(self) -> None:
        pause = _SHORTEST
        try:
            while self._waiters:
                patience = self.patience()
                finished, delay = self._turn(patience)
                for number in finished:
                    waiter = self._waiters.pop(number, None)
                    if waiter is not None and not waiter.done():
                        waiter.set_result(None)
                if not self._waiters:
                    break
                pause = _SHORTEST if finished else min(2 * pause, _LONGEST)
                rest = 0.0 if patience else min(delay, _LONGEST) if delay is not None else pause
                self._news.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(rest):
                        await self._news.wait()
        except asyncio.CancelledError:
            for waiter in self._waiters.values():
                waiter.cancel()
            raise
        except BaseException as error:  # noqa: BLE001  it belongs to those who wait
            for waiter in self._waiters.values():
                if not waiter.done():
                    waiter.set_exception(error)
        finally:
            self._driver = None

    def _turn(self, patience: float) -> tuple[list[int], float | None]:
        ended, self._ended = self._ended, []
        answer = Border.peer.request("turn", patience, ended)
        if type(answer) is not tuple or len(answer) != 2:
            raise Border.peer.protocol("a turn")
        finished, delay = answer
        if type(finished) is not list or not all(type(number) is int for number in finished):
            raise Border.peer.protocol("a turn")
        if delay is not None and not (type(delay) is float and math.isfinite(delay)):
            raise Border.peer.protocol("a turn")
        return finished, delay


async def outcome(what: str, *arguments: Any) -> Any:
    """Return what an awaitable of the candidate returns, or raise what it raises. `what`: the request that begins it."""
    peer = Border.peer
    try:
        loop: Any = asyncio.get_running_loop()
    except RuntimeError:  # driven by hand: to its end
        loop = None
    if loop is not None and (peer.waiting is None or peer.waiting.loop is not loop):
        peer.waiting = Waiting(loop)
    waiting = peer.waiting
    answer = peer.request(what, *arguments, None if loop is None else waiting.patience())
    if type(answer) is not tuple or len(answer) != 2 or type(answer[0]) is not bool:
        raise peer.protocol("no outcome")
    done, value = answer
    if done:
        return value
    if type(value) is not int or loop is None:
        raise peer.protocol("no outcome")
    await waiting.until_done(value)
    return peer.request("next_result" if what == "next" else "result", value)
