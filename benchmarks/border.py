"""What a call across the border costs: processor time of both sides, and calls a second through the sandbox; JSON on stdout.

    python benchmarks/border.py [--calls 20000] [--rounds 5]

`sides` are the two peers in two processes on one processor, without a sandbox around them: microseconds of processor time a
call, of the tests' side, the candidate's and both, medians of rounds. That figure hardly depends on what else the machine
does. `sandbox` are whole jobs, with calls and with none: their difference is what the calls took on the wall, and needs a quiet
machine; a slow one makes fewer of them.
Two commits are compared by running this file against each of them in turns (PYTHONPATH).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from typing import Any

from grpo_rewards_sandbox import Job, open_sandbox

CANDIDATE = """
class Counter:
    def __init__(self): self.total = 0; self.kept = {}
    def add(self, number): self.total += number; return self.total
    def put(self, key, value): self.kept[key] = value
    def get(self, key): return self.kept.get(key, -1)

def double(number): return 2 * number
"""
CALLS = {
    "a method, an integer": "counter.add(3)",
    "a method, two arguments": "counter.put('key', 3)",
    "a method, a text": "counter.get('key')",
    "a function": "double(3)",
    "an attribute": "counter.total",
}
BAR = 25_000.0  # calls a second on a quiet core
FEW, MOST = 2_000, 100_000  # calls of a job
# that the calls of a round between two peers, and those of all rounds of the sandbox, take at most, about
ROUND, SECONDS = 0.4, 10.0


def sides(call: str, calls: int) -> dict[str, float]:
    """Microseconds of processor time that a call takes of each side, both on one processor."""
    from grpo_rewards_sandbox.program.border import candidate, messages, trusted

    mine, theirs = messages.pipes()
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})
    pid = os.fork()
    if pid == 0:
        mine.close()
        peer = candidate.CandidatePeer()
        candidate.prepare(peer)
        peer.serve_on(theirs)
        os._exit(0)
    theirs.close()
    peer = trusted.TrustedPeer(mine, under_test=frozenset(["Counter"]), module_name="solution")
    module, _ = peer.request("load", CANDIDATE, "solution")
    names: dict[str, Any] = {"counter": module.Counter(), "double": module.double}
    exec(f"def run(calls):\n    for _ in range(calls):\n        {call}", names)  # noqa: S102  the text above
    start = time.perf_counter()
    names["run"](calls // 10)
    calls = min(calls, max(calls // 10, round(calls // 10 / (time.perf_counter() - start) * ROUND)))
    before, wall, theirs_before = time.process_time(), time.perf_counter(), _ran(pid)
    names["run"](calls)
    own, wall, other = time.process_time() - before, time.perf_counter() - wall, _ran(pid) - theirs_before
    mine.close()
    os.waitpid(pid, 0)
    os.sched_setaffinity(0, processors)
    return {"tests": own / calls * 1e6, "candidate": other / calls * 1e6, "both": (own + other) / calls * 1e6}


def _ran(pid: int) -> float:
    return time.clock_gettime(~pid << 3 | 2)  # the kernel's number for the processor time of another process


def through_sandbox(rounds: int) -> tuple[float, int]:
    """Calls a second of a job, without what a job with none takes, and how many calls that job had: fewer on a slow machine."""

    def job(count: int) -> Job:
        test = f"counter = Counter()\nfor at in range({count}): counter.add(1)\nassert counter.add(0) == {count}"
        return Job(CANDIDATE, [test], "asserts", timeout=120.0, classes=("Counter",))

    def seconds(count: int) -> float:
        start = time.perf_counter()
        (verdict,) = sandbox.run([job(count)])
        if not verdict.passed:
            raise SystemExit(f"the job did not pass: {verdict}")
        return time.perf_counter() - start

    with open_sandbox("local", workers=1) as sandbox:
        seconds(0)  # the first job starts the processes
        rate = FEW / max(seconds(FEW) - seconds(0), 1e-3)
        calls = round(min(max(rate * SECONDS / rounds, FEW), MOST))
        found = [(seconds(0), seconds(calls)) for _ in range(rounds)]
    without, with_calls = (statistics.median(part) for part in zip(*found, strict=True))
    return calls / (with_calls - without), calls


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sides-only", action="store_true", help="only the processor time of both sides")
    asked = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    for name, call in CALLS.items():
        rounds = [sides(call, asked.calls) for _ in range(asked.rounds)]
        found[name] = {side: round(statistics.median(one[side] for one in rounds), 1) for side in rounds[0]}
    report: dict[str, Any] = {"python": platform.python_version(), "cores": os.cpu_count(), "load": os.getloadavg()[0]}
    report["sides"] = found
    if not asked.sides_only:
        rate, calls = through_sandbox(asked.rounds)
        report["sandbox"] = {"calls a second": round(rate), "calls": calls, "bar": f"≥ {BAR:g}", "met": rate >= BAR}
    print(json.dumps(report, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
