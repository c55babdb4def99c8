"""Awaiting across the border, the candidate's side: its event loop, and the tasks in it that the tests wait for."""

from __future__ import annotations

import asyncio
from typing import Any

from .nesting import nested

_TURNS = 100  # of a loop in which something is always ready


class EventLoop:
    """The one event loop that a candidate has, which turns when the tests let it."""

    def __init__(self) -> None:
        self._loop: Any = None
        self._tasks: dict[int, asyncio.Task[Any]] = {}
        self._finished: list[int] = []
        self._count = 0
        self._theirs: dict[int, asyncio.Future[None]] = {}
        self._turning = False

    def begin(self, value: Any, patience: float | None) -> tuple[bool, Any]:
        """Start to wait for an awaitable: True and its result, or False and the number of its task.

        `patience`: how many seconds it may take now; None: until it is done.
        """

        async def wait() -> Any:
            return await value

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        if self._loop.is_running() or patience is None:
            return True, nested(self._loop, wait())
        task = self._loop.create_task(wait())
        number = self._count = self._count + 1
        self._tasks[number] = task
        task.add_done_callback(lambda _: self._finish(number))
        self._run(patience)
        return (True, self.result(number)) if task.done() else (False, number)

    def turn(self, patience: float, ended: list[int]) -> tuple[list[int], float | None]:
        """Run the loop; return which tasks are done, and the seconds until its next timer, None where there is none.

        `ended`: which of the tests' coroutines are done by now.
        """
        for number in ended:
            future = self._theirs.pop(number, None)
            if future is not None and not future.done():
                future.set_result(None)
        if self._loop.is_running():
            return [], None
        self._run(patience)
        finished, self._finished = self._finished, []
        timers = self._loop._scheduled
        return finished, max(0.0, timers[0].when() - self._loop.time()) if timers else None

    def cancel(self, number: int) -> None:
        """Cancel a task, as the one that waits for it over there was."""
        self._tasks[number].cancel()

    def result(self, number: int) -> Any:
        """Return what a task that is done returned, or raise what it raised."""
        if number in self._finished:
            self._finished.remove(number)
        return self._tasks.pop(number).result()

    def turns(self) -> bool:
        """What asks runs in this loop, while the tests' loop waits to go on."""
        return self._turning and asyncio._get_running_loop() is self._loop

    async def await_theirs(self, ask: Any, *what: Any) -> Any:
        """Await a coroutine of the tests, which runs in their loop, beside what runs in this one."""
        number = ask("start", *what)
        while True:
            future = self._theirs[number] = self._loop.create_future()
            self._loop.stop()
            try:
                await future
                return ask("ended", number)
            except asyncio.CancelledError:
                if future.done() and not future.cancelled():
                    raise
                ask("stop", number)

    def _finish(self, number: int) -> None:
        self._finished.append(number)
        self._loop.stop()

    def _run(self, patience: float) -> None:
        loop = self._loop
        outer = asyncio._get_running_loop()
        asyncio._set_running_loop(None)
        self._turning = True
        try:
            if patience > 0 and not self._finished:
                timer = loop.call_later(patience, loop.stop)
                loop.run_forever()
                timer.cancel()
            else:
                for _ in range(_TURNS):
                    loop.call_soon(loop.stop)
                    loop.run_forever()
                    if not loop._ready:
                        break
        finally:
            self._turning = False
            asyncio._set_running_loop(outer)
