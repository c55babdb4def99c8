"""Awaiting across the border, the tests' side: a coroutine of the candidate advances beside what the tests' loop runs.

Each side has an event loop, and one of the two runs at a time. Where the tests' waits for events or timers, the candidate's is let
turn instead, until one of the coroutines that the tests wait for is done or the tests' loop has something to do. So timeouts, cancelling
and coroutines that wait at the same time work as they do where there is one loop.
"""

from __future__ import annotations

import asyncio
from typing import Any

from .proxies import Border
from .tasks import Tasks

_LONGEST = 0.05  # seconds that the candidate's loop runs without a look at the tests' own


class Waiting(Tasks):
    """The tests' side: what the tasks of one event loop wait for over there."""

    def __init__(self, loop: Any) -> None:
        super().__init__(Border.peer.request, loop)
        self._goes_on = False  # the candidate's loop has something to do
        self._select = loop._selector.select
        loop._selector.select = self._turn

    def finish(self, number: int, task: asyncio.Task[object]) -> None:
        if not task.cancelled():
            Border.peer.note(task.exception())
        super().finish(number, task)

    def go_on(self) -> None:
        """Let the candidate's loop turn when this one is through with what is ready."""
        self._goes_on = True

    def _turn(self, timeout: float | None = None) -> object:
        """Wait for events of this loop: first the candidate's turns, and who waited for what is done by then wakes."""
        if not (self.waiting or self._goes_on):
            return self._select(timeout)
        self._goes_on = False
        done, self.done = self.done, []
        try:
            finished = self.ask("turn", _LONGEST if timeout is None else min(timeout, _LONGEST), done)
            Border.peer.demand(type(finished) is list and all(type(number) is int for number in finished), "a turn")
            self.hear(finished)
        except BaseException as error:  # noqa: BLE001  it belongs to those who wait
            for waiter in self.waiting.values():
                if not waiter.done():
                    waiter.set_exception(error)
        return self._select(0)


def waiting() -> Waiting | None:
    """What the loop that runs here waits for; None where none runs."""
    loop = asyncio._get_running_loop()
    if loop is None:
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
    answer = peer.request(what, *arguments, here is not None)
    peer.demand(type(answer) is tuple and len(answer) == 2 and type(answer[0]) is bool, "no outcome")
    done, value = answer
    if done:
        return value
    if type(value) is not int or here is None:
        raise peer.protocol("no outcome")
    cancelled = await here.until_done(value)
    if cancelled:
        return peer.ask("result", value)
    return peer.request("next_result" if what == "next" else "result", value)
