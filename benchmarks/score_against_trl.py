"""Rows per second of `score` with math + format + length, beside TRL's own reward functions called in a loop, in one run.

    python benchmarks/score_against_trl.py [--data ../shared/data] [--repeat 5]

Prints one JSON object. The rows: the arithmetic ones of examples/reasoning.jsonl, as they are (`<answer>`, which TRL does
not look into: it finds no answer at all there) and with the same answer in a box; and with --data the GSM8K solutions that
four models wrote (gsm8k/model_solutions.jsonl), each closing in a box. Ours is `score` from end to end: reading the file,
scoring with every reason, groups, statistics, writing the scored file. TRL's are accuracy_reward, think_format_reward and
get_soft_overlong_punishment, called group by group on rows that are in memory already. Both see the same completions and
token ids, each in a process of its own. They take turns of half a second or one pass, since a machine that others use too
may be twice as fast a minute later. The best pass of at least --repeat turns counts, after one that warms up;
`ratio_of_turns` is the median of the turns' own ratios, and `cpu_ratio` is that of processor seconds, which other work
disturbs less.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

from reasoning import COMPOSITE, Row, example_rows, gsm8k_rows, trl_way

_TURN = 0.5  # seconds
_LEAST = 8.0


class Ours:
    """`score`, from file to file; the file that it writes is not there before."""

    def __init__(self, source: Path) -> None:
        from grpo_rewards import Composite

        self._source, self._out = source, source.with_suffix(".scored.jsonl")
        self._composite = Composite(COMPOSITE)

    def prepare(self) -> None:
        """Remove what the turn before wrote."""
        for path in self._source.parent.glob(f"{self._out.name}*"):
            path.unlink()

    def run(self) -> None:
        """Score the file once."""
        from grpo_rewards._scoring import score_file

        score_file(self._source, self._composite, out=self._out)

    def right(self) -> list[float | None]:
        """What the first component said of each row."""
        return [json.loads(line)["grpo_rewards"]["components"]["correct"]["value"] for line in self._out.open()]


class Trl:
    """TRL's reward functions in a loop over the groups."""

    def __init__(self, source: Path) -> None:
        rows = [json.loads(line) for line in source.open()]
        groups = [list(members) for _, members in groupby(rows, key=lambda row: json.dumps(row["prompt"]))]
        self._calls = [
            trl_way(
                {
                    "completions": [row["completion"] for row in group],
                    "completion_ids": [row["completion_ids"] for row in group],
                    "answer": [row["answer"] for row in group],
                }
            )
            for group in groups
        ]
        self._found: list[float | None] = []

    def prepare(self) -> None:
        """Nothing is left of the turn before."""

    def run(self) -> None:
        """Score the rows once."""
        self._found = [value for call in self._calls for value in call()]

    def right(self) -> list[float | None]:
        """What accuracy_reward said of each row."""
        return self._found


SIDES: dict[str, type[Ours] | type[Trl]] = {"ours": Ours, "trl": Trl}


def serve(side: str, source: Path) -> None:
    """Take a turn for each line on standard input: answer with its best pass, in seconds on the clock and of the processor."""
    work = SIDES[side](source)
    for order in sys.stdin:
        if order.strip() == "right":
            print(json.dumps(work.right()), flush=True)
            continue
        passes: list[tuple[float, float]] = []
        begun = time.perf_counter()
        while not passes or time.perf_counter() - begun < _TURN:
            work.prepare()
            started, used = time.perf_counter(), time.process_time()
            work.run()
            passes.append((time.perf_counter() - started, time.process_time() - used))
        print(json.dumps([min(one) for one in zip(*passes, strict=True)]), flush=True)


class Side:
    """A side in a process of its own."""

    def __init__(self, side: str, source: Path) -> None:
        command = [sys.executable, __file__, "--side", side, "--rows", str(source)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.turns: list[list[float]] = []

    def ask(self, order: str) -> Any:
        """Send an order and return the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(order + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def measure(rows: list[Row], repeat: int) -> dict[str, Any]:
    """Both sides on `rows`, in turns, for at least `_LEAST` seconds."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "rows.jsonl"
        source.write_text("".join(json.dumps(row) + "\n" for row in rows))
        sides = [Side(side, source) for side in SIDES]
        for side in sides:
            side.ask("turn")  # imports, and what is made once
        begun = time.perf_counter()
        while len(sides[0].turns) < repeat or time.perf_counter() - begun < _LEAST:
            for side in sides:
                side.turns.append(side.ask("turn"))
        right = [side.ask("right") for side in sides]
        for side in sides:
            side.close()
    ours, trl = [[min(one) for one in zip(*side.turns, strict=True)] for side in sides]
    each = [theirs[0] / mine[0] for mine, theirs in zip(*[side.turns for side in sides], strict=True)]
    return {
        "rows": len(rows),
        "distinct_rows": len({json.dumps(row) for row in rows}),
        "ours_rows_per_second": round(len(rows) / ours[0], 1),
        "trl_rows_per_second": round(len(rows) / trl[0], 1),
        "ratio": round(trl[0] / ours[0], 2),
        "ratio_of_turns": round(median(each), 2),
        "cpu_ratio": round(trl[1] / ours[1], 2),
        "turns": len(each),
        "same_verdict": sum(a == b for a, b in zip(*right, strict=True)),
        "ours_correct": sum(value == 1.0 for value in right[0]),
        "trl_correct": sum(value == 1.0 for value in right[1]),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--side", choices=list(SIDES), help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        serve(options.side, options.rows)
        return
    sets = {"examples": list(example_rows(boxed=False)), "examples_boxed": list(example_rows(boxed=True))}
    if options.data is not None:
        sets["gsm8k"] = list(gsm8k_rows(options.data))
    report: dict[str, Any] = {name: measure(rows, options.repeat) for name, rows in sets.items()}
    report["trl"], report["python"] = version("trl"), sys.version.split()[0]
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
