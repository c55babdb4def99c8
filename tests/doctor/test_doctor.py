"""The doctor says what is there, what is wrong, and what to do."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from grpo_rewards_adapters import probe


@pytest.fixture
def doctor(cli: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: str, **environment: str) -> Any:
        done = cli("doctor", *arguments, "--json", env=environment)
        return done.returncode, json.loads(done.stdout)["findings"] if done.stdout else done.stderr

    return run


@pytest.mark.slow
def test_a_healthy_machine(tmp_path: Path, doctor: Callable[..., Any]) -> None:
    code, findings = doctor()
    topics = {one["topic"] for one in findings}
    assert topics == {"environment", "dependencies", "plugins", "sandbox", "Docker", "GPU", "training", "TRL"}
    levels = {one["level"] for one in findings}
    assert code == (1 if "problem" in levels else 3 if "broken" in levels else 0)
    assert all(one["action"] for one in findings if one["level"] in ("problem", "broken"))
    (own,) = [one for one in findings if "entry point builtin" in one["text"]]
    assert own["level"] == "ok"
    assert "math" in own["text"]


@pytest.mark.slow
def test_a_broken_plugin_is_a_problem_with_a_cure(tmp_path: Path, doctor: Callable[..., Any]) -> None:
    info = tmp_path / "site" / "sad-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sad\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[grpo_rewards]\nsad = sad_module\n")
    (tmp_path / "site" / "sad_module.py").write_text("import nothing_of_the_kind\n")
    code, findings = doctor(PYTHONPATH=str(tmp_path / "site"))
    assert code == 1
    (sad,) = [one for one in findings if one["level"] == "problem"]
    assert "sad" in sad["text"]
    assert "nothing_of_the_kind" in sad["text"]
    assert "pip uninstall sad" in sad["action"]


def test_a_configuration_is_tried(tmp_path: Path, doctor: Callable[..., Any]) -> None:
    (tmp_path / "mine.py").write_text(
        "from grpo_rewards import Outcome, reward\n"
        "@reward\ndef away(completion: str) -> Outcome:\n    return Outcome(None, 'unavailable', 'nobody listens')\n"
    )
    (tmp_path / "rewards.yaml").write_text("rewards: {exact: exact, away: './mine.py:away'}\n")
    code, findings = doctor("rewards.yaml")
    assert code == 3
    tried = {one["text"].split(":")[0]: one for one in findings if one["topic"] == "configuration"}
    assert tried["exact"]["level"] == "ok"
    assert "nobody listens" in tried["away is unavailable" if "away is unavailable" in tried else "away"]["text"]


def test_a_configuration_that_is_wrong_is_usage(tmp_path: Path, doctor: Callable[..., Any]) -> None:
    (tmp_path / "rewards.yaml").write_text("rewards: {exact: exakt}\n")
    code, said = doctor("rewards.yaml")
    assert code == 2
    assert "did you mean 'exact'" in said


SOURCE = "trainer_state log_extra log_metric reward_weights multi_objective_aggregation"


@pytest.mark.parametrize(
    ("version", "source", "level", "told"),
    [
        ("99.0.0", SOURCE, "note", "could not be tried: RuntimeError: this one does not import"),
        ("99.0.0", SOURCE.replace("log_metric", ""), "problem", "log_metric"),
        (None, SOURCE, "note", "not installed"),
        ("99.0.0", None, "problem", "has no trainer/grpo_trainer.py"),
    ],
)
def test_trl_against_the_known_contract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str | None, source: Any, level: str, told: str
) -> None:
    """With a distribution that is laid out, not installed: this process reads its metadata and source, and tries it in another."""
    package = tmp_path / "trl" / "trainer"
    package.mkdir(parents=True)
    (tmp_path / "trl" / "__init__.py").write_text("raise RuntimeError('this one does not import')")
    if source is not None:
        (package / "grpo_trainer.py").write_text(source)
    if version is not None:
        info = tmp_path / "trl-0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: trl\nVersion: {version}\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *(sys.path if version else ())])
    monkeypatch.delitem(sys.modules, "trl", raising=False)
    found, text, action = probe.examine()
    assert (found, told in text) == (level, True), text
    assert action


def test_rows_are_looked_through(tmp_path: Path, doctor: Callable[..., Any]) -> None:
    (tmp_path / "rewards.yaml").write_text("rewards: {correct: math}\n")
    rows = [{"prompt": "1+1", "completion": "2", "answer": answer} for answer in ("2", "", None)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + "{torn\n")
    code, findings = doctor("rewards.yaml", "rows.jsonl")
    assert code == 1
    told = [one["text"] for one in findings if one["topic"] == "data" and one["level"] == "problem"]
    assert len(told) == 3
    assert any("rows.jsonl:2" in text and "cannot be read" in text for text in told)
    assert any("rows.jsonl:3" in text and "'answer'" in text for text in told)
    assert any("rows.jsonl:4" in text and "not JSON" in text for text in told)
    (tmp_path / "rows.jsonl").write_text(json.dumps(rows[0]) + "\n")
    _, findings = doctor("rewards.yaml", "rows.jsonl")
    assert [one["level"] for one in findings if one["topic"] == "data"] == ["ok"]


def test_a_training_run_that_cannot_begin_is_a_problem(tmp_path: Path, doctor: Callable[..., Any]) -> None:
    (tmp_path / "train.yaml").write_text(
        "model: {name: ./nothing}\nrewards: {rewards: {correct: math}}\ndataset: {name: rows.jsonl}\n"
        "output: out\ntraining: {max_prompt_length: 64}\n"
    )
    code, findings = doctor("train.yaml")
    assert code == 1
    (told,) = [one for one in findings if one["topic"] == "training run"]
    assert "max_prompt_length" in told["text"]
    assert told["action"]
