"""Awaiting across the border, the candidate's side: its event loop, and the tasks in it that the tests wait for."""

from __future__ import annotations

import asyncio
import collections
from collections.abc import Awaitable, Callable

from .tasks import Tasks, instead, nested


class EventLoop(Tasks):
    """The one event loop that a candidate has, which turns when the tests let it."""

    def __init__(self, ask: Callable[..., object]) -> None:
        super().__init__(ask, None)
        self._turning = False

    def begin(self, value: Awaitable[object], beside: bool) -> tuple[bool, object]:
        """Start to wait for an awaitable: True and its result, or False and the number of its task.

        `beside`: a loop of the tests runs that will let this one turn.
        """

        async def wait() -> object:
            return await value

        # nobody would let it turn later: it runs to its end now
        if self._made().is_running() or not beside:
            return True, nested(self.loop, wait())
        # no other coroutine has a turn before those that the tests start beside this one have begun
        others, self.loop._ready = self.loop._ready, collections.deque()
        number = self.start(wait())
        self._run(0.0)
        self.loop._ready.extendleft(reversed(others))
        return (True, self.result(number)) if self._running[number].done() else (False, number)

    def go_on(self) -> None:
        self.loop.stop()

    def _made(self) -> asyncio.AbstractEventLoop:
        # most candidates await nothing and never need one
        made: asyncio.AbstractEventLoop = self.loop or asyncio.new_event_loop()
        self.loop = made
        return made

    def turn(self, patience: float, done: list[int]) -> list[int]:
        """Run the loop; return which tasks are done.

        `done`: which of the tests' coroutines are done by now.
        """
        self.hear(done)
        if self.loop.is_running():
            return []
        self._run(patience)
        finished, self.done = self.done, []
        return finished

    def goes_on(self) -> bool:
        """Something is to be done in this loop that nobody may be waiting for."""
        if self.loop is None or self._turning:
            return False
        return bool(self.loop._ready) or any(not timer.cancelled() for timer in self.loop._scheduled)

    def inside(self, action: Callable[[], object]) -> object:
        """Do what the tests ask for from within their loop as from within this one."""
        if asyncio._get_running_loop() is not None:
            return action()
        with instead(self._made()):
            return action()

    async def theirs(self, *what: object) -> object:
        """Await a coroutine of the tests: in their loop, beside what runs in this one, where theirs waits to go on."""
        if not (self._turning and asyncio._get_running_loop() is self.loop):
            return self.ask("await", *what)
        number = self.ask("start", *what)
        await self.until_done(number)
        return self.ask("result", number)

    def _run(self, patience: float) -> None:
        loop = self.loop
        self._turning = True
        try:
            with instead():
                if patience > 0 and not self.done:
                    timer = loop.call_later(patience, loop.stop)
                    loop.run_forever()
                    timer.cancel()
                else:
                    loop.call_soon(loop.stop)
                    loop.run_forever()
        finally:
            self._turning = False
