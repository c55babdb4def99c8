"""What training refuses of its data, ``validate`` and ``score`` refuse in the same words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("datasets")

from grpo_rewards_adapters.training.checks import check_data
from grpo_rewards_adapters.training.data import read_data
from grpo_rewards_adapters.training.recipe import Recipe
from transformers import PreTrainedTokenizerFast

from grpo_rewards import Composite
from grpo_rewards._doctor.rows import examine_rows
from grpo_rewards._scoring import score_file
from grpo_rewards.errors import GrpoRewardsError

pytestmark = [pytest.mark.train, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

MATH = {"rewards": {"right": {"use": "math"}}}
ROW = {"prompt": "1 + 1", "completion": "2", "answer": "2"}


@pytest.fixture
def tokenizer() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers

    raw = Tokenizer(models.WordLevel({"<unk>": 0}, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    made = PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="<unk>")
    made.chat_template = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    return made


def of_training(folder: Path, tokenizer: Any, file: str = "rows.jsonl") -> list[str]:
    """What training finds or refuses, one text for each."""
    recipe = Recipe.model_validate(
        {"model": "m", "rewards": "r.yaml", "output": "run", "dataset": {"path": file}, "evaluation": {"held_out": 0}}
    )
    try:
        return check_data(read_data(recipe, tokenizer, base=folder), Composite(MATH), tokenizer)[1]
    except GrpoRewardsError as error:
        return [str(error)]


def of_scoring(folder: Path, file: str = "rows.jsonl") -> list[str]:
    try:
        return score_file(folder / file, Composite(MATH), out=folder / "scored.jsonl").problems
    except GrpoRewardsError as error:
        return [str(error)]


def of_validate(folder: Path, file: str = "rows.jsonl") -> list[str]:
    try:
        return list(examine_rows(folder / file, Composite(MATH))["findings"])
    except GrpoRewardsError as error:
        return [str(error)]


REFUSED = {
    "no column": (json.dumps({"prompt": "1 + 1", "completion": "2", "anwser": "2"}), "needs the column 'answer'"),
    "a broken line": (json.dumps(ROW) + '\n{"prompt": ', "rows.jsonl:2: not JSON"),
    "a prompt that is a number": (
        json.dumps({**ROW, "prompt": 5}),
        "'prompt' must be a string or a list of messages, not a number",
    ),
    "a message that is a number": (json.dumps({**ROW, "prompt": [5]}), "prompt[0] must be a message"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_has_the_same_words_everywhere(tmp_path: Path, tokenizer: Any, name: str) -> None:
    lines, words = REFUSED[name]
    (tmp_path / "rows.jsonl").write_text(lines + "\n")
    for told in (of_training(tmp_path, tokenizer), of_scoring(tmp_path), of_validate(tmp_path)):
        assert any(words in text for text in told), told


def test_a_missing_file_has_the_same_words_everywhere(tmp_path: Path, tokenizer: Any) -> None:
    for told in (of_training(tmp_path, tokenizer), of_scoring(tmp_path), of_validate(tmp_path)):
        assert [text.endswith("rows.jsonl: there is no such file") for text in told] == [True]


FOUND = [
    ("answer", [{**ROW, "answer": "\\frac{1}{"}, ROW], "rows.jsonl:1: right: the reference"),
    ("turn", [{**ROW, "prompt": [{"role": "user", "content": "q"}]}, {**ROW, "prompt": [{"role": "user", "content": "p"}, {"role": "assistant", "content": "a"}]}],
     "rows.jsonl:2: the prompt ends with the assistant's turn"),
    ("contradiction", [ROW, {**ROW, "answer": "3"}], "rows.jsonl:2: right: the same prompt has another reference at"),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "words"), [one[1:] for one in FOUND], ids=[one[0] for one in FOUND])
def test_a_finding_has_the_same_words_and_place(
    tmp_path: Path, tokenizer: Any, rows: list[dict[str, Any]], words: str
) -> None:
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for told in (of_training(tmp_path, tokenizer), of_validate(tmp_path)):
        assert any(words in text for text in told), told
