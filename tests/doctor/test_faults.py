"""What is wrong with rows: found by ``validate`` and ``doctor``, in the words in which scoring refuses it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from grpo_rewards import Composite
from grpo_rewards._doctor.rows import examine_rows
from grpo_rewards._scoring import score_file
from grpo_rewards.errors import GrpoRewardsError

MATH = {"rewards": {"right": {"use": "math"}}}
GROUP = [{"prompt": "1 + 1", "completion": text, "answer": "2"} for text in ("2", "3")]


def findings(folder: Path, rows: list[dict[str, Any]], config: dict[str, Any] | None = None) -> list[str]:
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [text.replace(str(folder) + "/", "") for text in examine_rows(file, Composite(config or MATH))["findings"]]


def test_a_sound_file_has_no_faults(tmp_path: Path) -> None:
    halves = [{"prompt": "a half", "completion": "x", "answer": answer} for answer in ("1/2", "0.5")]
    assert findings(tmp_path, [*GROUP, *halves]) == []


def test_a_group_of_one_is_named_with_its_lines(tmp_path: Path) -> None:
    rows = [
        *GROUP,
        {"prompt": "2 + 2", "completion": "4", "answer": "4"},
        {"prompt": "3", "completion": "3", "answer": "3"},
    ]
    found = findings(tmp_path, rows)
    assert any(text.startswith("rows.jsonl:3, 4: a group of one member has no advantage") for text in found), found


def test_contradicting_references_are_named_with_both_places(tmp_path: Path) -> None:
    (told,) = findings(tmp_path, [*GROUP, {**GROUP[0], "answer": "3"}, {**GROUP[0], "answer": "2.0"}])
    assert told.startswith(
        "rows.jsonl:3: right: the same prompt has another reference at rows.jsonl:1 (answer '3' is wrong there)"
    )


def test_a_prompt_that_holds_the_answer_is_named(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "1 + 1"}, {"role": "assistant", "content": "2"}]
    (told, _) = findings(tmp_path, [{**row, "prompt": chat} for row in GROUP])
    assert told.startswith("rows.jsonl:1: the prompt ends with the assistant's turn")


def test_a_misspelt_column_is_named_with_what_to_do(tmp_path: Path) -> None:
    rows = [{**row, "target_lenght": 100} for row in GROUP]
    (tmp_path / "brief.py").write_text(
        "from grpo_rewards import reward\n@reward(range=(0, 1))\ndef brief(completion: str, target_length: int = 5) -> float:\n"
        "    '''It is brief.'''\n    return float(len(completion) < target_length)\n"
    )
    config = {"rewards": {**MATH["rewards"], "short": {"use": f"{tmp_path}/brief.py:brief"}}}
    (told,) = findings(tmp_path, rows, config)
    assert told.startswith(
        "column 'target_lenght' is read by nobody and looks like 'target_length', which component 'short'"
    )
    assert "rewards.short.columns: {target_length: target_lenght}" in told


@pytest.mark.parametrize(
    "lines",
    [
        '{"prompt": "p", "completion": "x", "anwser": "1"}\n',
        '{"prompt": 5, "completion": "x", "answer": "1"}\n',
        '{"prompt": "p", "answer": "1"}\n',
        '{"prompt": "p", "completion": "x"\n',
        "",
    ],
)
def test_what_scoring_refuses_validate_says_in_the_same_words(tmp_path: Path, lines: str) -> None:
    file, out = tmp_path / "rows.jsonl", tmp_path / "scored.jsonl"
    file.write_text(lines)
    try:
        told = score_file(file, Composite(MATH), out=out).problems
    except GrpoRewardsError as error:
        told = [str(error)]
    assert told
    found = examine_rows(file, Composite(MATH))["findings"]
    assert all(any(one in text for text in found) for one in told), (told, found)


@pytest.mark.slow
def test_scoring_names_the_rows_that_it_cannot_judge_by_and_leaves_with_1(
    tmp_path: Path, cli: Callable[..., CompletedProcess[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows: list[dict[str, Any]] = [{**row, "task": "math"} for row in GROUP] + [
        {"prompt": "p", "completion": "x", "answer": "$$", "task": "math"},
        {"prompt": "q", "completion": "x", "answer": None, "task": "math"},  # nothing to read: it does not apply
        {"prompt": "r", "completion": "x", "answer": "$$", "task": "other"},
    ]
    config = {"rewards": {"right": {"use": "math", "when": {"column": "task", "equals": "math"}}}}
    (found,) = [text for text in findings(tmp_path, rows, config) if "cannot be read" in text]
    (tmp_path / "rewards.yaml").write_text(json.dumps(config))
    for options in ((), ("--workers", "2")):
        run = cli("score", "rows.jsonl", "-o", "out.jsonl", "--force", *options)
        assert run.returncode == 1
        assert "1 with tests or a reference that cannot be judged by" in run.stderr
        assert f"  {found}\n" in run.stderr
    assert json.loads((tmp_path / "out.jsonl.meta.json").read_text())["summary"]["refused"] == 1
    again = cli("score", "rows.jsonl", "-o", "out.jsonl", "--resume")
    assert again.returncode == 1
