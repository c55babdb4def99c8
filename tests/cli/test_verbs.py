"""What all commands have in common: --json, and the configuration by its place or with -c."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from grpo_rewards._cli.app import application
from grpo_rewards.errors import ColumnError

COMMANDS: dict[str, Any] = dict(get_command(application()).commands)  # type: ignore[attr-defined]
NO_COMPOSITION = {"list", "schema", "new", "sandbox", "merge"}
"""Those that are about something else."""


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_takes_json_and_its_configuration_with_c(name: str) -> None:
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    assert "--json" in options
    assert ({"-c", "--config"} <= options) == (name not in NO_COMPOSITION)


CONFIG = "rewards:\n  right: {use: exact, weight: 2.0}\n"
ROWS = [{"prompt": f"{n // 2}?", "completion": str(n % 2), "answer": "1"} for n in range(8)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRPO_REWARDS_CONFIG", raising=False)
    (tmp_path / "r.yaml").write_text(CONFIG)
    (tmp_path / "s.yaml").write_text(CONFIG.replace("2.0", "1.0"))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    scored = [{**row, "grpo_rewards": {"row": n, "reward": 1.0, "components": {}}} for n, row in enumerate(ROWS, 1)]
    (tmp_path / "scored.jsonl").write_text("".join(json.dumps(row) + "\n" for row in scored))
    return tmp_path


def said(*arguments: str, code: int = 0) -> Any:
    done = CliRunner().invoke(application(), list(arguments))
    assert done.exit_code == code, (done.output, done.exception)
    return json.loads(done.stdout)


SAME: dict[str, tuple[str, str]] = {
    "validate": ("validate r.yaml", "validate -c r.yaml"),
    "audit": ("audit r.yaml", "audit -c r.yaml"),
    "compare": ("compare r.yaml s.yaml rows.jsonl", "compare -c r.yaml -c s.yaml rows.jsonl"),
    "validate rows": ("validate r.yaml rows.jsonl", "validate rows.jsonl -c r.yaml"),
    "validate rows, turned": ("validate rows.jsonl r.yaml", "validate rows.jsonl -c r.yaml"),
    "explain": ("explain rows.jsonl#2 r.yaml", "explain rows.jsonl#2 -c r.yaml"),
    "report": ("report r.yaml rows.jsonl", "report rows.jsonl -c r.yaml"),
}


SLOW_AUDIT = pytest.param("audit", marks=pytest.mark.slow)  # tries its cheats


@pytest.mark.parametrize(
    "case", ["validate", SLOW_AUDIT, *(case for case in SAME if case not in ("validate", "audit"))]
)
def test_the_place_and_the_option_say_the_same(folder: Path, case: str) -> None:
    placed, optioned = (said(*line.split(), "--json") for line in SAME[case])
    assert placed == optioned


@pytest.mark.parametrize("case", ["validate", SLOW_AUDIT])
def test_without_either_it_is_the_folders_own(folder: Path, case: str) -> None:
    named = said(*SAME[case][0].split(), "--json")
    (folder / "r.yaml").rename(folder / "rewards.yaml")
    assert said(case, "--json") == named


@pytest.mark.slow  # it looks at the whole machine
def test_doctor_looks_at_the_configuration_given_either_way(folder: Path) -> None:
    placed = said("doctor", "r.yaml", "rows.jsonl", "--json", code=_of("doctor", "--json"))
    optioned = said("doctor", "-c", "r.yaml", "rows.jsonl", "--json", code=_of("doctor", "--json"))
    topics = [one["topic"] for one in placed["findings"]]
    assert topics == [one["topic"] for one in optioned["findings"]]
    assert "data" in topics


def _of(*arguments: str) -> int:
    """The exit code of the machine alone, whatever it lacks."""
    return CliRunner().invoke(application(), list(arguments)).exit_code


def test_two_configurations_are_one_too_many(folder: Path) -> None:
    for line in ("validate r.yaml -c s.yaml", "audit r.yaml -c s.yaml", "doctor r.yaml -c s.yaml",
                 "serve r.yaml -c s.yaml", "train r.yaml -c s.yaml"):  # fmt: skip
        done = CliRunner().invoke(application(), line.split())
        assert done.exit_code == 2, line
        assert "two configurations" in " ".join(done.output.split()), line


@pytest.mark.parametrize("line", ["score r.yaml rows.jsonl", "score rows.jsonl r.yaml"])
def test_score_takes_its_configuration_on_either_side_of_the_rows(folder: Path, line: str) -> None:
    assert said(*line.split(), "--json")["reward"] == said("score", "rows.jsonl", "-c", "r.yaml", "--json")["reward"]


def test_two_files_of_rows_or_none_are_refused(folder: Path) -> None:
    for line, text in (
        ("validate rows.jsonl scored.jsonl", "two files of rows"),
        ("score rows.jsonl scored.jsonl", "two files of rows"),
        ("doctor rows.jsonl scored.jsonl", "two files of rows"),
        ("score r.yaml", "name the file of rows"),
        ("report r.yaml", "name what was scored"),
    ):
        done = CliRunner().invoke(application(), line.split())
        assert done.exit_code == 2, line
        assert text in " ".join(done.output.split()), line


@pytest.mark.parametrize("verb", ["score log.jsonl", "explain log.jsonl#1", "report log.jsonl"])
def test_columns_that_a_trainers_log_lacks_are_said_to_be_in_its_data(folder: Path, verb: str) -> None:
    logged = {"step": 1, "prompt": "0?", "completion": "1", "advantage": 0.5}
    (folder / "log.jsonl").write_text(json.dumps(logged) + "\n")
    done = CliRunner().invoke(application(), [*verb.split(), "-c", "r.yaml"])
    assert isinstance(done.exception, ColumnError)
    assert "--join DATA --on prompt" in str(done.exception)
    (folder / "data.jsonl").write_text(json.dumps({"prompt": "0?", "answer": "1"}) + "\n")
    assert said(*verb.split(), "-c", "r.yaml", "--join", "data.jsonl", "--json")


def test_what_is_missing_is_said_with_the_three_ways_to_give_it(folder: Path) -> None:
    from grpo_rewards.errors import ConfigError

    for line in ("score rows.jsonl", "validate", "audit", "serve"):
        done = CliRunner().invoke(application(), line.split())
        assert isinstance(done.exception, ConfigError), line
        assert "GRPO_REWARDS_CONFIG" in str(done.exception), line
    assert CliRunner().invoke(application(), ["train"]).exit_code == 2
    assert CliRunner().invoke(application(), ["doctor", "rows.jsonl"]).exit_code == 2


def test_report_scores_now_with_a_configuration(folder: Path) -> None:
    assert said("report", "rows.jsonl", "-c", "r.yaml", "--json")["rows"] == 8
    page = (folder / "report.html").read_text()
    assert "scored now" in page
    assert said("report", "scored.jsonl", "--json")["rows"] == 8


def test_schema_is_json_with_and_without_the_option(folder: Path) -> None:
    assert said("schema", "exact", "--json") == said("schema", "exact")
