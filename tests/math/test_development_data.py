"""The labelled pairs and real solutions that lie beside the repository, where they do: accuracy must not fall."""

import json
from pathlib import Path
from typing import Any

import pytest

from grpo_rewards import get_reward
from grpo_rewards._contract import Batch, Outcome, evaluate

DATA = Path(__file__).parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is not there: accuracy on real pairs is NOT tested")


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def text(value: Any) -> str:
    """A text, or one given as pieces with how often each is repeated."""
    return value if isinstance(value, str) else "".join(piece * times for piece, times in value)


def score(completions: list[str], golds: list[Any]) -> list[Outcome]:
    found = evaluate(get_reward("math"), Batch.from_call(completions=completions, answer=golds))
    return [outcome for outcome in found if outcome is not None]


@needs_data
@pytest.mark.parametrize(
    ("name", "wrong", "false_accepts"), [("equivalence_dev", 1, 0), ("scale_dev", 1, 0), ("hostile_dev", 0, 0)]
)
def test_labelled_pairs(name: str, wrong: int, false_accepts: int) -> None:
    pairs = [row for row in rows(f"math/{name}.jsonl") if not row.get("debatable") and row["expected"] != "any"]
    found = score([text(row["completion"]) for row in pairs], [text(row["gold"]) for row in pairs])
    missed = [
        (row["id"], row["expected"], outcome.reason)
        for row, outcome in zip(pairs, found, strict=True)
        if (outcome.value == 1.0) != row["expected"]
    ]
    assert len(missed) <= wrong, missed
    assert sum(not expected for _, expected, _ in missed) <= false_accepts, missed


@needs_data
@pytest.mark.parametrize("ending", ["plain", "boxed", "hash"])
def test_grade_school_solutions(ending: str) -> None:
    forms = {"plain": "A: {}", "boxed": "The answer is \\boxed{{{}}}.", "hash": "#### {}"}
    completions, golds, labels = [], [], []
    for problem, row in zip(rows("gsm8k/test.jsonl"), rows("gsm8k/model_solutions.jsonl"), strict=True):
        assert problem["question"] == row["question"]
        for solution in row.values():
            if isinstance(solution, dict):
                work, mark, answer = solution["solution"].rpartition("A: ")
                completions.append(work + forms[ending].format(answer) if mark else solution["solution"])
                golds.append(problem["answer"])
                labels.append(solution["is_correct"])
    found = score(completions, golds)
    wrong = [outcome.reason for outcome, right in zip(found, labels, strict=True) if (outcome.value == 1.0) != right]
    assert not wrong


@needs_data
def test_grade_school_solutions_without_their_last_line() -> None:
    completions, golds, labels = [], [], []
    for problem, row in zip(rows("gsm8k/test.jsonl"), rows("gsm8k/model_solutions.jsonl"), strict=True):
        for solution in row.values():
            work, mark, _ = solution["solution"].rpartition("A: ") if isinstance(solution, dict) else ("", "", "")
            if mark and work.strip():
                completions.append(work.strip())
                golds.append(problem["answer"])
                labels.append(solution["is_correct"])
    accepted = [outcome.value == 1.0 for outcome in score(completions, golds)]
    assert sum(one and right for one, right in zip(accepted, labels, strict=True)) >= 1978  # of 2,001
    assert sum(one and not right for one, right in zip(accepted, labels, strict=True)) <= 6  # of 3,264
