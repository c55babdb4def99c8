"""While the tests work on files of the folder that both share nothing of the candidate runs, and it has its turn when they wait."""

from __future__ import annotations

import pytest
from grpo_rewards_sandbox import Job, Sandbox

pytestmark = pytest.mark.slow

COPIES = """
import ctypes, os, signal, threading
def copy(out):
    while True:
        try:
            with open(os.path.join(os.path.dirname(out), "want")) as file: text = file.read()
            if text:
                with open(out, "w") as file: file.write(text)
        except OSError: pass
def beside(out): threading.Thread(target=copy, args=[out], daemon=True).start()
"""
# the last lines of `solve(out)`: how it comes to copy what the tests write after it
HOSTILE = {
    "a thread": "beside(out)",
    "ten threads": "for _ in range(10): beside(out)",
    "a child": "if os.fork() == 0: copy(out)",
    "a grandchild, of nobody": (
        "if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0: copy(out)\n        os._exit(0)"
    ),
    "a chain of forks": (
        "if os.fork() == 0:\n        while True:\n            if os.fork(): os._exit(0)\n"
        "            try: open(out, 'w').write(open(os.path.join(os.path.dirname(out), 'want')).read())\n"
        "            except OSError: pass"
    ),
    "a child that wakes it": (
        "me = os.getpid()\n    beside(out)\n    if os.fork() == 0:\n        while True: os.kill(me, signal.SIGCONT)"
    ),
    "another name of the file": "os.link(out, os.path.join(os.path.dirname(out), 'want'))",
    # sixty times, once each: the kernel forgets a timer of which the signal is on its way as a process is stopped
    "timers that wake it": (
        "signal.signal(signal.SIGCONT, lambda *_: None)\n    event = (ctypes.c_int * 16)(0, 0, signal.SIGCONT, 0)\n"
        "    libc = ctypes.CDLL(None)\n    for at in range(1, 61):\n"
        "        timer, (s, ms) = ctypes.c_void_p(), divmod(50 * at, 1000)\n"
        "        assert libc.timer_create(1, event, ctypes.byref(timer)) == 0\n"
        "        libc.timer_settime(timer, 0, (ctypes.c_long * 4)(0, 0, s, 1000000 * ms), None)\n    beside(out)"
    ),
}  # fmt: skip
COMPARE = """
import random, time
from solution import solve
def test_it(tmp_path):
    early = open(tmp_path / "{early}", "w")
    solve(str(tmp_path / "out"))
    {write}
    end = time.perf_counter() + 0.3
    while time.perf_counter() < end: pass
    assert (tmp_path / "out").read_text() == (tmp_path / "want").read_text()
"""
WRITES = {
    "anew": "(tmp_path / 'want').write_text('right')",
    "more": "with open(tmp_path / 'want', 'a') as file: file.write('right')",
    "moved there": "(tmp_path / 'other').write_text('right'); (tmp_path / 'other').rename(tmp_path / 'want')",
    "to a file that was open before": "early.write('right'); early.close()",
    "before a seed": "(tmp_path / 'want').write_text('right'); random.seed(1)",
    "before a wait": "(tmp_path / 'want').write_text('right'); time.sleep(0.3)",
}  # fmt: skip
WATCHER = """
import os, threading, time
class Watcher:
    def __init__(self, folder, tell): self.folder, self.tell, self.on = folder, tell, True
    def run(self):
        seen = set()
        while self.on:
            for name in sorted(set(os.listdir(self.folder)) - seen):
                seen.add(name)
                self.tell(open(os.path.join(self.folder, name)).read() * COUNT)
            time.sleep(0.005)
    def start(self):
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
    def stop(self):
        self.on = False
        self.thread.join()
"""
WAITS = {
    "an event": "event = threading.Event(); w = Watcher(tmp_path, lambda text: (got.append(text), event.set()))",
    "a queue": "queue = Queue(); w = Watcher(tmp_path, queue.put)",
    "looks": "w = Watcher(tmp_path, got.append)",
}
UNTIL = {
    "an event": "assert event.wait(10)",
    "a queue": "got.append(queue.get(timeout=10))",
    "looks": "while not got: time.sleep(0.002)",
}


def compare(write: str) -> str:
    return COMPARE.format(write=WRITES[write], early="want" if "early" in WRITES[write] else "early")


def solving(how: str) -> str:
    return f"{COPIES}def solve(out):\n    open(out, 'w').close()\n    {how}\n"


@pytest.mark.parametrize("how", HOSTILE)
def test_nothing_copies_what_the_tests_write(sandbox: Sandbox, how: str) -> None:
    tests = compare("anew")
    for verdict in sandbox.run([Job(solving(HOSTILE[how]), tests, "pytest", timeout=5.0)] * 2):
        assert verdict.status in ("failed", "timeout", "limit"), verdict


@pytest.mark.parametrize("write", WRITES)
def test_no_way_to_write_is_seen(sandbox: Sandbox, write: str) -> None:
    honest = "def solve(out):\n    with open(out, 'w') as file: file.write('right')\n"
    texts = (honest, *(solving(HOSTILE[how]) for how in ("a thread", "another name of the file")))
    right, *copied = sandbox.run([Job(text, compare(write), "pytest", timeout=5.0) for text in texts])
    assert [verdict.status for verdict in copied] == ["failed"] * 2, copied
    if write == "before a wait":  # what changed while the tests waited may be a copy: they read it after a call
        assert "waited" in copied[0].reason
    assert right.passed, right


def test_a_thread_of_the_tests_that_asks_gives_it_no_turn_of_another(sandbox: Sandbox) -> None:
    asks = "    threading.Thread(target=lambda: [ping() for _ in iter(int, 1)], daemon=True).start()\n"
    before, after = (
        compare("anew")
        .replace("import solve", "import ping, solve")
        .replace("import ", "import threading, ", 1)
        .split("    solve(")
    )
    tests, ping = f"{before}{asks}    solve({after}", "def ping(): pass\n"
    honest = "def solve(out):\n    with open(out, 'w') as file: file.write('right')\n"
    right, *copied = sandbox.run(
        [Job(text + ping, tests, "pytest", timeout=10.0) for text in (honest, *[solving(HOSTILE["a thread"])] * 3)]
    )
    assert right.passed, right
    assert [verdict.status for verdict in copied] == ["failed"] * 3, copied


def test_what_ran_all_the_same_fails_the_job(sandbox: Sandbox) -> None:
    woken = solving(HOSTILE["timers that wake it"].rpartition("\n")[0]) + "    return 4\n"
    tests = compare("anew").partition("    assert")[0] + "    assert solve(str(tmp_path / 'b')) == 4\n"
    (verdict,) = sandbox.run([Job(woken, tests, "pytest", timeout=10.0)])
    assert verdict.status == "failed"
    assert "had to stand still" in verdict.reason


@pytest.mark.parametrize("waits", WAITS)
def test_it_has_its_turn_while_the_tests_wait(sandbox: Sandbox, waits: str) -> None:
    tests = (
        "import threading, time\nfrom queue import Queue\nfrom solution import Watcher\ndef test_it(tmp_path):\n    got = []\n"
        f"    {WAITS[waits]}\n    w.start()\n    (tmp_path / 'a').write_text('ab')\n    {UNTIL[waits]}\n    w.stop()\n"
        "    assert got == ['abab']\n"
    )
    right, wrong = (Job(WATCHER.replace("COUNT", str(count)), tests, "pytest", timeout=20.0) for count in (2, 3))
    assert [verdict.status for verdict in sandbox.run([right, wrong])] == ["passed", "failed"]
