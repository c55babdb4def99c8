"""What slow rows cost `score`: a judge whose answers take long at times, and programs of which a few hang.

    python benchmarks/scheduling.py [--rows 300] [--programs 480] [--hanging 8] [--only judge|code] [--after]

Prints one JSON object. Each part has the `ideal` in seconds, `after` (what `score` takes in one process), and `before`: the same
rows chunk by chunk, each of which waits for its slowest row, as `score` did once (left out with --after). Times are those of scoring; both ways pay the
same for the command's start.

- ``judge``: an async reward with 64 calls under way, whose answers take lognormal times of median 1 s (sigma 1). The ideal gives
  each free place the next row.
- ``code``: programs of which some loop without end, up to the limit of 4 s, with 8 sandbox workers. The ideal is the time of
  the same programs with none hanging, measured in this run, and the hanging ones' limits on the cores: a limit is processor
  time, so that load makes no verdict, and what loops on a core takes it from the others. `sleeping_...`: the same with programs
  that sleep without end, which need no core, so that the ideal has all of the workers wait for them at once.
"""

from __future__ import annotations

import argparse
import asyncio
import heapq
import json
import random
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from grpo_rewards import Composite, reward
from grpo_rewards._scoring import score_file
from grpo_rewards._scoring.chunks import Pace, make_chunks
from grpo_rewards._scoring.reading import open_source
from grpo_rewards._scoring.scored import score_samples
from grpo_rewards.slots import cores

IN_FLIGHT = 64
LIMIT, WORKERS = 4.0, 8


def answer_time(row: int) -> float:
    """The seconds that the judge takes over a row."""
    return random.Random(row).lognormvariate(0, 1)


@reward(range=(0.0, 1.0), workers=IN_FLIGHT)
async def judge(completion: str) -> float:
    """Answers after a while."""
    await asyncio.sleep(answer_time(int(completion)))
    return 1.0


def before(path: Path, composite: Composite) -> float:
    """The seconds that the rows take chunk by chunk."""
    started = time.perf_counter()
    pace = Pace()
    for chunk in make_chunks(open_source(path), pace):
        pace.took(len(chunk.samples), score_samples(composite, chunk.samples).seconds)
    return time.perf_counter() - started


def after(path: Path, composite: Composite) -> float:
    """The seconds that `score` takes for the rows."""
    return score_file(path, composite, out=path.with_suffix(".scored.jsonl"), force=True).seconds


def written(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows as JSONL."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def report(ideal: float, path: Path, composite: Composite, both: bool) -> dict[str, float]:
    """Measure one way or both and compare with the ideal."""
    new = after(path, composite)
    figures = {"ideal": ideal, "after": new, "after_over_ideal": new / ideal}
    if both:
        figures["before"] = before(path, composite)
    return {name: round(value, 2) for name, value in figures.items()}


def of_judge(folder: Path, rows: int, both: bool) -> dict[str, float]:
    """Rows that wait for a judge."""
    places = [0.0] * IN_FLIGHT
    for row in range(rows):
        heapq.heapreplace(places, places[0] + answer_time(row))
    path = written(folder / "judge.jsonl", ({"completion": str(row)} for row in range(rows)))
    return report(max(places), path, Composite({"rewards": {"judge": {"use": judge}}}), both)


LOOPS = "    while True:\n        n += 1"
SLEEPS = "    import time\n    time.sleep(1000)"


def programs(rows: int, hanging: int, how: str = LOOPS) -> Iterable[dict[str, Any]]:
    """Programs that add; `hanging` of them, spread over the rows, loop or sleep without end."""
    every = rows // hanging if hanging else 0
    for row in range(rows):
        hangs = every > 0 and row % every == every // 2
        body = how if hangs else f"    return n + {row % 3}"
        code = f"def f(n):\n    # {row}\n{body}\n"
        yield {"prompt": f"p{row // 8}", "completion": f"```python\n{code}```", "tests": ["assert f(1) == 2"]}


def of_code(folder: Path, rows: int, hanging: int, both: bool) -> dict[str, float]:
    """Rows that run programs."""
    composite = Composite({"rewards": {"code": {"params": {"timeout": LIMIT, "workers": WORKERS}}}})
    composite.score([*programs(WORKERS, 0)])  # the sandbox has started
    none = min(after(written(folder / "none.jsonl", programs(rows, 0)), composite) for _ in range(2))
    path = written(folder / "code.jsonl", programs(rows, hanging))
    loops = report(none + hanging * LIMIT / min(WORKERS, cores()), path, composite, both)
    path = written(folder / "sleep.jsonl", programs(rows, hanging, SLEEPS))
    sleeps = report(none + -(-hanging // WORKERS) * LIMIT, path, composite, both)  # who sleeps needs no processor
    return {**loops, **{f"sleeping_{name}": value for name, value in sleeps.items()}}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--programs", type=int, default=480)
    parser.add_argument("--hanging", type=int, default=8)
    parser.add_argument("--only", choices=("judge", "code"))
    parser.add_argument("--after", action="store_true", help="leave out what it is compared with, which takes minutes")
    options = parser.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        if options.only != "code":
            found["judge"] = of_judge(Path(scratch), options.rows, not options.after)
        if options.only != "judge":
            found["code"] = of_code(Path(scratch), options.programs, options.hanging, not options.after)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
