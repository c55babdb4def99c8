"""Every preset scores completions that a real model wrote, within the bounds that its page names."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable
from itertools import groupby
from typing import Any

import pytest

from grpo_rewards import Composite, load
from grpo_rewards._presets import list_presets

pytestmark = pytest.mark.slow

# The lowest and highest reward that each can give, and whether the tags in examples/ are the ones that it asks for.
BOUNDS: dict[str, tuple[float, float, bool]] = {
    "cosine-length": (-1.0, 1.0, True),
    "countdown-grpo-zero": (0.0, 1.1, False),
    "countdown-nano-aha": (0.0, 2.0, False),
    "course-answer": (0.0, 1.0, True),
    "course-content": (0.0, 1.0, False),
    "course-ideal-length": (-500.0, 0.0, True),
    "course-longer": (0.0, 4096.0, True),
    "course-pattern": (0.0, 1.0, False),
    "dapo": (-1.0, 2.0, True),
    "gsm8k-lm-book": (0.0, 2.8, True),
    "gsm8k-simple-grpo": (0.0, 4.25, False),
    "gsm8k-xml": (0.0, 4.0, True),
    "multi-objective": (-0.5, 4.7, True),
    "r1": (0.0, 3.0, False),
    "repetition-penalty": (-1.0, 1.0, True),
    "two-stages": (0.0, 3.0, True),
}
OF_CODE = {"humaneval", "mbpp"}
OF_JSON = {"json-extraction"}
OF_JUDGES = {"judge-pairwise", "judge-ranking", "judge-rubric"}  # tests/plugins/test_judges.py, which serves a judge
# Packs of public data: their ten rows in examples/presets/ with the reward of each.
OF_PACKS: dict[str, tuple[str, list[float]]] = {
    "if-rlvr": ("instructions", [1, 0.5, 1, 1, 0, 1, 1, 0, 1, 1]),
    "reasoning-gym": ("reasoning_gym", [1, 1, 0.5, 0.125, 0, 1, 0, 0, 1, 0]),
    "text-to-sql": ("sql", [1, 1, 0, 1, 1, 1, 0, 0, 0, 0]),
    "deepcoder": ("deepcoder", [1, 0, 1, 0, 1, 0, 1, 0, 1, 0]),
    "livecodebench": ("livecodebench", [1, 0, 1, 0, 1, 0, 1, 0, 1, 0]),
    "codeforces": ("codeforces", [1, 0, 1, 0, 1, 0, 1, 0, 1, 0]),
    "leetcode": ("leetcode", [1, 0, 1, 0, 1, 0, 1, 0, 1, 0]),
    "search-r1": ("qa", [1, 1, 0, 1, 1, 0, 0, 1, 1, 0]),
    "toolrl": ("tool_calls", [4.0, 1.75, 1.6, 1.0, 0.0, -3.0, 4.0, -2.0, 3.0, -2.0]),
}


def test_every_preset_is_tried_here() -> None:
    assert {preset.name for preset in list_presets()} == {*BOUNDS, *OF_CODE, *OF_JSON, *OF_JUDGES, *OF_PACKS}


@pytest.mark.parametrize("name", sorted(OF_PACKS))
def test_the_ten_rows_of_a_pack(name: str, example_rows: Callable[[str], list[dict[str, Any]]]) -> None:
    file, expected = OF_PACKS[name]
    if name == "reasoning-gym":
        pytest.importorskip("reasoning_gym")
    rows = example_rows(f"presets/{file}.jsonl")
    assert load(f"preset/{name}").score(rows).rewards() == pytest.approx(expected)


def _with_think_tags(row: dict[str, Any]) -> dict[str, Any]:
    text = row["completion"][0]["content"].replace("reasoning>", "think>")
    return {**row, "completion": [{"role": "assistant", "content": text}]}


@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_real_completions_are_told_apart(name: str, reasoning: list[dict[str, Any]]) -> None:
    low, high, as_they_are = BOUNDS[name]
    rows = [row for row in reasoning if (row["task"] == "countdown") == name.startswith("countdown")]
    table = load(f"preset/{name}").score(rows if as_they_are else [_with_think_tags(row) for row in rows])
    rewards = [value for value in table.rewards() if value is not None]
    assert len(rewards) == len(rows)
    assert not table.left_out
    assert low - 1e-9 <= min(rewards) < max(rewards) <= high + 1e-9
    groups = [list(values) for _, values in groupby(range(len(rows)), key=lambda row: rows[row]["group_id"])]
    told_apart = sum(statistics.pstdev([rewards[row] for row in group]) > 0 for group in groups)
    assert told_apart > len(groups) / 10, "most groups carry no signal"


def test_the_model_passes_some_of_humaneval(programs: list[dict[str, Any]]) -> None:
    rows = programs[::4]
    rewards = load("preset/humaneval").score(rows).rewards()
    assert set(rewards) == {0.0, 1.0}
    with_tests_as_files = [
        {
            **row,
            "format": "pytest",
            "test": f"from solution import {row['entry_point']} as candidate\n{row['test']}\ncheck(candidate)\n",
        }
        for row in rows
    ]
    assert load("preset/humaneval").score(with_tests_as_files).rewards() == rewards


def test_the_same_tests_as_asserts_give_mbpp_the_same_rewards(programs: list[dict[str, Any]]) -> None:
    one_line = re.compile(r"^    (assert .*)$", re.MULTILINE)
    rows, as_mbpp = [], []
    for row in programs[::4]:
        body = row["test"].partition("def check(candidate):\n")[2]
        asserts = one_line.findall(body)
        if asserts and all(line in ("", *(f"    {one}" for one in asserts)) for line in body.splitlines()):
            rows.append(row)
            calls = [one.replace("candidate(", f"{row['entry_point']}(") for one in asserts]
            kept = {key: row[key] for key in ("prompt", "completion", "code_prompt", "entry_point")}
            as_mbpp.append({**kept, "test_list": calls})
    assert len(rows) >= 10
    rewards = load("preset/mbpp").score(as_mbpp).rewards()
    assert set(rewards) == {0.0, 1.0}
    assert rewards == load("preset/humaneval").score(rows).rewards()


def test_json_of_a_real_model(extraction: list[dict[str, Any]]) -> None:
    table = load("preset/json-extraction").score(extraction)
    fields = [outcome.value for outcome in table.components["fields"]]
    right = [row["completion"][0]["content"].strip() == row["answer"] for row in extraction]
    assert len(fields) == 64
    assert {0.0, 1.0} < set(fields)
    assert 5 < sum(right) < 60
    assert all(value == 1.0 for value, same in zip(fields, right, strict=True) if same)
    assert all(o.value == 1.0 for o, value in zip(table.components["valid"], fields, strict=True) if value)
    assert min(value for value in table.rewards() if value is not None) >= 0.0


def test_a_tag_count_goes_with_the_tags(arithmetic: list[dict[str, Any]]) -> None:
    """The sum is the recipe's own, computed here with string searches, where nothing follows the last tag."""
    composite = Composite({"rewards": {"gsm8k": {"use": "preset/gsm8k-xml"}}})
    table = composite.score(arithmetic)
    compared = 0
    for row, outcome in zip(arithmetic, table.components["gsm8k_tags"], strict=True):
        text = row["completion"][0]["content"]
        marks = ["<reasoning>", "</reasoning>", "<answer>", "</answer>"]
        if all(text.count(mark) == 1 for mark in marks) and text.rstrip().endswith("</answer>"):
            places = [text.index(mark) for mark in marks]
            if places == sorted(places):
                assert outcome.value == pytest.approx(0.5)
                compared += 1
    assert compared > 50
