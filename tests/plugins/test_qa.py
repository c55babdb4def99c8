"""The reward `qa`: the values of the original graders, the columns of the public data, and what the tag rule forgives."""

from __future__ import annotations

import gzip
import json
import re
import string
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from grpo_rewards_plugins.qa.metrics import normal
from hypothesis import given
from hypothesis import strategies as st

from grpo_rewards import get_reward

ROWS = [
    json.loads(line)
    for line in gzip.decompress((Path(__file__).parent / "packs" / "qa.jsonl.gz").read_bytes()).splitlines()
]
SETTINGS: dict[str, dict[str, str]] = {
    "qa_em": {"metric": "em"},
    "qa_subem": {"metric": "subem"},
    "qa_f1": {"metric": "f1"},
    "qa_f1_squad2": {"metric": "f1", "variant": "squad2"},
    "qa_f1_hotpot": {"metric": "f1", "variant": "hotpot"},
    "qa_search_r1": {"metric": "em", "variant": "search_r1"},
}
qa = get_reward("qa")


def values(pack: str) -> tuple[list[float | None], list[float]]:
    rows = [row for row in ROWS if row["pack"] == pack]
    names = {name for row in rows for name in row} - {"pack", "prompt", "completion", "expected"}
    columns = {name: [row.get(name) for row in rows] for name in names}
    found = qa.with_(**SETTINGS[pack])(
        completions=[row["completion"] for row in rows], prompts=[row["prompt"] for row in rows], **columns
    )
    return found, [row["expected"] for row in rows]


@pytest.mark.parametrize("pack", sorted(SETTINGS))
def test_the_values_are_the_originals(pack: str) -> None:
    found, expected = values(pack)
    assert len(expected) >= 30
    assert found == pytest.approx(expected, abs=1e-6)


def test_sixteen_threads_get_the_same_values() -> None:
    expected = values("qa_f1")[0]
    with ThreadPoolExecutor(16) as pool:
        assert all(found == expected for found, _ in pool.map(values, ["qa_f1"] * 48))


COLUMNS: list[tuple[dict[str, Any], float | None]] = [
    ({"golden_answers": ["Loire", "the Loire"]}, 1.0),
    ({"answers": {"text": ["loire"], "answer_start": [3]}}, 1.0),
    ({"answers": '{"text": ["Loire"]}'}, 1.0),
    ({"answers": "Loire"}, 1.0),
    ({"answer": "The Loire!"}, 1.0),
    ({"answer": {"value": "Rhine", "aliases": ["Loire"]}}, 1.0),
    ({"answer": '["Rhine", "Loire"]'}, 1.0),
    ({"answer": "[sic] Loire"}, 0.0),
    ({"answer": 5}, 0.0),
    ({"golden_answers": "['Rhine', 'Loire']"}, 1.0),
    ({"golden_answers": "['Rhine' 'Loire']"}, None),  # numpy's, which Python would read as RhineLoire
    ({"answer": "[Rhine]"}, 0.0),
    ({"reward_model": {"ground_truth": {"target": ["Loire"]}, "style": "rule"}}, 1.0),
    ({"reward_model": '{"ground_truth": {"target": "Loire"}}'}, 1.0),
    ({"golden_answers": None, "answer": "Loire"}, 1.0),
    ({"golden_answers": ["Rhine"], "answer": "Loire"}, 0.0),
    ({"answers": {"text": []}}, None),
    ({"answers": {"start": 3}}, None),
    ({"golden_answers": float("nan"), "answer": "Loire"}, 1.0),
    ({"golden_answers": "", "answer": "Loire"}, 1.0),
    ({"answer": float("nan")}, None),
    ({"answer": ""}, None),
    ({"golden_answers": [None]}, None),
    ({"golden_answers": ["Loire", None]}, None),
    ({"golden_answers": [["Loire"]]}, None),
    ({}, None),
]


@pytest.mark.parametrize(("columns", "value"), COLUMNS, ids=[str(columns) for columns, _ in COLUMNS])
def test_the_columns_of_public_data(columns: dict[str, Any], value: float | None) -> None:
    assert qa.one("<answer>Loire</answer>", **columns).value == value
    assert (qa.row_problem(columns) is None) == (value is not None)


@pytest.mark.parametrize(
    ("answer", "text", "value"),
    [
        (42.0, "42", 1.0),
        (42.0, "420", 0.0),
        (0.5, "0.5", 1.0),
        (True, "Yes.", 1.0),
        (True, "true", 1.0),
        (False, "yes", 0.0),
    ],
)
def test_numbers_and_truths_of_tables(answer: Any, text: str, value: float) -> None:
    assert qa.one(text, answer=answer).value == value


@pytest.mark.parametrize("metric", ["em", "f1", "subem"])
@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Schr\u00f6dinger\u2019s cat", "Schro\u0308dinger's cat"), ("rock \u2019n\u2019 roll", "rock 'n' roll"), ("1914\u20131918", "1914-1918"),
        ("\u201cHey Jude\u201d", '"Hey Jude"'), ("Malm\u00f6", "Malmo\u0308\u200b"), ("\u0130zmir", "I\u0307zmir"),
    ],
)  # fmt: skip
def test_one_text_however_it_is_typed(metric: str, answer: str, text: str) -> None:
    for gold, given_text in ((answer, text), (text, answer)):
        assert qa.with_(metric=metric, checkers="mended").one(given_text, answer=gold).value == 1.0
    assert qa.with_(metric=metric, checkers="mended").one("Malmo", answer="Malm\u00f6").value == 0.0


def test_no_answer_is_an_answer_in_squad_2() -> None:
    squad2 = qa.with_(metric="f1", variant="squad2")
    for text in ([], [""], ["the"]):
        answers: dict[str, list[str]] = {"text": text}
        assert squad2.one("<answer></answer>", answers=answers).value == 1.0
        assert squad2.one("<answer>Loire</answer>", answers=answers).value == 0.0
        assert squad2.row_problem({"answers": answers}) is None


def test_an_answer_that_is_part_of_every_text_is_named() -> None:
    row = {"golden_answers": ["Loire", "?"]}
    subem = qa.with_(metric="subem")
    assert subem.one("<answer>Rhine</answer>", **row).value == 1.0  # the original's value
    assert subem.with_(checkers="mended").one("<answer>Rhine</answer>", **row).status == "not_applicable"
    assert "part of every text" in (subem.row_problem(row) or "")


@pytest.mark.parametrize("gold", ["?", "A", "The The"])
def test_an_answer_that_an_empty_completion_gives_is_named(gold: str) -> None:
    assert qa.one("<answer></answer>", answer=gold).value == 1.0  # the original's value
    assert qa.with_(checkers="mended").one("<answer></answer>", answer=gold).status == "not_applicable"
    assert "empty completion" in (qa.row_problem({"answer": gold}) or "")


SHOWN = "Write it in a tag, for example <answer> Beijing </answer>."
TAGS = [
    (SHOWN, "<answer>Loire</answer>", 1.0),
    ([{"role": "user", "content": SHOWN}], "<answer>Loire</answer>", 1.0),
    (None, "<answer>Loire</answer>", 1.0),
    ("Which river?", "<answer>Loire</answer>", 0.0),
    ("Which river?", "<answer>Rhine</answer> no, <answer>Loire</answer>", 1.0),
    (SHOWN, "<answer>Loire", 0.0),
    (SHOWN, "Loire", 0.0),
    (SHOWN + " <answer> Loire </answer>", "I have no idea.", 0.0),  # the recipe reads the answer of the prompt
]


@pytest.mark.parametrize(("prompt", "completion", "value"), TAGS)
def test_search_r1_reads_the_completions_tags(prompt: Any, completion: str, value: float) -> None:
    search = qa.with_(variant="search_r1")
    assert search.one(completion, prompt=prompt, golden_answers=["Loire"]).value == value


@given(st.text(st.sampled_from("aAnthe ÉéİıßΣ.,-_'“”\u200b\x00\x1c\n日") | st.characters(), max_size=30))
def test_normalising_is_the_four_steps_one_after_another(text: str) -> None:
    bare = "".join(char for char in text.lower() if char not in string.punctuation)
    assert normal(text) == " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


@pytest.mark.parametrize("piece", ["<answer>", "<answer></answer>", "</answer>", "<answer>a </answer>", "the "])
def test_hostile_texts_take_linear_time(piece: str) -> None:
    for variant in ("squad", "search_r1"):
        outcome = qa.with_(metric="f1", variant=variant).one(piece * 100_000, golden_answers=["Loire"])
        assert (outcome.value, outcome.status) == (0.0, "scored")
