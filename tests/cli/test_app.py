"""The application as a whole: help, version, exit codes, errors without tracebacks, pipes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

import grpo_rewards

COMMAND = Path(sys.executable).with_name("grpo-rewards")
ROWS = [{"prompt": "p", "completion": f"<answer>{n}</answer>", "answer": "1"} for n in range(4)]


def _commands() -> list[str]:
    import typer

    from grpo_rewards._cli.app import application

    return sorted(typer.main.get_command(application()).commands)  # type: ignore[attr-defined]


@pytest.mark.slow
def test_every_command_explains_itself_with_an_example(cli: Callable[..., CompletedProcess[str]]) -> None:
    listed = cli("--help")
    assert listed.returncode == 0
    assert "Example: grpo-rewards score" in listed.stdout
    for name in _commands():
        assert re.search(rf"^\s*{name}\s", listed.stdout, re.MULTILINE), name
        shown = cli(name, "--help")
        assert shown.returncode == 0, shown.stderr
        assert f"Example: grpo-rewards {name}" in shown.stdout


def test_version(cli: Callable[..., CompletedProcess[str]]) -> None:
    assert cli("--version").stdout == f"grpo-rewards {grpo_rewards.__version__}\n"


def test_no_command_is_usage(cli: Callable[..., CompletedProcess[str]]) -> None:
    assert cli().returncode == 2
    assert cli("scroe").returncode == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("score", "rows.jsonl"), "nothing to score with"),
        (("score", "rows.jsonl", "--only", "exakt"), "did you mean 'exact'"),
        (("score", "rows.jsonl", "--only", "./none.py:reward"), "there is no file"),
        (("score", "rows.jsonl", "--only", "exact", "--param", "ignore_cas=true"), "did you mean 'ignore_case'"),
        (("score", "rows.jsonl", "--only", "exact", "--param", "ignore_case"), "expected NAME=VALUE"),
        (("score", "rows.jsonl", "--only", "exact", "--column", "answr=answer"), "answr"),
        (("score", "rows.jsonl", "--only", "exact", "-o", "-", "--json"), "both print to stdout"),
        (("score", "rows.jsonl", "--only", "exact", "-o", "no/such/out.jsonl"), "does not exist"),
        (("score", "rows.jsonl", "--only", "exact", "-o", "rows.jsonl"), "the input itself"),
        (("score", "rows.jsonl", "--only", "exact", "-o", "scored.csv.gz"), "nothing is written as .csv"),
        (("report", "rows.jsonl", "-o", "report.parquet"), "nothing is written as .parquet"),
        (("score", "rows.jsonl", "-c", "none.yaml"), "none.yaml"),
        (("score", "rows.jsonl", "-c", "wrong.yaml"), "wrong.yaml: rewards.exact.weigth"),
        (("explain", "nothing"), "nothing"),
        (("explain", "rows.jsonl#99", "--only", "exact"), "there is no row 99"),
        (("explain", "rows.jsonl#0", "--only", "exact"), "there is no row 0: they are counted from 1"),
        (("explain", "rows.jsonl#x"), "ROW is a line number from 1, not 'x'"),
        (("explain", "rows.jsonl#2"), "no recorded scores"),
        (("validate", "none.yaml"), "none.yaml"),
        (("validate", "none.jsonl"), "no such file"),
        (("schema", "exakt"), "did you mean 'exact'"),
    ],
)
def test_what_the_user_got_wrong_is_said_without_a_traceback(
    cli: Callable[..., CompletedProcess[str]], tmp_path: Path, jsonl: Callable[..., Path], arguments: Any, message: str
) -> None:
    jsonl(ROWS)
    (tmp_path / "wrong.yaml").write_text("version: 1\nrewards:\n  exact: {use: exact, weigth: 2}\n")
    run = cli(*arguments)
    assert run.returncode == 2, run.stderr
    assert message in run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout == ""


def test_a_plugin_that_breaks_is_a_finding(
    cli: Callable[..., CompletedProcess[str]], tmp_path: Path, jsonl: Callable[..., Path]
) -> None:
    (tmp_path / "broken.py").write_text(
        "from grpo_rewards import reward\n@reward\ndef broken(completion: str) -> float:\n"
        "    return float('nan') if '2' in completion else 1.0\n"
    )
    jsonl(ROWS)
    run = cli("score", "rows.jsonl", "--only", "./broken.py:broken", "-o", "out.jsonl")
    assert run.returncode == 1
    assert "row 3" in run.stderr
    assert "nan" in run.stderr
    statuses = [
        json.loads(line)["grpo_rewards"]["components"]["broken"]["status"]
        for line in (tmp_path / "out.jsonl").read_text().splitlines()
    ]
    assert statuses == ["scored", "scored", "error", "scored"]


@pytest.mark.parametrize("options", [(), ("--workers", "2")])
def test_a_token_that_a_service_refuses_is_a_usage_error_that_stops_the_run(
    cli: Callable[..., CompletedProcess[str]], tmp_path: Path, jsonl: Callable[..., Path], options: Any
) -> None:
    (tmp_path / "refused.py").write_text(
        "from grpo_rewards import reward\nfrom grpo_rewards.errors import ConfigError\n@reward\n"
        "def refused(completion: str) -> float:\n    raise ConfigError('it refuses the key; set $KEY to one that it takes')\n"
    )
    jsonl(ROWS)
    run = cli("score", "rows.jsonl", "--only", "./refused.py:refused", "-o", "out.jsonl", *options)
    assert run.returncode == 2
    assert run.stderr.splitlines()[-1] == "error: rewards.refused: it refuses the key; set $KEY to one that it takes"
    assert not (tmp_path / "out.jsonl").exists()


def test_no_figure_is_cut_in_a_narrow_terminal(
    cli: Callable[..., CompletedProcess[str]], jsonl: Callable[..., Path]
) -> None:
    jsonl(ROWS)
    run = cli("score", "rows.jsonl", "--only", "exact", "--only", "length", env={"FORCE_COLOR": "1", "COLUMNS": "50"})
    assert run.returncode == 0, run.stderr
    assert "…" not in run.stdout
    assert "unavailable" not in run.stdout  # 0 in every row
    for word in ("exact", "length", "weight", "flat groups", "0.25"):
        assert word in run.stdout


def test_a_shell_completes_the_names_of_rewards_and_presets(cli: Callable[..., CompletedProcess[str]]) -> None:
    def completed(*words: str) -> list[str]:
        line = "\n".join(("grpo-rewards", *words))
        run = cli(env={"_GRPO_REWARDS_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words))})
        return run.stdout.split()

    assert completed("explain", "xml") == ["xml_format"]
    assert completed("score", "rows.jsonl", "--only", "exa") == ["exact"]
    assert completed("validate", "-c", "preset/gsm8k-x") == ["preset/gsm8k-xml"]
    assert completed("validate", "-c", "rew") == []  # files, which the shell looks for itself


def test_a_service_that_is_down_is_the_environment(
    cli: Callable[..., CompletedProcess[str]], tmp_path: Path, jsonl: Callable[..., Path]
) -> None:
    (tmp_path / "down.py").write_text(
        "from grpo_rewards import Outcome, reward\n@reward\ndef down(completion: str) -> Outcome:\n"
        "    return Outcome(None, 'unavailable', 'connection refused')\n"
    )
    jsonl(ROWS)
    run = cli("score", "rows.jsonl", "--only", "./down.py:down")
    assert run.returncode == 3
    assert "4 left out" in run.stderr
    assert "connection refused" in run.stderr


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path, jsonl: Callable[..., Path]) -> None:
    jsonl({**ROWS[0], "prompt": f"p{n}", "noise": "x" * 2000} for n in range(2000))
    with subprocess.Popen(
        [COMMAND, "score", "rows.jsonl", "--only", "exact", "-o", "-"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["grpo_rewards"]["row"] == 1
        process.stdout.close()
        words = process.stderr.read().decode()
        assert process.wait(timeout=60) == 1
    assert words == ""


def test_nothing_is_drawn_into_a_pipe(cli: Callable[..., CompletedProcess[str]], jsonl: Callable[..., Path]) -> None:
    jsonl(ROWS)
    run = cli("score", "rows.jsonl", "--only", "exact")
    assert run.returncode == 0
    assert "\x1b" not in run.stdout + run.stderr
    assert "scoring" not in run.stderr
