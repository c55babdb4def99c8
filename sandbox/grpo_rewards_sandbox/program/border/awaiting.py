"""Awaiting across the border, the tests' side: a coroutine of the candidate advances beside what the tests' loop runs.

Each side has an event loop, and one of the two runs at a time. The candidate's is let turn until one of the coroutines that
the tests wait for is done, nothing is ready over there, or the tests' loop has something to do. So timeouts, cancelling and
coroutines that wait at the same time work as they do where there is one loop.
"""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Coroutine
from typing import Any

from .nesting import until_timer
from .proxies import Border

_LONGEST, _SHORTEST = 0.05, 0.001  # seconds that one side runs, or waits, without a look at the other


class Waiting:
    """The tests' side: what the tasks of one event loop wait for over there."""

    _numbers = itertools.count()

    def __init__(self, loop: Any) -> None:
        self.loop = loop
        self._waiters: dict[int, asyncio.Future[None]] = {}
        self._finished: set[int] = set()
        self._next: asyncio.Handle | None = None
        self._pause = _SHORTEST
        self._started: dict[int, asyncio.Task[object]] = {}
        self._ended: list[int] = []

    def patience(self) -> float:
        """How long this loop has nothing to do."""
        if self.loop._ready:
            return 0.0
        rest = until_timer(self.loop)
        return _LONGEST if rest is None else min(_LONGEST, rest)

    async def until_done(self, number: int) -> bool:
        """Wait until a task over there is done, and cancel it when this one is; say whether it was."""
        cancelled = False
        while number not in self._finished:
            future = self._waiters[number] = self.loop.create_future()
            self.turn_soon()
            try:
                await future
            except asyncio.CancelledError:
                if number in self._finished:
                    raise
                Border.peer.request("cancel", number)
                cancelled = True
            finally:
                del self._waiters[number]
        return cancelled

    def start(self, coroutine: Coroutine[object, object, object]) -> int:
        """Start a coroutine of the tests that the candidate awaits; return its number."""
        number = next(self._numbers)
        task = self._started[number] = self.loop.create_task(coroutine)
        task.add_done_callback(lambda _: self._end(number))
        return number

    def stop(self, number: int) -> None:
        """Cancel it, as the one that awaits it over there was."""
        self._started[number].cancel()

    def ended(self, number: int) -> object:
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
        self.turn_soon()

    def turn_soon(self) -> None:
        """Let the candidate's loop turn when this one is through with what is ready."""
        if self._next is not None:
            self._next.cancel()
        self._next = self.loop.call_soon(self._turn)

    def _turn(self) -> None:
        """Let it turn, wake those who waited for what is done by then, and go on as long as there is something to do."""
        self._next = None
        patience = self.patience()
        try:
            finished, delay = self._ask(patience)
        except BaseException as error:  # noqa: BLE001  it belongs to those who wait
            for waiter in self._waiters.values():
                if not waiter.done():
                    waiter.set_exception(error)
            return
        self._finished.update(finished)
        for number in self._finished & self._waiters.keys():
            if not self._waiters[number].done():
                self._waiters[number].set_result(None)
        self._pause = _SHORTEST if finished else min(2 * self._pause, _LONGEST)
        if self._waiters or delay is not None:
            rest = 0.0 if patience else min(delay, _LONGEST) if delay is not None else self._pause
            self._next = self.loop.call_later(rest, self._turn)

    def _ask(self, patience: float) -> tuple[list[int], float | None]:
        ended, self._ended = self._ended, []
        answer = Border.peer.request("turn", patience, ended)
        if self._next is not None:  # that it goes on there is what it says itself
            self._next.cancel()
            self._next = None
        if type(answer) is not tuple or len(answer) != 2:
            raise Border.peer.protocol("a turn")
        finished, delay = answer
        if type(finished) is not list or not all(type(number) is int for number in finished):
            raise Border.peer.protocol("a turn")
        if delay is not None and not (type(delay) is float and math.isfinite(delay)):
            raise Border.peer.protocol("a turn")
        return finished, delay


def waiting() -> Waiting | None:
    """What the loop that runs here waits for; None where none runs."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return None
    peer = Border.peer
    if peer.waiting is None or peer.waiting.loop is not loop:
        peer.waiting = Waiting(loop)
    found: Waiting = peer.waiting
    return found


async def outcome(what: str, *arguments: object) -> object:
    """Return what an awaitable of the candidate returns, or raise what it raises. `what`: the request that begins it."""
    peer, here = Border.peer, waiting()
    # driven by hand, it runs to its end
    answer = peer.request(what, *arguments, None if here is None else here.patience())
    if type(answer) is not tuple or len(answer) != 2 or type(answer[0]) is not bool:
        raise peer.protocol("no outcome")
    done, value = answer
    if done:
        return value
    if type(value) is not int or here is None:
        raise peer.protocol("no outcome")
    if await here.until_done(value):
        return peer.ask("result", value)
    return peer.request("next_result" if what == "next" else "result", value)
