"""The rows of reasoning, and the composite of math, format and length, that score_against_trl.py and training.py measure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MODELS = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")
COMPOSITE: dict[str, Any] = {
    "rewards": {
        "correct": {"use": "math", "weight": 2.0},
        "format": {"use": "xml_format", "weight": 0.5, "params": {"tags": ["think", "answer"], "mode": "count"}},
        "overlong": {
            "use": "length",
            "weight": 0.2,
            "params": {"mode": "soft_overlong", "max_length": 256, "cache": 128},
        },
    }
}

Row = dict[str, Any]


def ids(text: str) -> list[int]:
    """Stand-in token ids, four characters each: both sides read their number only."""
    return list(range(len(text) // 4 + 1))


def said(text: str) -> list[dict[str, str]]:
    """A completion as chat."""
    return [{"role": "assistant", "content": text}]


def example_rows(*, boxed: bool) -> Iterator[Row]:
    """The arithmetic rows of examples/reasoning.jsonl; `boxed` puts the answer into a box instead of a tag."""
    for line in (ROOT / "examples" / "reasoning.jsonl").open():
        row = json.loads(line)
        if row["task"] == "arithmetic":
            text = row["completion"][0]["content"]
            if boxed:
                text = re.sub(r"<answer>\s*(.*?)\s*</answer>", r"The answer is \\boxed{\1}.", text, flags=re.S)
            yield _row(row["prompt"], text, row["answer"])


def gsm8k_rows(data: Path) -> Iterator[Row]:
    """The four models' solutions of each problem, each closing in a box."""
    for line in (data / "gsm8k" / "model_solutions.jsonl").open():
        row = json.loads(line)
        gold = row["ground_truth"].rpartition("A:")[2].strip()
        for model in MODELS:
            steps, _, answer = row[model]["solution"].rpartition("A:")
            text = f"<think>\n{steps.strip()}\n</think>\nThe answer is \\boxed{{{answer.strip()}}}."
            yield _row([{"role": "user", "content": row["question"]}], text, gold)


def _row(prompt: Any, text: str, answer: str) -> Row:
    return {"prompt": prompt, "completion": said(text), "answer": answer, "completion_ids": ids(text)}


def trl_way(call: dict[str, Any]) -> Callable[[], list[float | None]]:
    """TRL's functions for the same three things, called one after another on the lists of a reward call."""
    from trl.rewards import accuracy_reward, get_soft_overlong_punishment, think_format_reward

    overlong = get_soft_overlong_punishment(max_completion_len=256, soft_punish_cache=128)
    given = {**call, "solution": [f"${answer}$" for answer in call["answer"]]}

    def step() -> list[float | None]:
        right: list[float | None] = accuracy_reward(**given)
        think_format_reward(**given)
        overlong(**given)
        return right

    return step
