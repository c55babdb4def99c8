"""What holds for every built-in reward: it is documented, survives any text, pickles, and imports nothing heavy."""

from __future__ import annotations

import inspect
import json
import multiprocessing
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import grpo_rewards_plugins
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_rewards import Outcome, Reward, get_reward

# What a reward needs to be called: settings without a default, and columns.
NEEDED: dict[str, dict[str, Any]] = {
    "regex": {"allow": [r"^<think>.*?</think>"], "deny": ["bad"], "penalties": {"um": 0.1}},
    "json_schema": {"schema": {"type": "object", "required": ["a"]}},
    "json_fields": {"extra": 0.1},
}
OWN_COLUMNS: dict[str, dict[str, Any]] = {
    "json_fields": {"answer": {"a": 4}},
    "tool_calls": {
        "ground_truth": [{"f": {"x": [1]}}],
        "functions": [{"name": "f", "parameters": {"properties": {"x": {"type": "integer"}}}}],
    },
    "instructions": {
        "instruction_id_list": ["detectable_format:title", "keywords:existence", "words:vowel", "format:quotes"],
        "kwargs": [None, {"keywords": ["B"]}, None, None],
    },
}
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("xml_format", {"mode": "strict"}), ("xml_format", {"mode": "strict", "layout": "blocks"}), ("xml_format", {"mode": "count"}),
    ("length", {"mode": "cosine"}), ("length", {"mode": "soft_overlong"}), ("exact", {"place": "boxed"}),
    ("diversity", {"mode": "answers"}), ("diversity", {"mode": "texts"}), ("countdown", {"use": "any", "partial": 0.1}),
    ("multiple_choice", {"place": "text"}), ("qa", {"metric": "f1", "variant": "search_r1"}), ("language", {"script": "japanese"}),
]  # fmt: skip
COLUMNS = {"answer": "B", "numbers": [3, 7, 8], "target": 32, "choices": ["Paris", "4"]}
ENGINES = {
    "code",
    "judge",
    "math",
    "model",
    "sql",
    "pairwise",
    "ranking",
    "reasoning_gym",
    "rubric",
}  # these run other programs or packages; their own tests are as strict


def built_ins() -> list[str]:
    return sorted(value.name for value in vars(grpo_rewards_plugins).values() if isinstance(value, Reward))


LIGHT = [name for name in built_ins() if name not in ENGINES]
CASES = [(name, NEEDED.get(name, {})) for name in LIGHT] + VARIANTS
IDS = [f"{name}{sorted(bound.items()) if (name, bound) in VARIANTS else ''}" for name, bound in CASES]


def score(name: str, bound: Mapping[str, Any], text: str) -> Outcome:
    """Score `text` in a group of two, with every column that it may ask for."""
    scorer = get_reward(name).with_(**bound)
    columns = {**COLUMNS, **OWN_COLUMNS.get(name, {})}
    call: dict[str, Any] = {column: [value, value] for column, value in columns.items()}
    from grpo_rewards._contract import Batch

    return scorer.outcomes(Batch([text, "other"], prompts=["p", "p"], columns=call))[0]


PIECES = st.sampled_from(
    ["<answer>", "</answer>", "<reasoning>", "</reasoning>", "<think>", "\\boxed{", "}", "####", "```", "```json\n", "{", "[", '"', ":", ",", "(",
     ")", "+", "-", "*", "/", "=", "3", "7", "8", "\\frac{", "\\times", "A", "B", " or ", "the answer is ", "\n", "\0", "\ud800", "\u200b", "１", "é", "好"]
)  # fmt: skip
ANY_CHARACTER = st.characters(codec=None, exclude_categories=())  # lone surrogates and null bytes included
TEXTS = st.text(ANY_CHARACTER, max_size=100) | st.lists(PIECES | st.text(ANY_CHARACTER, max_size=4), max_size=25).map(
    "".join
)


@pytest.mark.parametrize(("name", "bound"), CASES, ids=IDS)
@given(text=TEXTS)
@settings(max_examples=60, deadline=None)
def test_no_text_breaks_a_reward(name: str, bound: dict[str, Any], text: str) -> None:
    outcome = score(name, bound, text)
    low, high = get_reward(name).range or (0.0, 0.0)
    assert outcome.status == "scored", outcome
    assert outcome.value is not None
    assert low <= outcome.value <= high
    assert score(name, bound, text).value == outcome.value
    assert outcome.reason.isprintable(), outcome.reason


HOSTILE = {
    "nothing": "", "null": "\0" * 1000, "surrogates": "\ud800" * 1000, "a megabyte": "a" * 1_000_000, "words": "word " * 200_000,
    "newlines": "\n" * 300_000, "spaces": " " * 1_000_000, "open tags": "<answer>" * 100_000, "tag pairs": "<answer></answer>" * 100_000,
    "all tags": "<reasoning></reasoning><answer></answer>" * 100_000, "think": "<think>" * 100_000, "round": "(" * 100_000, "square": "[" * 100_000,
    "curly": "{" * 100_000, "boxes": "\\boxed{" * 100_000, "deep box": "\\boxed{" + "{" * 100_000 + "}" * 100_000, "hashes": "#" * 400_000,
    "marks": "#### " * 100_000, "fences": "```\n" * 100_000, "ticks": "`" * 400_000, "digits": "9" * 1_000_000, "answer digits": "<answer>" + "9" * 1_000_000,
    "marks in one run": "<answer>a" + "\u0316\u0301" * 300_000, "minus": "<answer>" + "-" * 100_000 + "1", "backslashes": "\\" * 300_000, "quotes": '"' * 300_000, "escaped": '"' + '\\"' * 200_000,
    "phrases": "the answer is " * 50_000, "letters": "A " * 300_000, "dollars": "$" * 300_000, "equals": "<answer>" + "=" * 300_000,
    "commas": "<answer>1" + ",000" * 100_000, "space in answer": "answer" + " " * 300_000 + "is B", "text commands": "<answer>" + "\\text{" * 100_000,
}  # fmt: skip


@pytest.mark.timeout(60)  # what is not linear takes minutes to hours on these; a test that is linear takes seconds
@pytest.mark.parametrize("name", LIGHT)
def test_hostile_texts_are_scored(name: str) -> None:
    for label, text in HOSTILE.items():
        for bound in [bound for case, bound in CASES if case == name]:
            outcome = score(name, bound, text)
            assert outcome.status in ("scored", "rejected", "timeout"), (label, bound, outcome)
            assert outcome.value is not None
            assert len(outcome.reason) < 400, (label, bound)


def _scored_elsewhere(case: tuple[Reward, Mapping[str, Any]]) -> list[float | None]:
    scorer, columns = case
    return scorer(completions=["<answer>B</answer>"] * 2, prompts=["p"] * 2, **columns)


def test_every_reward_pickles_and_scores_in_a_spawned_process() -> None:
    def columns(name: str) -> dict[str, list[Any]]:
        return {column: [value] * 2 for column, value in {**COLUMNS, **OWN_COLUMNS.get(name, {})}.items()}

    cases = [(get_reward(name).with_(**NEEDED.get(name, {})), columns(name)) for name in (*LIGHT, "math")]
    here = [_scored_elsewhere(case) for case in cases]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(_scored_elsewhere, cases) == here
        assert all(value is not None for values in here for value in values)


def test_the_package_imports_nothing_heavy() -> None:
    heavy = [
        "sympy",
        "jsonschema",
        "regex",
        "docker",
        "torch",
        "flint",
        "numpy",
        "transformers",
        "trl",
        "pandas",
        "pytest",
    ]
    program = f"import sys, json, grpo_rewards_plugins; print(json.dumps([n for n in {heavy!r} if n in sys.modules]))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == []


@pytest.mark.parametrize("name", built_ins())
def test_every_reward_is_declared_and_documented(name: str) -> None:
    scorer = get_reward(name)
    document = inspect.getdoc(scorer.function) or ""
    assert scorer.range is not None
    assert scorer.summary.endswith(".")
    for setting in scorer.shape.settings:
        assert f"\n    {setting.name}:" in document, f"the setting {setting.name} is not documented"
    for column in (*scorer.required_columns, *scorer.optional_columns):
        parameter = {scorer.columns[name]: name for name in scorer.columns}.get(column, column)
        shown = "prompts" if parameter == "prompt" and scorer.style != "row" else parameter
        assert column == "completion_ids" or f"\n    {shown}:" in document, f"the column {column} is not documented"


def test_every_reward_is_in_the_package_and_in_the_registry() -> None:
    assert grpo_rewards_plugins.__all__ == sorted(grpo_rewards_plugins.__all__)
    assert set(built_ins()) <= set(grpo_rewards_plugins.__all__)
    for name in built_ins():
        assert get_reward(name).name == name
