"""Awaiting across the border, the candidate's side: its event loop, and the tasks in it that the tests wait for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from .nesting import instead, nested, until_timer

_TURNS = 100  # of a loop in which something is always ready


class EventLoop:
    """The one event loop that a candidate has, which turns when the tests let it."""

    def __init__(self) -> None:
        self._loop: Any = None
        self._tasks: dict[int, asyncio.Task[object]] = {}
        self._finished: list[int] = []
        self._count = 0
        self._theirs: dict[int, asyncio.Future[None]] = {}
        self._ended: set[int] = set()
        self._turning = False

    def begin(self, value: Any, patience: float | None) -> tuple[bool, object]:
        """Start to wait for an awaitable: True and its result, or False and the number of its task.

        `patience`: how many seconds it may take now; None: until it is done.
        """

        async def wait() -> object:
            return await value

        if self._made().is_running() or patience is None:
            return True, nested(self._loop, wait())
        task = self._loop.create_task(wait())
        number = self._count = self._count + 1
        self._tasks[number] = task
        task.add_done_callback(lambda _: self._finish(number))
        self._run(patience)
        return (True, self.result(number)) if task.done() else (False, number)

    def _made(self) -> Any:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        return self._loop

    def turn(self, patience: float, ended: list[int]) -> tuple[list[int], float | None]:
        """Run the loop; return which tasks are done, and the seconds until its next timer, None where there is none.

        `ended`: which of the tests' coroutines are done by now.
        """
        self._ended.update(ended)
        for number in self._ended & self._theirs.keys():
            if not self._theirs[number].done():
                self._theirs[number].set_result(None)
        if self._loop.is_running():
            return [], None
        self._run(patience)
        finished, self._finished = self._finished, []
        return finished, 0.0 if self._loop._ready else until_timer(self._loop)

    def cancel(self, number: int) -> None:
        """Cancel a task, as the one that waits for it over there was."""
        self._tasks[number].cancel()

    def result(self, number: int) -> object:
        """Return what a task that is done returned, or raise what it raised."""
        if number in self._finished:
            self._finished.remove(number)
        return self._tasks.pop(number).result()

    def goes_on(self) -> bool:
        """Something is to be done in this loop that nobody may be waiting for."""
        return (
            self._loop is not None
            and not self._turning
            and bool(self._loop._ready or until_timer(self._loop) is not None)
        )

    def inside(self, action: Callable[[], object]) -> object:
        """Do what the tests ask for from within their loop as from within this one."""
        if asyncio._get_running_loop() is not None:
            return action()
        with instead(self._made()):
            return action()

    def turns(self) -> bool:
        """What asks runs in this loop, while the tests' loop waits to go on."""
        return self._turning and asyncio._get_running_loop() is self._loop

    async def await_theirs(self, ask: Any, *what: object) -> object:
        """Await a coroutine of the tests, which runs in their loop, beside what runs in this one."""
        number = ask("start", *what)
        while number not in self._ended:
            future = self._theirs[number] = self._loop.create_future()
            self._loop.stop()
            try:
                await future
            except asyncio.CancelledError:
                if number in self._ended:
                    raise
                ask("stop", number)
            finally:
                del self._theirs[number]
        return ask("ended", number)

    def _finish(self, number: int) -> None:
        self._finished.append(number)
        self._loop.stop()

    def _run(self, patience: float) -> None:
        loop = self._loop
        self._turning = True
        try:
            with instead():
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
