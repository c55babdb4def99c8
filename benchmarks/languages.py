"""What judging a whole program costs beside starting it bare: a C++ program with 20 tests, compiled already.

    python benchmarks/languages.py [ROUNDS]

Both ways take turns in one process, and the median of all rounds counts: of the wall clock, and of the processor time of
all that worked for it. Needs g++.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from grpo_rewards_sandbox import Job, open_sandbox

SOURCE = """#include <bits/stdc++.h>
int main() {
    int n; std::cin >> n;
    std::vector<long long> a(n);
    for (auto &x : a) std::cin >> x;
    std::sort(a.begin(), a.end());
    for (auto x : a) std::cout << x << ' ';
    std::cout << '\\n';
}
"""
TESTS = 20


def cases() -> list[dict[str, str]]:
    """Return lists to sort, and their order."""
    found = []
    for index in range(TESTS):
        numbers = [(index * 7919 + place * 104729) % 1000003 for place in range(200)]
        text = " ".join(map(str, numbers))
        found.append({"input": f"{len(numbers)}\n{text}\n", "output": " ".join(map(str, sorted(numbers)))})
    return found


def bare(program: Path, tests: list[dict[str, str]]) -> None:
    """Start the program once for each test, as any script does."""
    for test in tests:
        done = subprocess.run([program], input=test["input"].encode(), capture_output=True, check=True)
        assert done.stdout.decode().split() == test["output"].split()


def processor_time(sandbox_pids: list[int]) -> float:
    """Seconds that this process, its children and the supervisors with their children have run."""
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    ran = sum(one.ru_utime + one.ru_stime for one in own)
    below = list(sandbox_pids)
    for pid in below:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ran += sum(map(int, fields[11:15])) / 100
        below += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return ran


def main() -> None:
    """Print the medians and their ratio."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    tests = cases()
    with tempfile.TemporaryDirectory() as folder, open_sandbox("local", workers=1) as sandbox:
        program = Path(folder) / "main"
        Path(folder, "main.cpp").write_text(SOURCE)
        subprocess.run(["g++", "-O2", "-std=gnu++17", "-o", program, f"{program}.cpp"], check=True)
        job = Job(SOURCE, list(tests), "stdio", language="cpp", compare="tokens", timeout=20.0)

        def judged() -> None:
            (verdict,) = sandbox.run([job])
            assert verdict.passed, verdict

        judged()
        pids = [worker.pid for worker in sandbox._live]  # type: ignore[attr-defined]
        ways: dict[str, Callable[[], None]] = {"bare": lambda: bare(program, tests), "judged": judged}
        wall: dict[str, list[float]] = {name: [] for name in ways}
        ran: dict[str, float] = dict.fromkeys(ways, 0.0)
        for _ in range(rounds):
            for name, way in ways.items():
                before, begun = processor_time(pids), time.perf_counter()
                way()
                wall[name].append(time.perf_counter() - begun)
                ran[name] += processor_time(pids) - before
    for name in ways:
        print(f"{name:7} {statistics.median(wall[name]) * 1e3:7.1f} ms  processor {ran[name] / rounds * 1e3:7.1f} ms")
    print(
        f"ratio   {statistics.median(wall['judged']) / statistics.median(wall['bare']):.2f}  processor {ran['judged'] / ran['bare']:.2f}"
    )


if __name__ == "__main__":
    main()
