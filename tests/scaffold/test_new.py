"""``grpo-rewards new`` writes a plugin that installs, is found, and passes its tests at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grpo_rewards._scaffold import write_plugin
from grpo_rewards.errors import ConfigError

COMMAND = Path(sys.executable).with_name("grpo-rewards")


@pytest.mark.slow
def test_a_new_plugin_installs_and_passes_its_tests_at_once(tmp_path: Path) -> None:
    made = subprocess.run([COMMAND, "new", "grpo-rewards-tone", "--json"], cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    project, site = tmp_path / "grpo-rewards-tone", tmp_path / "site"
    assert Path(json.loads(made.stdout)["folder"]).name == project.name
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        "--no-deps",
        "--no-build-isolation",
    ]
    subprocess.run([*pip, "--no-index", "-t", str(site), str(project)], check=True, capture_output=True)
    environment = {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "200"}

    def run(*command: Any) -> Any:
        return subprocess.run(command, cwd=project, capture_output=True, text=True, env=environment, timeout=120)

    tests = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error")
    assert tests.returncode == 0, tests.stdout + tests.stderr
    assert " passed" in tests.stdout
    assert int(tests.stdout.rpartition(" passed")[0].split()[-1]) >= 16
    scored = run(COMMAND, "score", "example/rows.jsonl", "-c", "example/rewards.yaml", "-o", "-")
    assert scored.returncode == 0, scored.stderr
    assert [json.loads(line)["grpo_rewards"]["reward"] for line in scored.stdout.splitlines()] == [1.0, 0.0]
    listed = json.loads(run(COMMAND, "list", "--json").stdout)
    assert [one["source"] for one in listed["rewards"] if one["name"] == "tone"] == ["grpo-rewards-tone"]


def test_what_it_writes_is_tidy(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    pytest.importorskip("ruff")
    folder, _ = write_plugin("my-Tone.plugin", tmp_path)
    assert (folder / "my_tone_plugin" / "rewards.py").is_file()
    assert "@" not in (folder / "my_tone_plugin" / "__init__.py").read_text()
    config = request.config.rootpath / "pyproject.toml"
    ruff = [sys.executable, "-m", "ruff"]
    for check in (["check", "--ignore", "INP,I001"], ["format", "--check"]):
        done = subprocess.run(
            [*ruff, *check, "--no-cache", "--config", str(config), str(folder)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "name", ["", "1st", "tone!", "../up", "a/b", "class", "json", "grpo-rewards", "grpo_rewards_json", "-x"]
)
def test_names_that_cannot_be_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError):
        write_plugin(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_over(tmp_path: Path) -> None:
    write_plugin("tone", tmp_path)
    with pytest.raises(ConfigError, match="there already"):
        write_plugin("tone", tmp_path)
