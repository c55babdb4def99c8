"""Awaiting across the border, the tests' side: a coroutine of the candidate advances beside what the tests' loop runs.

Each side has an event loop, and one of the two runs at a time. The candidate's is let turn until one of the coroutines that
the tests wait for is done, nothing is ready over there, or the tests' loop has something to do. So timeouts, cancelling and
coroutines that wait at the same time work as they do where there is one loop.
"""

from __future__ import annotations

import asyncio
import math

from .proxies import Border
from .tasks import Tasks, until_timer

_LONGEST, _SHORTEST = 0.05, 0.001  # seconds that one side runs, or waits, without a look at the other


class Waiting(Tasks):
    """The tests' side: what the tasks of one event loop wait for over there."""

    def __init__(self, loop: object) -> None:
        super().__init__(Border.peer.request, loop)
        self._next: asyncio.Handle | None = None
        self._pause = _SHORTEST

    def patience(self) -> float:
        """How long this loop has nothing to do."""
        if self.loop._ready:
            return 0.0
        rest = until_timer(self.loop)
        return _LONGEST if rest is None else min(_LONGEST, rest)

    def finish(self, number: int, task: asyncio.Task[object]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            Border.peer.note(error)
        super().finish(number, task)

    def go_on(self) -> None:
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
            for waiter in self.waiting.values():
                if not waiter.done():
                    waiter.set_exception(error)
            return
        self.hear(finished)
        self._pause = _SHORTEST if finished else min(2 * self._pause, _LONGEST)
        if self.waiting or delay is not None:
            rest = 0.0 if patience else min(delay, _LONGEST) if delay is not None else self._pause
            self._next = self.loop.call_later(rest, self._turn)

    def _ask(self, patience: float) -> tuple[list[int], float | None]:
        done, self.done = self.done, []
        answer = self.ask("turn", patience, done)
        if self._next is not None:  # that it goes on there is what it says itself
            self._next.cancel()
            self._next = None
        finished, delay = answer if type(answer) is tuple and len(answer) == 2 else (None, None)
        if type(finished) is not list or not all(type(number) is int for number in finished):
            raise Border.peer.protocol("a turn")
        # hostile: NaN would disorder the loop's heap of timers
        if delay is not None and not (type(delay) is float and math.isfinite(delay)):
            raise Border.peer.protocol("a turn")
        return finished, delay


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
    answer = peer.request(what, *arguments, None if here is None else here.patience())
    if type(answer) is not tuple or len(answer) != 2 or type(answer[0]) is not bool:
        raise peer.protocol("no outcome")
    done, value = answer
    if done:
        return value
    if type(value) is not int or here is None:
        raise peer.protocol("no outcome")
    cancelled = await here.until_done(value)
    if cancelled:
        return peer.ask("result", value)
    return peer.request("next_result" if what == "next" else "result", value)
