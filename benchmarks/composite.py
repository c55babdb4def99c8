"""What composing costs: a composite of three rewards against the same bare functions, called in a list as TRL does.

    python benchmarks/composite.py [--completions 128] [--repeats 200]

Prints one JSON object. Ours and the bare functions take turns in one process; the overhead is the difference of the
medians per completion and component (a cell), in microseconds of wall-clock time and of processor time. ``trivial`` rewards do
next to nothing, so that their overhead is what composing costs: outcomes, checks, thread and table of the whole reward call, with
``errors.batch_timeout``. ``usual`` ones look at the text as format and answer checks do; in their overhead is also that the same
functions run slower between a composite's work than in a loop of their own. The bar is one of processor time.
The completions are distinct (the composite grades equal ones once, which is not counted in its favour here).
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from grpo_rewards import Composite, reward

BAR_MICROSECONDS = 8
GROUP = 8
FORMAT = re.compile(r"^<reasoning>\n.*?\n</reasoning>\n<answer>\n.*?\n</answer>\n$", re.DOTALL)
ANSWER = re.compile(r"<answer>\s*(.*?)\s*</answer>", re.DOTALL)


def is_long(text: str) -> float:
    return float(len(text) > 3)


def is_answer(text: str, answer: str) -> float:
    return float(text == answer)


def is_formatted(text: str) -> float:
    return float(FORMAT.match(text) is not None)


def has_answer(text: str, answer: str) -> float:
    found = ANSWER.search(text)
    return float(found is not None and found[1] == answer)


def is_brief(text: str) -> float:
    return max(0.0, 1.0 - abs(len(text.split()) - 60) / 60)


def bare(function: Callable[..., float], *, answered: bool) -> Callable[..., list[float]]:
    """A reward function as the guides write it."""
    if answered:
        return lambda completions, answer, **_: [
            function(c[0]["content"], a) for c, a in zip(completions, answer, strict=True)
        ]
    return lambda completions, **_: [function(c[0]["content"]) for c in completions]


@reward(range=(0, 1))
def long(completion: str) -> float:
    return is_long(completion)


@reward(range=(0, 1))
def same(completion: str, answer: str) -> float:
    return is_answer(completion, answer)


@reward(range=(0, 1))
def one(completion: str) -> float:
    return 1.0


@reward(range=(0, 1))
def formatted(completion: str) -> float:
    return is_formatted(completion)


@reward(range=(0, 1))
def correct(completion: str, answer: str) -> float:
    return has_answer(completion, answer)


@reward(range=(0, 1))
def brief(completion: str) -> float:
    return is_brief(completion)


SETS: dict[str, tuple[list[Any], list[Callable[..., list[float]]]]] = {
    "trivial": (
        [long, same, one],
        [
            bare(is_long, answered=False),
            bare(is_answer, answered=True),
            lambda completions, **_: [1.0] * len(completions),
        ],
    ),
    "usual": (
        [formatted, correct, brief],
        [bare(is_formatted, answered=False), bare(has_answer, answered=True), bare(is_brief, answered=False)],
    ),
}


def batch(size: int) -> dict[str, Any]:
    """The keywords of one reward call as TRL makes it: chat completions of about 90 words, groups of eight."""
    thought = "first we add both sides and then half of them is taken away " * 7
    texts = [f"<reasoning>\n{i} {thought}\n</reasoning>\n<answer>\n{i}\n</answer>\n" for i in range(size)]
    return {
        "prompts": [[{"role": "user", "content": f"question {i // GROUP}"}] for i in range(size)],
        "completions": [[{"role": "assistant", "content": text}] for text in texts],
        "completion_ids": [list(range(120)) for _ in range(size)],
        "answer": [str(i) for i in range(size)],
        "trainer_state": SimpleNamespace(global_step=1, stateful_callbacks={}, is_world_process_zero=True),
        "log_extra": lambda column, values: None,
        "log_metric": lambda name, value: None,
    }


def as_trainers_do(functions: list[Callable[..., list[float]]], call: dict[str, Any]) -> list[list[float]]:
    return [function(**call) for function in functions]


def timed(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> tuple[float, float]:
    wall, processor = time.perf_counter(), time.process_time()
    function(*arguments, **keywords)
    return time.perf_counter() - wall, time.process_time() - processor


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--completions", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=200)
    asked = parser.parse_args()
    found: dict[str, Any] = {"completions": asked.completions, "components": 3, "bar_microseconds": BAR_MICROSECONDS}
    for name, (rewards, functions) in SETS.items():
        composite = Composite({"rewards": {made.name: made for made in rewards}})
        call = batch(asked.completions)
        listed = [sum(values) for values in zip(*as_trainers_do(functions, call), strict=True)]
        if composite(**call) != listed:
            raise SystemExit(f"{name}: the composite and the bare functions disagree")
        ours, theirs = [], []
        for _ in range(asked.repeats):
            ours.append(timed(composite, **call))
            theirs.append(timed(as_trainers_do, functions, call))
        cells = asked.completions * len(rewards) / 1e6
        found[name] = {
            kind: {
                "overhead_microseconds": round((own - bare_time) / cells, 2),
                "composite_microseconds": round(own / cells, 2),
                "bare_microseconds": round(bare_time / cells, 2),
                "ratio": round(own / bare_time, 2),
            }
            for place, kind in enumerate(("wall", "processor"))
            for own, bare_time in [
                (statistics.median(t[place] for t in ours), statistics.median(t[place] for t in theirs))
            ]
        }
    found["met"] = all(found[name]["processor"]["overhead_microseconds"] <= BAR_MICROSECONDS for name in SETS)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
