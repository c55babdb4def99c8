"""What the reward `code` costs beside the bare work: calls, compiled programs, and batches of several languages.

    python benchmarks/code_speed.py [--rounds 15] [--only calls,compiled,mixed]

All ways of a part take turns in one process. Printed are medians of the wall clock and their ratios, and the same of the
processor time of all that worked for it.

calls: 1,000 call tests of one row, beside a bare loop in this process (read the cell, run the program, call, compare) plus one verdict
(the same row with one test). A group's completions, and those that a trainer asks for one by one, are of a row that is known after the
first of them; of a new row all tests are read each time.
compiled: a C++ program with 20 tests, compiled already, beside starting it bare for each test.
mixed: 128 programs in four languages in one batch, beside each language's 32 alone; new programs each time.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from processes import processor_seconds

from grpo_rewards import get_reward
from grpo_rewards.types import Batch

SORT = """#include <bits/stdc++.h>
int main() {
    int n; std::cin >> n;
    std::vector<long long> a(n);
    for (auto &x : a) std::cin >> x;
    std::sort(a.begin(), a.end());
    for (auto x : a) std::cout << x << ' ';
    std::cout << '\\n';
}
"""
MERGE = """def merge(intervals):
    out = []
    for low, high in sorted(intervals):
        if out and low <= out[-1][1]:
            out[-1][1] = max(out[-1][1], high)
        else:
            out.append([low, high])
    return out
"""
LONGEST = """def longest(nums):
    best = [1] * len(nums)
    for i in range(len(nums)):
        for j in range(i):
            if nums[j] < nums[i]:
                best[i] = max(best[i], best[j] + 1)
    return max(best)
"""
SUMS = {
    "python": "print(sum(map(int, input().split())))",
    "cpp": '#include <cstdio>\nint main() { long long s = 0, x; while (scanf("%lld", &x) == 1) s += x; printf("%lld", s); }',
    "javascript": "console.log(require('fs').readFileSync(0, 'utf8').split(' ').reduce((a, b) => a + Number(b), 0));",
    "ruby": "puts gets.split.map(&:to_i).sum",
}
Way = Callable[[], None]


def measured(ways: dict[str, Way], rounds: int) -> dict[str, tuple[float, float]]:
    """Run all ways in turns; return the median seconds of each, and the mean of its processor time."""
    wall: dict[str, list[float]] = {name: [] for name in ways}
    ran: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, way in ways.items():
            before, begun = processor_seconds(), time.perf_counter()
            way()
            if number:  # the first round opens sandboxes and compiles
                wall[name].append(time.perf_counter() - begun)
                ran[name].append(processor_seconds() - before)
    found = {name: (statistics.median(wall[name]), statistics.mean(ran[name])) for name in ways}
    for name, (seconds, processor) in found.items():
        print(f"  {name:24} {seconds * 1e3:9.1f} ms   processor {processor * 1e3:9.1f} ms")
    return found


def ratio(name: str, over: tuple[float, float], under: tuple[float, float], bar: float) -> None:
    """Print how the one stands to the other."""
    print(f"  {name}: {over[0] / under[0]:.2f} (processor {over[1] / under[1]:.2f}); bar {bar}")


def judge(code: Any, rows: list[dict[str, Any]]) -> None:
    """Score rows; all must pass."""
    found = code.outcomes(Batch.from_rows(rows))
    assert all(one.value == 1.0 for one in found), [one for one in found if one.value != 1.0][:1]


def calls(rounds: int) -> None:
    """1,000 call tests of one row, of two kinds: little data and some work, as sites have it; and much data with hardly any work."""
    lists = [[(seed * 7919 + k * 104729) % 5003 for k in range(12)] for seed in range(1000)]
    spans = [[[(seed * 7919 + k * 104729) % 5003, (seed * 31 + k * 17) % 6007 + 5003] for k in range(40)] for seed in range(1000)]  # fmt: skip
    for title, name, program, given in (
        ("12 numbers each, quadratic work", "longest", LONGEST, lists),
        ("80 numbers each, linear work", "merge", MERGE, spans),
    ):
        _calls(rounds, title, name, program, given)


def _calls(rounds: int, title: str, name: str, program: str, given: list[Any]) -> None:
    code = get_reward("code").with_(sandbox="local", workers=1)
    space: dict[str, Any] = {}
    exec(program, space)  # noqa: S102  the program above
    wanted = [space[name](json.loads(json.dumps(one))) for one in given]
    rows = {}
    for kind, count in (("all", 1000), ("one", 1)):
        tests = {
            "fn_name": name,
            "inputs": [[one] for one in given[:count]],
            "outputs": [[one] for one in wanted[:count]],
        }
        rows[kind] = {"input_output": json.dumps(tests), "completion": f"```python\n{program}```"}

    def loop() -> None:
        names: dict[str, Any] = {}
        exec(program, names)  # noqa: S102  the program above
        tests = json.loads(rows["all"]["input_output"])
        for arguments, (result,) in zip(tests["inputs"], tests["outputs"], strict=True):
            assert names[name](*arguments) == result

    print(f"calls: 1,000 tests of one row, {title}")
    number = iter(range(1 << 30))
    ways: dict[str, Way] = {
        "bare loop": loop,
        "one verdict": lambda: judge(code, [rows["one"]]),
        "1,000 tests": lambda: judge(code, [rows["all"]]),
        "1,000 tests, new row": lambda: judge(code, [{**rows["all"], "number": next(number)}]),
    }
    found = measured(ways, rounds)
    both = tuple(a + b for a, b in zip(found["bare loop"], found["one verdict"], strict=True))
    for way in ("1,000 tests", "1,000 tests, new row"):
        ratio(f"{way} / (bare loop + one verdict)", found[way], (both[0], both[1]), 1.3)


def compiled(rounds: int) -> None:
    """A compiled C++ program with 20 tests."""
    lists = [[(index * 7919 + place * 104729) % 1000003 for place in range(200)] for index in range(20)]
    tests = [{"input": f"{len(one)}\n{' '.join(map(str, one))}\n", "output": " ".join(map(str, sorted(one)))} for one in lists]  # fmt: skip
    code = get_reward("code").with_(sandbox="local", workers=1)
    row = {"tests": tests, "language": "cpp", "completion": f"```cpp\n{SORT}```"}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "main"
        Path(folder, "main.cpp").write_text(SORT)
        subprocess.run(["g++", "-O2", "-std=gnu++17", "-o", program, f"{program}.cpp"], check=True)

        def bare() -> None:
            for test in tests:
                done = subprocess.run([program], input=test["input"].encode(), capture_output=True, check=True)
                assert done.stdout.decode().split() == test["output"].split()

        print("compiled: a C++ program with 20 tests")
        found = measured({"bare fork and exec": bare, "judged": lambda: judge(code, [row])}, rounds)
    ratio("judged / bare", found["judged"], found["bare fork and exec"], 2.0)


def mixed(rounds: int) -> None:
    """128 programs in four languages, in one batch and language by language; new ones each time, so compiled each time."""
    tests = [{"input": f"{n} {n + 1} {n * n}", "output": str(2 * n + 1 + n * n)} for n in range(3)]
    code = get_reward("code").with_(sandbox="local")
    salt = iter(range(1 << 30))

    def programs(language: str) -> list[dict[str, Any]]:
        mark = "#" if language in ("python", "ruby") else "//"
        texts = [f"{SUMS[language]}\n{mark} {next(salt)}" for _ in range(32)]
        return [{"tests": tests, "language": language, "completion": f"```{language}\n{text}\n```"} for text in texts]

    def together() -> None:
        rows = [programs(language) for language in SUMS]
        judge(code, [some[number] for number in range(32) for some in rows])

    ways: dict[str, Way] = {}
    for name in SUMS:
        ways[f"32 {name} alone"] = partial(lambda language: judge(code, programs(language)), name)
    ways["128 mixed"] = together
    print(f"mixed: 128 programs in {', '.join(SUMS)}, each with {len(tests)} tests")
    found = measured(ways, rounds)
    each = [found[f"32 {name} alone"] for name in SUMS]
    ratio("mixed / the sum of each alone", found["128 mixed"], (sum(one[0] for one in each), sum(one[1] for one in each)), 1.0)  # fmt: skip


def main() -> None:
    """Run the parts."""
    parts: dict[str, Callable[[int], None]] = {"calls": calls, "compiled": compiled, "mixed": mixed}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default=",".join(parts))
    given = parser.parse_args()
    for name in given.only.split(","):
        parts[name](given.rounds)


if __name__ == "__main__":
    main()
