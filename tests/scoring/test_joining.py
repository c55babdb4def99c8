"""Rows of a run, completed from the data set that it was trained on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from grpo_rewards import Composite
from grpo_rewards._cli.app import application
from grpo_rewards._scoring import score_file
from grpo_rewards.errors import InputError

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

MATH = {"rewards": {"right": {"use": "exact", "columns": {"answer": "solution"}}}}


@pytest.fixture
def logged(tmp_path: Path) -> Any:
    """What an older run logged: prompts as a chat template writes them, completions, and no other column."""
    prompts = [
        f"<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhat is {n}+1?<|im_end|>\n" for n in (1, 1, 21, 9)
    ]
    path = tmp_path / "completions_00001.parquet"
    pq.write_table(
        pa.table({"step": [1] * 4, "prompt": prompts, "completion": ["2", "3", "22", "?"], "advantage": [0.0] * 4}),
        path,
    )
    return path


def data_set(tmp_path: Path, *rows: Any) -> Any:
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def chat(n: Any, solution: Any) -> Any:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": f"What is {n}+1?"}]
    return {"prompt": messages, "solution": solution}


def test_a_run_is_scored_with_the_columns_of_its_data_and_a_row_without_partner_is_malformed(
    logged: Any, tmp_path: Path
) -> None:
    data = data_set(tmp_path, chat(1, "2"), chat(21, "22"))
    out = tmp_path / "scored.jsonl"
    run = score_file(logged, Composite(MATH), out=out, join=data)
    scored = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["solution"], row["grpo_rewards"]["reward"]) for row in scored] == [("2", 1.0), ("2", 0.0), ("22", 1.0)]
    assert run.malformed == 1
    assert run.side_file is not None
    assert "no row of" in run.side_file.read_text()


def test_a_prompt_within_another_is_not_taken_for_it(logged: Any, tmp_path: Path) -> None:
    """The text of 1+1 stands in no prompt of 21+1 as a whole message, but 'is 1+1?' would: the longest wins."""
    short = {"prompt": [{"role": "user", "content": "1+1?"}], "solution": "no"}
    out = tmp_path / "scored.jsonl"
    score_file(logged, Composite(MATH), out=out, join=data_set(tmp_path, short, chat(1, "2"), chat(21, "22")))
    assert [json.loads(line)["solution"] for line in out.read_text().splitlines()] == ["2", "2", "22"]


def test_rows_of_the_data_that_contradict_each_other_are_refused(logged: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="another row has the same 'prompt' and other columns") as caught:
        score_file(logged, Composite(MATH), join=data_set(tmp_path, chat(1, "2"), chat(1, "3")))
    assert caught.value.line == 2


def test_the_commands_take_it_too(logged: Any, tmp_path: Path) -> None:
    config = tmp_path / "rewards.yaml"
    config.write_text(json.dumps(MATH))
    data = data_set(tmp_path, chat(1, "2"), chat(21, "22"), chat(9, "10"))
    options = ["-c", str(config), "--join", str(data), "--on", "prompt", "--json"]
    done = CliRunner().invoke(application(), ["score", str(logged), *options])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(application(), ["explain", f"{logged}#3", *options])
    assert json.loads(done.stdout)[0]["reward"] == 1.0


def test_a_row_that_a_trainer_logged_is_explained_from_its_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = {
        "step": [3, 3], "prompt": ["1 + 1", "1 + 1"], "completion": ["2", "3"], "composite": [2.0, 0.0], "right": [1.0, 0.0],
        "right_reason": ["same text", "rejected: no answer found"], "right_weight": [2.0, 2.0], "advantage": [0.7, -0.7],
    }  # fmt: skip
    pq.write_table(pa.table(columns), tmp_path / "completions_00003.parquet")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rewards.yaml").write_text("rewards: {length: {}}\n")  # the record counts, not what lies about
    done = CliRunner().invoke(application(), ["explain", "completions_00003.parquet#2", "--json"])
    (row,) = json.loads(done.stdout)
    assert (row["reward"], row["prompt"], row["completion"]) == (0.0, "1 + 1", "3")
    part = row["components"]["right"]
    assert (part["value"], part["weight"], part["status"], part["reason"]) == (0.0, 2.0, "rejected", "no answer found")
    pq.write_table(pa.table({"completion": ["2"], "answer": ["2"], "hardness": [0.5]}), tmp_path / "rows.parquet")
    done = CliRunner().invoke(application(), ["explain", "rows.parquet#1", "--json"])
    assert list(json.loads(done.stdout)[0]["components"]) == ["length"]
