"""A C++ program with 20 tests, judged by `code` and by SandboxFusion's own runner, in turns.

    python benchmarks/sandboxfusion.py --python VENV/bin/python --checkout SandboxFusion [--rounds 3]

`VENV` has SandboxFusion's dependencies, `SandboxFusion` is a checkout of github.com/bytedance/SandboxFusion. Its runner is called in
a process of its own, without its server, its isolation off, its limits wide, and up to three tests at a time as its own
configuration has it: all that speaks for it. Its own path compiles the program for each test; printed beside that is what its
runner takes to start a program that is compiled already, which no request to it can ask for. `code` has compiled the program
before, as for every completion but the first, and isolates each run.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import time
from pathlib import Path

from code_speed import SORT

from grpo_rewards import get_reward
from grpo_rewards.types import Batch

THEIRS = """
import asyncio, json, subprocess, sys, tempfile, time
import structlog
structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
from sandbox.runners.base import run_command_bare
from sandbox.runners.major import get_cpp_rt_flags, run_cpp
from sandbox.runners.types import CodeRunArgs

given = json.loads(sys.stdin.readline())
folder = tempfile.mkdtemp()
open(folder + "/a.cpp", "w").write(given["code"])
subprocess.run(["g++", "-O2", "-std=c++17", "a.cpp", "-o", "test"], cwd=folder, check=True)

async def own(test):
    async with limit:
        found = await run_cpp(CodeRunArgs(code=given["code"], stdin=test["input"], compile_timeout=60, run_timeout=60))
        return found.run_result.stdout

async def compiled(test):
    async with limit:
        return (await run_command_bare("./test", 60, test["input"], folder)).stdout

async def main():
    global limit
    limit = asyncio.Semaphore(3)
    await get_cpp_rt_flags()
    for line in sys.stdin:
        way = {"own": own, "compiled": compiled}[line.strip()]
        begun = time.perf_counter()
        found = await asyncio.gather(*map(way, given["tests"]))
        seconds = time.perf_counter() - begun
        assert [one.split() for one in found] == [test["output"].split() for test in given["tests"]]
        print(seconds, flush=True)

asyncio.run(main())
"""


def main() -> None:
    """Run the three ways in turns and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--checkout", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    lists = [[(index * 7919 + place * 104729) % 1000003 for place in range(200)] for index in range(20)]
    tests = [{"input": f"{len(one)}\n{' '.join(map(str, one))}\n", "output": " ".join(map(str, sorted(one)))} for one in lists]  # fmt: skip
    batch = Batch.from_rows([{"tests": tests, "language": "cpp", "completion": f"```cpp\n{SORT}```"}])
    code = get_reward("code").with_(sandbox="local", workers=1)
    theirs = subprocess.Popen(
        [options.python, "-c", THEIRS], cwd=options.checkout, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    tell, hear = theirs.stdin, theirs.stdout
    assert tell is not None
    assert hear is not None
    tell.write(json.dumps({"code": SORT, "tests": tests}) + "\n")

    def ours() -> float:
        begun = time.perf_counter()
        (outcome,) = code.outcomes(batch)
        assert outcome.value == 1.0, outcome
        return time.perf_counter() - begun

    def asked(way: str) -> float:
        tell.write(way + "\n")
        tell.flush()
        return float(hear.readline())

    ours()  # compiles
    asked("compiled")
    seconds: dict[str, list[float]] = {"code": [], "own": [], "compiled": []}
    for _ in range(options.rounds):
        for _ in range(5):
            seconds["code"].append(ours())
            seconds["compiled"].append(asked("compiled"))
        seconds["own"].append(asked("own"))
    tell.close()
    theirs.wait()
    found = {name: statistics.median(some) for name, some in seconds.items()}
    print(f"a C++ program with {len(tests)} tests, medians of {options.rounds} rounds")
    print(f"  code, compiled before                   {found['code'] * 1e3:9.1f} ms")
    print(
        f"  SandboxFusion's runner, its own path    {found['own'] * 1e3:9.1f} ms   {found['own'] / found['code']:6.1f} x"
    )
    print(
        f"  the same runner, a compiled program     {found['compiled'] * 1e3:9.1f} ms   {found['compiled'] / found['code']:6.1f} x"
    )


if __name__ == "__main__":
    main()
