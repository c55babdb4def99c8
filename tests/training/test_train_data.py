"""Rows for ``grpo-rewards train``: the files that it reads, prompts as text and as chat, and what is held out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("datasets")

import pyarrow as pa
import pyarrow.parquet as pq
from grpo_rewards_adapters.training.data import read_data
from grpo_rewards_adapters.training.recipe import Recipe
from transformers import PreTrainedTokenizerFast

from grpo_rewards.errors import ConfigError, InputError

pytestmark = [pytest.mark.train, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

ROWS = [{"question": f"{n} + 1", "solution": str(n + 1)} for n in range(8)]
TEMPLATE = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}>{% endif %}"
)


@pytest.fixture
def tokenizer() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers

    raw = Tokenizer(models.WordLevel({"<unk>": 0}, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="<unk>")


def read(tmp_path: Path, tokenizer: Any, file: str = "rows.jsonl", **changes: Any) -> Any:
    dataset = {"path": file, "prompt": "question", **changes.pop("dataset", {})}
    data = {"model": "m", "rewards": "r.yaml", "output": "run", "evaluation": {"held_out": 2}, "dataset": dataset}
    return read_data(Recipe.model_validate({**data, **changes}), tokenizer, base=tmp_path)


def write(tmp_path: Path, rows: list[dict[str, Any]] = ROWS) -> None:
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = ["question,solution", *(f"{row['question']},{row['solution']}" for row in ROWS)]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "rows.parquet")


@pytest.mark.parametrize("file", ["rows.jsonl", "rows.csv", "rows.parquet"])
def test_each_kind_of_file_gives_the_same_rows(tmp_path: Path, tokenizer: Any, file: str) -> None:
    write(tmp_path)
    data = read(tmp_path, tokenizer, file, dataset={"columns": {"answer": "solution"}})
    rows = sorted([*data.train, *data.held_out], key=lambda row: row["prompt"])
    assert [(row["prompt"], str(row["answer"])) for row in rows] == [(r["question"], r["solution"]) for r in ROWS]
    assert len(data.held_out) == 2
    assert data.sources["train"].startswith(f"{file} sha256:")


def test_what_is_held_out_is_never_trained_on_and_follows_the_seed(tmp_path: Path, tokenizer: Any) -> None:
    write(tmp_path, ROWS * 3)
    found = [read(tmp_path, tokenizer, seed=seed) for seed in (0, 0, 1)]
    for data in found:
        assert not {row["prompt"] for row in data.held_out} & {row["prompt"] for row in data.train}
    assert found[0] == found[1]
    assert found[0].held_out != found[2].held_out


def test_text_becomes_chat_where_the_tokenizer_has_a_template(tmp_path: Path, tokenizer: Any) -> None:
    write(tmp_path)
    chat = {"system": "Be brief.", "examples": [{"user": "1 + 1", "assistant": "2"}]}
    plain = read(tmp_path, tokenizer, chat=chat).train[0]["prompt"]
    assert plain.startswith("Be brief.\n1 + 12\n")
    tokenizer.chat_template = TEMPLATE
    turns = read(tmp_path, tokenizer, chat=chat).train[0]["prompt"]
    assert [turn["role"] for turn in turns] == ["system", "user", "assistant", "user"]
    assert plain.endswith(turns[-1]["content"])


def test_messages_keep_their_own_system_message(tmp_path: Path, tokenizer: Any) -> None:
    tokenizer.chat_template = TEMPLATE
    own = [{"role": "system", "content": "mine"}, {"role": "user", "content": "x"}]
    write(tmp_path, [{"question": own}, {"question": own[1:]}])
    data = read(tmp_path, tokenizer, chat={"system": "yours"}, evaluation={"held_out": 0})
    assert [row["prompt"][0]["content"] for row in data.train] == ["mine", "yours"]


def test_a_template_is_filled_and_long_prompts_are_left_out(tmp_path: Path, tokenizer: Any) -> None:
    write(tmp_path, [*ROWS, {"question": "word " * 50, "solution": "0"}])
    dataset = {"template": "Q: {question} ({solution})", "max_prompt_tokens": 20}
    data = read(tmp_path, tokenizer, dataset=dataset)
    assert data.dropped == 1
    assert {row["prompt"] for row in data.train} < {f"Q: {r['question']} ({r['solution']})" for r in ROWS}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"question": "a"}\n{"question": \n', r"rows.jsonl:2: not JSON"),
        ('{"question": 3}\n', "must be a string or a list of messages"),
    ],
)
def test_what_cannot_be_read_names_the_file_or_the_value(
    tmp_path: Path, tokenizer: Any, text: str, message: str
) -> None:
    (tmp_path / "rows.jsonl").write_text(text)
    with pytest.raises((InputError, ConfigError), match=message):
        read(tmp_path, tokenizer, evaluation={"held_out": 0})


MARKED = [
    {**row, "audit": mark}
    for row, mark in zip(ROWS, ["fit", "nop", "fit", "leak,weak", "unknown"] + ["fit"] * 3, strict=True)
]


@pytest.mark.parametrize(
    ("marks", "left"),
    [([], []), (["nop"], ["1 + 1"]), (["weak", "unknown"], ["3 + 1", "4 + 1"]), (["any"], ["1 + 1", "3 + 1", "4 + 1"])],
)
def test_rows_that_an_audit_marked_are_neither_trained_on_nor_held_out(
    tmp_path: Path, tokenizer: Any, marks: list[str], left: list[str]
) -> None:
    write(tmp_path, MARKED)
    data = read(tmp_path, tokenizer, dataset={"leave_out": marks})
    prompts = {row["prompt"] for row in (*data.train, *data.held_out)}
    assert prompts == {row["question"] for row in MARKED} - set(left)
    assert (f"{len(left)} of 8 rows left out" in data.sources["train"]) == bool(left)


def test_marks_that_are_none_or_not_there_or_leave_nothing_are_refused(tmp_path: Path, tokenizer: Any) -> None:
    write(tmp_path)
    with pytest.raises(InputError, match=r"no column 'audit'.*audit DATA -o"):
        read(tmp_path, tokenizer, dataset={"leave_out": ["any"]})
    with pytest.raises(ValueError, match="no mark 'nopp'"):
        read(tmp_path, tokenizer, dataset={"leave_out": ["nopp"]})
    write(tmp_path, [{**row, "audit": "slow"} for row in ROWS])
    with pytest.raises(InputError, match="all 8 rows are left out by their marks"):
        read(tmp_path, tokenizer, dataset={"leave_out": ["slow"]})
