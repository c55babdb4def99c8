"""Threads of both sides of the border wait for each other as they do in one process; none of them gets a verdict by it."""

from __future__ import annotations

import textwrap

import pytest
from grpo_rewards_sandbox import Job, Sandbox

CANDIDATE = """
import asyncio, queue, threading, time, warnings
from concurrent.futures import ThreadPoolExecutor, as_completed

class BlockingQueue:
    def __init__(self, size):
        self.size, self.items, self.changed = size, [], threading.Condition()
    def put(self, x):
        with self.changed:
            self.changed.wait_for(lambda: len(self.items) < self.size)
            self.items.append(x)
            self.changed.notify_all()
    def get(self):
        with self.changed:
            self.changed.wait_for(lambda: self.items)
            self.changed.notify_all()
            return self.items.pop(0)

class Foo:
    def __init__(self): self.one, self.two = threading.Event(), threading.Event()
    def first(self, say): say(); self.one.set()
    def second(self, say): self.one.wait(); say(); self.two.set()
    def third(self, say): self.two.wait(); say()

class Owned:
    def __init__(self): self.lock, self.n = threading.RLock(), 0
    def __enter__(self): self.lock.acquire()
    def __exit__(self, *error): self.lock.release()
    def add(self):
        with self: self.n += 1

class Bus:
    def __init__(self):
        self.heard, self.queue = [], queue.Queue()
        threading.Thread(target=self.run, daemon=True).start()
    def run(self):
        while True:
            x = self.queue.get()
            for listener in self.heard: listener(x)
            self.queue.task_done()

held = threading.local()
def set_user(x): held.x = x
def user(): return getattr(held, 'x', None)
def in_pool(f, xs, workers=4):
    with ThreadPoolExecutor(workers) as pool: return list(pool.map(f, xs))
def one_by_one(f, xs):
    for x in xs:
        thread = threading.Thread(target=f, args=(x,))
        thread.start()
        thread.join()
def at_once(f, xs):
    threads = [threading.Thread(target=f, args=(x,)) for x in xs]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
def later(seconds, f, *args): threading.Timer(seconds, f, args).start()
def fill(given, n):
    def run():
        for x in range(n): given.append(x); time.sleep(0.002)
    threading.Thread(target=run).start()
def wait_for(flags, done):
    def run():
        while not flags.get('stop'): time.sleep(0.002)
        done()
    threading.Thread(target=run, daemon=True).start()
def tells():
    def run(): print('said'); warnings.warn('late')
    threading.Thread(target=run).start()
def submit(f):
    pool = ThreadPoolExecutor(1)
    return pool.submit(f)
"""

STYLES = {
    "producer and consumer": """
q, got = S.BlockingQueue(2), []
threads = [threading.Thread(target=lambda: [q.put(x) for x in range(20)]), threading.Thread(target=lambda: got.extend(q.get() for _ in range(20)))]
for thread in threads: thread.start()
for thread in threads: thread.join(10)
assert got == list(range(20))""",
    "the first thread waits for another": """
q = S.BlockingQueue(1)
threading.Timer(0.05, q.put, [7]).start()
assert q.get() == 7""",
    "in order, whichever comes first": """
for order in itertools.permutations(range(3)):
    foo, said = S.Foo(), []
    jobs = [lambda: foo.first(lambda: said.append(1)), lambda: foo.second(lambda: said.append(2)), lambda: foo.third(lambda: said.append(3))]
    threads = [threading.Thread(target=jobs[at]) for at in order]
    for thread in threads: thread.start()
    for thread in threads: thread.join(10)
    assert said == [1, 2, 3]""",
    "a lock belongs to its thread": """
lock = S.Owned()
def work():
    for _ in range(10):
        with lock:
            lock.add()
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert lock.n == 40""",
    "what a thread keeps for itself": """
S.set_user('main')
with ThreadPoolExecutor(3) as pool:
    assert list(pool.map(lambda x: S.user(), range(9))) == [None] * 9
assert S.user() == 'main'""",
    "callbacks that wait for each other": """
barrier = threading.Barrier(4)
def meet(x):
    barrier.wait(10)
    return x, threading.get_ident()
met = S.in_pool(meet, range(4))
assert [x for x, _ in met] == [0, 1, 2, 3] and len({thread for _, thread in met}) == 4""",
    "how many at once": """
lock, active, peak = threading.Lock(), 0, 0
def work(x):
    nonlocal active, peak
    with lock:
        active += 1
        peak = max(peak, active)
    time.sleep(0.01)
    with lock: active -= 1
S.in_pool(work, range(9), 3)
assert peak <= 3""",
    "an event of the tests": """
event = threading.Event()
future = S.submit(lambda: event.wait(10))
assert not future.done()
event.set()
assert future.result(10) is True""",
    "a timer, while the tests sleep": """
got = []
S.later(0.02, got.append, 4)
assert got == []
time.sleep(0.5)
assert got == [4]""",
    "a list that a thread fills": """
given = []
S.fill(given, 5)
end = time.monotonic() + 10
while len(given) < 5 and time.monotonic() < end: S.user(); time.sleep(0.01)
assert given == [0, 1, 2, 3, 4]""",
    "a flag that a thread looks at": """
flags, done = {}, threading.Event()
S.wait_for(flags, done.set)
assert not done.wait(0.05)
flags['stop'] = True
S.user()
assert done.wait(10)""",
    "what a thread prints and warns of": """
S.at_once(lambda x: None, [1])
with pytest.warns(UserWarning, match='late'):
    S.tells()
    time.sleep(0.1)
    S.user()
assert capsys.readouterr().out == 'said\\n'""",
    "a bus": """
bus, got = S.Bus(), []
bus.heard.append(got.append)
for x in range(9): bus.queue.put(x)
bus.queue.join()
assert got == list(range(9))""",
    "many, one after the other and at once": """
got = []
S.one_by_one(got.append, range(150))
assert got == list(range(150))
S.at_once(got.append, range(40))
assert sorted(got[150:]) == list(range(40))
for x in range(150):
    thread = threading.Thread(target=S.set_user, args=(x,))
    thread.start()
    thread.join()""",
    "much both ways at once": """
much = 'x' * (2 << 20)
assert S.in_pool(lambda x: much, range(4)) == [much] * 4
threads = [threading.Thread(target=S.in_pool, args=(len, [much] * 2)) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()""",
    "beside an event loop": """
async def main():
    return await asyncio.gather(*(asyncio.to_thread(S.in_pool, str, [x]) for x in range(5)))
assert asyncio.run(main()) == [['0'], ['1'], ['2'], ['3'], ['4']]""",
}

PEER = "import sys, threading, time\nfrom program.border import stubs\npeer = stubs.Here.peer\n"
ASKS = "import threading, time\nimport solution as S\ndef test_a():\n    S.solve(lambda x: x)\n    assert S.solve(2) == 4\n"
HOSTILE = {
    "a check that fails in its thread, swallowed": (
        "import threading\ndef solve(f):\n    def run():\n        try: f(5)\n        except BaseException: pass\n"
        "    t = threading.Thread(target=run)\n    t.start(); t.join()\n",
        "import solution as S\ndef test_a():\n    def check(x): assert x == 4\n    S.solve(check)\n",
    ),
    "an object that equals all, from its thread": (
        "import threading\nclass All:\n    def __eq__(s, o): return True\n    __hash__ = object.__hash__\n"
        "def solve(f):\n    t = threading.Thread(target=f, args=(All(),))\n    t.start(); t.join()\n",
        "import solution as S\ndef test_a():\n    got = []\n    S.solve(got.append)\n    assert got[0] == 4\n",
    ),
    "more threads than it may have": (
        "import threading\ndef solve(f):\n    if f == 2: return 4\n    for _ in range(300): threading.Thread(target=f, args=(1,), daemon=True).start()\n",
        "import threading, time\nimport solution as S\ndef test_a():\n    S.solve(lambda x: time.sleep(30))\n    time.sleep(1)\n    assert S.solve(2) == 4\n",
    ),
    "a thread that looks at what the tests wrote": (
        "import threading, time\ndef solve(f, path):\n    def run():\n        while True:\n            f()\n"
        "            try: path.write_text(path.with_name('want').read_text())\n            except OSError: pass\n"
        "    threading.Thread(target=run, daemon=True).start()\n",
        "import time\nimport solution as S\ndef test_a(tmp_path):\n    S.solve(lambda: None, tmp_path / 'out')\n"
        "    (tmp_path / 'want').write_text('4')\n    time.sleep(0.5)\n    assert (tmp_path / 'out').read_text() == '4'\n",
    ),
    **{
        f"changes between two checks, with {how}": (
            f"import logging, warnings\n{PEER}def solve(f):\n    got = [9]\n    def run():\n        time.sleep(0.2)\n        got[0] = 1\n        {how}\n"
            "    threading.Thread(target=run, daemon=True).start()\n    return got\n",
            "import time\nimport solution as S\ndef test_a():\n    got = S.solve(2)\n    assert got[0] > 4\n    time.sleep(0.6)\n    assert got[0] < 4\n",
        )
        for how in ("pass", "print(1)", "warnings.warn('')", "logging.warning('')", "peer.request('getattr', got, 'x')", "peer.request('warn', '')")
    },
    **{
        f"forged: {along}": (
            f"{PEER}def solve(f):\n    peer.send(peer.packed('call', [1, {{'T': []}}], {along}))\n    return 4\n", ASKS,
        )
        for along in ("{'pair': 2}", "{'pair': True}", "{'pair': 1.5}", "{'pair': [3]}", "{'pair': {}}", "{'ended': 5}", "{'ended': [[]]}", "{'pair': -2}")
    },
    "forged: an answer to nothing": (
        f"{PEER}def solve(f):\n    peer.send(peer.packed('call', [1, {{'T': []}}], {{'pair': 3}}))\n"
        "    peer.send(peer.packed(0, 4, {'pair': 3}))\n    return 4\n", ASKS,
    ),
    "forged: requests without end": (
        f"{PEER}def solve(f):\n    message = peer.packed('call', [1, {{'T': []}}], {{'pair': 3}})\n"
        "    for _ in range(100000): peer.send(message)\n    return 4\n", ASKS,
    ),
    "forged: the thread of a test ends": (
        f"{PEER}def solve(x):\n    peer.send(peer.packed('look', [], {{'pair': 3, 'ended': [2, 4, 6]}}))\n    time.sleep(0.3)\n    return 5\n",
        "import threading\nimport solution as S\ndef test_a():\n    def check(): assert S.solve(2) == 4\n"
        "    t = threading.Thread(target=check)\n    t.start(); t.join()\n",
    ),
}  # fmt: skip


def job(style: str) -> Job:
    imports = "import asyncio, itertools, pytest, threading, time\nfrom concurrent.futures import ThreadPoolExecutor\nimport solution as S\n"
    return Job(CANDIDATE, f"{imports}def test_a(capsys):\n{textwrap.indent(style, '    ')}\n", "pytest", timeout=30.0)


def test_threads_wait_for_each_other(sandbox: Sandbox) -> None:
    found = dict(zip(STYLES, sandbox.run(map(job, STYLES.values())), strict=True))
    assert {name: verdict.reason for name, verdict in found.items() if not verdict.passed} == {}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_thread_gets_a_verdict(sandbox: Sandbox, name: str) -> None:
    (verdict,) = sandbox.run([Job(*HOSTILE[name], "pytest", timeout=10.0)])
    assert verdict.status in ("failed", "timeout", "limit"), verdict


ASKING = "def ask(x):\n    return x + 1\ndef long(x):\n    return sum(range(10 ** 8))\ndef uses(g):\n    return g(1)\n"
IN_POOL = "from concurrent.futures import ThreadPoolExecutor\ndef solve(f, xs):\n    with ThreadPoolExecutor(4) as pool: return list(pool.map(f, xs))\n"
LEAVES = """import threading, time
def solve(f, xs):
    def run():
        while True: f(lambda x: [][0])
    for _ in range(3): threading.Thread(target=run, daemon=True).start()
    return [2, 3]
"""


@pytest.mark.slow
def test_a_thread_outlives_no_job(sandbox: Sandbox) -> None:
    """Tests of plain functions are judged by one process, one job after the other."""
    honest = Job(IN_POOL, [f"{ASKING}assert solve(ask, [1, 2]) == [2, 3]"], "asserts")
    hostile = [
        Job(LEAVES, [f"{ASKING}assert solve({name}, [1, 2]) == [2, 3]"], "asserts", timeout=2.0)
        for name in ("ask", "long", "uses")
    ]
    verdicts = sandbox.run([job for one in hostile for job in (one, honest, honest, honest)] * 2)
    assert [verdict for at, verdict in enumerate(verdicts) if at % 4 and not verdict.passed] == []
