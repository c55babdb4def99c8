"""Coroutines on both sides of the border run beside each other: what waits, is cancelled or times out does so as in one loop."""

from __future__ import annotations

import textwrap

from grpo_rewards_sandbox import Job, Sandbox

CANDIDATE = """
import asyncio, time

log = []

async def slow(x, seconds=0.2):
    await asyncio.sleep(seconds)
    return x

async def cleans_up():
    try:
        await asyncio.sleep(5)
    except asyncio.CancelledError:
        log.append('cancelled')
        raise

async def is_stubborn():
    try:
        await asyncio.sleep(5)
    except asyncio.CancelledError:
        await asyncio.sleep(0.01)
        return 'saved'

async def in_thread(x):
    await asyncio.to_thread(time.sleep, 0.05)
    return x

class Gate:
    def __init__(self): self.event = asyncio.Event()
    def open(self): self.event.set()
    async def wait(self): await self.event.wait()

class Ticker:
    n = 0
    def start(self): self.task = asyncio.create_task(self.run())
    def stop(self): self.task.cancel()
    async def run(self):
        while True:
            self.n += 1
            await asyncio.sleep(0.01)

class Debounced:
    handle = None
    def __init__(self, f): self.f = f
    def __call__(self, x):
        if self.handle: self.handle.cancel()
        self.handle = asyncio.get_running_loop().call_later(0.03, self.f, x)

async def fetch_all(fetch, urls, limit):
    semaphore = asyncio.Semaphore(limit)
    async def one(url):
        async with semaphore:
            return await fetch(url)
    return await asyncio.gather(*map(one, urls))

async def in_tasks(f, xs):
    return [await task for task in [asyncio.create_task(f(x)) for x in xs]]

async def or_late(awaitable, seconds):
    try:
        return await asyncio.wait_for(awaitable, seconds)
    except asyncio.TimeoutError:
        return 'late'

async def plus_one(resource):
    async with resource as x:
        return x + 1

async def collect(xs): return [x async for x in xs]

def run(f, x): return asyncio.run(f(x))
"""
STYLES = {
    "a timeout": "with pytest.raises(asyncio.TimeoutError):\n    asyncio.run(asyncio.wait_for(S.slow(1), 0.02))",
    "a block with a timeout": """
async def main():
    async with asyncio.timeout(0.02):
        await S.slow(1)
with pytest.raises(TimeoutError):
    asyncio.run(main())""",
    "at the same time": """
order = []
async def one(x, seconds):
    order.append(await S.slow(x, seconds))
async def main():
    await asyncio.gather(one(1, 0.3), one(2, 0.15), one(3, 0.01))
asyncio.run(main())
assert order == [3, 2, 1]""",
    "the first that is done": """
async def main():
    late, early = (asyncio.create_task(S.slow(1, seconds)) for seconds in (5, 0.01))
    done, pending = await asyncio.wait({late, early}, return_when=asyncio.FIRST_COMPLETED)
    assert done == {early} and pending == {late}
asyncio.run(main())""",
    "cancelled": """
async def main():
    task, other = asyncio.create_task(S.cleans_up()), asyncio.create_task(S.is_stubborn())
    await asyncio.sleep(0.02)
    task.cancel(), other.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return await other
assert asyncio.run(main()) == 'saved' and S.log == ['cancelled']""",
    "woken by a call": """
async def main():
    gate = S.Gate()
    task = asyncio.create_task(gate.wait())
    await asyncio.sleep(0.02)
    assert not task.done()
    gate.open()
    await asyncio.wait_for(task, 5)
asyncio.run(main())""",
    "left before its end": """
async def main():
    late, early = (asyncio.create_task(S.slow(1, seconds)) for seconds in (5, 0))
    await early
    late.cancel()
asyncio.run(main())""",
    "in the background": """
seen = []
async def main():
    ticker, call = S.Ticker(), S.Debounced(seen.append)
    ticker.start()
    for x in (1, 2):
        call(x)
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)
    ticker.stop()
    n = ticker.n
    await asyncio.sleep(0.03)
    assert ticker.n == n
    return n
assert asyncio.run(main()) > 3 and seen[-1] == 2""",
    "threads": """
async def main():
    return await asyncio.gather(*map(S.in_thread, range(3)))
assert asyncio.run(main()) == [0, 1, 2]""",
    "how many of the test's at once": """
active = peak = 0
async def fetch(url):
    nonlocal active, peak
    active += 1
    peak = max(peak, active)
    await asyncio.sleep(0.01)
    active -= 1
    return url
assert asyncio.run(S.fetch_all(fetch, list(range(6)), 3)) == list(range(6))
assert peak == 3""",
    "tasks of the test's coroutines": """
order = []
async def f(x):
    order.append(x)
    await asyncio.sleep(0.01)
    order.append(-x)
    return x + 1
assert asyncio.run(S.in_tasks(f, [1, 2])) == [2, 3] and order == [1, 2, -1, -2]
assert asyncio.run(S.in_tasks(f, [3])) == [4] and S.run(f, 3) == 4""",
    "the test's cancelled": """
seen = []
async def long():
    try:
        await asyncio.sleep(5)
    except asyncio.CancelledError:
        seen.append(1)
        raise
assert asyncio.run(S.or_late(long(), 0.02)) == 'late' and seen == [1]""",
    "the test's special methods": """
class Resource:
    n = 0
    async def __aenter__(self):
        await asyncio.sleep(0)
        return 4
    async def __aexit__(self, *error): self.n += 1
    def __aiter__(self): return self
    async def __anext__(self):
        self.n += 1
        if self.n > 3: raise StopAsyncIteration
        return self.n
resource = Resource()
assert asyncio.run(S.plus_one(resource)) == 5 and resource.n == 1
assert asyncio.run(S.collect(resource)) == [2, 3]""",
}


def job(style: str) -> Job:
    tests = f"import asyncio\nimport pytest\nimport solution as S\ndef test_a():\n{textwrap.indent(style, '    ')}\n"
    return Job(CANDIDATE, tests, "pytest", timeout=20.0)


def test_coroutines_run_beside_each_other(sandbox: Sandbox) -> None:
    found = dict(zip(STYLES, sandbox.run(map(job, STYLES.values())), strict=True))
    assert {name: verdict.reason for name, verdict in found.items() if not verdict.passed} == {}
