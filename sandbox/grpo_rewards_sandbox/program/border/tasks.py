"""Waiting for coroutines of the other side: each side has an event loop, and one of the two runs at a time."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Any


@contextlib.contextmanager
def instead(loop: asyncio.AbstractEventLoop | None = None) -> Iterator[None]:
    """Within, this loop counts as the one that runs here, or none does; the one that runs is set aside."""
    outer = asyncio._get_running_loop()
    asyncio._set_running_loop(loop)
    try:
        yield
    finally:
        asyncio._set_running_loop(outer)


def nested(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[object, object, object]) -> object:
    """Run a coroutine to its end in `loop`, or in a new one where `loop` is busy, and return its result."""
    own = asyncio.new_event_loop() if loop.is_running() else loop
    with instead():
        try:
            return own.run_until_complete(coroutine)
        finally:
            if own is not loop:
                own.close()


class Tasks:
    """Coroutines of this side that the other one awaits, by their numbers, and what waits here for some of the other's.

    `ask` sends a request; `loop` is where all of them run.
    """

    _numbers = itertools.count(1)  # one loop over there may know those of several here
    go_on: Callable[[], None]  # sees to it that the other side's loop turns before long

    def __init__(self, ask: Callable[..., Any], loop: Any) -> None:
        self.ask, self.loop = ask, loop
        self.waiting: dict[int, asyncio.Future[None]] = {}
        self.done: list[int] = []  # what the other side has not heard of
        self._running: dict[int, asyncio.Task[object]] = {}
        self._over_there: set[int] = set()  # what is done there

    def start(self, coroutine: Coroutine[object, object, object]) -> int:
        """Start a coroutine of this side; return its number."""
        number = next(self._numbers)
        task = self._running[number] = self.loop.create_task(coroutine)
        task.add_done_callback(lambda task: self.finish(number, task))
        return number

    def finish(self, number: int, task: asyncio.Task[object]) -> None:
        """A task is done."""
        if number in self._running:  # else its result is known already
            self.done.append(number)
            self.go_on()

    def cancel(self, number: int) -> None:
        """Cancel a task, as what awaits it over there was."""
        self._running[number].cancel()

    def result(self, number: int) -> object:
        """Return what a task that is done returned, or raise what it raised."""
        if number in self.done:
            self.done.remove(number)
        return self._running.pop(number).result()

    def hear(self, done: Iterable[int]) -> None:
        """Tasks over there are done: wake who waits for them."""
        self._over_there.update(done)
        for number in self._over_there & self.waiting.keys():
            if not self.waiting[number].done():
                self.waiting[number].set_result(None)

    async def until_done(self, number: int) -> bool:
        """Wait until a task over there is done, and cancel it when this one is; say whether it was."""
        cancelled = False
        while number not in self._over_there:
            future = self.waiting[number] = self.loop.create_future()
            self.go_on()
            try:
                await future
            except asyncio.CancelledError:
                if number in self._over_there:
                    raise
                # and wait on: it may take its time to end, or refuse to
                self.ask("cancel", number)
                cancelled = True
            finally:
                del self.waiting[number]
        return cancelled
